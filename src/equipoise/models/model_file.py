"""A model in a file: which arrays it is made of, and where its labels go.

The numbers and the labels are kept apart: what a run depends on, and what ids are made of, are the numbers alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from equipoise._files import ensure, load_array, read_npz, require_pointer, require_range, write_npz
from equipoise._types import Index
from equipoise.errors import FileError
from equipoise.models.branches import Branches
from equipoise.models.labels import Labels
from equipoise.models.laws.laws import Laws
from equipoise.models.outcome_rows import pack_rows, unpack_rows

if TYPE_CHECKING:
    from equipoise.models.model import Model

_KIND: Final = "model"
_VERSION: Final = 1
_LAWS: Final = "laws"  # in the header, and before the names of their arrays
_CASES: Final = "branch_case"
_LABELS: Final = "labels"  # in the header, if there are any
_ROWS: Final = "rows"
VECTORS: Final = {
    "first_pair": (np.int64, 1),
    "branch_first": (np.int64, 1),
    "branch_probability": (np.float64, 1),
    "branch_next": (np.int64, 1),
    "branch_row": (np.int64, 1),
    "known_mask": (np.bool_, 1),
}
"""The arrays of a model's file except its rows, by name, with their types."""


def pack_branches(model: Model) -> dict[str, NDArray[Any]]:
    """The arrays that make a model, by name; the others follow from them."""
    before, after = list(VECTORS)[:-1], list(VECTORS)[-1:]
    numbers = {name: getattr(model, name) for name in before}
    return numbers | pack_rows(_ROWS, model.outcome_rows) | {name: getattr(model, name) for name in after}


def unpack_branches(arrays: Mapping[str, NDArray[Any]]) -> Branches:
    """The branches in stored arrays, once their types are known to be right and no index leads out of an array."""
    found: dict[str, Any] = {**arrays, _ROWS: unpack_rows(_ROWS, arrays)}
    for name, (dtype, ndim) in {**VECTORS, _ROWS: (np.float64, 2)}.items():
        if found.get(name) is None:
            raise FileError(f"the array {name!r} is missing")
        if found[name].dtype != dtype or found[name].ndim != ndim:
            raise FileError(f"the array {name!r} is {found[name].dtype} of shape {found[name].shape}")
    law = Branches(*[found[name] for name in [*list(VECTORS)[:-1], _ROWS]])
    first = law.first_pair
    ensure(
        first.size > 1 and first[0] == 0 and np.all(first[1:] > first[:-1]),
        "the array 'first_pair' must begin with 0 and increase",
    )
    n_pairs = int(first[-1])
    ensure(found["known_mask"].size == n_pairs, f"the array 'known_mask' must have {n_pairs} entries")
    require_pointer(law.first, n_pairs, law.probability.size, "branch_first")
    require_range(law.next, law.probability.size, 0, first.size - 1, "branch_next")
    require_range(law.row, law.probability.size, 0, law.rows.shape[0], "branch_row")
    return law


def unpack_labels(header: Mapping[str, Any]) -> Labels:
    """The labels that a file's header holds, if it holds any."""
    return Labels.unpack(header.get(_LABELS) or {})


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model with its labels, and the laws of its mechanics if it has any, to one file."""
    header, arrays = model.pack()
    labels = model.labels.pack()
    header |= {_LABELS: labels} if labels else {}
    if model.laws is not None and model.branch_case is not None:
        header[_LAWS], parts = model.laws.pack()
        arrays |= {f"{_LAWS}.{name}": part for name, part in parts.items()} | {_CASES: model.branch_case}
    write_npz(path, arrays, header, _KIND, _VERSION)


def unpack_laws(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], model: Model
) -> tuple[Laws, Index] | None:
    """The laws that a file holds, and the case of each branch; None if there are none."""
    if _LAWS not in header:
        return None
    parts = {name[len(_LAWS) + 1 :]: part for name, part in arrays.items() if name.startswith(f"{_LAWS}.")}
    laws = Laws.unpack(header[_LAWS], parts, model.n_states, model.n_pairs)
    pair = np.repeat(np.arange(model.n_pairs), np.diff(model.branch_first))
    n_outcomes = laws.arrays.rows.shape[1]
    ensure(n_outcomes == model.n_outcomes, f"the array '{_LAWS}.rows' has {n_outcomes} outcomes")
    cases = load_array(arrays, _CASES, pair)
    ensure(
        np.all((cases >= laws.first_case[pair]) & (cases < laws.first_case[pair + 1]))
        and np.array_equal(laws.case_next[cases], model.branch_next),
        f"the array {_CASES!r} has cases of another model",
    )
    return laws, cases


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a model's file."""
    return read_npz(path, _KIND, _VERSION)
