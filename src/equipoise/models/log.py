"""A log: transitions of a system under any policy, one per row, read in batches and checked.

A row says: in this `state` this `action` was taken, with these outcomes (one column each, under their labels, or
outcome_0, outcome_1, ...), and it led to `next_state`. States and actions are given by their labels, or by their
numbers; where labels are numbers, a number is a label. If the columns state_label, next_state_label or action_label
exist, as in the `trace` of a run, these have the labels and the others the numbers. Known mechanics have a column for
each noise that is seen, which may be left out if states and outcomes determine the noise. The order of the rows does
not matter; other columns are ignored.

A log is a polars or pandas frame, or the path of a Parquet or CSV file. A file or a lazy frame is read a million rows
at a time. Columns that occur twice, or of a type that holds neither words nor numbers, raise a `LogError`. All rows
that cannot have happened are counted, and one `LogError` at the end names the first of them: a caller that keeps the
batches only after `read_log` returns never keeps a part of a log.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from equipoise._checks import suggest
from equipoise._types import Index, Vector
from equipoise.errors import FileError, LogError, ParameterError, ProtocolError
from equipoise.models.labels import Label, texts
from equipoise.models.laws.validate import find_case
from equipoise.models.space import Space

if TYPE_CHECKING:
    import polars

Source = Any
"""A polars or pandas frame, or a path."""
_ROWS: Final = 1_000_000
_SHOWN: Final = 5  # rows that a message names
_STATE, _ACTION, _NEXT = "state", "action", "next_state"
_LABELS: Final = {_STATE: "state_label", _ACTION: "action_label", _NEXT: "next_state_label"}


class Batch(NamedTuple):
    """Some rows of a log, in numbers."""

    pair: Index
    outcomes: Vector
    next_state: Index
    case: Index


def read_log(log: Source, space: Space, take: Callable[[Batch], None]) -> int:
    """Give a log to a function, batch by batch; returns the number of rows."""
    columns: _Columns | None = None
    rows, refused, examples = 0, 0, list[str]()
    for frame in read_frames(log, space):
        if columns is None:
            columns = _Columns(space, frame.schema)
        batch, wrong = columns.read(frame)
        bad = np.flatnonzero(wrong)
        refused += bad.size
        examples += [
            f"row {rows + i + 1}: {columns.reason(frame, batch, int(i))}" for i in bad[: _SHOWN - len(examples)]
        ]
        rows += frame.height
        if not refused:
            take(batch)
    if refused:
        more = ", ..." if refused > len(examples) else ""
        raise LogError(
            f"log: {refused:,} of {rows:,} rows cannot be taken in, and none was: {'; '.join(examples)}{more}"
        )
    return rows


def fingerprint(batch: Batch) -> int:
    """A number for the rows of a batch, whatever their order; those of two batches add up, modulo 2^64."""
    hashes = np.zeros(batch.pair.size, dtype=np.uint64)
    for column in (batch.pair, batch.next_state, batch.case, *batch.outcomes.T):
        hashes ^= np.ascontiguousarray(column + 0).view(np.uint64)  # + 0 makes one zero of both
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            hashes ^= hashes >> np.uint64(33)
            hashes *= np.uint64(factor)
        hashes += np.uint64(0x9E3779B97F4A7C15)
    return int(hashes.sum())


def label_columns(present: Collection[str]) -> dict[str, str]:
    """In which columns the labels of state, action and next_state are, if they are there at all."""
    both = all(_LABELS[name] in present for name in (_STATE, _NEXT))
    states = {name: _LABELS[name] if both else name for name in (_STATE, _NEXT)}
    return states | {_ACTION: _LABELS[_ACTION] if _LABELS[_ACTION] in present else _ACTION}


class _Columns:
    """How the words of a log with these columns translate into numbers."""

    def __init__(self, space: Space, columns: polars.Schema) -> None:
        self.space = space
        self.outcomes = space.outcome_names()
        require_columns(columns, self.outcomes)
        self._column = label_columns(columns)
        labels = space.labels
        states, actions = labels.states, labels.actions
        if self._column[_STATE] != _STATE and not _are_distinct(states):
            self._column |= {_STATE: _STATE, _NEXT: _NEXT}
            states = None
        rows = actions if isinstance(actions, list) else [actions]
        if self._column[_ACTION] != _ACTION and not all(_are_distinct(row) for row in rows):
            self._column[_ACTION] = _ACTION
            actions = None
        self._states = _NameLookup(states, space.n_states)
        self._shared = None if isinstance(actions, list) else _NameLookup(actions, max(space.n_actions))
        self._actions = [_NameLookup(tuple(row), len(row)) for row in actions] if isinstance(actions, list) else []
        self._supports = {} if space.laws is None else space.laws.seen_supports()
        self._noise = {name: _NameLookup(support, len(support)) for name, support in self._supports.items()}
        both = [name for name in self.outcomes if name in self._supports]
        if both:
            raise LogError(f"log: {both[0]!r} is an outcome and a noise of the space; give one of them another label")
        check_types(columns, [*_LABELS, *_LABELS.values(), *self._supports], self.outcomes)

    def read(self, frame: polars.DataFrame) -> tuple[Batch, np.ndarray]:
        """The rows as numbers, and which of them cannot have happened."""
        state = self._states.numbers(frame[self._column[_STATE]])
        after = self._states.numbers(frame[self._column[_NEXT]])
        action = self._action_numbers(frame[self._column[_ACTION]], state)
        known = np.maximum(state, 0)
        action = np.where(action < np.asarray(self.space.n_actions)[known], action, -1)
        wrong = (state < 0) | (after < 0) | (action < 0)
        outcomes = np.empty((frame.height, len(self.outcomes)))
        for k, name in enumerate(self.outcomes):
            column = _floats(frame[name])
            outcomes[:, k] = column
            wrong |= ~((column >= 0.0) & (column <= 1.0))
        self._state, self._action = state, action  # of the frame that was read last
        pair = self.space.first_pair[known] + action
        case = np.zeros(frame.height, dtype=np.int64)
        if self.space.laws is not None:
            rows = np.flatnonzero(~wrong)
            case[rows] = self._cases(frame[rows], pair[rows], outcomes[rows], after[rows])
            wrong |= case < 0
        return Batch(pair, outcomes, after, case), wrong

    def _cases(self, frame: polars.DataFrame, pair: Index, outcomes: Vector, after: Index) -> Index:
        """What is seen of known mechanics; -1 for what cannot have happened. Rows that are alike are looked up once."""
        noise = [self._noise[name].numbers(frame[name]) for name in self._noise if name in frame.columns]
        columns = [pair, after, *noise, *outcomes.T]
        code = np.zeros(pair.size, dtype=np.int64)
        for column in columns:  # codes stay below the number of rows, so that no product overflows
            different, number = np.unique(column, return_inverse=True)
            _, code = np.unique(code * different.size + number.ravel(), return_inverse=True)
        _, first, number = np.unique(code, return_index=True, return_inverse=True)
        cases = np.empty(first.size, dtype=np.int64)
        for i, row in enumerate(first.tolist()):
            try:
                cases[i] = self._case(frame[row : row + 1], int(pair[row]), outcomes[row], int(after[row]))
            except ProtocolError:
                cases[i] = -1
        return cases[number.ravel()]

    def _case(self, one: polars.DataFrame, pair: int, outcomes: Vector, after: int) -> int:
        drawn: dict[str, Label] = {}
        for name, names in self._noise.items():
            if name in one.columns:
                place = int(names.numbers(one[name])[0])
                if place < 0:
                    raise ProtocolError(f"{name}: {one[name][0]!r} is not one of its values")
                drawn[name] = self._supports[name][place]
        return find_case(self.space, pair, outcomes, after, drawn)

    def _action_numbers(self, column: polars.Series, state: Index) -> Index:
        if self._shared is not None:
            return self._shared.numbers(column)
        action = np.full(state.size, -1, dtype=np.int64)
        for s, names in enumerate(self._actions):
            rows = np.flatnonzero(state == s)
            if rows.size:
                action[rows] = names.numbers(column[rows])
        return action

    def reason(self, frame: polars.DataFrame, batch: Batch, row: int) -> str:
        """What is wrong with one row of the frame that was read last."""
        values = {name: frame[self._column.get(name, name)][row] for name in (*self._column, *self.outcomes)}
        for name, numbers in ((_STATE, self._state), (_NEXT, batch.next_state)):
            if numbers[row] < 0:
                return f"{name}: there is no {values[name]!r}{self._states.hint(values[name])}"
        if self._action[row] < 0:
            return f"{self.space.name_state(int(self._state[row]))} has no action {values[_ACTION]!r}"
        for name, outcome in zip(self.outcomes, batch.outcomes[row], strict=True):
            if not 0.0 <= outcome <= 1.0:
                return f"{name}: got {values[name]!r}; it must lie in [0, 1]"
        try:
            pair, after = int(batch.pair[row]), int(batch.next_state[row])
            self._case(frame[row : row + 1], pair, batch.outcomes[row], after)
        except ProtocolError as error:
            return str(error).removeprefix("observe: ")
        return "it cannot be read"


def require_columns(columns: Collection[str], outcomes: Sequence[str] = ()) -> None:
    """Raise an error for a log without state, action, the outcomes and next_state."""
    needed = [_STATE, _ACTION, *outcomes, _NEXT]
    missing = [name for name in needed if name not in columns]
    if missing:
        others = {column.lower(): column for column in columns if column not in needed}
        alike = others.get(missing[0].lower())
        hint = suggest(missing[0], others.values()) if alike is None else f" (did you mean {alike!r}?)"
        raise LogError(f"log: there is no column {missing[0]!r}{hint}; {', '.join(map(repr, needed))} are needed")


def check_types(
    columns: polars.Schema, names: Collection[str] = (*_LABELS, *_LABELS.values()), outcomes: Collection[str] = ()
) -> None:
    """Raise an error for columns of types that cannot be read."""
    for wanted, what, fits in ((names, "texts or numbers", is_word), (outcomes, "numbers", is_numeric)):
        for name in wanted:
            if name in columns and not fits(columns[name]):
                raise LogError(f"log, column {name!r}: its values are of type {columns[name]}; {what} are needed")


def is_word(dtype: polars.DataType) -> bool:
    """Whether the values of a column may be names of states: texts, numbers or dates."""
    import polars

    return not (dtype.is_nested() or dtype in (polars.Object, polars.Binary, polars.Duration))


def is_numeric(dtype: polars.DataType) -> bool:
    """Whether they may be numbers, perhaps as texts."""
    return is_word(dtype) and not dtype.is_temporal()


def _are_distinct(labels: Sequence[Label] | None) -> bool:
    """Whether there are labels, and a column of texts tells them apart."""
    return labels is not None and len({str(label) for label in labels}) == len(labels)


class _NameLookup:
    """The names of one kind of thing: their labels, or their numbers where the labels are none."""

    def __init__(self, labels: tuple[Label, ...] | None, count: int) -> None:
        self._count = count
        self._texts = [] if labels is None else texts(labels)
        self._by_number = None if labels else True  # unknown until a column of texts has some of either
        values = [parse_number(label) for label in labels or ()]
        self._labelled_by_numbers = bool(values) and None not in values and len(set(values)) == len(values)
        fractions = self._labelled_by_numbers and any(isinstance(value, float) for value in values)
        self._values = {float(value): i for i, value in enumerate(values) if value is not None} if fractions else None

    def numbers(self, column: polars.Series) -> Index:
        """-1 where there is no such name."""
        import polars

        if column.dtype == polars.Boolean:
            column = column.replace_strict([True, False], ["True", "False"], return_dtype=polars.String)
        if self._values is not None:
            names, found = list(self._values), list(self._values.values())
            given = column.cast(polars.Float64, strict=False)
            given = given.replace_strict(names, found, default=-1, return_dtype=polars.Int64)
            return given.fill_null(-1).to_numpy()
        if column.dtype.is_float():
            whole = column.cast(polars.Int64, strict=False)
            column = polars.select(polars.when(whole == column).then(whole).otherwise(None)).to_series()
        if column.dtype.is_integer() and not self._labelled_by_numbers:
            return self._by_count(column)
        words = column.cast(polars.String, strict=False)
        if self._by_number:
            return self._by_count(words)  # numbers, written as texts
        by_name = self._by_name(words)
        if self._labelled_by_numbers or self._by_number is False:
            return by_name
        if (by_name >= 0).any():
            self._by_number = False
            return by_name
        by_number = self._by_count(words)
        self._by_number = True if (by_number >= 0).any() else None
        return by_number

    def _by_name(self, words: polars.Series) -> Index:
        import polars

        found = words.cast(polars.Enum(self._texts), strict=False).to_physical()  # in half the time of a replacement
        return found.cast(polars.Int64).fill_null(-1).to_numpy()

    def _by_count(self, column: polars.Series) -> Index:
        given = column.cast(int, strict=False).fill_null(-1).to_numpy()
        return np.where((given >= 0) & (given < self._count), given, -1)

    def hint(self, value: object) -> str:
        """The name that was meant, perhaps."""
        return suggest(value, self._texts) if isinstance(value, str) and self._texts else ""


def parse_number(label: Label) -> int | float | None:
    """The number that a label is, or is the text of, as the labels from a CSV file are; None if it is another."""
    if isinstance(label, str):
        whole, fraction = re.fullmatch(r"-?(0|[1-9]\d*)", label), re.fullmatch(r"-?\d+\.\d+", label)
        return int(label) if whole else float(label) if fraction else None
    return label if isinstance(label, int | float) and not isinstance(label, bool) else None


def _floats(column: polars.Series) -> Vector:
    return column.cast(float, strict=False).fill_null(float("nan")).to_numpy()


def read_frames(log: Source, space: Space | None) -> Iterator[polars.DataFrame]:
    """The rows of a log as they are, some at a time; of a file, the columns that a space needs, or all."""
    import polars

    if isinstance(log, (str, os.PathLike)):
        yield from _batches(lambda: _scan(Path(log)), space, str(log))
        return
    if isinstance(log, polars.LazyFrame):
        yield from _batches(lambda: log, space, "log")
        return
    if type(log).__module__.partition(".")[0] == "pandas":  # without pyarrow, which polars would ask for
        names = [str(name) for name in log.columns]
        _refuse_twice(names, "log")
        log = polars.DataFrame({name: _to_values(log.iloc[:, i]) for i, name in enumerate(names)}, strict=False)
    if not isinstance(log, polars.DataFrame):
        raise ParameterError(
            f"log: got {type(log).__name__}; a polars or pandas frame, or the path of a Parquet or CSV file, is needed"
        )
    if not log.height:
        raise LogError("log: it has no rows")
    yield from log.iter_slices(_ROWS)


def _to_values(column: Any) -> Any:
    """A column of a pandas frame: as an array of numbers, or as a list with None where something is missing."""
    array = column.to_numpy()
    if array.dtype.kind == "m":  # durations, which polars takes in some units only
        return array.astype("timedelta64[us]")
    return array if array.dtype.kind in "biuf" else column.astype(object).where(column.notna(), None).tolist()


def _scan(path: Path) -> polars.LazyFrame:
    import polars

    suffixes = {suffix.lower() for suffix in path.suffixes}
    if not suffixes & {".parquet", ".csv", ".tsv"}:
        raise ParameterError(f"log: {path.name} is neither .parquet nor .csv; these can be read")
    if ".parquet" in suffixes:
        return polars.scan_parquet(path)
    separator = "\t" if ".tsv" in suffixes else ","
    head = polars.scan_csv(path, separator=separator, infer_schema=False, has_header=False, n_rows=1).collect()
    _refuse_twice([name for row in head.rows() for name in row], path.name)  # which polars would give other names
    # as texts, so that an error can name the row of what is no number
    return polars.scan_csv(path, separator=separator, infer_schema=False)


def _refuse_twice(names: Sequence[str | None], log: str) -> None:
    """Raise an error for a log with two columns of one name."""
    twice = [name for name, count in Counter(names).items() if name is not None and count > 1]
    if twice:
        raise LogError(f"{log}: there are {names.count(twice[0])} columns {twice[0]!r}; rename or drop all but one")


def _batches(scan: Callable[[], polars.LazyFrame], space: Space | None, name: str) -> Iterator[polars.DataFrame]:
    """The rows of what can be read piece by piece."""
    import polars

    noises = [] if space is None or space.laws is None else list(space.laws.seen_supports())
    wanted = None if space is None else {*_LABELS, *_LABELS.values(), *space.outcome_names(), *noises}
    rows = 0
    try:
        source = scan()
        columns = source.collect_schema().names()
        if space is not None:
            require_columns(columns, space.outcome_names())
        present = [column for column in columns if wanted is None or column in wanted]
        for batch in source.select(present).collect_batches(chunk_size=_ROWS, maintain_order=True):
            rows += batch.height
            yield batch
    except (OSError, polars.exceptions.PolarsError) as error:
        raise FileError(f"{name}: it cannot be read as a log ({error})") from None
    if not rows:
        raise LogError(f"{name}: it has no rows")
