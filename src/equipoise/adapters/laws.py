"""All that can happen in an environment, as events with their probabilities, state by state.

Gymnasium's toy-text environments publish it: ``env.P[state][action]`` lists (probability, next state, reward,
terminated), and ``env.initial_state_distrib`` has the probabilities of the starts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from equipoise.errors import AdapterError
from equipoise.models.checks import SUM_TOLERANCE

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
