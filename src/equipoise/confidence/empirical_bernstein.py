r"""Regions from empirical variances, for all numbers of visits at once. Derivation: docs/confidence.md.

Each of the K SA mean outcomes and S SA transition probabilities has the level d = delta / (2 K SA), or
delta / (2 S SA), in six equal parts d/6. With n visits, mean m, variance V of the sample, eta = 1.1,
L = log((j+1)(j+2) 6/d) for n in [eta^j, eta^(j+1)) and x = sqrt(eta L / n), the interval is the intersection of

    m +- h,  h = sqrt((1 + 1/n) log(sqrt(n+1) 6/d) / (2n))                                           Laplace
    m +- (sqrt(2) s x + L / (3n)),  s = x/sqrt(2) + sqrt(V + h^2 + x^2/2)                            Bernstein
    [0, 1 - (d/6)^(1/n)] if all were 0,   [(d/6)^(1/n), 1] if all were 1                             exact

(and, in the second, what the rounding of the sums may have hidden, which matters from a billion visits on.)

Against the paper's: log n in the place of log tau, loglog in the place of log in the leading term, and
m(1 - m) or less in the place of m, so that what is nearly certain is learnt fast from both sides.
"""

from __future__ import annotations

from typing import final

from equipoise._compile import Entry, inlined
from equipoise.confidence._bounds import ends, laplace, slip, spread
from equipoise.confidence.elementwise import Elementwise, interval_entry


@inlined
def empirical_bernstein(n, total, squares, level):  # type: ignore[no-untyped-def]
    """The interval of one mean, which fails for some n with probability at most `level`."""
    part = level / 6.0
    mean = total / n
    wide = laplace(n, part) + slip(n, mean)
    radius = min(wide, spread(n, total, squares, part, wide))
    lower, upper = ends(n, total, part)
    return max(lower, mean - radius), min(upper, mean + radius)


@interval_entry
def _interval(tau, delta, count, binary, n, total, squares, floats, bounds):  # type: ignore[no-untyped-def]
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
        return _interval
