r"""A system whose dynamics are known and whose probability distributions ("laws") are not.

A `Mechanics` is made of a step function in plain Python and of what is drawn at a step: noises with finite supports. It
is evaluated once for everything that can happen. ``mechanics.space`` is what an agent knows: everything but the laws.
``mechanics.model(demand=[...])`` is a model in which they are given. Noises for which ``law(noise, state, action)``
returns equal labels have the same law, and what is seen of it in one pair holds for all.

Several noises are drawn in the order in which they are named, and independently. An optimistic plan may choose the law
of a later one again for each value of an earlier one. That only enlarges the set of models that it looks at, so that
optimism holds; docs/mechanics.md has what it costs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._checks import suggest
from equipoise._types import Index, Vector
from equipoise.errors import ModelError
from equipoise.models.branches import Branches
from equipoise.models.checks import SUM_TOLERANCE, check_distribution, check_integer, check_list, check_numbers
from equipoise.models.labels import Label, Labels, check_column, check_distinct
from equipoise.models.laws.build import StepDescription, build_laws, join_labels, law_name
from equipoise.models.laws.enumerate import Noise, Step, StepTable, enumerate_steps
from equipoise.models.model import Model
from equipoise.models.space import Space, count_pairs

Probabilities = ArrayLike | Mapping[Any, float]
_LIMIT: Final = 1_000_000


@final
class Mechanics:
    """Known dynamics, unknown distributions; a `ModelError` names the state, the action and the noise of an error.

    Parameters
    ----------
    step : callable
        ``step(state, action, **noise)`` returns the next state, and the outcomes as a sequence or by name. It may
        depend on nothing but its arguments.
    start : hashable
        The first state: any label.
    actions : iterable, or callable
        The labels of the actions of all states, or a function of the state that returns those of it.
    outcomes : sequence of str
        The names of the outcomes.
    noises : mapping
        What is drawn at a step, in the order in which it is drawn: the values that each can have, by name.
    law : callable, optional
        ``law(noise, state, action)`` returns a label for the law that a noise has there. None: one for all.
    given : mapping, optional
        Laws that are known, as for `model`; the others are learnt.
    hidden : sequence of str
        Noises that are not seen, but inferred from the next state, the outcomes, and the noises that are.
    usual : mapping, optional
        Default laws of `model`, in the same form; the agent does not know them.
    states : iterable, optional
        All states. None: those that are found from the start.
    limit : int
        The largest number of states to find.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, when it takes longer than a second.

    Attributes
    ----------
    space : Space
        What an agent knows.
    labels : Labels
        Of states, actions and outcomes.
    laws : dict
        The labels of the laws of each noise; [None] for one that has only one.

    Examples
    --------
    A shop with room for three. It may order one, which comes after the customers.

    >>> def step(stock, order, demand):
    ...     sold = min(stock, demand)
    ...     return min(3, stock - sold + order), [sold / demand if demand else 1.0, 1.0 - (stock - sold) / 3]
    >>> shop = Mechanics(step, start=3, actions=[0, 1], outcomes=["fill", "low stock"], noises={"demand": range(3)})
    >>> shop
    Mechanics(4 states, 8 pairs, 2 outcomes, start=3; laws: demand)
    >>> shop.model(demand=[0.5, 0.25, 0.25]).means[0].tolist()
    [1.0, 0.25]
    """

    def __init__(
        self,
        step: Step,
        start: Label,
        actions: Iterable[Label] | Callable[[Any], Iterable[Label]],
        outcomes: Sequence[str],
        noises: Mapping[str, Iterable[Label]],
        law: Callable[[str, Any, Any], Label] | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        hidden: Sequence[str] = (),
        usual: Mapping[str, Any] | None = None,
        states: Iterable[Label] | None = None,
        limit: int = _LIMIT,
        progress: bool | None = None,
    ) -> None:
        if not callable(step):
            raise ModelError(f"step: got {step!r}; a function of state, action and noises is needed")
        names = [str(name) for name in check_distinct(outcomes, "outcomes")]
        drawn = _check_noises(noises, names)
        offered = actions if callable(actions) else check_list(actions, "actions")
        limit = check_integer(limit, "limit", 1)
        table = enumerate_steps(step, start, offered, names, drawn, states, limit, progress)
        self._table = table
        self._noises = drawn
        self._law_labels, self._law_of = _laws_of(law, table, drawn)
        self.laws: Mapping[str, Sequence[Label]] = {
            noise.name: list(labels) for noise, labels in zip(drawn, self._law_labels, strict=True)
        }
        self._given = self._check_laws(given or {}, "given")
        self._usual = self._check_laws(usual or {}, "usual")
        offered_labels: list[Sequence[Label]] = [list(row) for row in table.actions]
        self.labels = Labels(states=table.states, actions=offered_labels, outcomes=names)
        self._first_pair = count_pairs(len(row) for row in table.actions)
        self._hidden = _check_hidden(hidden, drawn)
        n_pairs, n_outcomes = table.next.shape[0], len(names)
        self.space: Space = Space.from_arrays(
            self._first_pair,
            table.start,
            np.zeros(n_pairs, np.bool_),
            np.zeros((n_pairs, n_outcomes)),
            self.labels,
            build_laws(StepDescription(table, drawn, self._law_labels, self._law_of, self._given, self._hidden)),
        )

    @property
    def usual(self) -> Mapping[str, Any]:
        """The default laws of `model`, read-only."""
        return MappingProxyType(self._by_noise(self._usual))

    def model(self, **laws: Any) -> Model:
        """Return a model with these laws; a `ModelError` if one is missing, unknown, or not a distribution.

        Parameters
        ----------
        **laws
            By the name of the noise: the probabilities of its values, in their order or by value. For a noise with
            several laws, a mapping from their labels to such. Given and usual laws need not be repeated. If one
            replaces a given law, `simulate` refuses agents that were told the given one.

        Examples
        --------
        >>> def step(place, walk, slip):
        ...     return (place + (1 if walk and not slip else 0)) % 3, [float(place == 0)]
        >>> ring = Mechanics(step, 0, [False, True], ["home"], {"slip": [False, True]}, given={"slip": {True: 0.25}})
        >>> ring.model().transitions().toarray()[1].tolist()
        [0.25, 0.75, 0.0]
        >>> ring.model(slip=[0.5, 0.5]).transitions().toarray()[1].tolist()
        [0.5, 0.5, 0.0]
        """
        given = self._usual | self._given | self._check_laws(laws, "model")
        for noise, labels in zip(self._noises, self._law_labels, strict=True):
            for label in labels:
                if (noise.name, label) not in given:
                    raise ModelError(f"model: the law of {law_name(noise.name, label, labels)} is missing")
        table, chances = self._table, self._chances(given)
        taken = chances > 0.0
        branches = Branches(
            first_pair=self._first_pair,
            first=count_pairs(taken.sum(axis=1)),
            probability=chances[taken],
            next=table.next[taken],
            row=table.row[taken],
            rows=table.rows,
        )
        model = Model.from_parts(branches, table.start, "none", (), self.labels)
        assert self.space.laws is not None
        return model.with_laws(self.space.laws, np.flatnonzero(taken.ravel()).astype(np.int64))

    def _chances(self, given: Mapping[tuple[str, Label], Vector]) -> Vector:
        """The probability of every combination of noises, one row per pair."""
        P, N = self._table.next.shape
        chances = np.empty((P, N))
        which, inverse = np.unique(self._law_of, axis=0, return_inverse=True)
        for i, row in enumerate(which):
            joint = np.ones(1)
            for noise, labels, number in zip(self._noises, self._law_labels, row, strict=True):
                joint = np.multiply.outer(joint, given[noise.name, labels[number]]).ravel()
            chances[inverse.ravel() == i] = joint
        return chances

    def _check_laws(self, laws: Mapping[str, Any], name: str) -> dict[tuple[str, Label], Vector]:
        """Distributions by noise and label."""
        if not isinstance(laws, Mapping):
            raise ModelError(f"{name}: got {laws!r}; a mapping from noises to probabilities is needed")
        by_name = {noise.name: (noise, labels) for noise, labels in zip(self._noises, self._law_labels, strict=True)}
        checked: dict[tuple[str, Label], Vector] = {}
        for noise_name, content in laws.items():
            if noise_name not in by_name:
                known = ", ".join(by_name)
                raise ModelError(
                    f"{name}: there is no noise {noise_name!r}{suggest(str(noise_name), list(by_name))}; "
                    f"the noises are {known}"
                )
            noise, labels = by_name[noise_name]
            if tuple(labels) == (None,):
                checked[noise_name, None] = _distribution(content, noise, f"{name}, {noise_name}")
                continue
            if not isinstance(content, Mapping):
                raise ModelError(
                    f"{name}, {noise_name}: it has {len(labels)} laws, {join_labels(labels)}; a mapping from these "
                    "labels to probabilities is needed"
                )
            for label, probabilities in content.items():
                if label not in labels:
                    raise ModelError(f"{name}, {noise_name}: there is no law {label!r}; they are {join_labels(labels)}")
                checked[noise_name, label] = _distribution(probabilities, noise, f"{name}, {noise_name}, {label!r}")
        return checked

    def _by_noise(self, laws: Mapping[tuple[str, Label], Vector]) -> dict[str, Any]:
        """Checked laws in the form in which they are given."""
        told: dict[str, Any] = {}
        for (name, label), chances in laws.items():
            law = tuple(chances.tolist())
            if self.laws[name] == [None]:
                told[name] = law
            else:
                told.setdefault(name, {})[label] = law
        return {name: MappingProxyType(law) if isinstance(law, dict) else law for name, law in told.items()}

    def __setattr__(self, name: str, value: object) -> None:
        if "space" in self.__dict__:  # which is set last
            raise AttributeError(f"a Mechanics is immutable: {name} cannot be set")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        laws = ", ".join(law_name(n, label, labels) for n, labels in self.laws.items() for label in labels)
        space = self.space
        size = f"{space.n_states} states, {space.n_pairs} pairs, {space.n_outcomes} outcomes"
        return f"Mechanics({size}, start={self.labels.state(space.start)!r}; laws: {laws})"


def _check_noises(noises: Any, outcomes: Sequence[str]) -> tuple[Noise, ...]:
    if not isinstance(noises, Mapping):
        raise ModelError(f"noises: got {noises!r}; a mapping from names to values is needed")
    checked: list[Noise] = []
    for name, values in noises.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ModelError(f"noises: got the name {name!r}; it is an argument of step, and must be a name")
        check_column(name, "noises")
        if name in outcomes:
            raise ModelError(f"noises: {name!r} is an outcome too, and a log has one column for each; rename one")
        checked.append(Noise(name, check_distinct(values, f"noises, {name}")))
    return tuple(checked)


def _check_hidden(hidden: Any, noises: Sequence[Noise]) -> tuple[str, ...]:
    names = check_list(hidden, "hidden")
    known = [noise.name for noise in noises]
    for name in names:
        if name not in known:
            raise ModelError(
                f"hidden: there is no noise {name!r}{suggest(str(name), known)}; they are {join_labels(known)}"
            )
    return tuple(name for name in known if name in names)


def _laws_of(
    law: Callable[[str, Any, Any], Label] | None, table: StepTable, noises: Sequence[Noise]
) -> tuple[list[tuple[Label, ...]], Index]:
    """The labels of the laws of each noise, and for each pair which of them it has."""
    pairs = table.pairs
    numbers = np.zeros((len(pairs), len(noises)), dtype=np.int64)
    if law is None:
        return [(None,)] * len(noises), numbers
    found: list[dict[Label, int]] = [{} for _ in noises]
    calls = list(itertools.product(enumerate(pairs), enumerate(noises)))
    for (p, (state, action)), (j, noise) in calls:
        label = _labelled(law, noise, state, action)
        numbers[p, j] = found[j].setdefault(label, len(found[j]))
    for (p, (state, action)), (j, noise) in reversed(calls):  # so that what remembers something is found out
        label = _labelled(law, noise, state, action)
        if found[j].get(label) != numbers[p, j]:
            first = list(found[j])[numbers[p, j]]
            raise ModelError(
                f"law, {noise.name}, state {state!r}, action {action!r}: it returned {first!r} the first time and "
                f"{label!r} the second; it may depend on nothing but its arguments"
            )
    return [tuple(labels) for labels in found], numbers


def _labelled(law: Callable[[str, Any, Any], Label], noise: Noise, state: Label, action: Label) -> Label:
    """The label of a law, which must be hashable."""
    try:
        label = law(noise.name, state, action)
        hash(label)
    except Exception as error:
        place = f"law, {noise.name}, state {state!r}, action {action!r}"
        raise ModelError(f"{place}: it raised {type(error).__name__}: {error}") from error
    return label


def _distribution(content: Any, noise: Noise, name: str) -> Vector:
    """The probabilities of the values of a noise, in their order."""
    if isinstance(content, Mapping):
        for value in content:
            if value not in noise.support:
                raise ModelError(f"{name}: {value!r} is not one of its values, {join_labels(noise.support)}")
        chances = [content.get(value) for value in noise.support]
        missing = [i for i, chance in enumerate(chances) if chance is None]
        if len(missing) == 1:  # what is left, but for rounding
            left = 1.0 - float(check_numbers([chance for chance in chances if chance is not None], name).sum())
            chances[missing[0]] = left if left < -SUM_TOLERANCE else max(0.0, left)
        content = [0.0 if chance is None else chance for chance in chances]
    return check_distribution(content, name, len(noise.support), "value", labels=noise.support)
