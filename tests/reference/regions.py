"""The regions that are not the paper's, dense: one interval for every outcome and every state, written from formulas.

Every function is elementwise in numpy but for the roots of the likelihood, which scipy's ``brentq`` finds one by one in
the log-odds. ``level`` is the probability with which a bound may fail, for some n, over all n.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy

Array = NDArray[np.float64]

POWERS = 1.1 ** np.arange(500)
"""The starts of the epochs of the stitched bounds."""


@dataclass(frozen=True)
class Dense:
    """A region with no successor left out.

    The transitions are the distributions p with lo <= p <= hi, and a mass of at most ``together`` on the states never
    seen; or, if ``radius`` is above zero, those with |p - centre|_1 <= radius.
    """

    lo: Array
    hi: Array
    together: Array
    centre: Array
    radius: Array
    v_lo: Array
    v_hi: Array

    def holds(self, p: Array, v: Array) -> bool:
        unseen = np.where(self.centre == 0, p, 0).sum(axis=1)
        boxed = np.all((self.lo <= p) & (p <= self.hi), axis=1) & (unseen <= self.together)
        near = np.abs(p - self.centre).sum(axis=1) <= self.radius
        return bool(np.all(np.where(self.radius > 0, near, boxed)) and np.all((self.v_lo <= v) & (v <= self.v_hi)))


# --- bounds on one mean ---


def laplace(n: ArrayLike, level: float) -> Array:
    """Radius of the Gaussian mixture, both sides together at ``level``."""
    n = np.asarray(n, dtype=float)
    return np.sqrt((1 + 1 / n) * np.log(np.sqrt(n + 1) / level) / (2 * n))


def log_of_epoch(n: ArrayLike, level: float) -> Array:
    """log((j+1)(j+2) / level), where j is the last with 1.1^j <= n."""
    j = np.searchsorted(POWERS, np.asarray(n, dtype=float), side="right") - 1
    return np.log((j + 1.0) * (j + 2.0) / level)


def bernstein_of_variance(n: ArrayLike, variance: ArrayLike, level: float) -> Array:
    """Radius of one side if the true variance is known."""
    n = np.asarray(n, dtype=float)
    log = log_of_epoch(n, level)
    return np.sqrt(2 * 1.1 * np.asarray(variance) * log / n) + log / (3 * n)


def deviation_bound(n: ArrayLike, variance: ArrayLike, wide: ArrayLike, level: float) -> Array:
    """Upper bound on the true standard deviation, from the sample's variance around its own mean."""
    n = np.asarray(n, dtype=float)
    x = np.sqrt(1.1 * log_of_epoch(n, level) / n)
    return x / np.sqrt(2) + np.sqrt(np.asarray(variance) + np.asarray(wide) ** 2 + x**2 / 2)


def sample_variance(n: ArrayLike, total: ArrayLike, squares: ArrayLike) -> Array:
    n = np.asarray(n, dtype=float)
    return np.maximum(0, np.asarray(squares) / n - (np.asarray(total) / n) ** 2)


ROUNDING = 2.0**-53  # of one addition, as a part of the sum


def spread(n: ArrayLike, total: ArrayLike, squares: ArrayLike, wide: ArrayLike, level: float) -> Array:
    """Radius from the sample's variance: two sides and the variance, each at ``level``; and the sums' rounding."""
    n, total = np.asarray(n, dtype=float), np.asarray(total, dtype=float)
    hidden = 4 * ROUNDING * (n + 1) * total / n
    s = deviation_bound(n, sample_variance(n, total, squares) + hidden, wide, level)
    return bernstein_of_variance(n, s**2, level) + ROUNDING * total


def ends(n: ArrayLike, total: ArrayLike, level: float) -> tuple[Array, Array]:
    """Bounds from a sample of zeros only, or of ones only; each at ``level``."""
    n, total = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(total, dtype=float))
    return np.where(total >= n, level ** (1 / n) * (1 - 2 * n * ROUNDING), 0.0), np.where(
        total <= 0, 1 - level ** (1 / n), 1.0
    )


