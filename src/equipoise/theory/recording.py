"""Driving `_kernels.record`: an agent in a sampled world, with everything written down that the theory speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import once
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import ParameterError, ProtocolError
from equipoise.models.bandit import bandit
from equipoise.models.model import Model
from equipoise.models.world import Seed, sampling_arrays, stream
from equipoise.planning.evi import workspace
from equipoise.rewards.quadratic import Quadratic
from equipoise.simulation import check_simulation
from equipoise.theory._kernels import PROGRESS, Looks, Scratch, Trace, Truth, record

_STRETCH: Final = 1 << 14  # steps in one call of the kernel; then Python hears Ctrl-C


def check_run(model: Model, agent: TocUCRL2, steps: int, seed: Seed) -> None:
    """Refuse what `simulate` refuses, and agents whose regions cannot be read."""
    if not isinstance(agent, TocUCRL2):
        raise ParameterError(f"agent: got {type(agent).__name__}; a TocUCRL2 is needed")
    check_simulation(model, agent, steps, seed)
    if agent.space.laws is not None:
        raise ParameterError(
            "agent: it was told the mechanics of its system; what is recorded here is of pairs, for an agent that "
            "knows nothing of them: make it with model.space"
        )
    if agent.machine.counts.sums.shape[1] == 0:
        raise ParameterError(
            "agent: its outcomes are too many to look at one by one, as is done here; take a smaller world"
        )
    midway = agent.machine.memory.clock["planned"][0] and agent.steps_left_in_phase() != 0
    region = agent.machine.region
    if midway and not region.first[-1] and not region.rest.any() and not region.radius.any():
        raise ProtocolError(
            f"agent: it was loaded or copied at time {agent.t}, in the midst of an episode, and the regions of that "
            "episode are not kept; start from the beginning, or from the agent that planned it"
        )


def recorded(model: Model, agent: TocUCRL2, steps: int, seed: Seed, rows: int) -> Iterator[tuple[Trace, Looks]]:
    """Take `steps` steps; after every `rows` of them, and at the end, yield what they were, in arrays used again."""
    once("theory", _small_run)
    yield from _recorded(model, agent, steps, seed, rows)


def _recorded(model: Model, agent: TocUCRL2, steps: int, seed: Seed, rows: int) -> Iterator[tuple[Trace, Looks]]:
    space = agent.space
    trace, looks = _trace(min(rows, steps), space.n_outcomes), _looks(min(rows, steps), space.n_outcomes)
    scratch = _scratch(space.n_states, space.n_pairs)
    truth = Truth(model.transition_first, model.transition_state, model.transition_probability, model.means)
    world = sampling_arrays(model)
    rng = stream(model, seed, agent.t)
    last = agent.t - 1 + int(steps)
    progress = np.zeros(1, dtype=PROGRESS)
    with agent.exclusive():
        while agent.t <= last:
            agent.begin_phase_if_due()
            left = agent.steps_left_in_phase()
            free = rows - int(progress["steps"][0])
            count = min(last - agent.t + 1, _STRETCH, free, last if left is None else left)
            agent.attend_to(
                record(agent.machine, agent.rules, count, truth, scratch, trace, looks, progress, rng, world)
            )
            if progress["steps"][0] == rows or agent.t > last:
                done, looked = int(progress["steps"][0]), int(progress["looks"][0])
                yield Trace._make(part[:done] for part in trace), Looks._make(part[:looked] for part in looks)
                progress["steps"] = progress["looks"] = 0


def _trace(rows: int, n_outcomes: int) -> Trace:
    return Trace(
        episode=_whole(rows),
        state=_whole(rows),
        pair=_whole(rows),
        theta=np.zeros((rows, n_outcomes)),
        outcome=np.zeros((rows, n_outcomes)),
        reward=np.zeros(rows),
        spade=np.zeros(rows),
    )


def _looks(rows: int, n_outcomes: int) -> Looks:
    return Looks(
        number=_whole(rows),
        tau=_whole(rows),
        tolerance=np.zeros(rows),
        span=np.zeros(rows),
        theta=np.zeros((rows, n_outcomes)),
        v_held=np.zeros(rows, dtype=np.bool_),
        p_held=np.zeros(rows, dtype=np.bool_),
        v_used=np.zeros(rows),
        p_used=np.zeros(rows),
    )


def _scratch(n_states: int, n_pairs: int) -> Scratch:
    return Scratch(
        chance=np.zeros(n_states),
        seen=np.zeros(n_states),
        reward=np.zeros(n_pairs),
        spade=np.zeros(n_states),
        work=workspace(n_states, n_pairs),
    )


def _whole(size: int) -> NDArray[np.int64]:
    return np.zeros(size, dtype=np.int64)


def _small_run() -> None:
    model = bandit(2)
    for _ in _recorded(model, TocUCRL2(model.space, Quadratic([0.5, 0.5])), 8, 0, 8):
        pass
