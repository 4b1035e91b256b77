r"""The tightest regions here: likelihood intervals, and one bound on all that was never seen.

Proofs: docs/confidence.md.

Transition probabilities, together delta/4, so d = delta / (4 S SA) each. With k of n visits going to s', all p with

    p^k (1-p)^(n-k)  >=  d B(k + 1/2, n - k + 1/2) / pi,      that is   n kl(k/n, p) <= log(1/d) + log(n)/2 + O(1):

at the true p the right side, a mixture of all likelihoods, seldom exceeds the left by 1/d.

Mean outcomes, together delta/4, so d = delta / (4 K SA) each: the same set at level d/3, which is valid for all
outcomes in [0, 1]; Bernstein's interval with the variance of the sample, also d/3, better where they vary little; and,
if all were 0 or all were 1, the exact one-sided bound at d/6.

The mass of all successors never seen, delta/2: when j were seen, and i visits have passed since the last of them was
new, at most 1 - ( delta / (2 SA j (j+1)) )^(1/i). One number for all: without it every unseen state has its own
log(1/d) / n, and optimism adds them up. It is what decides on a river, so it has the largest share.

The rows of a log may be in any order, and nobody knows when a successor was new. Then i leaves out the rows of logs,
and a second bound holds as well: at most 1 - ( delta / (2 SA S j (j+1) C(S, j)) )^(1/n), with C(S, j) the number
of sets of j states. The levels of the first add up to delta/2 (1 - 1/S), and what is left is for the second.

**Rounding.** The logarithm of the gamma function is large, and off by a few ulps of itself; a likelihood is compared
with a level that is lower by as much.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Final, final

from equipoise._runtime.compiler import Entry, inlined
from equipoise.confidence.bernstein import bernstein_radius, exact_ends, rounding_slip
from equipoise.confidence.elementwise import Elementwise, interval_entry, missing_entry

_LOG_PI: Final = math.log(math.pi)
_NEWTON: Final = 60
_NEWTON_TOLERANCE: Final = 1e-13  # relative: a smaller step would change the bound by rounding only
_GAMMA: Final = 2.0**-49  # the logarithm of the gamma function may be off by that part of itself
_KEPT: Final = 511  # up to so many visits, the bounds of whole totals are kept once they are worked out
_TABLE: Final = (_KEPT + 1) * (_KEPT + 2)  # two numbers for each n and each total from 0 to n


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
    """Newton's step from below towards the root of k log p + m log(1 - p) = level in y = log p; 0 at the end."""
    p = math.exp(y)
    slope = k - m * p / (1.0 - p)
    step = (level - k * y - m * math.log1p(-p)) / slope
    return step if slope > 0.0 and step > _NEWTON_TOLERANCE * (1.0 - y) else 0.0


@inlined
def _level(logarithm, a, b, c):
    """The logarithm of the least likelihood that is not too small, less what rounding may have added to it."""
    return logarithm + a + b - c - _LOG_PI - _GAMMA * (abs(a) + abs(b) + c)


@inlined
def likelihood_interval(n, total, exact, delta):
    """The mu with mu^total (1 - mu)^(n - total) >= delta B(total + 1/2, n - total + 1/2) / pi."""
    off = 0.0 if exact else n * rounding_slip(n, total / n)
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


@interval_entry
def _interval(tau, delta, count, binary, n, total, squares, floats, bounds):
    level = delta / (4.0 * count)
    place = -1
    if floats[0] > 0.0 and n <= _KEPT and squares == total and total == math.floor(total):
        of_which = 1 if binary != 0 else 2
        if floats[of_which] == 0.0:
            floats[of_which] = level
        if floats[of_which] == level:  # what is kept is of one level
            visits = int(n)
            place = 3 + visits * (visits + 1) + 2 * int(total) + (0 if binary != 0 else _TABLE)
            if floats[place + 1] > 0.0:  # as every upper bound is
                bounds[0], bounds[1] = floats[place], floats[place + 1]
                return
    if binary != 0:
        bounds[0], bounds[1] = likelihood_interval(n, total, True, level)
    else:
        mean = total / n
        lower, upper = likelihood_interval(n, total, False, level / 3.0)
        radius = bernstein_radius(n, total, squares, level / 9.0, max(upper - mean, mean - lower))
        least, most = exact_ends(n, total, level / 6.0)
        bounds[0] = max(lower, least, mean - radius)
        bounds[1] = min(upper, most, mean + radius)
    if place >= 0:
        floats[place], floats[place + 1] = bounds[0], bounds[1]


@missing_entry
def _missing(delta, pairs, states, seen, since, logged, bounds):
    log = math.log(2.0 * pairs * seen * (seen + 1.0) / delta)
    bounds[0] = 0.0
    bounds[1] = -math.expm1(-log / since) if since > 0.0 else 1.0
    if logged > 0.0:
        sets = math.lgamma(states + 1.0) - math.lgamma(seen + 1.0) - math.lgamma(states - seen + 1.0)
        bounds[1] = min(bounds[1], -math.expm1(-(log + math.log(states) + sets) / logged))


@final
class Adaptive(Elementwise):
    """Likelihood intervals for probabilities and outcomes, and a bound on the mass never seen.

    See Also
    --------
    equipoise.recommended : The agent that uses it.
    equipoise.confidence.Bernstein : The paper's, which are wider.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]), confidence=Adaptive()).confidence.guarantee
    '1 - delta, for all times at once'
    """

    guarantee = "1 - delta, for all times at once"
    timeless = True
    scratch = 2 + 2 * _TABLE  # in a large world most bounds that a plan asks for have been asked for elsewhere
    relaxation = 0.9  # the regions of what is certain shrink like 1/n, and are soon all but periodic

    @property
    def interval(self) -> Entry:
        """The set of likely means."""
        return _interval

    @property
    def missing(self) -> Entry:
        """The mass of all that was never seen."""
        return _missing
