"""A system as one step function, from which come its mechanics and its tables; and the shapes of its usual laws.

`System.mechanics` makes a `Mechanics`, whose laws an agent learns; `System.table` makes a `Model` in which the laws are
given. The branches of a pair are the combinations of noise, in the order in which the noises list them; those of equal
next state and outcomes are one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise._checks import check_int
from equipoise.errors import ModelError
from equipoise.models.branches import Branches
from equipoise.models.labels import Label, Labels
from equipoise.models.mechanics import Mechanics
from equipoise.models.model import Model
from equipoise.models.space import count_pairs

_LARGEST_SIZE: Final = 1_000  # of anything that is counted by a noise
Chances = Sequence[float]
Chosen = Mapping[Label, Chances] | Chances  # the laws of a noise by label, or its only one


class System(NamedTuple):
    """A system whose steps are known; `law` is None if every noise has one law, and `given` are laws that are known."""

    step: Callable[..., tuple[Label, Sequence[float]]]
    start: Label
    states: Sequence[Label]
    actions: Sequence[Label] | Mapping[Any, Sequence[Label]]  # of all states, or of each
    outcomes: Sequence[str]
    noises: Mapping[str, Sequence[Label]]
    law: Callable[[str, Any, Any], Label] | None = None
    given: Mapping[str, Mapping[Label, Chances]] | None = None

    def mechanics(self, usual: Mapping[str, Any]) -> Mechanics:
        """The mechanics, with laws that a model takes where it is given no others."""
        actions = self.actions.__getitem__ if isinstance(self.actions, Mapping) else self.actions
        return Mechanics(
            self.step,
            start=self.start,
            actions=actions,
            outcomes=self.outcomes,
            noises=self.noises,
            law=self.law,
            given=self.given,
            usual=usual,
            states=self.states,
        )

    def table(self, laws: Mapping[str, Chosen], known: Iterable[tuple[int, int]] = (), noise: str = "none") -> Model:
        """The model in which the laws are these; `known` and `noise` are as for `Model.from_branches`."""
        number = {state: s for s, state in enumerate(self.states)}
        by_state = self.actions if isinstance(self.actions, Mapping) else dict.fromkeys(self.states, self.actions)
        draws: dict[tuple[Label, ...], list[tuple[float, dict[str, Label]]]] = {}
        rows: dict[tuple[float, ...], int] = {}
        sizes: list[int] = []
        cases: list[tuple[int, int]] = []  # a next state, and a row of outcomes
        chances: list[float] = []
        for state, action in [(s, a) for s in self.states for a in by_state[s]]:
            drawn_from = tuple(self.law(name, state, action) if self.law else None for name in self.noises)
            if drawn_from not in draws:
                draws[drawn_from] = self._combinations(laws, drawn_from)
            merged: dict[tuple[int, int], float] = {}
            for chance, drawn in draws[drawn_from]:
                after, outcomes = self.step(state, action, **drawn)
                case = (number[after], rows.setdefault(tuple(outcomes), len(rows)))
                merged[case] = merged.get(case, 0.0) + chance
            sizes.append(len(merged))
            cases += merged
            chances += merged.values() if len(merged) > 1 else [1.0]  # which a sum may miss by rounding
        branches = Branches(
            first_pair=count_pairs(len(by_state[state]) for state in self.states),
            first=count_pairs(sizes),
            probability=np.array(chances),
            next=np.array([after for after, _ in cases], dtype=np.int64),
            row=np.array([row for _, row in cases], dtype=np.int64),
            rows=np.array(list(rows), dtype=np.float64),
        )
        actions = list(map(list, by_state.values())) if isinstance(self.actions, Mapping) else self.actions
        labels = Labels(self.states, actions, self.outcomes)
        return Model.from_parts(branches, number[self.start], noise, known, labels)

    def _combinations(
        self, laws: Mapping[str, Chosen], drawn_from: Sequence[Label]
    ) -> list[tuple[float, dict[str, Label]]]:
        """All values that can be drawn together from laws of these labels, with their probabilities."""
        each: list[list[tuple[float, Label]]] = []
        for (name, support), label in zip(self.noises.items(), drawn_from, strict=True):
            given, chosen = (self.given or {}).get(name, {}), laws.get(name, {})
            chances = given[label] if label in given else chosen[label] if isinstance(chosen, Mapping) else chosen
            drawn = zip(map(float, chances), support, strict=True)
            each.append([(chance, value) for chance, value in drawn if chance > 0.0])
        return [
            (math.prod(chance for chance, _ in one), dict(zip(self.noises, (value for _, value in one), strict=True)))
            for one in itertools.product(*each)
        ]


def format_amount(amount: float) -> str:
    """Write an amount for a label, exactly and without needless zeros."""
    return repr(float(amount)).removesuffix(".0")


def check_size(x: Any, name: str, low: int = 1) -> int:
    """A whole number of at least `low`, or an error that names it."""
    return check_int(x, name, low, _LARGEST_SIZE, error=ModelError)


def coin(chance: float) -> list[float]:
    """The law of something that happens or not: of False, then of True."""
    return [1.0 - float(chance), float(chance)]


def triangle(n: int) -> list[float]:
    """Weights 2, 3, 4, ... that rise to the middle of n values and fall again."""
    weights = [2 + min(i, n - 1 - i) for i in range(n)]
    return [weight / sum(weights) for weight in weights]


def binomial(n: int, chance: float) -> list[float]:
    """The law of how many of n happen, each by itself with that chance."""
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, coin(chance))
    return [float(x) for x in law / law.sum()]


def interpolate(known: Sequence[float], n: int) -> list[float]:
    """Values known at evenly spaced places, at n such places, linearly in between."""
    places = np.linspace(0.0, 1.0, n)
    return [float(x) for x in np.interp(places, np.linspace(0.0, 1.0, len(known)), known)]


def neighbour_chain(n: int, chance: float = 0.1) -> list[list[float]]:
    """A chain over n places that goes to each neighbour with that chance, and else stays."""
    chain = np.diag(np.full(n - 1, chance), 1) + np.diag(np.full(n - 1, chance), -1)
    chain += np.diag(1.0 - chain.sum(axis=1))
    return [[float(x) for x in row] for row in chain]
