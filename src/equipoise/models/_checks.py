"""Checks shared by the worlds: each returns a clean value or raises a `ModelError` that names the culprit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import real, whole
from equipoise.errors import ModelError

SUM_TOLERANCE: Final = 1e-9  # by how much the probabilities of a distribution may miss 1
_LARGEST: Final = 10**9  # of anything that a world is made of


def checked_integer(x: Any, name: str, low: int, high: int | None = None) -> int:
    """Return an integer in [low, high], or raise an error that names it.

    >>> checked_integer(3, "length", 1)
    3
    """
    return whole(x, name, low, _LARGEST if high is None else high, error=ModelError)


def checked_probability(x: Any, name: str) -> float:
    """Return a number in [0, 1], or raise an error that names it."""
    value = real(x, name, error=ModelError)
    if math.isnan(value) or not 0.0 <= value <= 1.0:
        raise ModelError(f"{name}: got {value}; it must lie in [0, 1]")
    return value


def checked_list(x: Any, name: str, size: int | None = None, per: str = "") -> list[Any]:
    """Return the entries of a sequence, of the given length, or raise an error that names it."""
    if isinstance(x, str | bytes) or not isinstance(x, Iterable) or (isinstance(x, np.ndarray) and x.ndim == 0):
        raise ModelError(f"{name}: got {x!r}; a sequence is needed")
    entries = list(x)
    if size is not None and len(entries) != size:
        raise ModelError(f"{name}: got {len(entries)} entries; {size} are needed, one for each {per}")
    return entries


def checked_numbers(
    x: Any, name: str, size: int | None = None, per: str = "", meaning: str = ""
) -> NDArray[np.float64]:
    """Return a vector of numbers, of the given length and not yet checked for their range.

    What the vector means is said where its shape is wrong.
    """
    said = f": {meaning}" if meaning else ""
    try:
        vector = np.array(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{name}: got {x!r}; a vector of numbers is needed{said}") from None
    if vector.ndim != 1:
        got = f"an array of shape {vector.shape}" if vector.ndim else f"{vector.item()}"
        raise ModelError(f"{name}: got {got}; a vector of numbers is needed{said}")
    if size is not None and vector.size != size:
        raise ModelError(f"{name}: got {vector.size} entries; {size} are needed, one for each {per}{said}")
    return vector


def checked_noise(x: Any) -> str:
    """Return the name of a noise that exists."""
    if not isinstance(x, str) or x not in ("bernoulli", "none"):
        raise ModelError(f"noise: got {x!r}; 'bernoulli' or 'none' is needed")
    return x
