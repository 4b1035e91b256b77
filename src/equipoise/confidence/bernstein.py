r"""Regions from the empirical Bernstein inequality: the paper's, and tighter ones for all numbers of visits at once.

**Bernstein** (section 3, eqs. Hvm and Hpm of the paper). With N+ = max(1, N_m(s,a)), SA the number of pairs, and

    log-v = log(12 K SA tau^2 / delta),          log-p = log(12 S SA tau^2 / delta),

    |v_k - v^_k| <= sqrt(2 v^_k log-v / N+) + 3 log-v / N+           for each outcome, within [0,1],
    |p(s') - p^(s')| <= sqrt(2 p^(s') log-p / N+) + 3 log-p / N+     for each successor, within [0,1].

The means v^_k and p^(s') stand where the inequality has the empirical variance, which they bound. For a
successor never seen p^ = 0, so all of them share the interval [0, min(1, 3 log-p / N+)]. Both events hold
for all episodes at once with probability 1 - delta/2 each (lemma conc). Outcomes that the space knows in
advance give singletons.

**EmpiricalBernstein** (derivation: docs/confidence.md). Each of the K SA mean outcomes and S SA transition
probabilities has the level d = delta / (2 K SA), or delta / (2 S SA), in six equal parts d/6. With n visits, mean m,
variance V of the sample, eta = 1.1, L = log((j+1)(j+2) 6/d) for n in [eta^j, eta^(j+1)) and x = sqrt(eta L / n), the
interval is the intersection of

    m +- h,  h = sqrt((1 + 1/n) log(sqrt(n+1) 6/d) / (2n))                                           Laplace
    m +- (sqrt(2) s x + L / (3n)),  s = x/sqrt(2) + sqrt(V + h^2 + x^2/2)                            Bernstein
    [0, 1 - (d/6)^(1/n)] if all were 0,   [(d/6)^(1/n), 1] if all were 1                             exact

Compared with the paper's: log n instead of log tau, loglog instead of log in the leading term, and m(1 - m) or less
instead of m, so that what is nearly certain is learnt fast from both sides.

The bounds of which these are made, for all n at once, each of which fails for some n with at most the given
probability; X_1, X_2, ... are independent in [0, 1] with mean mu, `total` and `squares` sum the first n:

`laplace_radius`    |mean - mu| <= sqrt((1 + 1/n) log(sqrt(n+1) / delta) / (2n))         a Gaussian mixture
`stitched_log`      the log of the levels of Bernstein's inequality on epochs n in [eta^j, eta^(j+1))
`bernstein_radius`  Bernstein's inequality with the variance bounded from the sample
`exact_ends`        mu <= 1 - delta^(1/n) if the total is 0, mu >= delta^(1/n) if it is n

**Rounding.** Sums of n numbers, added up one by one, may be off by n half-ulps of themselves; where the observations
are 0 or 1 they are exact. So a mean is off by u n mean at most, u = 2^-53, a variance squares/n - mean^2 by
4 u (n + 1) mean, and a bound is taken at that end of them where it is widest. From a billion observations on, this is
more than the last digits.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Final, final

import numpy as np

from equipoise._runtime.compiler import Entry, inlined
from equipoise.confidence.elementwise import Elementwise, interval_entry

ETA: Final = 1.1  # the ratio of epochs; between 1.05 and 1.2 the bound hardly changes
_LOG_ETA: Final = math.log(ETA)
HALF_ULP: Final = 2.0**-53  # n additions may be off by as many times that part of the sum


@inlined
def rounding_slip(n, mean):
    """What rounding may have added to a mean, or taken from it."""
    return HALF_ULP * n * mean


@inlined
def laplace_radius(n, delta):
    """Two-sided."""
    return math.sqrt((1.0 + 1.0 / n) * math.log(math.sqrt(n + 1.0) / delta) / (2.0 * n))


@inlined
def stitched_log(n, delta):
    """L_n = log((j+1)(j+2) / delta) for n in epoch j: the levels delta / ((j+1)(j+2)) add up to delta."""
    epoch = math.floor(math.log(n) / _LOG_ETA)
    return math.log((epoch + 1.0) * (epoch + 2.0) / delta)


@inlined
def bernstein_radius(n, total, squares, delta, wide):
    """Bernstein's radius with the sample's variance; fails with 3 delta. `wide` is a radius known to hold."""
    log = stitched_log(n, delta)
    x = math.sqrt(ETA * log / n)
    mean = total / n
    variance = max(0.0, squares / n - mean * mean) + 4.0 * HALF_ULP * (n + 1.0) * mean
    deviation = x / math.sqrt(2.0) + math.sqrt(variance + wide * wide + 0.5 * x * x)
    return math.sqrt(2.0) * deviation * x + log / (3.0 * n) + rounding_slip(n, mean)


@inlined
def exact_ends(n, total, delta):
    """The bounds of a mean whose sample is all zeros or all ones; fails with 2 delta."""
    lower = 0.0
    upper = 1.0
    if total <= 0.0:
        upper = -math.expm1(math.log(delta) / n)
    if total >= n:
        lower = math.exp(math.log(delta) / n) * (1.0 - 2.0 * HALF_ULP * n)  # n is what the sum may have been rounded to
    return lower, upper


@interval_entry
def _interval(tau, delta, count, binary, n, total, squares, floats, bounds):
    log = np.log(12.0 * count * (float(tau) * float(tau)) / delta)
    mean = total / n
    radius = np.sqrt(2.0 * mean * log / n) + 3.0 * log / n
    bounds[0] = max(0.0, mean - radius)
    bounds[1] = min(1.0, mean + radius)


@final
class Bernstein(Elementwise):
    """The regions of the paper; the default.

    See Also
    --------
    equipoise.confidence.Adaptive : The same guarantee, regions that fit the data.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5])).confidence
    Bernstein()
    """

    guarantee = "1 - delta, for all episodes at once (the paper's lemma 4.1)"

    @property
    def interval(self) -> Entry:
        """Eqs. (Hvm) and (Hpm)."""
        return _interval


@inlined
def empirical_bernstein(n, total, squares, level):
    """The interval of one mean, which fails for some n with probability at most `level`."""
    part = level / 6.0
    mean = total / n
    wide = laplace_radius(n, part) + rounding_slip(n, mean)
    radius = min(wide, bernstein_radius(n, total, squares, part, wide))
    lower, upper = exact_ends(n, total, part)
    return max(lower, mean - radius), min(upper, mean + radius)


@interval_entry
def _empirical_interval(tau, delta, count, binary, n, total, squares, floats, bounds):
    bounds[0], bounds[1] = empirical_bernstein(n, total, squares, delta / (2.0 * count))


@final
class EmpiricalBernstein(Elementwise):
    """Time-uniform empirical Bernstein intervals, intersected with Laplace's and the exact ones.

    See Also
    --------
    equipoise.confidence.Adaptive : Likelihood intervals, which have no closed form.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]), confidence=EmpiricalBernstein())
    >>> agent.confidence.guarantee
    '1 - delta, for all times at once'
    """

    guarantee = "1 - delta, for all times at once"
    timeless = True
    relaxation = 0.9  # the regions of what is certain shrink like 1/n, and are soon all but periodic

    @property
    def interval(self) -> Entry:
        """The intersection."""
        return _empirical_interval
