"""A model in a file: which arrays it is made of, and where its labels go.

The numbers and the labels are kept apart: what a run depends on, and what ids are made of, are the numbers alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from equipoise._files import read_npz, write_npz
from equipoise._types import Index
from equipoise.errors import FileError
from equipoise.models.branches import Branches
from equipoise.models.labels import Labels
from equipoise.models.laws.laws import Laws
from equipoise.models.rows import from_stored, stored

if TYPE_CHECKING:
    from equipoise.models.model import Model

_KIND: Final = "model"
_VERSION: Final = 1
_LAWS: Final = "laws"  # in the header, and before the names of their arrays
_CASES: Final = "branch_case"
_LABELS: Final = "labels"  # in the header; files written before there were labels have none
_ROWS: Final = "rows"
VECTORS: Final = {
    "first_pair": (np.int64, 1),
    "branch_first": (np.int64, 1),
    "branch_probability": (np.float64, 1),
    "branch_next": (np.int64, 1),
    "branch_row": (np.int64, 1),
    "known_mask": (np.bool_, 1),
}
"""The arrays of a model's file beside its rows, by name, with their types."""


def numbers_of(model: Model) -> dict[str, NDArray[Any]]:
    """The arrays that make a model, by name; the others follow from them."""
    before, after = list(VECTORS)[:-1], list(VECTORS)[-1:]
    numbers = {name: getattr(model, name) for name in before}
    return numbers | stored(_ROWS, model.outcome_rows) | {name: getattr(model, name) for name in after}


def branches_of(arrays: Mapping[str, NDArray[Any]]) -> Branches:
    """The branches in stored arrays, once their types are known to be right.

    Raises
    ------
    FileError
        Naming an array that is missing or of another type.
    """
    found: dict[str, Any] = {**arrays, _ROWS: from_stored(_ROWS, arrays)}
    for name, (dtype, ndim) in {**VECTORS, _ROWS: (np.float64, 2)}.items():
        if found.get(name) is None:
            raise FileError(f"the array {name!r} is missing")
        if found[name].dtype != dtype or found[name].ndim != ndim:
            raise FileError(f"the array {name!r} is not one that Equipoise writes")
    return Branches(*[found[name] for name in [*list(VECTORS)[:-1], _ROWS]])


def labels_in(header: Mapping[str, Any]) -> Labels:
    """The labels that a file's header holds, if it holds any."""
    return Labels.from_stored(header.get(_LABELS) or {})


def write(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model with its labels, and the laws of its mechanics if it has any, to one file."""
    header, arrays = model.stored()
    labels = model.labels.stored()
    header |= {_LABELS: labels} if labels else {}
    if model.laws is not None and model.branch_case is not None:
        header[_LAWS], parts = model.laws.stored()
        arrays |= {f"{_LAWS}.{name}": part for name, part in parts.items()} | {_CASES: model.branch_case}
    write_npz(path, arrays, header, _KIND, _VERSION)


def laws_in(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], model: Model) -> tuple[Laws, Index] | None:
    """The laws that a file holds, and the case of each branch; None if there are none.

    Raises
    ------
    FileError
        When they are not those of this model.
    """
    if _LAWS not in header:
        return None
    parts = {name[len(_LAWS) + 1 :]: part for name, part in arrays.items() if name.startswith(f"{_LAWS}.")}
    laws, cases = Laws.from_stored(header[_LAWS], parts, model.n_states, model.n_pairs), arrays.get(_CASES)
    pair = np.repeat(np.arange(model.n_pairs), np.diff(model.branch_first))
    if (
        cases is None
        or cases.dtype != np.int64
        or cases.shape != pair.shape
        or laws.arrays.rows.shape[1] != model.n_outcomes
        or np.any((cases < laws.first_case[pair]) | (cases >= laws.first_case[pair + 1]))
        or np.any(laws.case_next[cases] != model.branch_next)
    ):
        raise FileError("its laws are those of another model")
    return laws, cases


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a model's file."""
    return read_npz(path, _KIND, _VERSION)
