"""A log: transitions of a system under any policy, one row each, read in batches and checked.

A row says: in this `state` this `action` was taken, with these outcomes (one column each, under their labels, or
outcome_0, outcome_1, ...), and it led to `next_state`. States and actions are given by their labels, or by their
numbers. Where the labels are whole numbers themselves, a whole number is a label, unless there is a column state_label
beside it, as in the `trace` of a run. Where mechanics are known, there is a column for each noise that is seen; it may
be left out if states and outcomes determine the noise. The order of the rows matters to nobody but the reader; other
columns are left alone.

A log is a polars or pandas frame, or the path of a Parquet or CSV file. A file is read a million rows at a time, so
that it need not fit into memory. Rows that cannot have happened are counted, all of them, and refused with their
numbers at the end; who keeps what the batches bring only then has nothing half taken in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from equipoise._types import Index, Vector
from equipoise._words import nearest
from equipoise.errors import FileError, LogError, ParameterError, ProtocolError
from equipoise.models.labels import Label, Labels, texts
from equipoise.models.laws.observing import case_of
from equipoise.models.space import Space

if TYPE_CHECKING:
    import polars

Source = Any
"""A polars or pandas frame, or a path."""
_ROWS: Final = 1_000_000
_SHOWN: Final = 5  # rows that a message names
_STATE, _ACTION, _NEXT = "state", "action", "next_state"
_BESIDE: Final = "state_label"  # where it is, the other columns hold numbers


class Batch(NamedTuple):
    """Some rows of a log, in numbers.

    Attributes
    ----------
    pair : int array
        Which state-action pair.
    outcomes : float array, one row each
        What came of it.
    next_state : int array
        Where it led.
    case : int array
        What is seen of known mechanics, see `Laws`; zero if there are none.
    """

    pair: Index
    outcomes: Vector
    next_state: Index
    case: Index


def read_log(log: Source, space: Space, take: Callable[[Batch], None]) -> int:
    """Give a log to a function, batch by batch; returns the number of rows.

    Parameters
    ----------
    log : frame or path
        A polars or pandas frame, or the path of a Parquet or CSV file.
    space : Space
        Of the system: its labels, or numbers, are those of the log.
    take : callable
        Called with each `Batch`, as long as no row was refused.

    Raises
    ------
    LogError
        When a column is missing, or rows cannot have happened; the message has their numbers, from 1.
    FileError
        When a file cannot be read.

    Examples
    --------
    >>> import polars
    >>> rows = {"state": [0, 0], "action": [1, 0], "outcome_0": [0.5, 1.0], "next_state": [0, 0]}
    >>> read_log(polars.DataFrame(rows), Space([2], 1), lambda batch: print(batch.pair.tolist()))
    [1, 0]
    2
    >>> read_log(polars.DataFrame(rows), Space([1], 1), print)
    Traceback (most recent call last):
    ...
    equipoise.errors.LogError: log: 1 of 2 rows cannot be taken in, and none was: row 1: state 0 has no action 1
    """
    words = _Words(space, numbered=False)
    rows, refused, examples = 0, 0, list[str]()
    for frame in log_frames(log, space):
        if not rows:
            words = _Words(space, numbered=_BESIDE in frame.columns)
            words.check_columns(frame)
        batch, wrong = words.read(frame)
        bad = np.flatnonzero(wrong)
        refused += bad.size
        examples += [f"row {rows + i + 1}: {words.reason(frame, int(i))}" for i in bad[: _SHOWN - len(examples)]]
        rows += frame.height
        if not refused:
            take(batch)
    if refused:
        more = ", ..." if refused > len(examples) else ""
        raise LogError(
            f"log: {refused:,} of {rows:,} rows cannot be taken in, and none was: {'; '.join(examples)}{more}"
        )
    return rows


class _Words:
    """How the words of a log translate into numbers."""

    def __init__(self, space: Space, numbered: bool) -> None:
        self.space = space
        self.outcomes = space.outcome_names()
        self.columns = [_STATE, _ACTION, *self.outcomes, _NEXT]
        labels = Labels() if numbered else space.labels
        self._states = _Names(labels.states, space.n_states)
        actions, most = labels.actions, max(space.n_actions)
        by_state = actions if isinstance(actions, list) else None
        self._shared = None if isinstance(actions, list) else _Names(actions, most)
        self._actions = [_Names(tuple(row), len(row)) for row in by_state or []]
        self._supports = {} if space.laws is None else space.laws.seen_supports()
        self._noise = {name: _Names(support, len(support)) for name, support in self._supports.items()}

    def check_columns(self, frame: polars.DataFrame) -> None:
        missing = [name for name in self.columns if name not in frame.columns]
        if missing:
            raise LogError(
                f"log: there is no column {missing[0]!r}{nearest(missing[0], frame.columns)}; "
                f"{', '.join(map(repr, self.columns))} are needed"
            )

    def read(self, frame: polars.DataFrame) -> tuple[Batch, np.ndarray]:
        """The rows as numbers, and which of them cannot have happened."""
        state, after = self._states.numbers(frame[_STATE]), self._states.numbers(frame[_NEXT])
        action = self._action_numbers(frame[_ACTION], state)
        known = np.maximum(state, 0)
        pair = self.space.first_pair[known] + action
        wrong = (state < 0) | (after < 0) | (action < 0) | (action >= np.asarray(self.space.n_actions)[known])
        outcomes = np.empty((frame.height, len(self.outcomes)))
        for k, name in enumerate(self.outcomes):
            column = _floats(frame[name])
            outcomes[:, k] = column
            wrong |= ~((column >= 0.0) & (column <= 1.0))
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
        return case_of(self.space, pair, outcomes, after, drawn)

    def _action_numbers(self, column: polars.Series, state: Index) -> Index:
        if self._shared is not None:
            return self._shared.numbers(column)
        action = np.full(state.size, -1, dtype=np.int64)
        for s, names in enumerate(self._actions):
            rows = np.flatnonzero(state == s)
            if rows.size:
                action[rows] = names.numbers(column[rows])
        return action

    def reason(self, frame: polars.DataFrame, row: int) -> str:
        """What is wrong with one row."""
        values = frame.row(row, named=True)
        one = frame[row : row + 1]
        for name in (_STATE, _NEXT):
            if self._states.numbers(one[name])[0] < 0:
                return f"{name}: there is no {values[name]!r}{self._states.hint(values[name])}"
        state = int(self._states.numbers(one[_STATE])[0])
        action = int(self._action_numbers(one[_ACTION], np.array([state]))[0])
        if not 0 <= action < self.space.n_actions[state]:
            return f"{self.space.name_state(state)} has no action {values[_ACTION]!r}"
        for name in self.outcomes:
            if not 0.0 <= _floats(one[name])[0] <= 1.0:
                return f"{name}: got {values[name]!r}; it must lie in [0, 1]"
        if self.space.laws is not None:
            try:
                outcomes = np.array([_floats(one[name])[0] for name in self.outcomes])
                after = int(self._states.numbers(one[_NEXT])[0])
                self._case(one, int(self.space.first_pair[state]) + action, outcomes, after)
            except ProtocolError as error:
                return str(error).removeprefix("observe: ")
        return "it cannot be read"


class _Names:
    """The names of one kind of thing: their labels, or their numbers where the labels are none."""

    def __init__(self, labels: tuple[Label, ...] | None, count: int) -> None:
        self._count = count
        written = [] if labels is None else list(texts(list(labels)))
        self._numbers: Mapping[str, int] = {word: i for i, word in enumerate(written)}
        self._labelled_by_numbers = labels is not None and all(
            isinstance(label, int) and not isinstance(label, bool) for label in labels
        )

    def numbers(self, column: polars.Series) -> Index:
        """-1 where there is no such name."""
        import polars

        if column.dtype.is_float():
            whole = column.cast(polars.Int64, strict=False)
            column = polars.select(polars.when(whole == column).then(whole).otherwise(None)).to_series()
        if column.dtype.is_integer() and not self._labelled_by_numbers:
            given = column.cast(polars.Int64, strict=False).fill_null(-1).to_numpy()
            return np.where((given >= 0) & (given < self._count), given, -1)
        words = column.cast(polars.String, strict=False)
        by_name = np.full(words.len(), -1, dtype=np.int64)
        if self._numbers:
            names, numbers = list(self._numbers), list(self._numbers.values())
            by_name = (
                words.replace_strict(names, numbers, default=-1, return_dtype=polars.Int64).fill_null(-1).to_numpy()
            )
        if self._labelled_by_numbers or (by_name >= 0).any():
            return by_name
        given = words.cast(polars.Int64, strict=False).fill_null(-1).to_numpy()  # numbers, written as texts
        return np.where((given >= 0) & (given < self._count), given, -1)

    def hint(self, value: object) -> str:
        """The name that was meant, perhaps."""
        return nearest(value, self._numbers) if isinstance(value, str) and self._numbers else ""


def _floats(column: polars.Series) -> Vector:
    import polars

    return column.cast(polars.Float64, strict=False).fill_null(float("nan")).to_numpy()


def log_frames(log: Source, space: Space | None) -> Iterator[polars.DataFrame]:
    """The rows of a log as they are, some at a time; of a file, the columns that a space needs, or all.

    Parameters
    ----------
    log : frame or path
        As for `read_log`.
    space : Space, optional
        Whose columns are needed; None: all.
    """
    import polars

    if isinstance(log, (str, os.PathLike)):
        yield from _file_frames(Path(log), space)
        return
    if isinstance(log, polars.LazyFrame):
        log = log.collect()
    elif type(log).__module__.partition(".")[0] == "pandas":  # without pyarrow, which polars would ask for
        log = polars.DataFrame({str(name): _plain(log[name]) for name in log.columns}, strict=False)
    if not isinstance(log, polars.DataFrame):
        raise ParameterError(
            f"log: got {type(log).__name__}; a polars or pandas frame, or the path of a Parquet or CSV file, is needed"
        )
    if not log.height:
        raise LogError("log: it has no rows")
    yield from log.iter_slices(_ROWS)


def _plain(column: Any) -> Any:
    """A column of a pandas frame: as an array of numbers, or as a list of whatever it holds."""
    array = column.to_numpy()
    return array if array.dtype.kind in "biuf" else column.tolist()


def _file_frames(path: Path, space: Space | None) -> Iterator[polars.DataFrame]:
    import polars

    noises = [] if space is None or space.laws is None else list(space.laws.seen_supports())
    wanted = None if space is None else {_STATE, _ACTION, *space.outcome_names(), _NEXT, _BESIDE, *noises}
    suffixes = set(path.suffixes)
    if not suffixes & {".parquet", ".csv", ".tsv"}:
        raise ParameterError(f"log: {path.name} is neither .parquet nor .csv; these can be read")
    rows = 0
    try:
        if ".parquet" in suffixes:
            source = polars.scan_parquet(path)
        else:  # as texts, so that what is no number is refused with its row
            source = polars.scan_csv(path, separator="\t" if ".tsv" in suffixes else ",", infer_schema=False)
        present = [name for name in source.collect_schema().names() if wanted is None or name in wanted]
        for batch in source.select(present).collect_batches(chunk_size=_ROWS, maintain_order=True):
            rows += batch.height
            yield batch
    except (OSError, polars.exceptions.PolarsError) as error:
        raise FileError(f"{path}: it cannot be read as a log ({error})") from None
    if not rows:
        raise LogError(f"{path}: it has no rows")