def log_evidence(n: ArrayLike, total: ArrayLike, p: ArrayLike) -> Array:
    """log of the mixture of all likelihoods, by Beta(1/2, 1/2), over the likelihood of p; -inf over 0 is 0."""
    n, k = np.asarray(n, dtype=float), np.asarray(total, dtype=float)
    m = np.maximum(0, n - k)
    return np.asarray(betaln(k + 0.5, m + 0.5) - math.log(math.pi) - xlogy(k, p) - xlog1py(m, -np.asarray(p)))


def likelihood_root(k: float, m: float, level: float) -> float:
    """The least p with p^k (1-p)^m >= level B(k + 1/2, m + 1/2) / pi, by ``brentq`` in z = log(p / (1-p))."""
    if k <= 0:
        return 0.0
    least = math.log(level) + float(betaln(k + 0.5, m + 0.5)) - math.log(math.pi)
    if m <= 0:
        return math.exp(least / k)
    if least / k < -750:  # as p <= k/n, -m log(1-p) <= k, so log p <= least/k + 1: no float is that small
        return 0.0

    def excess(z: float) -> float:
        return float(-k * np.logaddexp(0, -z) - m * np.logaddexp(0, z)) - least

    peak = math.log(k) - math.log(m)
    z = float(brentq(excess, min(least / k, peak) - 50, peak, xtol=1e-13, rtol=1e-14, maxiter=1000))
    return math.exp(-float(np.logaddexp(0, -z)))


def likelihood(n: float, total: float, level: float) -> tuple[float, float]:
    """All p that are not too unlikely; both sides together at ``level``."""
    k = min(max(float(total), 0.0), float(n))
    return likelihood_root(k, n - k, level), 1 - likelihood_root(n - k, k, level)


def missing_mass(seen: ArrayLike, since: ArrayLike, level: float) -> Array:
    """Bound on the mass never seen, when ``seen`` successors were and none was new in the last ``since`` visits."""
    seen, since = np.asarray(seen, dtype=float), np.asarray(since, dtype=float)
    bound = 1 - (level / (seen * (seen + 1))) ** (1 / np.maximum(1, since))
    return np.where(since > 0, bound, 1.0)


# --- the interval of one mean, by rule ---


def empirical_bernstein(n: float, total: float, squares: float, level: float) -> tuple[float, float]:
    """Six events at level/6: Laplace, two sides of Bernstein, the variance, two ends."""
    mean, wide = total / n, float(laplace(n, level / 6)) + ROUNDING * total
    radius = min(wide, float(spread(n, total, squares, wide, level / 6)))
    low, high = ends(n, total, level / 6)
    return max(float(low), mean - radius), min(float(high), mean + radius)


def adaptive_outcome(n: float, total: float, squares: float, level: float) -> tuple[float, float]:
    """A third for the likelihood, a third for Bernstein, a third for the ends."""
    mean = total / n
    off = ROUNDING * n * total
    low, high = likelihood(n, total - off, level / 3)[0], likelihood(n, total + off, level / 3)[1]
    radius = float(spread(n, total, squares, max(high - mean, mean - low), level / 9))
    least, most = ends(n, total, level / 6)
    return max(low, mean - radius, float(least)), min(high, mean + radius, float(most))


# --- whole regions ---


@dataclass(frozen=True)
class Facts:
    """What was counted: successors by pair, sums of outcomes and of squares, visits since the last new successor."""

    successors: Array
    sums: Array
    squares: Array
    since: Array
    known: Mapping[int, ArrayLike]

    @property
    def visits(self) -> Array:
        return np.asarray(self.successors.sum(axis=1))


