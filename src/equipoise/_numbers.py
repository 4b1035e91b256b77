"""Checks of single numbers, one for the whole package: a clean value, or an error that names the culprit."""

from __future__ import annotations

import math
import operator
from typing import Any, Final

import numpy as np

from equipoise.errors import EquipoiseError

MOST: Final = 2**62  # of anything that is counted; sums of two still fit
SEEDS: Final = 2**256  # an upper limit of seeds, so that a wrong argument is refused
_LARGE: Final = 10**9  # an error names the upper limit only if it is smaller than this


def whole(x: Any, name: str, low: int, high: int = MOST, *, error: type[EquipoiseError]) -> int:
    """Return a whole number in [low, high]; a bool is none, nor is a float.

    Parameters
    ----------
    x : object
        What was given.
    name : str
        What it is, for messages.
    low, high : int
        The range, both ends included.
    error : type
        What to raise.

    Examples
    --------
    >>> from equipoise.errors import ParameterError
    >>> whole(3, "state", 0, error=ParameterError)
    3
    """
    try:
        if isinstance(x, bool | np.bool_):
            raise TypeError
        value = operator.index(x)
    except TypeError:
        raise error(f"{name}: got {x!r}; a whole number is needed") from None
    if not low <= value <= high:
        beyond = f">= {low}" if value < low else f"<= {high}"
        wanted = beyond if high >= _LARGE else f"from {low} to {high}"
        raise error(f"{name}: got {x!r}; a whole number {wanted} is needed")
    return value


def counted(x: Any, name: str, low: int, high: int = MOST, *, error: type[EquipoiseError]) -> int:
    """As `whole`, for numbers of things that are often written as 1e5: steps, horizons, limits.

    Parameters
    ----------
    x, name, low, high, error
        As for `whole`.

    Examples
    --------
    >>> from equipoise.errors import ParameterError
    >>> counted(1e5, "steps", 1, error=ParameterError)
    100000
    """
    exact = isinstance(x, float | np.floating) and float(x).is_integer()
    return whole(int(x) if exact else x, name, low, high, error=error)


def real(x: Any, name: str, *, error: type[EquipoiseError]) -> float:
    """Return a float, which may be infinite or NaN; the caller checks its range."""
    try:
        if isinstance(x, str | bytes):
            raise TypeError
        return float(x)
    except (TypeError, ValueError):
        raise error(f"{name}: got {x!r}; a number is needed") from None
    except OverflowError:
        return math.inf if x > 0 else -math.inf
