r"""Bounds on a mean that hold for every number n of observations at once, compiled. Proofs: docs/confidence.md.

X_1, X_2, ... are independent with values in [0, 1] and mean mu; `total` and `squares` are the sums of the first n and
of their squares. Each bound fails for some n with probability at most the level it is given.

`laplace`          |mean - mu| <= sqrt((1 + 1/n) log(sqrt(n+1) / delta) / (2n))         a Gaussian mixture
`stitched`         the log of the levels of Bernstein's inequality on epochs n in [eta^j, eta^(j+1))
`spread`           Bernstein's inequality with the variance bounded from the sample
`ends`             mu <= 1 - delta^(1/n) if the total is 0, mu >= delta^(1/n) if it is n
`likelihood`       all mu at which the sample is not too unlikely, against a mixture of all others

**Rounding.** Sums of n numbers, added up one by one, may be off by n half-ulps of themselves; where the observations
are 0 or 1 they are exact. So a mean is off by u n mean at most, u = 2^-53, a variance squares/n - mean^2 by
4 u (n + 1) mean, and a bound is taken at that end of them where it is widest. The logarithm of the gamma function is
large, and off by a few ulps of itself; a likelihood is compared with a level that is lower by as much. From a billion
observations on, this is more than the last digits.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Final

from equipoise._compile import inlined

ETA: Final = 1.1  # the ratio of epochs; between 1.05 and 1.2 the bound hardly changes
_LOG_ETA: Final = math.log(ETA)
_LOG_PI: Final = math.log(math.pi)
_NEWTON: Final = 60
_NEWTON_TOLERANCE: Final = 1e-13  # relative: a smaller step would change the bound by rounding only
_HALF_ULP: Final = 2.0**-53  # n additions may be off by as many times that part of the sum
_GAMMA: Final = 2.0**-49  # the logarithm of the gamma function may be off by that part of itself


@inlined
def slip(n, mean):
    """What rounding may have added to a mean, or taken from it."""
    return _HALF_ULP * n * mean


@inlined
def laplace(n, delta):
    """Two-sided."""
    return math.sqrt((1.0 + 1.0 / n) * math.log(math.sqrt(n + 1.0) / delta) / (2.0 * n))


@inlined
def stitched(n, delta):
    """L_n = log((j+1)(j+2) / delta) for n in epoch j: the levels delta / ((j+1)(j+2)) add up to delta."""
    epoch = math.floor(math.log(n) / _LOG_ETA)
    return math.log((epoch + 1.0) * (epoch + 2.0) / delta)


@inlined
def spread(n, total, squares, delta, wide):
    """Bernstein's radius with the sample's variance; fails with 3 delta. `wide` is a radius known to hold."""
    log = stitched(n, delta)
    x = math.sqrt(ETA * log / n)
    mean = total / n
    variance = max(0.0, squares / n - mean * mean) + 4.0 * _HALF_ULP * (n + 1.0) * mean
    deviation = x / math.sqrt(2.0) + math.sqrt(variance + wide * wide + 0.5 * x * x)
    return math.sqrt(2.0) * deviation * x + log / (3.0 * n) + slip(n, mean)


@inlined
def ends(n, total, delta):
    """The bounds of a mean whose sample is all zeros or all ones; fails with 2 delta."""
    lower = 0.0
    upper = 1.0
    if total <= 0.0:
        upper = -math.expm1(math.log(delta) / n)
    if total >= n:
        lower = math.exp(math.log(delta) / n) * (
            1.0 - 2.0 * _HALF_ULP * n
        )  # n is what the sum may have been rounded to
    return lower, upper


@inlined
def _root(k, m, level, start):
    """From below, the least p with k log p + m log(1 - p) >= level; every iterate is a bound, as it lies below.

    In y = log p the function is concave, so Newton's steps from below never pass the root.
    """
    y = max(level / k, math.log(start)) if start > 0.0 else level / k
    if m <= 0.0:
        return math.exp(y)
    for _ in range(_NEWTON):
        p = math.exp(y)
        slope = k - m * p / (1.0 - p)
        if slope <= 0.0:
            break
        step = (level - k * y - m * math.log1p(-p)) / slope
        if not step > _NEWTON_TOLERANCE * (1.0 - y):
            break
        y += step
    return math.exp(y)


@inlined
def _least(n, k, delta):
    """The lower end of the set of `likelihood`; its upper end is that of the mirrored sample."""
    if k <= 0.0:
        return 0.0
    m = n - k
    a, b, c = math.lgamma(k + 0.5), math.lgamma(m + 0.5), math.lgamma(n + 1.0)
    level = math.log(delta) + a + b - c - _LOG_PI - _GAMMA * (abs(a) + abs(b) + c)
    top = 0.0
    if k / n > 0.0 and m > 0.0:  # k/n may be zero by underflow
        top = k * math.log(k / n) + m * math.log(m / n)
    near = math.sqrt(max(0.0, top - level) / (2.0 * n))  # Pinsker's inequality: the roots are not farther than that
    return min(_root(k, m, level, k / n - near), k / n)


@inlined
def likelihood(n, total, exact, delta):
    """The mu with  mu^total (1 - mu)^(n - total) >= delta B(total + 1/2, n - total + 1/2) / pi.

    The set moves up with the total. So if that is not `exact`, either end is taken where rounding may have hidden it.
    """
    off = 0.0 if exact else n * slip(n, total / n)
    lower = _least(n, min(max(total - off, 0.0), n), delta)
    upper = 1.0 - _least(n, n - min(max(total + off, 0.0), n), delta)
    return lower, max(upper, min(total / n, 1.0))
