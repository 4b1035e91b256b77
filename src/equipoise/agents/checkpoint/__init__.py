"""An agent in a file: its arrays, and a description of what it was made of. No pickle.

Saving at any moment, even between `act` and `observe`, loading and going on gives the same trajectory as
never stopping: all that decides what comes next is in these arrays.

A file says which agent it holds, so `Agent.load` reads each. Its header is flat: the start of the space, the reward,
and the agent's `arguments()`, all in the words of `parts`. To load is to make the agent anew from these, so that every
argument is checked as a user's would be, and to put the saved arrays, checked as well, in the place of its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from equipoise._files import kind_of, read_npz, write_npz
from equipoise.agents.base import Agent
from equipoise.agents.baselines import FrankWolfeUCB, RoundRobin, StationaryAgent
from equipoise.agents.checkpoint import episodic, simple
from equipoise.agents.checkpoint.parts import Packed
from equipoise.agents.knapsack import KnapsackAgent
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import EquipoiseError, FileError
from equipoise.rewards.base import Reward

_A = TypeVar("_A", bound=Agent)


class _Kind(NamedTuple):
    """How agents of one class are written and read."""

    agent: type[Agent]
    packed: Callable[[Any], Packed]
    rebuilt: Callable[[Any, Packed, Reward | None], Agent]


_VERSION: Final = 2
_KINDS: Final = {
    "agent": _Kind(TocUCRL2, episodic.packed, episodic.rebuilt),
    "knapsack-agent": _Kind(KnapsackAgent, episodic.packed_knapsack, episodic.rebuilt_knapsack),
    "stationary-agent": _Kind(StationaryAgent, simple.packed, simple.rebuilt),
    "round-robin-agent": _Kind(RoundRobin, simple.packed, simple.rebuilt),
    "frank-wolfe-ucb-agent": _Kind(FrankWolfeUCB, simple.packed, simple.rebuilt),
}


def save_agent(agent: Agent, path: str | os.PathLike[str]) -> None:
    """Write an agent to `path`, whole or not at all."""
    name = next((name for name, kind in _KINDS.items() if kind.agent is type(agent)), None)
    if name is None:
        raise FileError(f"{path}: not written; {type(agent).__name__} is no agent of Equipoise's, and cannot be saved")
    header, arrays = _KINDS[name].packed(agent)
    write_npz(path, arrays, header, name, _VERSION)


def load_agent(agent: type[_A], path: str | os.PathLike[str], reward: Reward | None) -> _A:
    """Read an agent of that class; of any class that fits, if it is abstract."""
    fitting = [name for name, kind in _KINDS.items() if issubclass(kind.agent, agent)]
    if not fitting:
        raise FileError(f"{path}: not read; {agent.__name__} is no agent of Equipoise's, and is never saved")
    found = kind_of(path) if len(fitting) > 1 else None
    name = found if found in fitting else fitting[0]  # which `read_npz` then misses, and says so
    saved = read_npz(path, name, _VERSION)
    with _blaming(path):
        loaded = _KINDS[name].rebuilt(_KINDS[name].agent, saved, reward)
    assert isinstance(loaded, agent)
    return loaded


@contextlib.contextmanager
def _blaming(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (EquipoiseError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise FileError(f"{path}: holds no agent that can go on ({error})") from error
