"""What the states, actions and outcomes of a world are called.

Kernels, files and agents speak in numbers; people read "the shop is empty" rather than "state 0". A `Labels` holds
the words and translates both ways. It belongs to a model or a space and changes nothing in it: two spaces that
differ in their labels only are equal, and a run is the same to the last bit with labels and without.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, final

import numpy as np

from equipoise.errors import FileError, ModelError
from equipoise.models._label_rows import (
    Label,
    Row,
    at,
    check_count,
    checked_actions,
    distinct,
    number_of,
    numbers,
    plain,
    rich,
    shown,
    text,
    texts,
)

__all__ = ["Label", "Labels", "as_column", "checked_labels", "text", "texts"]


@final
class Labels:
    """Names for states, actions and outcomes, each of them optional; immutable.

    Where there are no labels the number itself is the label, so that whoever shows them need not ask.

    Parameters
    ----------
    states : sequence, optional
        One label a state, all different: texts, numbers, tuples, anything hashable.
    actions : sequence, optional
        One list of labels for all states, of which a state with n actions uses the first n; or a list of lists, one
        a state. A tuple within the list is a label, a list is the labels of a state.
    outcomes : sequence of str, optional
        One text an outcome, all different.

    Attributes
    ----------
    states : tuple or None
        As given.
    actions : tuple, list of lists, or None
        As given: a tuple if it is one for all states.
    outcomes : tuple of str or None
        As given.

    Raises
    ------
    ModelError
        When a label is not hashable or occurs twice, or an outcome's is no text.

    Examples
    --------
    >>> labels = Labels(states=["empty", "full"], actions=["wait", "order 5"], outcomes=["sales"])
    >>> labels.state(1), labels.state_index("full"), labels.action_index(0, "order 5")
    ('full', 1, 1)
    >>> labels.name_pair(0, 1)
    'state 0 ("empty"), action 1 ("order 5")'
    >>> labels.state_index("ful")
    Traceback (most recent call last):
        ...
    equipoise.errors.ModelError: state: there is no 'ful' (did you mean 'full'?); the labels are 'empty', 'full'
    >>> Labels().state(3), Labels().name_state(3)
    (3, 'state 3')
    """

    states: tuple[Label, ...] | None
    outcomes: tuple[str, ...] | None
    _shared: Row | None
    _by_state: tuple[Row, ...] | None

    def __init__(
        self,
        states: Iterable[Label] | None = None,
        actions: Iterable[Label] | Iterable[Sequence[Label]] | None = None,
        outcomes: Iterable[str] | None = None,
    ) -> None:
        shared, by_state = checked_actions(actions)
        named = None if outcomes is None else distinct(outcomes, "labels, outcomes")
        for k, label in enumerate(named or ()):
            if not isinstance(label, str) or not label.strip():
                raise ModelError(f"labels, outcomes[{k}]: got {label!r}; a text is needed")
        self.__dict__.update(
            states=None if states is None else distinct(states, "labels, states"),
            outcomes=named,
            _shared=shared,
            _by_state=by_state,
        )

    @property
    def actions(self) -> tuple[Label, ...] | list[list[Label]] | None:
        """The labels of the actions: a tuple if it is one for all states, else a list of lists."""
        return self._shared if self._by_state is None else [list(row) for row in self._by_state]

    # -- from numbers to labels --------------------------------------------------------------------------------

    def state(self, state: int) -> Label:
        """Return the label of a state.

        Parameters
        ----------
        state : int
            Its number.
        """
        return at(self.states, state, "state")

    def action(self, state: int, action: int) -> Label:
        """Return the label of an action.

        Parameters
        ----------
        state, action : int
            The numbers of the state and of the action in it.
        """
        return at(self._row(state), action, f"{self.name_state(state)}, action")

    def outcome(self, outcome: int) -> str:
        """Return the label of an outcome, or its number as a text.

        Parameters
        ----------
        outcome : int
            Its number.

        Examples
        --------
        >>> Labels().outcome(2), Labels(outcomes=["fill rate"]).outcome(0)
        ('2', 'fill rate')
        """
        return text(at(self.outcomes, outcome, "outcome"))

    # -- from labels to numbers --------------------------------------------------------------------------------

    def state_index(self, label: Label) -> int:
        """Return the number of the state of that label.

        Parameters
        ----------
        label : hashable
            The label, or the number itself if the states have no labels.

        Raises
        ------
        ModelError
            When there is none; the message says which is nearest.
        """
        return number_of(label, self._state_numbers, "state")

    def action_index(self, state: int, label: Label) -> int:
        """Return the number of the action of that label in a state.

        Parameters
        ----------
        state : int
            The number of the state.
        label : hashable
            The label of the action.
        """
        row = self._row(state)
        return number_of(label, None if row is None else numbers(row), f"{self.name_state(state)}, action")

    def outcome_index(self, label: str) -> int:
        """Return the number of the outcome of that label.

        Parameters
        ----------
        label : str
            The label of the outcome.
        """
        return number_of(label, None if self.outcomes is None else numbers(self.outcomes), "outcome")

    # -- for messages ------------------------------------------------------------------------------------------

    def name_state(self, state: int) -> str:
        """Name a state by its number and its label.

        Parameters
        ----------
        state : int
            Its number; one without a label is named by that alone.
        """
        return f"state {state}{shown(self.states, state)}"

    def name_action(self, state: int, action: int) -> str:
        """Name an action by its number and its label.

        Parameters
        ----------
        state, action : int
            The numbers of the state and of the action in it.
        """
        return f"action {action}{shown(self._row(state), action)}"

    def name_pair(self, state: int, action: int) -> str:
        """Name a state and an action in it.

        Parameters
        ----------
        state, action : int
            Their numbers.
        """
        return f"{self.name_state(state)}, {self.name_action(state, action)}"

    def name_outcome(self, outcome: int) -> str:
        """Name an outcome by its number and its label.

        Parameters
        ----------
        outcome : int
            Its number.
        """
        return f"outcome {outcome}{shown(self.outcomes, outcome)}"

    # -- with a world ------------------------------------------------------------------------------------------

    def check(self, n_actions: Sequence[int], n_outcomes: int) -> None:
        """Raise a `ModelError` unless there are as many labels as a world needs.

        Parameters
        ----------
        n_actions : sequence of int
            How many actions each state has.
        n_outcomes : int
            K.
        """
        S = len(n_actions)
        check_count(self.states, "labels, states", S, "one for each state")
        check_count(self.outcomes, "labels, outcomes", n_outcomes, "one for each outcome")
        check_count(self._by_state, "labels, actions", S, "a list for each state")
        if self._by_state is not None:
            for s, (row, count) in enumerate(zip(self._by_state, n_actions, strict=True)):
                check_count(row, f"labels, actions of {self.name_state(s)}", count, "one for each action")
        if self._shared is not None:
            most = int(np.argmax(n_actions))
            why = f"as many as {self.name_state(most)} has actions"
            check_count(self._shared, "labels, actions", n_actions[most], why)

    def visits(self) -> Labels:
        """Return the labels of the world of visits: outcome k is called after state k.

        >>> Labels(states=[(0, 1), "end"]).visits().outcomes
        ('(0, 1)', 'end')
        """
        return Labels(self.states, self.actions, None if self.states is None else texts(self.states))

    # -- in files ----------------------------------------------------------------------------------------------

    def stored(self) -> dict[str, Any]:
        """Return the labels as JSON can hold them; empty if there are none.

        Raises
        ------
        FileError
            When a label is not a text, a number, a truth value, None, or a tuple of these.
        """
        parts = {"states": self.states, "actions": self._shared, "outcomes": self.outcomes}
        content: dict[str, Any] = {name: [plain(one) for one in row] for name, row in parts.items() if row is not None}
        if self._by_state is not None:
            content["actions"] = [[plain(label) for label in row] for row in self._by_state]
        return content

    @classmethod
    def from_stored(cls, content: Any) -> Labels:
        """Return the labels that `stored` gave.

        Parameters
        ----------
        content : mapping
            What `stored` returned, after it has been written as JSON and read again.

        Examples
        --------
        >>> labels = Labels(states=[(0, "a"), 1, "1"], actions=[["go"], ["go", "stay"], [("to", 2)]])
        >>> Labels.from_stored(labels.stored()) == labels
        True
        """
        if not isinstance(content, Mapping) or not set(content) <= {"states", "actions", "outcomes"}:
            raise FileError("its labels are damaged")
        try:
            parts: dict[str, Any] = {
                name: [[rich(one) for one in row] if isinstance(row, list) else rich(row) for row in rows]
                for name, rows in content.items()
            }
            return cls(**parts)
        except (ModelError, TypeError) as error:
            raise FileError(f"its labels are damaged ({error})") from None

    def _row(self, state: int) -> Row | None:
        """The labels of the actions of a state, of which there may be more than the state has actions."""
        if self._by_state is None:
            return self._shared
        return self._by_state[state] if 0 <= state < len(self._by_state) else None

    @functools.cached_property
    def _state_numbers(self) -> Mapping[Label, int] | None:
        return None if self.states is None else numbers(self.states)

    def _key(self) -> tuple[Any, ...]:
        return self.states, self._shared, self._by_state, self.outcomes

    def __bool__(self) -> bool:
        """Whether anything has a label."""
        return any(part is not None for part in self._key())

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Labels) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Labels is immutable: {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return Labels, (self.states, self.actions, self.outcomes)

    def __repr__(self) -> str:
        given = {"states": self.states, "actions": self.actions, "outcomes": self.outcomes}
        return f"Labels({', '.join(f'{name}={part!r}' for name, part in given.items() if part is not None)})"


def checked_labels(labels: Any) -> Labels:
    """Return the labels that were given, those without any for None, or raise an error that says what is needed."""
    if labels is None:
        return Labels()
    if not isinstance(labels, Labels):
        raise ModelError(f"labels: got {labels!r}; a Labels is needed, as in labels=eq.Labels(states=[...])")
    return labels


def as_column(labels: Sequence[Label]) -> list[Any]:
    """Labels as a column of one type: whole numbers if all are, else texts that tell them apart."""
    if all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
        return list(labels)
    distinct = list(dict.fromkeys(labels))
    words = dict(zip(distinct, texts(distinct), strict=True))
    return [words[label] for label in labels]
