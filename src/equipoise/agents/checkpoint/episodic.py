"""`TocUCRL2` in a file, and `KnapsackAgent`, which is one within and a clock of its own."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from equipoise._numbers import MOST
from equipoise.agents.checkpoint.parts import (
    Arrays,
    Packed,
    arguments_in,
    array_in,
    clock_fits,
    described,
    made,
    reward_in,
    space_in,
)
from equipoise.agents.episodes import TRIGGERS, Episodes
from equipoise.agents.knapsack import KnapsackAgent
from equipoise.agents.memory import EPISODES, LEARNING, ORIGIN, PENDING, PHASE, Memory
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.counts import LARGEST, SEEN, USED, Counts
from equipoise.errors import FileError
from equipoise.rewards.base import Reward

_T = TypeVar("_T", Counts, Memory, Episodes)


def packed(agent: TocUCRL2) -> Packed:
    """The header and the arrays of an agent."""
    header, arrays = described(agent)
    for prefix, parts in (("counts", agent._counts), ("memory", agent._memory), ("episodes", agent.episodes)):
        arrays.update({f"{prefix}.{name}": part for name, part in parts._asdict().items()})
    return header, arrays


def rebuilt(kind: type[TocUCRL2], saved: Packed, reward: Reward | None) -> TocUCRL2:
    """The agent that `packed` gave the parts of."""
    agent = made(kind, saved, reward)
    _go_on(agent, saved[1])
    return agent


def packed_knapsack(agent: KnapsackAgent) -> Packed:
    """The header and the arrays of the agent within, and what the knapsack agent adds."""
    header, arrays = packed(agent._inner)
    own = {
        "knapsack.clock": agent._clock,
        "knapsack.null_actions": agent.null_actions,
        "knapsack.known_mask": agent.space.known_mask,
    }
    return header | {"budget": agent.budget}, arrays | own


def rebuilt_knapsack(kind: type[KnapsackAgent], saved: Packed, reward: Reward | None) -> KnapsackAgent:
    """The agent that `packed_knapsack` gave the parts of."""
    header, arrays = saved
    reward_in(saved, reward)  # refuses one that is given
    inner = arguments_in(saved)
    agent = kind(
        space_in(saved, "knapsack.known_mask"),
        header["budget"],
        inner["oracle"].horizon,
        arrays["knapsack.null_actions"].tolist(),
        **{name: inner[name] for name in ("delta", "confidence", "tolerance")},
    )
    if described(agent._inner)[0] | {"budget": agent.budget} != header or agent._inner.space != space_in(saved):
        raise FileError("the agent within was made for another problem")
    _go_on(agent._inner, arrays)
    agent._clock[:] = array_in(arrays, "knapsack.clock", agent._clock)
    if not _goes_with_its_inner(agent):
        raise FileError("its clock is damaged")
    return agent


def _go_on(agent: TocUCRL2, arrays: Arrays) -> None:
    """Put what was saved in the place of a new agent's memory."""
    agent._counts = _filled(agent._counts, "counts", arrays)
    agent._memory = _filled(agent._memory, "memory", arrays)
    agent._records = _filled(agent._records, "episodes", arrays)
    if not _fits_together(agent):
        raise FileError("its arrays do not fit together")
    agent._set_up_scratch()


def _filled(fresh: _T, prefix: str, arrays: Arrays) -> _T:
    """The saved arrays of one tuple."""
    return fresh._replace(
        **{
            name: array_in(arrays, f"{prefix}.{name}", part, grows=prefix == "episodes" or name.startswith("pool_"))
            for name, part in fresh._asdict().items()
        }
    )


def _fits_together(agent: TocUCRL2) -> bool:
    """Kernels check nothing: every index that they will follow must be in range."""
    space, counts, memory = agent.space, agent._counts, agent._memory
    end, steps = counts.end, agent.t - 1
    phase, origin = int(memory.clock[PHASE]), int(memory.clock[ORIGIN])
    restarts = agent.oracle.phase(1).length is not None
    if not (clock_fits(memory.clock, space) and 0 <= phase <= (60 if restarts else 1)):
        return False
    present = agent.oracle.phase(max(1, phase))
    since = steps - (0 if present.inherit else origin)
    return bool(
        origin == (2 ** max(1, phase) - 2 if restarts else 0)
        and (present.length or since) >= steps - origin
        and steps <= (agent.horizon or MOST)
        and np.all((counts.visits >= 0) & (counts.fresh >= 0))
        and sum(counts.visits.tolist()) + sum(counts.fresh.tolist()) == since
        and np.all((counts.sums >= 0) & (counts.sums <= agent.visits[:, None]))
        and np.all((counts.squares >= 0) & (counts.squares <= agent.visits[:, None]))
        and np.all((counts.latest >= 0) & (counts.latest <= agent.visits))
        and np.all((memory.total >= 0) & (memory.total <= steps))
        and memory.clock[LEARNING] == agent.confidence.learning
        and np.all((memory.policy >= 0) & (memory.policy < space.n_actions))
        and 0 <= end[LARGEST] <= end[USED] <= counts.pool_state.size == counts.pool_count.size
        and np.all((counts.block_first >= 0) & (counts.block_used >= 0) & (counts.block_used <= counts.block_room))
        and np.all(counts.block_room <= end[LARGEST])
        and np.all(counts.block_first <= end[USED] - counts.block_room)
        and counts.block_used.sum() == end[SEEN]
        and np.all((counts.pool_state >= 0) & (counts.pool_state < space.n_states))
        and {column.size for column in agent._records} == {int(memory.clock[EPISODES])}
        and set(agent._records.ended.tolist()) <= set(TRIGGERS)
    )


def _goes_with_its_inner(agent: KnapsackAgent) -> bool:
    """Until it stops, its clock is that of the agent within; then that one rests, and only null actions are taken."""
    space, clock, inner = agent.space, agent._clock, agent._inner
    if not (clock_fits(clock, space) and agent.t <= agent.horizon + 1 and np.all(agent.inventory >= 0.0)):
        return False
    if not agent.stopped:
        return np.array_equal(clock, inner._memory.clock[: clock.size])
    null = space.first_pair[agent.state] + agent.null_actions[agent.state]
    return inner.t <= agent.t and not inner.pending and int(clock[PENDING]) in (-1, int(null))
