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
from equipoise.errors import FileError
from equipoise.models.branches import Branches
from equipoise.models.labels import Labels

if TYPE_CHECKING:
    from equipoise.models.model import Model

_KIND: Final = "model"
_VERSION: Final = 1
_LABELS: Final = "labels"  # in the header; files written before there were labels have none
ARRAYS: Final = {
    "first_pair": (np.int64, 1),
    "branch_first": (np.int64, 1),
    "branch_probability": (np.float64, 1),
    "branch_next": (np.int64, 1),
    "branch_row": (np.int64, 1),
    "rows": (np.float64, 2),
    "known_mask": (np.bool_, 1),
}


def numbers_of(model: Model) -> dict[str, NDArray[Any]]:
    """The arrays that make a model, by name; the others follow from them."""
    return {name: getattr(model, name) for name in ARRAYS}


def branches_of(arrays: Mapping[str, NDArray[Any]]) -> Branches:
    """The branches in stored arrays, once their types are known to be right.

    Raises
    ------
    FileError
        Naming an array that is missing or of another type.
    """
    for name, (dtype, ndim) in ARRAYS.items():
        if name not in arrays:
            raise FileError(f"the array {name!r} is missing")
        if arrays[name].dtype != dtype or arrays[name].ndim != ndim:
            raise FileError(f"the array {name!r} is not one that Equipoise writes")
    return Branches(*(arrays[name] for name in list(ARRAYS)[:-1]))


def labels_in(header: Mapping[str, Any]) -> Labels:
    """The labels that a file's header holds, if it holds any."""
    return Labels.from_stored(header.get(_LABELS) or {})


def write(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model with its labels to one file."""
    header, arrays = model.stored()
    labels = model.labels.stored()
    write_npz(path, arrays, header | ({_LABELS: labels} if labels else {}), _KIND, _VERSION)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a model's file."""
    return read_npz(path, _KIND, _VERSION)