def _told(facts: Facts, v_lo: Array, v_hi: Array) -> None:
    for pair, mean in facts.known.items():
        v_lo[pair] = v_hi[pair] = mean


def _by_intervals(facts: Facts, outcome_rule, successor_rule, together: Array) -> Dense:
    n_pairs, n_states = facts.successors.shape
    visits = facts.visits
    lo, hi = np.zeros((n_pairs, n_states)), np.ones((n_pairs, n_states))
    v_lo, v_hi = np.zeros(facts.sums.shape), np.ones(facts.sums.shape)
    for pair in np.flatnonzero(visits):
        n = float(visits[pair])
        for s, count in enumerate(facts.successors[pair]):
            lo[pair, s], hi[pair, s] = successor_rule(n, count, count)
            if count == 0:
                lo[pair, s], hi[pair, s] = 0.0, min(hi[pair, s], together[pair])
        for k in range(facts.sums.shape[1]):
            v_lo[pair, k], v_hi[pair, k] = outcome_rule(n, facts.sums[pair, k], facts.squares[pair, k])
    _told(facts, v_lo, v_hi)
    centre = facts.successors / np.maximum(1, visits)[:, None]
    return Dense(lo, hi, together, centre, np.zeros(n_pairs), v_lo, v_hi)


def region_of_empirical_bernstein(facts: Facts, delta: float) -> Dense:
    n_pairs, n_states = facts.successors.shape
    for_v, for_p = delta / (2 * facts.sums.shape[1] * n_pairs), delta / (2 * n_states * n_pairs)
    return _by_intervals(
        facts,
        lambda n, total, squares: empirical_bernstein(n, total, squares, for_v),
        lambda n, total, squares: empirical_bernstein(n, total, squares, for_p),
        np.ones(n_pairs),
    )


def region_of_adaptive(facts: Facts, delta: float) -> Dense:
    n_pairs, n_states = facts.successors.shape
    for_v, for_p = delta / (4 * facts.sums.shape[1] * n_pairs), delta / (4 * n_states * n_pairs)
    seen = (facts.successors > 0).sum(axis=1)
    unseen = missing_mass(np.maximum(1, seen), facts.since, delta / (2 * n_pairs))
    return _by_intervals(
        facts,
        lambda n, total, squares: adaptive_outcome(n, total, squares, for_v),
        lambda n, total, _: likelihood(n, total, for_p),
        np.where(facts.visits > 0, unseen, 1.0),
    )


def region_of_balls(facts: Facts, tau: int, delta: float, form: str) -> Dense:
    """UCRL2's, "jaksch", or those by Laplace's mixture over the sets of states."""
    n_pairs, n_states = facts.successors.shape
    n_outcomes = facts.sums.shape[1]
    visits = facts.visits
    n = np.maximum(1, visits)
    if form == "jaksch":
        n_actions = max(1, n_pairs / n_states)  # below 1 only where there are fewer laws than values of one
        radius = np.sqrt(14 * n_states * math.log(2 * n_actions * tau / delta) / n)
        width = np.sqrt(7 * math.log(2 * n_outcomes * n_pairs * tau / delta) / (2 * n))
    else:
        sets = 2 ** (n_states - 1) - 1  # a set of states and its complement are one
        level = delta / (2 * n_pairs)
        radius = 2 * laplace(n, level / max(1, sets))
        width = laplace(n, delta / (2 * n_outcomes * n_pairs))
    mean = facts.sums / n[:, None]
    v_lo, v_hi = np.maximum(0, mean - width[:, None]), np.minimum(1, mean + width[:, None])
    v_lo[visits == 0], v_hi[visits == 0] = 0, 1
    _told(facts, v_lo, v_hi)
    centre = facts.successors / n[:, None]
    radius = np.where(visits > 0, 0.0 if n_states == 1 else np.minimum(2, radius), 2.0)
    return Dense(centre, centre, np.ones(n_pairs), centre, radius, v_lo, v_hi)
