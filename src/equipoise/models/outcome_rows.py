"""Rows of mean outcomes, one per pair or branch: an array, or a sparse one where nearly all entries are zero.

With as many outcomes as states, as in `Model.visits`, an array would be 3 GB of zeros for a map of 100 x 100. Rows with
more than `_LARGE` entries of which fewer than one in `_FEW` is not zero are therefore a `scipy.sparse.csr_array`. Both
kinds give the same numbers: to add zeros changes no sum.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._files import ensure, load_array, require_pointer, require_range
from equipoise._types import Index, Mask, Vector
from equipoise.errors import ModelError

Rows: TypeAlias = Vector | csr_array

_LARGE: Final = 1 << 20
_FEW: Final = 16
_MOST: Final = 4 << 30
_MOST_ENTRIES: Final = 10**9  # rows, or outcomes, of a file
_PARTS: Final = ("first", "index", "value", "shape")  # of sparse rows in a file
_TYPES: Final = (np.int64, np.int64, np.float64, np.int64)


class SparseRows(NamedTuple):
    """Sparse rows as kernels read them: those of row r are the entries from first[r] on, in the order of outcomes."""

    first: Index
    outcome: Index
    value: Vector


def compress(rows: Rows) -> Rows:
    """The same rows, sparse if they are large and nearly all zero; read-only."""
    size = rows.shape[0] * rows.shape[1]
    if size <= _LARGE or np.count_nonzero(entries(rows)) * _FEW > size:
        return make_read_only(to_array(rows))
    if not isinstance(rows, np.ndarray) and not rows.data.flags.writeable:
        return rows  # made here
    given: Any = rows
    found: Any = csr_array(given, dtype=np.float64, copy=True)
    found.sum_duplicates()
    found.eliminate_zeros()
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    for part in (found.data, found.indices, found.indptr):
        part.setflags(write=False)
    return csr_array(found)


def make_read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, C-contiguous, with its writeable flag off."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def get_sparse_arrays(rows: Rows) -> SparseRows | None:
    """Sparse rows for kernels; None if they are an array."""
    if isinstance(rows, np.ndarray):
        return None
    sparse: Any = rows
    return SparseRows(sparse.indptr, sparse.indices, sparse.data)


def to_array(rows: Rows) -> Vector:
    """The rows as an array."""
    if isinstance(rows, np.ndarray):
        return rows
    size = 8 * rows.shape[0] * rows.shape[1]
    if size > _MOST:
        raise ModelError(
            f"{rows.shape[0]} rows of {rows.shape[1]} outcomes take {size / 1e9:.0f} GB as an array; "
            "use the sparse form, model.mean_rows"
        )
    return np.asarray(rows.toarray())


def dense_row(rows: Rows, row: int) -> Vector:
    """One row as a vector."""
    if isinstance(rows, np.ndarray):
        return np.asarray(rows[row])
    vector = np.zeros(rows.shape[1])
    part = slice(rows.indptr[row], rows.indptr[row + 1])
    vector[rows.indices[part]] = rows.data[part]
    return vector


def entries(rows: Rows) -> Vector:
    """All entries that may be other than zero."""
    return rows if isinstance(rows, np.ndarray) else rows.data


def mask_rows(rows: Rows, kept: Mask) -> Rows:
    """The rows that are kept, and zeros instead of the others."""
    if kept.all():
        return rows
    if isinstance(rows, np.ndarray):
        return np.where(kept[:, None], rows, 0.0)
    data = np.where(np.repeat(kept, np.diff(rows.indptr)), rows.data, 0.0)
    return compress(csr_array((data, rows.indices, rows.indptr), shape=rows.shape))


def differing_rows(rows: Rows, others: Rows) -> Index:
    """The rows in which two of the same shape differ, in increasing order."""
    if isinstance(rows, np.ndarray) and isinstance(others, np.ndarray):
        return np.flatnonzero((rows != others).any(axis=1))
    apart: Any = csr_array(rows) != csr_array(others)
    return np.unique(apart.nonzero()[0]).astype(np.int64)


def are_equal(rows: Rows, others: Rows) -> bool:
    """Whether two are equal in shape and in every entry."""
    if rows is others:
        return True
    return rows.shape == others.shape and differing_rows(rows, others).size == 0


def pack_rows(name: str, rows: Rows) -> dict[str, NDArray[Any]]:
    """The arrays that a file holds of them, by name: one, or those of the sparse form."""
    if isinstance(rows, np.ndarray):
        return {name: rows}
    parts = (rows.indptr, rows.indices, rows.data, np.array(rows.shape))
    return {f"{name}.{part}": array for part, array in zip(_PARTS, parts, strict=True)}


def unpack_rows(name: str, arrays: Any) -> Rows | None:
    """Rows in stored arrays; None if there are none of that name."""
    if name in arrays or f"{name}.{_PARTS[0]}" not in arrays:
        found: Vector | None = arrays.get(name)
        return found
    parts: list[NDArray[Any]] = []
    for part, dtype in zip(_PARTS, _TYPES, strict=True):
        parts.append(load_array(arrays, f"{name}.{part}", np.zeros(0, dtype), grows=True))
    first, index, value, shape = parts
    ensure(
        shape.size == 2 and np.all((shape >= 1) & (shape <= _MOST_ENTRIES)),
        f"the array '{name}.shape' is {shape.tolist()[:3]}; two numbers from 1 to {_MOST_ENTRIES} are needed",
    )
    require_pointer(first, int(shape[0]), index.size, f"{name}.first")
    require_range(index, index.size, 0, int(shape[1]), f"{name}.index")
    ensure(value.size == index.size, f"the array '{name}.value' has {value.size} entries; {index.size} are needed")
    rows = csr_array((value, index, first), shape=(int(shape[0]), int(shape[1])))
    rows.sum_duplicates()
    ensure(rows.nnz == value.size, f"the array '{name}.index' lists an outcome twice")
    return rows
