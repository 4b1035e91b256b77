"""Driving `_kernels.record`: an agent in a sampled world, with everything written down that the theory speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import once
from equipoise.agents._kernels import DONE
from equipoise.agents.memory import PLANNED
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import ParameterError, ProtocolError
from equipoise.models.bandit import bandit
from equipoise.models.model import Model
from equipoise.models.world import Seed, sampling_arrays, stream
from equipoise.rewards.quadratic import Quadratic
from equipoise.simulation import check_simulation
from equipoise.theory._kernels import AT_SIZE, LOOK, ROW, Looks, Scratch, Trace, Truth, record

_STRETCH: Final = 1 << 14  # steps in one call of the kernel; then Python hears Ctrl-C


def check_run(model: Model, agent: TocUCRL2, steps: int, seed: Seed) -> None:
    """What `simulate` refuses is refused here, and what cannot be looked at."""
    if not isinstance(agent, TocUCRL2):
        raise ParameterError(f"agent: got {type(agent).__name__}; a TocUCRL2 is needed")
    check_simulation(model, agent, steps, seed)
    midway = agent._memory.clock[PLANNED] and agent._steps_left_in_phase() != 0
    region = agent._region
    if midway and not region.first[-1] and not region.rest.any() and not region.radius.any():
        raise ProtocolError(
            f"agent: it was loaded or copied at time {agent.t}, in the midst of an episode, and the regions of that "
            "episode are not kept; start from the beginning, or from the agent that planned it"
        )


def recorded(model: Model, agent: TocUCRL2, steps: int, seed: Seed, room: int) -> Iterator[tuple[Trace, Looks]]:
    """Take `steps` steps; after every `room` of them, and at the end, yield what they were, in arrays used again."""
    once("theory", _small_run)
    yield from _recorded(model, agent, steps, seed, room)


def _recorded(model: Model, agent: TocUCRL2, steps: int, seed: Seed, room: int) -> Iterator[tuple[Trace, Looks]]:
    space = agent.space
    trace, looks = _trace(min(room, steps), space.n_outcomes), _looks(min(room, steps), space.n_outcomes)
    scratch = _scratch(space.n_states, space.n_pairs)
    truth = Truth(model.transition_first, model.transition_state, model.transition_probability, model.means)
    world = sampling_arrays(model)
    rng = stream(model, seed, agent.t)
    last = agent.t - 1 + int(steps)
    at = np.zeros(AT_SIZE, dtype=np.int64)
    with agent.exclusive():
        while agent.t <= last:
            agent._begin_phase_if_due()
            left = agent._steps_left_in_phase()
            asked = min(last - agent.t + 1, _STRETCH, room - int(at[ROW]), last if left is None else left)
            reason = record(
                agent._counts, agent._memory, agent._records, agent._buffers, agent._region, agent._work, agent._rules,
                asked, truth, scratch, trace, looks, at, rng, *world,
            )  # fmt: skip
            if reason != DONE:
                agent._make_room(reason)
            if at[ROW] == room or agent.t > last:
                done, looked = int(at[ROW]), int(at[LOOK])
                yield Trace._make(part[:done] for part in trace), Looks._make(part[:looked] for part in looks)
                at[ROW] = at[LOOK] = 0


def _trace(room: int, n_outcomes: int) -> Trace:
    return Trace(
        episode=_whole(room),
        state=_whole(room),
        pair=_whole(room),
        theta=np.zeros((room, n_outcomes)),
        outcome=np.zeros((room, n_outcomes)),
        reward=np.zeros(room),
        spade=np.zeros(room),
    )


def _looks(room: int, n_outcomes: int) -> Looks:
    return Looks(
        number=_whole(room),
        tau=_whole(room),
        tolerance=np.zeros(room),
        span=np.zeros(room),
        theta=np.zeros((room, n_outcomes)),
        v_held=np.zeros(room, dtype=np.bool_),
        p_held=np.zeros(room, dtype=np.bool_),
        v_used=np.zeros(room),
        p_used=np.zeros(room),
    )


def _scratch(n_states: int, n_pairs: int) -> Scratch:
    return Scratch(
        chance=np.zeros(n_states),
        seen=np.zeros(n_states),
        reward=np.zeros(n_pairs),
        spade=np.zeros(n_states),
        order=_whole(n_states),
        rank=_whole(n_states),
        prefix=np.zeros(n_states + 1),
        sorting=_whole(n_states),
    )


def _whole(size: int) -> NDArray[np.int64]:
    return np.zeros(size, dtype=np.int64)


def _small_run() -> None:
    model = bandit(2)
    for _ in _recorded(model, TocUCRL2(model.space, Quadratic([0.5, 0.5])), 8, 0, 8):
        pass
