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
def _top(n, k, m):
    """The largest value of k log p + m log(1 - p)."""
    if k / n > 0.0 and m / n > 0.0:  # which may be zero by underflow
        return k * math.log(k / n) + m * math.log(m / n)
    return 0.0


@inlined
def _start(n, k, level, top):
    """Below the least p with k log p + m log(1 - p) >= level, as y = log p: where the search for it begins."""
    near = math.sqrt(max(0.0, top - level) / (2.0 * n))  # Pinsker's inequality: the root is not farther than that
    return max(level / k, math.log(k / n - near)) if k / n - near > 0.0 else level / k


@inlined
def _step(k, m, level, y):
    """Newton's step from below towards the root of k log p + m log(1 - p) = level in y = log p; 0 at the end.

    The function is concave in y, so that no step passes the root, and every iterate is a bound.
    """
    p = math.exp(y)
    slope = k - m * p / (1.0 - p)
    step = (level - k * y - m * math.log1p(-p)) / slope
    return step if slope > 0.0 and step > _NEWTON_TOLERANCE * (1.0 - y) else 0.0


@inlined
def _level(logarithm, a, b, c):
    """The logarithm of the least likelihood that is not too small, less what rounding may have added to it."""
    return logarithm + a + b - c - _LOG_PI - _GAMMA * (abs(a) + abs(b) + c)


@inlined
def likelihood(n, total, exact, delta):
    """The mu with  mu^total (1 - mu)^(n - total) >= delta B(total + 1/2, n - total + 1/2) / pi.

    The set moves up with the total. So if that is not `exact`, either end is taken where rounding may have hidden it.
    The upper end is one less the lower end of the mirrored sample. Both are searched for at once: each step waits for
    the one before, and two can wait together.
    """
    off = 0.0 if exact else n * slip(n, total / n)
    k = min(max(total - off, 0.0), n)
    mirrored = n - min(max(total + off, 0.0), n)
    m, other = n - k, n - mirrored
    logarithm, whole = math.log(delta), math.lgamma(n + 1.0)
    a, b = math.lgamma(k + 0.5), math.lgamma(m + 0.5)
    top = _top(n, k, m)
    c, d, summit = b, a, top
    if mirrored != m or other != k:
        c, d, summit = math.lgamma(mirrored + 0.5), math.lgamma(other + 0.5), _top(n, mirrored, other)
    low, high = _level(logarithm, a, b, whole), _level(logarithm, c, d, whole)
    y = _start(n, k, low, top) if k > 0.0 else 0.0
    z = _start(n, mirrored, high, summit) if mirrored > 0.0 else 0.0
    ahead, back = k > 0.0 and m > 0.0, mirrored > 0.0 and other > 0.0
    for _ in range(_NEWTON):
        up = _step(k, m, low, y) if ahead else 0.0
        down = _step(mirrored, other, high, z) if back else 0.0
        ahead, back = up > 0.0, down > 0.0
        if not (ahead or back):
            break
        y += up
        z += down
    lower = min(math.exp(y), k / n) if k > 0.0 else 0.0
    upper = 1.0 - min(math.exp(z), mirrored / n) if mirrored > 0.0 else 1.0
    return lower, max(upper, min(total / n, 1.0))
