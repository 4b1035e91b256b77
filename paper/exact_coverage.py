r"""The union bound in the proof of Lemma 4.1, number by number: exact binomial chances, no simulation.

For one mean p of a variable that is 0 or 1, the proof gives each sample size n the share 3 delta(n) = d / (4 n^2) of
the level d = delta / (K SA) (or delta / (S SA)), and needs, with p^ the mean of n draws and log = log(12 n^2 / d),

    P[ |p^ - p| > rad ]  <=  d / (4 n^2),         rad = sqrt(2 p^ log / n) + 3 log / n.          (B.3) to (B.5)

p - k/n - c rad falls with k, and k/n - p - c rad is convex and negative at k = np. So the k that miss are those up to
one number and those from another on, which are found by halving, and the chance is two tails of the binomial law.

`critical` is the least factor c at which the share is kept. It is below .55 up to n = 1000. Where n grows and p is
small it tends to 1: p^ is all but normal with variance p / n, so the chance is about 2 Phi(-c sqrt(2 log)), which is
near exp(-c^2 log) / (c sqrt(pi log)), and the share is 3 exp(-log); so c^2 is about 1 - log(3 sqrt(pi log)) / log. No
smaller factor than 1 would keep the share at all n: the tightest place is a rare event seen very often.
"""

from __future__ import annotations

import math

from scipy.stats import binom


def log_of(n: int, level: float) -> float:
    """The logarithm of 1 / delta(n)."""
    return math.log(12.0 * n**2 / level)


def share(n: int, level: float) -> float:
    """What the proof allows this sample size."""
    return level / (4.0 * n**2)


def failure(n: int, p: float, level: float, c: float = 1.0) -> float:
    """The chance that p lies outside, with radii multiplied by c.

    >>> failure(10, 0.3, 0.5)
    0.0
    """
    log = log_of(n, level)

    def rad(k: int) -> float:
        return c * (math.sqrt(2.0 * k * log) + 3.0 * log) / n

    middle = math.floor(n * p)
    low, high = -1, middle  # the largest k with p - k/n > rad lies in [low, high]
    while low < high:
        k = (low + high + 1) // 2
        low, high = (k, high) if p - k / n > rad(k) else (low, k - 1)
    below = float(binom.cdf(low, n, p)) if low >= 0 else 0.0
    low, high = middle, n + 1  # the least k with k/n - p > rad
    while low < high:
        k = (low + high) // 2
        low, high = (low, k) if k / n - p > rad(k) else (k + 1, high)
    return below + (float(binom.sf(low - 1, n, p)) if low <= n else 0.0)


def critical(n: int, p: float, level: float) -> float:
    """The factor of the radii at which the chance crosses the share, to three digits and a half."""
    low, high = 0.0, 1.5
    for _ in range(12):
        c = 0.5 * (low + high)
        low, high = (c, high) if failure(n, p, level, c) > share(n, level) else (low, c)
    return high
