"""What several applied worlds share: checks that raise a `ModelError` naming the parameter, and a word for a label."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from equipoise._types import Vector
from equipoise.errors import ModelError
from equipoise.models._checks import SUM_TOLERANCE, checked_list, checked_numbers, checked_probability


def checked_chance(x: Any, name: str, sure: bool = False) -> float:
    """Return a number strictly between 0 and 1, or 1 itself if that is allowed (`sure`).

    >>> checked_chance(1, "service", sure=True)
    1.0
    """
    value = checked_probability(x, name)
    if value == 0.0 or (value == 1.0 and not sure):
        wanted = "above 0" if sure else "strictly between 0 and 1"
        raise ModelError(f"{name}: got {value}; it must be {wanted}")
    return value


def checked_chances(x: Any, name: str, size: int | None = None, per: str = "", sure: bool = False) -> list[float]:
    """Return a non-empty list of what `checked_chance` accepts."""
    entries = checked_list(x, name, size, per)
    if not entries:
        raise ModelError(f"{name}: got no entries; at least one is needed")
    return [checked_chance(entry, f"{name}[{i}]", sure) for i, entry in enumerate(entries)]


def checked_probabilities(x: Any, name: str, size: int | None = None, per: str = "") -> Vector:
    """Return a non-empty vector of numbers in [0, 1]."""
    vector = checked_numbers(x, name, size, per)
    if not vector.size:
        raise ModelError(f"{name}: got no entries; at least one is needed")
    for i, entry in enumerate(vector):
        checked_probability(entry, f"{name}[{i}]")
    return vector


def checked_distribution(x: Any, name: str, size: int | None = None, per: str = "") -> Vector:
    """Return a vector of probabilities that sum to 1."""
    vector = checked_probabilities(x, name, size, per)
    if abs(vector.sum() - 1.0) > SUM_TOLERANCE:
        raise ModelError(f"{name}: the probabilities sum to {vector.sum()}; they must sum to 1")
    return vector


def checked_chain(x: Any, name: str) -> Vector:
    """Return the matrix of an irreducible Markov chain, one row a state.

    >>> checked_chain([[0.5, 0.5], [1, 0]], "regimes").shape
    (2, 2)
    """
    rows = checked_list(x, name)
    n = len(rows)
    if not n:
        raise ModelError(f"{name}: got no rows; at least one is needed")
    chain = np.array([checked_distribution(row, f"{name}[{i}]", n, "row") for i, row in enumerate(rows)])
    for source in range(n):
        reached = breadth_first_order(csr_array(chain), source, return_predecessors=False)
        lost = np.setdiff1d(np.arange(n), reached)
        if lost.size:
            raise ModelError(f"{name}: {lost[0]} is never reached from {source}; every one must be, sooner or later")
    return chain


def checked_amounts(x: Any, name: str) -> Vector:
    """Return a non-empty vector of finite numbers above 0."""
    vector = checked_numbers(x, name)
    if not vector.size:
        raise ModelError(f"{name}: got no entries; at least one is needed")
    for i, entry in enumerate(vector):
        if not (np.isfinite(entry) and entry > 0.0):
            raise ModelError(f"{name}[{i}]: got {entry}; it must be finite and above 0")
    return vector


def plain(amount: float) -> str:
    """Write an amount for a label, exactly and without needless zeros.

    >>> plain(40.0), plain(0.1)
    ('40', '0.1')
    """
    return repr(float(amount)).removesuffix(".0")
