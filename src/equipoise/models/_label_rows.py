"""Rows of labels: checked, looked up in both directions, shown in messages, written to files."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np

from equipoise._words import nearest
from equipoise.errors import FileError, ModelError
from equipoise.models._checks import checked_list

Label: TypeAlias = Hashable
Row: TypeAlias = tuple[Label, ...]

_LISTED: Final = 6  # labels that a message lists


def text(label: Label) -> str:
    """Return a label as a text.

    >>> text("empty"), text((1, 2))
    ('empty', '(1, 2)')
    """
    return label if isinstance(label, str) else str(label)


def texts(labels: Iterable[Label]) -> list[str]:
    """Return labels as texts that are as different as the labels are.

    >>> texts([(1, 2), "end"]), texts([1, "1"])
    (['(1, 2)', 'end'], ['1', "'1'"])
    """
    labels = list(labels)
    short = [text(label) for label in labels]
    return short if len(set(short)) == len(short) else [repr(label) for label in labels]


def checked_actions(actions: Any) -> tuple[Row | None, tuple[Row, ...] | None]:
    """The labels of the actions: those for all states, or those of each."""
    if actions is None:
        return None, None
    rows = checked_list(actions, "labels, actions")
    lists = [isinstance(row, list | range | np.ndarray) for row in rows]
    if not any(lists):
        return distinct(rows, "labels, actions"), None
    if not all(lists):
        s = lists.index(False)
        raise ModelError(f"labels, actions[{s}]: got {rows[s]!r}; a list is needed for every state, or for none")
    return None, tuple(distinct(row, f"labels, actions[{s}]") for s, row in enumerate(rows))


def distinct(labels: Any, name: str) -> Row:
    """Labels as a tuple, all hashable and different."""
    row: list[Label] = [one.item() if isinstance(one, np.generic) else one for one in checked_list(labels, name)]
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


def check_count(row: Sequence[Any] | None, name: str, count: int, why: str) -> None:
    if row is not None and len(row) != count:
        raise ModelError(f"{name}: got {len(row)}; {count} are needed, {why}")


def numbers(row: Sequence[Label]) -> dict[Label, int]:
    return {label: i for i, label in enumerate(row)}


def _index(x: Any, name: str) -> int:
    try:
        number = operator.index(x)
    except TypeError:
        number = -1
    if number < 0:
        raise ModelError(f"{name}: got {x!r}; the number of one is needed, counted from 0")
    return number


def at(row: Sequence[Label] | None, index: Any, name: str) -> Label:
    """The label at an index, or the index itself where there are none."""
    number = _index(index, name)
    if row is None:
        return number
    if number >= len(row):
        raise ModelError(f"{name}: got {number}; it must be below {len(row)}")
    return row[number]


def number_of(label: Any, numbers: Mapping[Label, int] | None, name: str) -> int:
    if numbers is None:
        return _index(label, name)
    try:
        number = numbers.get(label)
    except TypeError:
        number = None
    if number is None:
        by_text = {text(one): one for one in numbers}
        listed = ", ".join(repr(one) for one in list(numbers)[:_LISTED]) + (", ..." if len(numbers) > _LISTED else "")
        raise ModelError(f"{name}: there is no {label!r}{nearest(text(label), by_text)}; the labels are {listed}")
    return number


def shown(row: Sequence[Label] | None, index: int) -> str:
    """A label as it stands behind its number in a message."""
    if row is None or not 0 <= index < len(row):
        return ""
    label = row[index]
    if isinstance(label, tuple):
        return f" {label!r}"
    return f' ("{label}")' if isinstance(label, str) else f" ({label!r})"


def plain(label: Label) -> Any:
    if isinstance(label, tuple):
        return {"tuple": [plain(part) for part in label]}
    if label is None or isinstance(label, str | bool | int | float):
        return label
    raise FileError(
        f"the label {label!r} is of type {type(label).__name__}; only texts, numbers, None and tuples of these can be "
        "written to a file"
    )


def rich(content: Any) -> Label:
    if isinstance(content, Mapping):
        return tuple(rich(part) for part in content["tuple"]) if set(content) == {"tuple"} else _damaged(content)
    return content if isinstance(content, Hashable) else _damaged(content)


def _damaged(content: Any) -> NoReturn:
    raise ModelError(f"{content!r} is no label")
