"""Environments that publish their law, as Gymnasium's toy-text ones do.

``env.P[state][action]`` lists (probability, next state, reward, terminated), and ``env.initial_state_distrib`` has the
probabilities of the states after a reset. What is read there is held against a walk in the environment itself, since
some publish less than they do: with a fickle passenger, Taxi's steps change the destination and its table does not say.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from equipoise.adapters.laws import Event, Law, Laws
from equipoise.errors import AdapterError
from equipoise.models.branches import SUM_TOLERANCE


def published_laws(base: Any, actions: list[Hashable]) -> Laws | None:
    """The law that an environment publishes, of the states that can be reached; None if it publishes none.

    Parameters
    ----------
    base : gymnasium.Env
        The environment without wrappers.
    actions : list
        The labels of its actions.
    """
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
            if abs(sum(law.values()) - 1.0) > SUM_TOLERANCE:
                raise AdapterError(f"P[{state}][{action}]: the probabilities sum to {sum(law.values())}")
            events[state].append(law)
            new = [event.state for event in law if event.state is not None and event.state not in known]
            known.update(new)
            waiting += dict.fromkeys(new)
    return Laws(actions, start, events)


def _rows(table: Any, state: Hashable, action: Hashable) -> list[tuple[float, int, float, bool]]:
    """What an environment publishes of a state and an action."""
    try:
        return [(float(p), int(after), float(reward), bool(ended)) for p, after, reward, ended in table[state][action]]
    except (LookupError, TypeError, ValueError):
        raise AdapterError(
            f"P[{state}][{action}]: it must list (probability, next state, reward, terminated); have the environment "
            "searched instead: state=lambda observation, env: observation"
        ) from None
