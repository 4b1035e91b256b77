"""Checks of what is given to models: each returns a clean value or raises a `ModelError` that names the parameter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._checks import check_float, check_int
from equipoise._types import Index, Vector
from equipoise.errors import ModelError

if TYPE_CHECKING:
    from equipoise.models.labels import Labels

SUM_TOLERANCE: Final = 1e-9  # by how much the probabilities of a distribution may miss 1
_LARGEST: Final = 10**9  # of anything that a world is made of


def check_integer(x: Any, name: str, low: int, high: int | None = None) -> int:
    """Return an integer in [low, high], or raise an error that names it."""
    return check_int(x, name, low, _LARGEST if high is None else high, error=ModelError)


def check_probability(x: Any, name: str) -> float:
    """Return a number in [0, 1], or raise an error that names it."""
    value = check_float(x, name, error=ModelError)
    if math.isnan(value) or not 0.0 <= value <= 1.0:
        raise ModelError(f"{name}: got {value}; it must lie in [0, 1]")
    return value


def check_list(x: Any, name: str, size: int | None = None, per: str = "", some: bool = False) -> list[Any]:
    """Return the entries of a sequence, of the given length and not empty if `some`, or raise an error."""
    if isinstance(x, str | bytes) or not isinstance(x, Iterable) or (isinstance(x, np.ndarray) and x.ndim == 0):
        raise ModelError(f"{name}: got {x!r}; a sequence is needed")
    entries = list(x)
    if size is not None and len(entries) != size:
        raise ModelError(f"{name}: got {len(entries)} entries; {size} are needed, one for each {per}")
    if some and not entries:
        raise ModelError(f"{name}: got no entries; at least one is needed")
    return entries


def check_numbers(x: Any, name: str, size: int | None = None, per: str = "", meaning: str = "") -> NDArray[np.float64]:
    """Return a vector of numbers, of the given length and not yet checked for their range."""
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


def check_noise(x: Any) -> str:
    """Return the name of a noise that exists."""
    if not isinstance(x, str) or x not in ("bernoulli", "none"):
        raise ModelError(f"noise: got {x!r}; 'bernoulli' or 'none' is needed")
    return x


def check_chance(x: Any, name: str, sure: bool = False) -> float:
    """Return a number strictly between 0 and 1, or 1 itself if that is allowed (`sure`)."""
    value = check_probability(x, name)
    if value == 0.0 or (value == 1.0 and not sure):
        wanted = "above 0" if sure else "strictly between 0 and 1"
        raise ModelError(f"{name}: got {value}; it must be {wanted}")
    return value


def check_chances(x: Any, name: str, size: int | None = None, per: str = "", sure: bool = False) -> list[float]:
    """Return a non-empty list of what `check_chance` accepts."""
    return [
        check_chance(entry, f"{name}[{i}]", sure) for i, entry in enumerate(check_list(x, name, size, per, some=True))
    ]


def check_probabilities(
    x: Any, name: str, size: int | None = None, per: str = "", labels: Sequence[object] | None = None
) -> Vector:
    """Return a non-empty vector of numbers in [0, 1]."""
    vector = check_numbers(x, name, size, per)
    for i, entry in enumerate(check_list(vector, name, some=True)):
        check_probability(entry, f"{name}{f'[{i}]' if labels is None else f', {labels[i]!r}'}")
    return vector


def check_distribution(
    x: Any, name: str, size: int | None = None, per: str = "", labels: Sequence[object] | None = None
) -> Vector:
    """Return a vector of probabilities that sum to 1; messages name its entries by their labels."""
    vector = check_probabilities(x, name, size, per, labels)
    if abs(vector.sum() - 1.0) > SUM_TOLERANCE:
        raise ModelError(f"{name}: the probabilities sum to {vector.sum()}; they must sum to 1")
    return vector


def check_chain(x: Any, name: str) -> Vector:
    """Return the matrix of an irreducible Markov chain, one row per state."""
    from scipy.sparse.csgraph import breadth_first_order  # takes long to import

    rows = check_list(x, name)
    n = len(rows)
    if not n:
        raise ModelError(f"{name}: got no rows; at least one is needed")
    chain = np.array([check_distribution(row, f"{name}[{i}]", n, "row") for i, row in enumerate(rows)])
    for source in range(n):
        reached = breadth_first_order(csr_array(chain), source, return_predecessors=False)
        lost = np.setdiff1d(np.arange(n), reached)
        if lost.size:
            raise ModelError(f"{name}: {lost[0]} is never reached from {source}; every one must be, sooner or later")
    return chain


def check_amounts(x: Any, name: str) -> Vector:
    """Return a non-empty vector of finite numbers above 0."""
    vector = check_numbers(x, name)
    for i, entry in enumerate(check_list(vector, name, some=True)):
        if not 0.0 < entry < math.inf:
            raise ModelError(f"{name}[{i}]: got {entry}; it must be finite and above 0")
    return vector


def check_increasing(numbers: Sequence[float], name: str) -> None:
    """Raise an error that names the first number that is not above the one before it."""
    for i, (less, more) in enumerate(itertools.pairwise(numbers), start=1):
        if more <= less:
            raise ModelError(f"{name}[{i}]: got {more} after {less}; they must increase")


def check_pair(key: Any, first_pair: Index, name: str, labels: Labels) -> int:
    """Return the flat number of the pair ``(state, action)``, or raise an error that names it."""
    try:
        state, action = key
    except (TypeError, ValueError):
        raise ModelError(f"{name}: got {key!r}; a pair (state, action) is needed") from None
    state = check_integer(state, f"{name}, state", 0, first_pair.size - 2)
    count = int(first_pair[state + 1] - first_pair[state])
    action = check_integer(action, f"{name}, {labels.name_state(state)}, action", 0, count - 1)
    return int(first_pair[state]) + action
