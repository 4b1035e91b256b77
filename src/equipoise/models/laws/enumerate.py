"""Calling a step function for every state, action and noise: the table of all that can happen.

States are found from the start, breadth first, or listed. Every answer is checked: a known state (if they are listed),
outcomes in [0, 1], and the same a second time, after all others and last call first, so that a function which remembers
something is found out. An error names the state, the action and the noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np

from equipoise._runtime.progress import progress_display
from equipoise._types import Index, Vector
from equipoise.errors import ModelError
from equipoise.models.labels import Label, check_distinct

Step = Callable[..., Any]
_ROUNDING: Final = 1e-9  # outcomes may leave [0, 1] by so much, and are moved back
_APART: Final = 4 * _ROUNDING  # outcomes that differ by less count as equal


class Noise(NamedTuple):
    """Something drawn at a step: its name, and the values that it can have."""

    name: str
    support: tuple[Label, ...]


class StepTable(NamedTuple):
    """All that can happen."""

    states: tuple[Label, ...]
    start: int
    actions: tuple[tuple[Label, ...], ...]
    next: Index
    row: Index
    rows: Vector

    @property
    def pairs(self) -> list[tuple[Label, Label]]:
        """The states with their actions, in the order of the pairs."""
        return [(state, action) for state, offered in zip(self.states, self.actions, strict=True) for action in offered]


def enumerate_steps(
    step: Step,
    start: Label,
    actions: Iterable[Label] | Callable[[Any], Iterable[Label]],
    outcomes: Sequence[str],
    noises: Sequence[Noise],
    states: Iterable[Label] | None,
    limit: int,
    progress: bool | None,
) -> StepTable:
    """Call `step` for everything that can happen."""
    combinations = list(itertools.product(*(noise.support for noise in noises)))
    caller = _Caller(step, tuple(noise.name for noise in noises), tuple(outcomes))
    listed = states is not None
    start = _check_hashable(start, "start")
    known: tuple[Label, ...] = check_distinct(states, "states") if states is not None else (start,)
    numbers: dict[Label, int] = {state: s for s, state in enumerate(known)}
    if start not in numbers:
        raise ModelError(f"start: {start!r} is not one of the {len(numbers)} states that are listed")
    rows: dict[tuple[float, ...], int] = {}
    found: list[Label] = list(known)
    offered: list[tuple[Label, ...]] = []
    after: list[list[int]] = []
    paid: list[list[int]] = []
    words = f"evaluating step for {len(combinations)} combinations of noise"
    with progress_display(words, len(found) if listed else None, wanted=progress, unit="states") as display:
        for state in found:  # grows while it is gone through
            offered.append(_get_actions(actions, state))
            for action in offered[-1]:
                following, earned = [], []
                for noise in combinations:
                    result, vector = caller(state, action, noise)
                    if result not in numbers:
                        if listed:
                            raise ModelError(
                                f"{caller.place(state, action, noise)}: the next state {result!r} is not one of the "
                                f"{len(numbers)} that are listed"
                            )
                        if len(numbers) >= limit:
                            raise ModelError(
                                f"states: more than {limit} are found from {start!r}; the last is {result!r}. Make "
                                "states coarser, or raise `limit`"
                            )
                        numbers[result] = len(found)
                        found.append(result)
                    following.append(numbers[result])
                    earned.append(rows.setdefault(vector, len(rows)))
                after.append(following)
                paid.append(earned)
            display.done(len(offered))
    row, kept = _distinct_rows(np.array(list(rows), dtype=np.float64))
    table = StepTable(
        states=tuple(found),
        start=numbers[start],
        actions=tuple(offered),
        next=np.array(after, dtype=np.int64),
        row=row[np.array(paid, dtype=np.int64)],
        rows=kept,
    )
    _check_again(caller, actions, table, combinations, progress)
    return table


def _distinct_rows(rows: Vector) -> tuple[Index, Vector]:
    """Which row stands for each, and these: of those that differ by rounding alone, the first."""
    code = np.zeros(rows.shape, dtype=np.int64)
    for k, column in enumerate(rows.T):
        order = np.argsort(column, kind="stable")
        code[order[1:], k] = np.cumsum(np.diff(column[order]) > _APART)
    _, first, number = np.unique(code, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place[number.ravel()], rows[first[order]]


class _Caller:
    """The step function, with every answer checked."""

    def __init__(self, step: Step, noises: tuple[str, ...], outcomes: tuple[str, ...]) -> None:
        self._step, self._noises, self._outcomes = step, noises, outcomes

    def place(self, state: Label, action: Label, noise: Sequence[Label]) -> str:
        """Where it was called, for a message."""
        drawn = "".join(f", {name}={value!r}" for name, value in zip(self._noises, noise, strict=True))
        return f"step, state {state!r}, action {action!r}{drawn}"

    def __call__(self, state: Label, action: Label, noise: Sequence[Label]) -> tuple[Label, tuple[float, ...]]:
        try:
            answer = self._step(state, action, **dict(zip(self._noises, noise, strict=True)))
        except Exception as error:
            place = self.place(state, action, noise)
            raise ModelError(f"{place}: it raised {type(error).__name__}: {error}") from error
        try:
            return self._read(answer)
        except ModelError as error:
            raise ModelError(f"{self.place(state, action, noise)}: {error}") from None

    def _read(self, answer: Any) -> tuple[Label, tuple[float, ...]]:
        """The next state and the outcomes in their order, or an error without the place."""
        names = self._outcomes
        try:
            result, outcomes = answer
        except (TypeError, ValueError):
            raise ModelError(f"it returned {answer!r}; (next_state, outcomes) is needed") from None
        try:
            hash(result)
        except TypeError:
            raise ModelError(f"the next state {result!r} is not hashable; a tuple would be") from None
        if isinstance(outcomes, Mapping):
            if set(outcomes) != set(names):
                missing = [name for name in names if name not in outcomes]
                unknown = [name for name in outcomes if name not in names]
                odd = f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r} is not declared"
                raise ModelError(f"the outcomes have the names {list(outcomes)}; {odd}")
            outcomes = [outcomes[name] for name in names]
        try:
            vector = tuple(float(x) for x in outcomes)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"the outcomes are {outcomes!r}; {len(names)} numbers are needed") from None
        if len(vector) != len(names):
            raise ModelError(f"it returned {len(vector)} outcomes; {len(names)} are declared: {list(names)}")
        for name, x in zip(names, vector, strict=True):
            if not -_ROUNDING <= x <= 1.0 + _ROUNDING:
                raise ModelError(f'the outcome "{name}" is {x}; it must lie in [0, 1]')
        return result, tuple(min(max(x, 0.0), 1.0) for x in vector)


def _get_actions(actions: Any, state: Label) -> tuple[Label, ...]:
    if not callable(actions):
        return check_distinct(actions, "actions")
    try:
        offered = actions(state)
    except Exception as error:
        raise ModelError(f"actions, state {state!r}: it raised {type(error).__name__}: {error}") from error
    return check_distinct(offered, f"actions, state {state!r}")


def _check_hashable(label: Any, name: str) -> Label:
    try:
        hash(label)
    except TypeError:
        raise ModelError(f"{name}: got {label!r}; a label must be hashable: a text, a tuple...") from None
    return cast(Label, label)


def _check_again(
    caller: _Caller, actions: Any, table: StepTable, combinations: Sequence[Sequence[Label]], progress: bool | None
) -> None:
    """Call everything a second time, last call first."""
    for state, offered in zip(reversed(table.states), reversed(table.actions), strict=True):
        if (again := _get_actions(actions, state)) != offered:
            raise ModelError(
                f"actions, state {state!r}: it returned {list(offered)} the first time and {list(again)} the second; "
                "it may depend on nothing but the state"
            )
    pairs = table.pairs
    with progress_display("evaluating step a second time", len(pairs), wanted=progress, unit="pairs") as display:
        for number, (state, action) in reversed(list(enumerate(pairs))):
            for i, noise in reversed(list(enumerate(combinations))):
                result, vector = caller(state, action, noise)
                before = table.states[table.next[number, i]], tuple(table.rows[table.row[number, i]].tolist())
                moved = max(abs(x - y) for x, y in zip(vector, before[1], strict=True))
                if result != before[0] or moved > _APART:
                    raise ModelError(
                        f"{caller.place(state, action, noise)}: it returned {before} the first time and "
                        f"{(result, vector)} the second; it may depend on nothing but its arguments"
                    )
            display.done(len(pairs) - number)
