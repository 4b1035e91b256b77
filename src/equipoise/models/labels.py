"""Labels of the states, actions and outcomes of a model.

Kernels, files and agents work with numbers; people read labels. Two spaces that differ in their labels only are equal,
and a run is bit-identical with labels and without.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias, final

import numpy as np

from equipoise._checks import suggest
from equipoise.errors import FileError, ModelError
from equipoise.models.checks import check_list

__all__ = ["RESERVED", "Label", "Labels", "as_column", "check_column", "check_labels", "text", "texts"]

Label: TypeAlias = Hashable
Row: TypeAlias = tuple[Label, ...]

_LISTED: Final = 6  # labels that a message lists
RESERVED: Final = ("t", "state", "action", "next_state", "state_label", "action_label", "next_state_label")
"""The columns of a log that are neither outcomes nor noises."""


@final
class Labels:
    """Labels of states, actions and outcomes, each of them optional; immutable.

    Where there are no labels the number itself is the label. A `ModelError` names a label that is not hashable, occurs
    twice, or (of an outcome) is not a text or the name of another column.

    Parameters
    ----------
    states : sequence, optional
        One label per state, all different: texts, numbers, tuples, anything hashable.
    actions : sequence, optional
        One list of labels for all states, of which a state with n actions uses the first n; or a list of lists, one
        per state. A tuple within the list is a label, a list is the labels of a state.
    outcomes : sequence of str, optional
        One text per outcome, all different. They name columns of logs and traces, and must not be t, state, action,
        next_state, what ends in ``_label``, or ``outcome_1`` for any but outcome 1.

    Attributes
    ----------
    states, actions, outcomes : tuple, list of lists, or None
        As given; `actions` is a tuple if it is one for all states.

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
        shared, by_state = _parse_actions(actions)
        named = None if outcomes is None else check_distinct(outcomes, "labels, outcomes")
        for k, label in enumerate(named or ()):
            if not isinstance(label, str) or not label.strip():
                raise ModelError(f"labels, outcomes[{k}]: got {label!r}; a text is needed")
            check_column(label, f"labels, outcomes[{k}]", k)
        self.__dict__.update(
            states=None if states is None else check_distinct(states, "labels, states"),
            outcomes=named,
            _shared=shared,
            _by_state=by_state,
        )

    @property
    def actions(self) -> tuple[Label, ...] | list[list[Label]] | None:
        """The labels of the actions: a tuple if it is one for all states, else a list of lists."""
        return self._shared if self._by_state is None else [list(row) for row in self._by_state]

    def state(self, state: int) -> Label:
        """Return the label of a state.

        Parameters
        ----------
        state : int
            Its number.
        """
        return _get_label(self.states, state, "state")

    def action(self, state: int, action: int) -> Label:
        """Return the label of an action.

        Parameters
        ----------
        state, action : int
            Their numbers.
        """
        return _get_label(self._row(state), action, f"{self.name_state(state)}, action")

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
        return text(_get_label(self.outcomes, outcome, "outcome"))

    def state_index(self, label: Label) -> int:
        """Return the number of a state; a `ModelError` says which label is nearest if there is none.

        Parameters
        ----------
        label : hashable
            The label, or the number itself if the states have no labels.
        """
        return _find_number(label, self._state_numbers, "state")

    def action_index(self, state: int, label: Label) -> int:
        """Return the number of an action in a state.

        Parameters
        ----------
        state, label : int, hashable
            The number of the state, and the label of the action.
        """
        return _find_number(label, _number_labels(self._row(state)), f"{self.name_state(state)}, action")

    def outcome_index(self, label: str) -> int:
        """Return the number of an outcome.

        Parameters
        ----------
        label : str
            Its label.
        """
        return _find_number(label, _number_labels(self.outcomes), "outcome")

    def name_state(self, state: int) -> str:
        """Name a state by its number and its label, if it has one.

        Parameters
        ----------
        state : int
            Its number.
        """
        return f"state {state}{_label_suffix(self.states, state)}"

    def name_action(self, state: int, action: int) -> str:
        """Name an action by its number and its label.

        Parameters
        ----------
        state, action : int
            Their numbers.
        """
        return f"action {action}{_label_suffix(self._row(state), action)}"

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
        return f"outcome {outcome}{_label_suffix(self.outcomes, outcome)}"

    def check(self, n_actions: Sequence[int], n_outcomes: int) -> None:
        """Raise a `ModelError` unless there are as many labels as a model needs.

        Parameters
        ----------
        n_actions, n_outcomes
            How many actions each state has, and K.
        """
        S = len(n_actions)
        _check_count(self.states, "labels, states", S, "one for each state")
        _check_count(self.outcomes, "labels, outcomes", n_outcomes, "one for each outcome")
        _check_count(self._by_state, "labels, actions", S, "a list for each state")
        if self._by_state is not None:
            for s, (row, count) in enumerate(zip(self._by_state, n_actions, strict=True)):
                _check_count(row, f"labels, actions of {self.name_state(s)}", count, "one for each action")
        if self._shared is not None:
            most = int(np.argmax(n_actions))
            why = f"as many as {self.name_state(most)} has actions"
            _check_count(self._shared, "labels, actions", n_actions[most], why)

    def visits(self) -> Labels:
        """Return the labels of `Model.visits`: outcome k has the label of state k, quoted if a column has that name.

        >>> Labels(states=[(0, 1), "end"]).visits().outcomes, Labels(states=["on", "t"]).visits().outcomes
        (('(0, 1)', 'end'), ("'on'", "'t'"))
        """
        names = None if self.states is None else texts(self.states)
        if names is not None and any(_is_taken(name, k) for k, name in enumerate(names)):
            names = [repr(name) for name in names]
        return Labels(self.states, self.actions, names)

    def pack(self) -> dict[str, Any]:
        """Return the labels as JSON can hold them, empty if there are none.

        A `FileError` names a label that is not a text, a number, a truth value, None, or a tuple of these.
        """
        parts = {"states": self.states, "actions": self._shared, "outcomes": self.outcomes}
        content: dict[str, Any] = {
            name: [encode_label(one) for one in row] for name, row in parts.items() if row is not None
        }
        if self._by_state is not None:
            content["actions"] = [[encode_label(label) for label in row] for row in self._by_state]
        return content

    @classmethod
    def unpack(cls, content: Any) -> Labels:
        """Return the labels that `pack` gave.

        Parameters
        ----------
        content : mapping
            What `pack` returned, written as JSON and read again.

        Examples
        --------
        >>> labels = Labels(states=[(0, "a"), 1, "1"], actions=[["go"], ["go", "stay"], [("to", 2)]])
        >>> Labels.unpack(labels.pack()) == labels
        True
        """
        if not isinstance(content, Mapping) or not set(content) <= {"states", "actions", "outcomes"}:
            raise FileError("its labels are damaged")
        try:
            parts: dict[str, Any] = {
                name: [
                    [decode_label(one) for one in row] if isinstance(row, list) else decode_label(row) for row in rows
                ]
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
        return _number_labels(self.states)

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


def check_labels(labels: Any) -> Labels:
    """Return the labels that were given, empty ones for None."""
    if labels is None:
        return Labels()
    if not isinstance(labels, Labels):
        raise ModelError(f"labels: got {labels!r}; a Labels is needed, as in labels=eq.Labels(states=[...])")
    return labels


def _is_taken(name: str, outcome: int | None) -> bool:
    """Whether a name is that of another column of a log."""
    default = re.fullmatch(r"outcome_(0|[1-9]\d*)", name)
    return name in RESERVED or (default is not None and default[1] != str(outcome))


def check_column(name: str, where: str, outcome: int | None = None) -> None:
    """Raise a `ModelError` if an outcome or a noise is called like another column of a log."""
    if _is_taken(name, outcome):
        raise ModelError(f"{where}: {name!r} is the name of another column of logs and traces; choose another name")


def as_column(labels: Sequence[Label]) -> list[Any]:
    """Return labels as a column of one type: whole numbers if all are, else texts that tell them apart."""
    if all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
        return list(labels)
    distinct = list(dict.fromkeys(labels))
    words = dict(zip(distinct, texts(distinct), strict=True))
    return [words[label] for label in labels]


def text(label: Label) -> str:
    """Return a label as a text."""
    return label if isinstance(label, str) else str(label)


def texts(labels: Iterable[Label]) -> list[str]:
    """Return labels as texts that are as different as the labels are."""
    labels = list(labels)
    short = [text(label) for label in labels]
    return short if len(set(short)) == len(short) else [repr(label) for label in labels]


def _parse_actions(actions: Any) -> tuple[Row | None, tuple[Row, ...] | None]:
    """The labels of the actions: those for all states, or those of each."""
    if actions is None:
        return None, None
    rows = check_list(actions, "labels, actions")
    lists = [isinstance(row, list | range | np.ndarray) for row in rows]
    if not any(lists):
        return check_distinct(rows, "labels, actions"), None
    if not all(lists):
        s = lists.index(False)
        raise ModelError(f"labels, actions[{s}]: got {rows[s]!r}; a list is needed for every state, or for none")
    return None, tuple(check_distinct(row, f"labels, actions[{s}]") for s, row in enumerate(rows))


def check_distinct(labels: Any, name: str) -> Row:
    """Labels as a tuple, all hashable and different."""
    row: list[Label] = [one.item() if isinstance(one, np.generic) else one for one in check_list(labels, name)]
    if not row:
        raise ModelError(f"{name}: got no labels; at least one is needed")
    first: dict[Label, int] = {}
    for i, label in enumerate(row):
        try:
            before = first.setdefault(label, i)
        except TypeError:
            raise ModelError(f"{name}[{i}]: got {label!r}; a label must be hashable: a text, a tuple...") from None
        if label != label:
            raise ModelError(f"{name}[{i}]: got {label!r}, which is not equal to itself and could not be looked up")
        if before != i:
            raise ModelError(f"{name}[{i}]: {label!r} is the label of number {before} already; labels must differ")
    return tuple(row)


def _check_count(row: Sequence[Any] | None, name: str, count: int, why: str) -> None:
    if row is not None and len(row) != count:
        raise ModelError(f"{name}: got {len(row)}; {count} are needed, {why}")


def _number_labels(row: Sequence[Label] | None) -> dict[Label, int] | None:
    return None if row is None else {label: i for i, label in enumerate(row)}


def _index(x: Any, name: str) -> int:
    try:
        number = operator.index(x)
    except TypeError:
        number = -1
    if number < 0:
        raise ModelError(f"{name}: got {x!r}; the number of one is needed, counted from 0")
    return number


def _get_label(row: Sequence[Label] | None, index: Any, name: str) -> Label:
    """The label at an index, or the index itself where there are none."""
    number = _index(index, name)
    if row is None:
        return number
    if number >= len(row):
        raise ModelError(f"{name}: got {number}; it must be below {len(row)}")
    return row[number]


def _find_number(label: Any, numbers: Mapping[Label, int] | None, name: str) -> int:
    if numbers is None:
        return _index(label, name)
    try:
        number = numbers.get(label)
    except TypeError:
        number = None
    if number is None:
        by_text = {text(one): one for one in numbers}
        listed = ", ".join(repr(one) for one in list(numbers)[:_LISTED]) + (", ..." if len(numbers) > _LISTED else "")
        raise ModelError(f"{name}: there is no {label!r}{suggest(text(label), by_text)}; the labels are {listed}")
    return number


def _label_suffix(row: Sequence[Label] | None, index: int) -> str:
    """A label as it stands behind its number in a message."""
    if row is None or not 0 <= index < len(row):
        return ""
    label = row[index]
    if isinstance(label, tuple):
        return f" {label!r}"
    return f' ("{label}")' if isinstance(label, str) else f" ({label!r})"


def encode_label(label: Label) -> Any:
    """Return a label as JSON can hold it."""
    if isinstance(label, tuple):
        return {"tuple": [encode_label(part) for part in label]}
    if label is None or isinstance(label, str | bool | int | float):
        return label
    raise FileError(
        f"the label {label!r} is of type {type(label).__name__}; only texts, numbers, None and tuples of these can be "
        "written to a file"
    )


def decode_label(content: Any) -> Label:
    """Return the label that `encode_label` wrote."""
    if isinstance(content, Mapping) and set(content) == {"tuple"}:
        return tuple(decode_label(part) for part in content["tuple"])
    if isinstance(content, Mapping) or not isinstance(content, Hashable):
        raise ModelError(f"{content!r} is no label")
    return content
