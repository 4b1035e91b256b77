"""Gymnasium's interface: reset and step, with errors that name the place, and observations and actions as labels.

Toy-text environments publish all that can happen: ``env.P[state][action]`` lists (probability, next state, reward,
terminated), and ``env.initial_state_distrib`` has the probabilities of the starts. It is read as events with their
probabilities, state by state.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from gymnasium import spaces

from equipoise.errors import AdapterError, EquipoiseError
from equipoise.models.checks import SUM_TOLERANCE

_MOST_ACTIONS: Final = 10_000


def reset_env(env: Any, seed: int | None = None) -> Any:
    """What is seen after a reset."""
    found = _call("reset", partial(env.reset, seed=seed) if seed is not None else env.reset)
    if not isinstance(found, tuple) or len(found) != 2:
        raise AdapterError(f"reset: got {found!r}; Gymnasium asks for two things, observation and info")
    return found[0]


def take_step(env: Any, action: Any, where: str) -> tuple[Any, Any, bool, bool, Any]:
    """What follows an action: observation, reward, terminated, truncated, info."""
    found = _call(where, partial(env.step, action))
    if not isinstance(found, tuple) or len(found) != 5:
        asked = "observation, reward, terminated, truncated, info"
        raise AdapterError(f"{where}: the step returned {found!r}; Gymnasium asks for five things, {asked}")
    return found


def _call(where: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except EquipoiseError:
        raise
    except Exception as error:
        raise AdapterError(f"{where}: the environment raised {type(error).__name__}: {error}") from error


def to_label(x: Any) -> Hashable:
    """An observation as a label: numbers as they are, arrays and lists as tuples, mappings as tuples of pairs."""
    if isinstance(x, np.ndarray | np.generic):
        x = x.tolist()
    if isinstance(x, Mapping):
        return tuple((key, to_label(value)) for key, value in x.items())
    if isinstance(x, list | tuple):
        return tuple(to_label(one) for one in x)
    if not isinstance(x, Hashable):
        raise AdapterError(
            f"an observation has a {type(x).__name__}, which cannot be a label; give state=, a function of the "
            "observation and the environment that returns one"
        )
    return x


def is_continuous(space: Any) -> bool:
    """Whether a space has real numbers in it, which no table can list."""
    if isinstance(space, spaces.Dict):
        return any(map(is_continuous, space.values()))
    if isinstance(space, spaces.Tuple):
        return any(map(is_continuous, space))
    return isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating)


def list_actions(space: Any) -> tuple[list[Any], list[Hashable]]:
    """All actions of a finite space: as an environment takes them, and as labels."""
    values = _values(space)
    return values, [to_label(value) for value in values]


def _values(space: Any) -> list[Any]:
    factors: list[Any]
    if isinstance(space, spaces.Discrete):
        factors = [range(int(space.start), int(space.start) + int(space.n))]
    elif isinstance(space, spaces.MultiBinary):
        factors = [(0, 1)] * int(np.prod(space.shape))
    elif isinstance(space, spaces.MultiDiscrete):
        starts, counts = np.ravel(space.start), np.ravel(space.nvec)
        factors = [range(int(low), int(low) + int(n)) for low, n in zip(starts, counts, strict=True)]
    elif isinstance(space, spaces.Tuple):
        factors = [_values(part) for part in space]
    else:
        raise AdapterError(
            f"the actions are {space}; a finite space is needed: Discrete, MultiDiscrete, MultiBinary, or a Tuple of "
            "these. Wrap the environment with gymnasium.wrappers.TransformAction, or DiscretizeAction"
        )
    size = math.prod(map(len, factors))
    if size > _MOST_ACTIONS:
        raise AdapterError(f"the actions are {space}, which are {size}; at most {_MOST_ACTIONS} can be listed")
    rows = list(itertools.product(*factors))
    if isinstance(space, spaces.Discrete):
        return [number for (number,) in rows]
    return rows if isinstance(space, spaces.Tuple) else [np.array(x, space.dtype).reshape(space.shape) for x in rows]


Ends = Callable[[bool, bool], bool]


class Event(NamedTuple):
    """What may follow an action."""

    state: Hashable
    reward: tuple[float, ...]
    ended: bool

    def __str__(self) -> str:
        return f"{'an end' if self.ended else f'the state {self.state!r}'} with the reward {list(self.reward)}"


Law = Mapping[Event, float]


class EnvironmentLaws(NamedTuple):
    """The law of an environment."""

    actions: list[Hashable]
    start: dict[Hashable, float]
    events: dict[Hashable, list[Law]]


def has_ended(terminated: bool, truncated: bool, ends: Ends | None) -> bool:
    """Whether an episode ended, rather than was cut off; both flags at once are a cut, unless `ends` says otherwise."""
    return bool(terminated and not truncated) if ends is None else bool(ends(terminated, truncated))


def read_laws(base: Any, actions: list[Hashable]) -> EnvironmentLaws | None:
    """The law that an environment publishes, of the states that can be reached; None if it publishes none."""
    table, distribution = getattr(base, "P", None), getattr(base, "initial_state_distrib", None)
    if table is None or distribution is None:
        return None
    odds = np.asarray(distribution, np.float64)
    start: dict[Hashable, float] = {int(s): float(odds[s]) for s in np.flatnonzero(odds)}
    events: dict[Hashable, list[Law]] = {}
    waiting, known = list(start), set(start)
    while waiting:
        state = waiting.pop(0)
        events[state] = []
        for action in actions:
            law: dict[Event, float] = {}
            for p, after, reward, ended in _rows(table, state, action):
                event = Event(None if ended else after, (reward,), ended)
                if p > 0.0:
                    law[event] = law.get(event, 0.0) + p
            if abs(math.fsum(law.values()) - 1.0) > SUM_TOLERANCE:
                raise AdapterError(f"P[{state}][{action}]: the probabilities sum to {math.fsum(law.values())}")
            events[state].append(law)
            new = [event.state for event in law if event.state is not None and event.state not in known]
            known.update(new)
            waiting += dict.fromkeys(new)
    return EnvironmentLaws(actions, start, events)


def _rows(table: Any, state: Hashable, action: Hashable) -> list[tuple[float, int, float, bool]]:
    try:
        return [(float(p), int(after), float(reward), bool(ended)) for p, after, reward, ended in table[state][action]]
    except (LookupError, TypeError, ValueError):
        raise AdapterError(
            f"P[{state}][{action}]: it must list (probability, next state, reward, terminated); have the environment "
            "searched instead: state=lambda observation, env: observation"
        ) from None
