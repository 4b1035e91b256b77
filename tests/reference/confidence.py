"""The confidence regions of equations (Hvm) and (Hpm), dense: an interval for every outcome or state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Box:
    """Bounds, entry by entry. For H^p the region is the part of the box inside the simplex."""

    lo: Array
    hi: Array


def mean_and_radius(sums: Array, visits: Array, log: float) -> tuple[Array, Array]:
    """Estimate means from sums: x, with radius sqrt(2 x log / N+) + 3 log / N+."""
    n_plus = np.maximum(1, visits)[:, None]
    mean = sums / n_plus
    return mean, np.sqrt(2 * mean * log / n_plus) + 3 * log / n_plus


def bernstein(sums: Array, visits: Array, log: float) -> Box:
    """Bound means from sums, within [0, 1]."""
    mean, radius = mean_and_radius(sums, visits, log)
    return Box(np.maximum(0, mean - radius), np.minimum(1, mean + radius))


def log_v(n_pairs: int, n_outcomes: int, tau: int, delta: float) -> float:
    """log(12 K SA tau^2 / delta), SA being the number of pairs."""
    return math.log(12 * n_outcomes * n_pairs * tau**2 / delta)


def log_p(n_pairs: int, n_states: int, tau: int, delta: float) -> float:
    """log(12 S^2 A tau^2 / delta), S^2 A being S times the number of pairs."""
    return math.log(12 * n_states * n_pairs * tau**2 / delta)


def outcome_region(
    outcome_sums: Array, visits: Array, tau: int, delta: float, known: Mapping[int, ArrayLike] | None = None
) -> Box:
    """H^v: mean outcomes a pair; ``known`` maps a pair to the mean it is told, a region of one point."""
    n_pairs, n_outcomes = outcome_sums.shape
    box = bernstein(outcome_sums, visits, log_v(n_pairs, n_outcomes, tau, delta))
    for pair, mean in (known or {}).items():
        box.lo[pair] = box.hi[pair] = np.asarray(mean, dtype=float)
    return box


def transition_region(successor_counts: Array, visits: Array, tau: int, delta: float) -> Box:
    """H^p: transition probabilities a pair, to each of the S states."""
    n_pairs, n_states = successor_counts.shape
    return bernstein(successor_counts, visits, log_p(n_pairs, n_states, tau, delta))


def optimistic_rewards(theta: Array, region: Box) -> Array:
    """Equation (opt_reward): max over H^v of (-theta).v, reached at a corner of the box."""
    best = np.maximum(-theta * region.lo, -theta * region.hi)
    return np.asarray(best.sum(axis=1))
