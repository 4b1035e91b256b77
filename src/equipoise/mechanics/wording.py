"""Mechanics in the words of a table: the states, actions, outcomes and the start of a named world, and how it steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from equipoise.models import Mechanics, Model
from equipoise.models.labels import Label

Law = Callable[[str, Any, Any], Label]


def in_the_words_of(
    table: Model,
    step: Callable[..., Any],
    noises: Mapping[str, Iterable[Label]],
    usual: Mapping[str, Any],
    law: Law | None = None,
    given: Mapping[str, Any] | None = None,
) -> Mechanics:
    """Mechanics whose states and actions are those of a table, in the same order.

    Parameters
    ----------
    table : Model
        A world with labels. It has checked the parameters that it shares with the mechanics.
    step, noises, law, given, usual
        As for `Mechanics`.
    """
    labels = table.labels
    offered = {labels.state(s): [labels.action(s, a) for a in range(n)] for s, n in enumerate(table.n_actions)}
    return Mechanics(
        step,
        start=labels.state(table.start),
        actions=offered.__getitem__,
        outcomes=[labels.outcome(k) for k in range(table.n_outcomes)],
        noises=noises,
        law=law,
        given=given,
        usual=usual,
        states=offered,
    )
