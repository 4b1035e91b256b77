"""Checks of constructor arguments that several rewards share; each error names the field and the entry."""

from __future__ import annotations

from numpy.typing import ArrayLike

from equipoise._numbers import whole
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import checked_number, checked_unit_vector


def checked_count(x: int, name: str, low: int, high: int | None = None) -> int:
    """A whole number between two limits, both allowed.

    >>> checked_count(3, "kappa", 1, 4)
    3
    """
    return whole(x, name, low, 10**9 if high is None else high, error=RewardError)


def checked_smoothing(mu: float, name: str = "mu") -> float:
    """A number with 0 < mu <= 1.

    >>> checked_smoothing(1)
    1.0
    """
    number = checked_number(mu, name)
    if not 0.0 < number <= 1.0:
        raise RewardError(f"{name}: got {number}; it must be above 0 and at most 1")
    return number


def checked_distribution(x: ArrayLike, name: str) -> Vector:
    """A vector of probabilities that sum to 1, up to 1e-9.

    >>> checked_distribution([0.25, 0.75], "target")
    array([0.25, 0.75])
    """
    vector = checked_unit_vector(x, name)
    total = float(vector.sum())
    if abs(total - 1.0) > 1e-9:
        raise RewardError(f"{name}: the entries sum to {total!r}; a distribution, which sums to 1, is needed")
    return vector
