"""Checks of numbers and names, for the whole package: a clean value, or an error that names the culprit."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from equipoise.errors import EquipoiseError

LARGEST: Final = 2**62  # of anything that is counted, far below the largest int64
SEED_LIMIT: Final = 2**256  # an upper limit of seeds, so that a wrong argument is refused
_LARGE: Final = 10**9  # an error names the upper limit only if it is smaller than this


def check_int(x: Any, name: str, low: int, high: int = LARGEST, *, error: type[EquipoiseError]) -> int:
    """Return a whole number in [low, high]; a bool is none, nor is a float."""
    try:
        if isinstance(x, bool | np.bool_):
            raise TypeError
        value = operator.index(x)
    except TypeError:
        raise error(f"{name}: got {show_value(x)}; a whole number is needed") from None
    if not low <= value <= high:
        beyond = f">= {low}" if value < low else f"<= {high}"
        wanted = beyond if high >= _LARGE else f"from {low} to {high}"
        raise error(f"{name}: got {show_value(x)}; a whole number {wanted} is needed")
    return value


def show_value(x: Any) -> str:
    """As `repr`, for messages; Python refuses to write whole numbers of thousands of digits."""
    try:
        return repr(x)
    except ValueError:
        return "a value with too many digits to show"


def check_count(x: Any, name: str, low: int, high: int = LARGEST, *, error: type[EquipoiseError]) -> int:
    """As `check_int`, for numbers of things that are often written as 1e5: steps, horizons, limits."""
    exact = isinstance(x, float | np.floating) and float(x).is_integer()
    return check_int(int(x) if exact else x, name, low, high, error=error)


def check_float(x: Any, name: str, *, error: type[EquipoiseError]) -> float:
    """Return a float, which may be infinite or NaN; the caller checks its range."""
    try:
        if isinstance(x, str | bytes):
            raise TypeError
        return float(x)
    except (TypeError, ValueError):
        raise error(f"{name}: got {x!r}; a number is needed") from None
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def suggest(word: Any, known: Iterable[str]) -> str:
    """A question to put behind a name that is not known; empty if nothing is like it."""
    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
