"""The result of one run as a Parquet file: a typed table with one row per checkpoint, described in its metadata.

The metadata holds under ``equipoise`` a JSON text: id, specification in TOML, versions, seed, steps, seconds, how often
it was resumed. An episode counts as begun by time t if it started by then, and as ended if the next one did.

All files of a study's folder, Parquet and JSON, have a seal: under ``equipoise-seal`` the SHA-256 of the file's own
bytes, with zeros in its place. It is checked first, since a reader of Parquet may end the process over a damaged file.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from equipoise._version import VERSION
from equipoise.agents.episodes import TRIGGERS, Episodes
from equipoise.errors import FileError

if TYPE_CHECKING:
    import polars

ENDED: Final = ("gradient", "visits", "both", "restart")
LAWS: Final = "laws"  # under which name a result file holds what was learnt of laws
VIOLATIONS: Final = "violations"  # the column of what each constraint lacks, in the results of a problem that has some
_FORMAT: Final = 1
_KEY: Final = "equipoise"
SEAL: Final = "equipoise-seal"  # the name of the seal in the metadata of Parquet, and in JSON
OPEN_SEAL: Final = "0" * 64  # what a seal is while it is computed
_SEALED: Final = re.compile(SEAL.encode() + rb"[^0-9a-f]{1,8}?([0-9a-f]{64})")


_T = TypeVar("_T")
_DAMAGE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, MemoryError)
_Count = Annotated[int, Field(ge=0, le=2**63 - 1)]


@dataclass(frozen=True)
class _Laws:
    """What a run has learnt of laws: columns of one length."""

    law: list[str]
    value: list[str]
    visits: list[_Count]
    estimate: list[float | None]
    low: list[float]
    high: list[float]
    truth: list[float | None]

    def __post_init__(self) -> None:
        if len({len(column) for column in vars(self).values()}) > 1:
            raise ValueError("the columns of its laws differ in length")


@dataclass(frozen=True)
class _About:
    """What the metadata of a result must say, as far as it is used."""

    id: str
    problem: str
    agent: str
    seed: _Count
    steps: _Count
    seconds: float
    versions: dict[str, str]
    laws: _Laws | None = None

    def __post_init__(self) -> None:
        if "equipoise" not in self.versions:
            raise ValueError("it does not say which version wrote it")


@dataclass(frozen=True, eq=False)
class Record:
    """What a result file says: its table, and what it is."""

    table: polars.DataFrame
    about: dict[str, Any]

    def sizes(self) -> tuple[int, int]:
        """How many outcomes and how many constraints its problem has."""
        lists = [self.table[name].list.len() for name in ("outcomes", VIOLATIONS) if name in self.table.columns]
        outcomes, violations = (*(int(length[0]) if len(length) else 0 for length in lists), 0)[:2]
        return outcomes, violations


def tabulate_run(
    t: NDArray[np.int64],
    outcomes: NDArray[np.float64],
    values: NDArray[np.float64],
    certified: NDArray[np.float64],
    episodes: Episodes,
    violations: Mapping[str, NDArray[np.float64]] | None = None,
) -> polars.DataFrame:
    """The table of a run: averages, values, what is certified, and how many episodes there were by each time."""
    import polars

    begun = np.searchsorted(episodes.start, t, side="right")
    ended = np.maximum(begun - 1, 0)
    sweeps = np.concatenate([[0], np.cumsum(episodes.sweeps)])[begun]
    columns: dict[str, Any] = {
        "t": polars.Series(t, dtype=polars.Int64),
        "outcomes": polars.Series(outcomes.tolist(), dtype=polars.List(polars.Float64)),
        "value": polars.Series(values, dtype=polars.Float64),
        "certified": polars.Series([gap if np.isfinite(gap) else None for gap in certified], dtype=polars.Float64),
        "episodes": polars.Series(begun, dtype=polars.Int64),
    }
    for code, word in TRIGGERS.items():
        if word in ENDED:
            by = np.concatenate([[0], np.cumsum(episodes.ended == code)])[ended]
            columns[word] = polars.Series(by, dtype=polars.Int64)
    columns["sweeps"] = polars.Series(sweeps, dtype=polars.Int64)
    if violations:
        rows = np.column_stack(list(violations.values())).tolist()
        columns[VIOLATIONS] = polars.Series(rows, dtype=polars.List(polars.Float64))
    return polars.DataFrame(columns)


def encode_result(table: polars.DataFrame, about: dict[str, Any]) -> bytes:
    """The bytes of a result file."""
    versions = {"equipoise": VERSION, "python": platform.python_version(), "numpy": np.__version__}
    text = json.dumps({"format": _FORMAT, "versions": versions | {"numba": numba.__version__}, **about}, sort_keys=True)
    buffer = io.BytesIO()
    table.write_parquet(buffer, metadata={_KEY: text, SEAL: OPEN_SEAL})
    return seal(buffer.getvalue())


def seal(content: bytes) -> bytes:
    """Fill in the seal of a file, which is open."""
    (place,) = (found.span(1) for found in _SEALED.finditer(content))
    return _with_seal(content, place, hashlib.sha256(content).hexdigest())


def check_seal(content: bytes) -> None:
    """Raise a `FileError` if the bytes of a file are not those that were sealed."""
    sealed = _SEALED.search(content)
    if sealed is None:
        raise FileError("truncated, damaged, or no result of Equipoise: it has no seal")
    if hashlib.sha256(_with_seal(content, sealed.span(1), OPEN_SEAL)).hexdigest().encode() != sealed[1]:
        raise FileError("damaged: its checksum is not right")


def decode_result(content: bytes) -> Record:
    """Read the bytes of a result file; a `FileError` says what is wrong with them."""
    import polars

    check_seal(content)
    try:
        text = polars.read_parquet_metadata(io.BytesIO(content)).get(_KEY)
        if text is None:
            raise FileError("a Parquet file, but no result of Equipoise")
        table = polars.read_parquet(io.BytesIO(content))
        about = json.loads(text)
        if about["format"] > _FORMAT:
            raise FileError(f"of format {about['format']}, written by a later Equipoise")
        validate(_About, about)
        _require_columns(table)
        return Record(table, about)
    except FileError:
        raise
    except (*_DAMAGE, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise FileError(f"truncated, damaged, or no Parquet file ({reason})") from None


def validate(kind: type[_T], content: Any) -> _T:
    """Make a dataclass of what was read from JSON; a `FileError` if a field is missing or of another type."""
    try:
        return TypeAdapter(kind).validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        mistake = error.errors()[0]
        place = ".".join(map(str, mistake["loc"]))
        raise FileError(f"damaged: {place}: {mistake['msg'].lower()}") from None


def _require_columns(table: polars.DataFrame) -> None:
    """Refuse a table that is not that of a run, though its checksum is right."""
    import polars

    numbers = polars.List(polars.Float64)
    filled = dict.fromkeys(("t", "episodes", *ENDED, "sweeps"), polars.Int64) | {"value": polars.Float64}
    possible = filled | {"certified": polars.Float64, VIOLATIONS: numbers, "outcomes": numbers}
    wrong = [name for name, kind in table.schema.items() if possible.get(name) != kind]
    wrong += [name for name in (*filled, "outcomes") if name not in table.columns or table[name].has_nulls()]
    wrong += [] if "certified" in table.columns else ["certified"]
    for name in ("outcomes", VIOLATIONS):
        if not wrong and name in table.columns and (table[name].has_nulls() or table[name].list.len().n_unique() > 1):
            wrong.append(name)
    if wrong:
        raise FileError(f"damaged: its column {wrong[0]!r} is missing, or not what a run has")


def _with_seal(content: bytes, place: tuple[int, int], digest: str) -> bytes:
    return content[: place[0]] + digest.encode() + content[place[1] :]
