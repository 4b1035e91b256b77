"""The result of one run as a Parquet file: a typed table with one row a checkpoint, and what it is within its metadata.

The metadata holds under ``equipoise`` a JSON text (id, specification in TOML, versions, seed, steps,
seconds, how often it was resumed) and under ``sha256`` a checksum of that text and of every number in the table. Under
``equipoise-seal`` is the SHA-256 of the file's own bytes, with zeros in its place: it is looked at before anything else
is, since a reader of Parquet may end the process over a damaged file. A file whose checksums are not right is never
read. Files of before have no seal.

An episode counts as begun by time t if it started by then, and as ended if the next one did.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numba
import numpy as np
from numpy.typing import NDArray

from equipoise._version import VERSION
from equipoise.agents.episodes import TRIGGERS, Episodes
from equipoise.errors import FileError

if TYPE_CHECKING:
    import polars

ENDED: Final = ("gradient", "visits", "both", "restart")
VIOLATIONS: Final = "violations"
"""The column of what each constraint lacks, in the results of a problem that has some."""
_FORMAT: Final = 1
_KEY: Final = "equipoise"
_CHECKSUM: Final = "sha256"
_SEAL: Final = "equipoise-seal"
_SEALED: Final = re.compile(_SEAL.encode() + rb"[^0-9a-f]{1,8}?([0-9a-f]{64})")
_OPEN: Final = "0" * 64  # in the place of the seal while it is computed


@final
@dataclass(frozen=True, eq=False)
class Record:
    """What a result file says: its table, and what it is."""

    table: polars.DataFrame
    about: dict[str, Any]


def tabulated(
    t: NDArray[np.int64],
    outcomes: NDArray[np.float64],
    values: NDArray[np.float64],
    certified: NDArray[np.float64],
    episodes: Episodes,
    violations: Mapping[str, NDArray[np.float64]] | None = None,
) -> polars.DataFrame:
    """The table of a run: averages, values, what is certified, and how many episodes there were by each time.

    Parameters
    ----------
    t : int array
        The checkpoints.
    outcomes : float array, one row a checkpoint
        Averages.
    values : float array
        g of them.
    certified : float array
        What is lost at most, as far as it was proven by then; not finite where nothing is proven.
    episodes : Episodes
        All of the run.
    violations : mapping, optional
        What each constraint lacks at each checkpoint; nothing if there are none.
    """
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


def encoded(table: polars.DataFrame, about: dict[str, Any]) -> bytes:
    """The bytes of a result file."""
    versions = {"equipoise": VERSION, "python": platform.python_version(), "numpy": np.__version__}
    text = json.dumps({"format": _FORMAT, "versions": versions | {"numba": numba.__version__}, **about}, sort_keys=True)
    buffer = io.BytesIO()
    table.write_parquet(buffer, metadata={_KEY: text, _CHECKSUM: _checksum(table, text), _SEAL: _OPEN})
    content = buffer.getvalue()
    (place,) = (found.span(1) for found in _SEALED.finditer(content))
    return _with_seal(content, place, hashlib.sha256(content).hexdigest())


def decoded(content: bytes) -> Record:
    """Read the bytes of a result file; a `FileError` says what is wrong with them."""
    import polars

    sealed = _SEALED.search(content)
    if sealed is not None:
        unsealed = _with_seal(content, sealed.span(1), _OPEN)
        if hashlib.sha256(unsealed).hexdigest().encode() != sealed[1]:
            raise FileError("damaged: its checksum is not right")
    try:
        metadata = polars.read_parquet_metadata(io.BytesIO(content))
        text, checksum = metadata.get(_KEY), metadata.get(_CHECKSUM)
        if text is None or checksum is None:
            raise FileError("a Parquet file, but no result of Equipoise")
        table = polars.read_parquet(io.BytesIO(content))
        if _checksum(table, text) != checksum:
            raise FileError("damaged: its checksum is not right")
        about = json.loads(text)
        if about["format"] > _FORMAT:
            raise FileError(f"of format {about['format']}, written by a later Equipoise")
        return Record(table, about)
    except FileError:
        raise
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError, KeyError) as error:
        raise FileError(f"truncated, damaged, or no Parquet file ({str(error).splitlines()[0]})") from None


def _with_seal(content: bytes, place: tuple[int, int], seal: str) -> bytes:
    """The same bytes with another seal."""
    return content[: place[0]] + seal.encode() + content[place[1] :]


def _checksum(table: polars.DataFrame, text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for column in table.iter_columns():
        digest.update(f"{column.name}:{column.dtype}:{len(column)}".encode())
        if column.dtype.is_nested():
            digest.update(np.ascontiguousarray(column.list.len().to_numpy()).tobytes())
            column = column.explode()
        digest.update(np.ascontiguousarray(column.to_numpy()).tobytes())
    return digest.hexdigest()
