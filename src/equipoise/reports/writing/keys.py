"""Agents with their colours, for legends and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.reports.writing.inline import Key


def agent_key(agents: Mapping[str, str], name: str) -> Key:
    """An agent with its label and its colour.

    Parameters
    ----------
    agents : mapping
        All agents of the study, each with its label: a place is a colour.
    name : str
        Which of them.
    """
    return Key.agent(list(agents).index(name), agents[name])


def agent_keys(agents: Mapping[str, str], names: Sequence[str]) -> tuple[Key, ...]:
    """Several of them.

    Parameters
    ----------
    agents : mapping
        All agents of the study, each with its label.
    names : sequence of str
        Which of them.
    """
    return tuple(agent_key(agents, name) for name in names)
