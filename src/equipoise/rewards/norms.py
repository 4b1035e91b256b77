"""The three norms of the paper, their duals, and the length of the all-ones vector in each.

A reward is L-Lipschitz and beta-smooth *with respect to a norm*; gradients, theta and the drift Psi are
measured in its dual: 1 and infinity are dual to each other, 2 to itself.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._checks import check_float
from equipoise._runtime.compiler import inlined
from equipoise.errors import RewardError

NORMS: Final = (1.0, 2.0, math.inf)


def check_norm(norm: float) -> float:
    """Return `norm` as a float if it is 1, 2 or infinity."""
    value = check_float(norm, "norm", error=RewardError)
    if value not in NORMS:
        raise RewardError(f"norm: got {norm!r}; it must be 1, 2 or math.inf")
    return value


def dual(norm: float) -> float:
    """The dual norm: ||theta||_* = max over ||w|| <= 1 of theta.w."""
    return {1.0: math.inf, 2.0: 2.0, math.inf: 1.0}[norm]


def length(x: ArrayLike, norm: float) -> float:
    """||x|| in the given norm."""
    return float(np.linalg.norm(np.asarray(x, dtype=np.float64), ord=norm))


def ones(n_outcomes: int, norm: float) -> float:
    """||1_K||: K, sqrt(K) or 1."""
    return {1.0: float(n_outcomes), 2.0: math.sqrt(n_outcomes), math.inf: 1.0}[norm]


def stretch(norm: float, other: float, n_outcomes: int) -> float:
    """The largest ||x|| in one norm for ||x|| = 1 in the other: the factor of L, and its square that of beta."""
    return max(1.0, ones(n_outcomes, norm) / ones(n_outcomes, other))


@inlined
def distance(x, y, norm):  # type: ignore[no-untyped-def]
    """||x - y||, compiled."""
    total = 0.0
    if norm == 2.0:
        for k in range(x.shape[0]):
            gap = x[k] - y[k]
            total += gap * gap
        return np.sqrt(total)
    if norm == 1.0:
        for k in range(x.shape[0]):
            total += abs(x[k] - y[k])
        return total
    for k in range(x.shape[0]):
        total = max(total, abs(x[k] - y[k]))
    return total
