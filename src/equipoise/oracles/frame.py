"""What the compiled step of an oracle is given: an `OracleFrame`, by one pointer.

    @oracle_entry
    def _step(frame):
        step = opened(frame)
        gradient(step, step.average, step.theta)
        for k in range(step.theta.shape[0]):
            step.theta[k] = -step.theta[k]

`gradient` and `conjugate_argmax` call the reward. A step may not make arrays: what it needs to remember is in
`step.memory`, what it needs for the moment in `step.scratch`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry, call_entry, inlined
from equipoise._frames import opened

__all__ = ["OracleFrame", "RewardCalls", "conjugate_argmax", "gradient", "opened", "oracle_entry"]


class RewardCalls(NamedTuple):
    """The reward, for a kernel: the addresses of two of its entries, and its parameters."""

    gradient: int
    conjugate_argmax: int
    params: NDArray[np.float64]


class OracleFrame(NamedTuple):
    """All that the step of an oracle is given, after the outcomes of time t were observed.

    Attributes
    ----------
    t : int
        The time of the step that was taken, from 1.
    local : int
        The same, counted from the start of the oracle's present phase.
    theta : float array
        theta_t, to be replaced by theta_{t+1}.
    outcome : float array
        V_t.
    average : float array
        The average of the outcomes of all steps up to t.
    memory : float array
        The oracle's own: kept from step to step, saved with the agent, zero at the start of a phase. Its size is that
        of `OracleKernel.memory`.
    scratch : float array
        The oracle's own as well, but what is in it is lost after the step. Its size is `OracleKernel.scratch`.
    params : float array
        `OracleKernel.params`.
    reward : RewardCalls
        For `gradient` and `conjugate_argmax`.
    """

    t: int
    local: int
    theta: NDArray[np.float64]
    outcome: NDArray[np.float64]
    average: NDArray[np.float64]
    memory: NDArray[np.float64]
    scratch: NDArray[np.float64]
    params: NDArray[np.float64]
    reward: RewardCalls

    @staticmethod
    def example() -> OracleFrame:
        """One of the right types; its values mean nothing."""
        one = np.zeros(1)
        return OracleFrame(1, 1, one, one, one, one, one, one, RewardCalls(0, 0, one))


def oracle_entry(function: Callable[..., None]) -> Entry:
    """Declare the step of an oracle, a function of one frame; as a decorator."""
    return Entry(function, frame=OracleFrame, allocates=False)


@inlined
def _call(address, step, x, out):
    if address == 0:  # not among the `calls` of the `OracleKernel`: the agent then says that theta is not a number
        for k in range(out.shape[0]):
            out[k] = np.nan
    else:
        call_entry(address, step.t, x, step.reward.params, out)


@inlined
def gradient(step, w, out):
    """Write a supergradient of the reward at `w` into `out`."""
    _call(step.reward.gradient, step, w, out)


@inlined
def conjugate_argmax(step, theta, out):
    """Write a maximiser of g(w) + theta.w over the box, which is a gradient of g* at `theta`, into `out`."""
    _call(step.reward.conjugate_argmax, step, theta, out)
