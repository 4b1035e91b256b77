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
"""

from __future__ import annotations

import math
from typing import Final, final

from equipoise._compile import Entry
from equipoise.confidence._bounds import ends, likelihood, spread
from equipoise.confidence.elementwise import Elementwise, interval_entry, missing_entry

_KEPT: Final = 511  # up to so many visits, the bounds of whole totals are kept once they are worked out
_TABLE: Final = (_KEPT + 1) * (_KEPT + 2)  # two numbers for each n and each total from 0 to n


@interval_entry
def _interval(tau, delta, count, binary, n, total, squares, floats, bounds):  # type: ignore[no-untyped-def]
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
        bounds[0], bounds[1] = likelihood(n, total, True, level)
    else:
        mean = total / n
        lower, upper = likelihood(n, total, False, level / 3.0)
        radius = spread(n, total, squares, level / 9.0, max(upper - mean, mean - lower))
        least, most = ends(n, total, level / 6.0)
        bounds[0] = max(lower, least, mean - radius)
        bounds[1] = min(upper, most, mean + radius)
    if place >= 0:
        floats[place], floats[place + 1] = bounds[0], bounds[1]


@missing_entry
def _missing(delta, pairs, seen, since, bounds):  # type: ignore[no-untyped-def]
    log = math.log(2.0 * pairs * seen * (seen + 1.0) / delta)
    bounds[0] = 0.0
    bounds[1] = -math.expm1(-log / since) if since > 0.0 else 1.0


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
