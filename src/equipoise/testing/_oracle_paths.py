"""An oracle on a sequence of outcomes, without an agent: its compiled step, called one time after another.

The outcomes come from a `Source`, a function of the time and of the present theta. Phases change as in an agent: theta
and the memory are reset, the average is not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.oracles.base import Oracle, OracleKernel, Phase
from equipoise.oracles.frame import OracleFrame, RewardCalls, step_once
from equipoise.rewards.base import Reward

Source = Callable[[int, Vector], Vector]
GUARD: Final = 8  # numbers before and after a vector that must stay as they are
MARK: Final = -1234.5
_SHARE_OF_ONES: Final = 0.37  # of ones among the coordinates of a vertex; not a half, so that averages are no ties


class Leg(NamedTuple):
    """A phase of a path."""

    phase: Phase
    thetas: Vector
    outcomes: Vector


class Moment(NamedTuple):
    """All that a step is given."""

    t: int
    local: int
    theta: Vector
    outcome: Vector
    average: Vector
    memory: Vector


class Step(NamedTuple):
    """A step of a path: its phase and kernel, copies of what it was given, and theta after it."""

    phase: Phase
    kernel: OracleKernel
    before: Moment
    theta: Vector


def padded(x: Vector) -> tuple[Vector, Vector]:
    """A vector within a larger one that holds `MARK` around it: the larger one, and its part."""
    wide = np.full(x.size + 2 * GUARD, MARK)
    inner = wide[GUARD : GUARD + x.size]
    inner[:] = x
    return wide, inner


def remembered(kernel: OracleKernel, reward: Reward) -> int:
    """How many numbers a step keeps."""
    return reward.n_outcomes if kernel.memory is None else kernel.memory


def take_step(kernel: OracleKernel, reward: Reward, moment: Moment, scratch: Vector, reward_params: Vector) -> None:
    """Call the compiled step; theta and the memory of `moment` are replaced in place."""
    entries = {name: getattr(reward.kernels, name).address for name in kernel.calls}
    calls = RewardCalls(entries.get("gradient", 0), entries.get("conjugate_argmax", 0), reward_params)
    params = np.atleast_1d(np.asarray(kernel.params, dtype=np.float64))
    step_once(kernel.entry.address, OracleFrame(*moment, scratch=scratch, params=params, reward=calls))


def walk(oracle: Oracle, reward: Reward, source: Source, steps: int) -> Iterator[Step]:
    """Follow an oracle for so many steps."""
    total, t = np.zeros(reward.n_outcomes), 0
    for phase, taken in oracle.phases(steps):
        kernel = phase.oracle.kernel(reward)
        _, theta = padded(np.asarray(phase.oracle.initial_theta(reward), dtype=np.float64))
        (_, memory), (_, scratch) = padded(np.zeros(remembered(kernel, reward))), padded(np.zeros(kernel.scratch))
        own = kernel._replace(params=np.array(kernel.params, dtype=np.float64, ndmin=1))
        params = reward.params.copy()  # a step that writes where it must not does no harm to others
        for local in range(1, taken + 1):
            t += 1
            outcome = source(t, theta.copy())
            total += outcome
            before = Moment(t, local, theta.copy(), outcome.copy(), total / t, memory.copy())
            take_step(own, reward, Moment(t, local, theta, outcome, total / t, memory), scratch, params)
            yield Step(phase, kernel, before, theta.copy())


def legs(oracle: Oracle, reward: Reward, source: Source, steps: int) -> Iterator[Leg]:
    """The same, a phase at a time; parameters as for `walk`."""
    for _, phase in itertools.groupby(walk(oracle, reward, source, steps), key=lambda step: step.phase.origin):
        taken = list(phase)
        thetas = [step.before.theta for step in taken] + [taken[-1].theta]
        yield Leg(taken[0].phase, np.array(thetas), np.array([step.before.outcome for step in taken]))


def sources(size: int, seed: int) -> dict[str, Source]:
    """Ways in which outcomes may come, by name; each is to be used once."""
    rng = np.random.default_rng(seed)
    fixed = rng.random(size)
    corner = (np.arange(size) % 2).astype(np.float64)
    return {
        "random outcomes": lambda t, theta: rng.random(size),  # noqa: ARG005
        "random vertices": lambda t, theta: (rng.random(size) < _SHARE_OF_ONES).astype(np.float64),  # noqa: ARG005
        "one outcome": lambda t, theta: fixed.copy(),  # noqa: ARG005
        "two vertices in turn": lambda t, theta: corner if t % 2 else 1.0 - corner,  # noqa: ARG005
        "ever longer blocks": lambda t, theta: corner if t.bit_length() % 2 else 1.0 - corner,  # noqa: ARG005
        "the vertex along theta": lambda t, theta: (theta > 0.0).astype(np.float64),  # noqa: ARG005
        "the vertex against theta": lambda t, theta: (theta < 0.0).astype(np.float64),  # noqa: ARG005
    }
