"""An agent in a file: its arrays, and a description of what it was made of. No pickle.

Saving at any moment, even between `act` and `observe`, loading and going on gives the same trajectory as
never stopping: all that decides what comes next is in these arrays.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import asdict
from types import ModuleType
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise import confidence, oracles, rewards
from equipoise._files import read_npz, write_npz
from equipoise._spec import build, describe
from equipoise.agents.episodes import TRIGGERS, Episodes
from equipoise.agents.knapsack import KnapsackAgent
from equipoise.agents.memory import EPISODES, ORIGIN, PENDING, PHASE, STATE, TIME, Memory
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.counts import LARGEST, SEEN, USED, Counts
from equipoise.errors import EquipoiseError, FileError
from equipoise.models.base import Space
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward

_KIND: Final = "agent"
_KNAPSACK: Final = "knapsack-agent"
_VERSION: Final = 1
_Arrays = dict[str, NDArray[Any]]
_T = TypeVar("_T", Counts, Memory, Episodes)


def save_agent(agent: TocUCRL2, path: str | os.PathLike[str]) -> None:
    """Write an agent to `path`, whole or not at all."""
    header, arrays = _packed(agent)
    write_npz(path, arrays, header, _KIND, _VERSION)


def load_agent(path: str | os.PathLike[str], reward: Reward | None) -> TocUCRL2:
    """Read an agent that `save_agent` wrote."""
    header, arrays = read_npz(path, _KIND, _VERSION)
    with _blaming(path):
        return _rebuilt(header, arrays, reward)


def save_knapsack_agent(agent: KnapsackAgent, path: str | os.PathLike[str]) -> None:
    """Write a knapsack agent to `path`: the agent within, and its own clock."""
    header, arrays = _packed(agent._inner)
    own = {
        "knapsack.clock": agent._clock,
        "knapsack.null_actions": agent.null_actions,
        "knapsack.known_mask": agent.space.known_mask,
    }
    write_npz(path, arrays | own, header | {"budget": agent.budget}, _KNAPSACK, _VERSION)


def load_knapsack_agent(path: str | os.PathLike[str]) -> KnapsackAgent:
    """Read an agent that `save_knapsack_agent` wrote."""
    header, arrays = read_npz(path, _KNAPSACK, _VERSION)
    with _blaming(path):
        inner = _rebuilt(header, arrays, None)
        told = inner.space
        space = Space._of_arrays(told.first_pair, told.start, arrays["knapsack.known_mask"], told.known_outcomes)
        horizon, nulls = inner.oracle.horizon or 0, arrays["knapsack.null_actions"].tolist()
        agent = KnapsackAgent(space, header["budget"], horizon, nulls, inner.delta, inner.confidence, inner.tolerance)
        clock = arrays["knapsack.clock"]
        if clock.shape != agent._clock.shape or clock.dtype != agent._clock.dtype:
            raise FileError("its clock is damaged")
        if not (1 <= clock[0] <= horizon + 1 and 0 <= clock[1] < space.n_states and -1 <= clock[2] < space.n_pairs):
            raise FileError("its clock is out of range")
        agent._inner, agent._clock = inner, clock
        return agent


@contextlib.contextmanager
def _blaming(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (EquipoiseError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise FileError(f"{path}: holds no agent that can go on ({error})") from error


def _packed(agent: TocUCRL2) -> tuple[dict[str, Any], _Arrays]:
    arrays: _Arrays = {
        "space.first_pair": agent.space.first_pair,
        "space.known_mask": agent.space.known_mask,
        "space.known_outcomes": agent.space.known_outcomes,
    }
    for prefix, parts in (("counts", agent._counts), ("memory", agent._memory), ("episodes", agent.episodes)):
        arrays.update({f"{prefix}.{name}": part for name, part in parts._asdict().items()})
    custom = isinstance(agent.reward, rewards.Custom)
    header = {
        "start": agent.space.start,
        "reward": {"kind": "Custom"} if custom else describe(agent.reward, arrays, "reward"),
        "oracle": describe(agent.oracle, arrays, "oracle"),
        "confidence": describe(agent.confidence, arrays, "confidence"),
        "threshold": agent.threshold,
        "delta": agent.delta,
        "tolerance": agent.tolerance,
        "planner": asdict(agent.planner),
    }
    return header, arrays


def _rebuilt(header: dict[str, Any], arrays: _Arrays, reward: Reward | None) -> TocUCRL2:
    space = Space._of_arrays(
        arrays["space.first_pair"], header["start"], arrays["space.known_mask"], arrays["space.known_outcomes"]
    )
    if reward is not None and header["reward"]["kind"] != "Custom":
        raise FileError("its reward is in the file: reward= is for a Custom one")
    if reward is None:
        if header["reward"]["kind"] == "Custom":
            raise FileError("its reward was a Custom one, whose functions are not saved: pass it as reward=")
        reward = build(header["reward"], arrays, _exports(rewards))
    agent = TocUCRL2(
        space,
        reward,
        build(header["oracle"], arrays, _exports(oracles)),
        header["threshold"],
        header["delta"],
        build(header["confidence"], arrays, _exports(confidence)),
        header["tolerance"],
        planner=Planner(**header["planner"]),
    )
    agent._counts = _filled(agent._counts, "counts", arrays)
    agent._memory = _filled(agent._memory, "memory", arrays)
    agent._records = _filled(agent._records, "episodes", arrays)
    _check_indices(agent)
    agent._set_up_scratch()
    return agent


def _check_indices(agent: TocUCRL2) -> None:
    """Kernels check nothing: every index that they will follow must be in range."""
    space, counts, memory = agent.space, agent._counts, agent._memory
    used = counts.block_first + counts.block_room
    phase, origin = int(memory.clock[PHASE]), int(memory.clock[ORIGIN])
    restarts = agent.oracle.phase(1).length is not None
    since = int(memory.clock[TIME]) - 1 - (0 if agent.oracle.phase(max(1, phase)).inherit else origin)
    sound = (
        0 <= phase <= (60 if restarts else 1)
        and origin == (2 ** max(1, phase) - 2 if restarts else 0)
        and (agent.oracle.phase(max(1, phase)).length or since) >= int(memory.clock[TIME]) - 1 - origin
        and np.all(counts.visits >= 0)
        and np.all(counts.fresh >= 0)
        and (counts.visits + counts.fresh).sum() == since
        and 0 <= counts.end[LARGEST] <= counts.end[USED]
        and 0 <= memory.clock[STATE] < space.n_states
        and -1 <= memory.clock[PENDING] < space.n_pairs
        and memory.clock[TIME] >= 1
        and np.all((memory.policy >= 0) & (memory.policy < space.n_actions))
        and np.all((counts.block_first >= 0) & (counts.block_used >= 0) & (counts.block_used <= counts.block_room))
        and np.all(used <= counts.end[USED])
        and counts.end[USED] <= counts.pool_state.size == counts.pool_count.size
        and np.all((counts.pool_state >= 0) & (counts.pool_state < space.n_states))
        and counts.block_used.sum() == counts.end[SEEN]
        and counts.block_room.max() <= counts.end[LARGEST]
        and {column.size for column in agent._records} == {int(memory.clock[EPISODES])}
        and set(agent._records.ended.tolist()) <= set(TRIGGERS)
    )
    if not sound:
        raise FileError("its arrays do not fit together")


def _exports(package: ModuleType) -> dict[str, Any]:
    """The classes of a package that a file may ask for."""
    return {name: getattr(package, name) for name in package.__all__}


def _filled(fresh: _T, prefix: str, arrays: _Arrays) -> _T:
    """The saved arrays, each of the type and (but for what grows) the shape that a new agent has."""
    parts: _Arrays = {}
    for name, model in fresh._asdict().items():
        part = arrays[f"{prefix}.{name}"]
        grows = prefix == "episodes" or name.startswith("pool_")
        if part.dtype != model.dtype or part.ndim != model.ndim or not (grows or part.shape == model.shape):
            raise FileError(f"the array {prefix}.{name} is of type {part.dtype} and shape {part.shape}")
        parts[name] = np.ascontiguousarray(part)
    return fresh._replace(**parts)
