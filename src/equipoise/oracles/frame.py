"""The frame that the compiled step of an oracle is given, by one pointer.

    @oracle_entry
    def _step(frame):
        step = opened(frame)
        gradient(step, step.average, step.theta)
        for k in range(step.theta.shape[0]):
            step.theta[k] = -step.theta[k]

`gradient` and `conjugate_argmax` call the reward. A step may not allocate arrays: `step.memory` keeps numbers between
steps, `step.scratch` within one. `accumulate`, `project_ball` and `negate_and_measure` are parts of several steps.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import Entry, call_entry, inlined, kernel
from equipoise._runtime.frames import call_framed, framed
from equipoise._runtime.frames import opened as opened
from equipoise.rewards.norms import distance


class RewardCalls(NamedTuple):
    """The reward, for a kernel: the addresses of two of its entries, and its parameters."""

    gradient: int
    conjugate_argmax: int
    params: NDArray[np.float64]


class OracleFrame(NamedTuple):
    """All that the step of an oracle is given, after the outcomes of time t were observed."""

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
def _call(address, t, step, x, out):
    if address == 0:  # not among the `calls` of the `OracleKernel`: the agent then says that theta is not a number
        for k in range(out.shape[0]):
            out[k] = np.nan
    else:
        call_entry(address, t, x, step.reward.params, out)


@inlined
def gradient(step, w, out):
    """Write a supergradient of the reward at `w` into `out`."""
    _call(step.reward.gradient, step.t, step, w, out)


@inlined
def reward_gradient_at(step, t, w, out):
    """As `gradient`, of the reward in force at time `t`."""
    _call(step.reward.gradient, t, step, w, out)


@inlined
def conjugate_argmax(step, theta, out):
    """Write a maximiser of g(w) + theta.w over the box, which is a gradient of g* at `theta`, into `out`."""
    _call(step.reward.conjugate_argmax, step.t, step, theta, out)


@inlined
def accumulate(step, response):
    """Add z_t = grad g*(theta_t) - V_t to the oracle's memory, which is Z_t; `response` is a buffer of K numbers."""
    conjugate_argmax(step, step.theta, response)
    for k in range(step.theta.shape[0]):
        step.memory[k] += response[k] - step.outcome[k]


@inlined
def project_ball(theta, radius):
    """Euclidean projection on the ball of the given radius."""
    total = 0.0
    for k in range(theta.shape[0]):
        total += theta[k] * theta[k]
    if total > radius * radius:
        shrink = radius / np.sqrt(total)
        for k in range(theta.shape[0]):
            theta[k] *= shrink


@inlined
def negate_and_measure(theta, reference, dual_norm):
    """Turn theta into -theta, and return its distance from `reference`; one pass, for the oracle used most."""
    total = 0.0
    if dual_norm == 2.0:
        for k in range(theta.shape[0]):
            theta[k] = -theta[k]
            gap = theta[k] - reference[k]
            total += gap * gap
        return np.sqrt(total)
    for k in range(theta.shape[0]):
        theta[k] = -theta[k]
    return distance(theta, reference, dual_norm)


@kernel
def step_once(address, frame):
    """Call the step of an oracle once, from Python, on an `OracleFrame`."""
    call_framed(address, framed(frame))
