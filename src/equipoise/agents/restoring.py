"""Checks of what a saved agent brings back: kernels check nothing, so every array must be one that they can follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import FileError


def array_in(memory: Mapping[str, Any], name: str, like: NDArray[Any], grows: bool = False) -> NDArray[Any]:
    """A saved array, of the type and the shape of a new agent's: kernels know no other.

    Parameters
    ----------
    memory : mapping
        What was saved.
    name : str
        Of the array.
    like : numpy.ndarray
        The same array of a new agent.
    grows : bool
        Whether it may be of another length.
    """
    part = memory.get(name)
    if not isinstance(part, np.ndarray):
        raise FileError(f"the array {name} is missing")
    if part.dtype != like.dtype or part.ndim != like.ndim or not (grows or part.shape == like.shape):
        raise FileError(f"the array {name} is of type {part.dtype} and shape {part.shape}")
    return np.array(part, order="C")  # kernels are compiled for arrays laid out row by row


def require(condition: Any, otherwise: str) -> None:
    """Refuse what cannot have come about.

    Parameters
    ----------
    condition : bool
        What must hold.
    otherwise : str
        What is wrong if it does not.
    """
    if not condition:
        raise FileError(otherwise)
