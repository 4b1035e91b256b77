"""Checks of what a saved agent brings back: kernels check nothing, so every array must be one that they can follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import MOST
from equipoise.errors import FileError
from equipoise.models.model import Space


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


def clock_fits(clock: NDArray[np.int64], space: Space) -> bool:
    """Whether there are such a time, such a state, and in it the pair that waits to be observed, if any.

    Parameters
    ----------
    clock : numpy.ndarray
        Time, state and pending pair.
    space : Space
        The agent's.
    """
    t, state, pending = (int(number) for number in clock[:3])
    if not (1 <= t <= MOST and 0 <= state < space.n_states):
        return False
    return pending == -1 or bool(space.first_pair[state] <= pending < space.first_pair[state + 1])
