r"""A confidence: a rule for one mean, from which the package makes the whole region.

Hoeffding's inequality, for all numbers of visits at once. Let X_1, X_2, ... be what was seen at the visits of one pair
(an outcome, or whether the successor was a given state): independent, in [0, 1], of mean mu. For each n,

    P( |mean of X_1..X_n - mu| > r_n ) <= 2 exp(-2 n r_n^2) = d / (n (n + 1)),   r_n = sqrt(log(2 n (n+1) / d) / (2n)),

and the sum over n >= 1 of 1 / (n (n + 1)) is 1: with probability at least 1 - d the interval holds mu at every n, and
so whenever an episode starts. There are `count` means of a kind (outcomes or successors), and each kind has delta / 2:
d = delta / (2 count), and all intervals hold together with probability at least 1 - delta.
"""

from __future__ import annotations

import math

from equipoise.confidence.elementwise import Elementwise, Entry, interval_entry


@interval_entry
def _interval(tau, delta, count, binary, n, total, squares, floats, bounds):  # type: ignore[no-untyped-def]
    mean = total / n
    radius = math.sqrt(math.log(4.0 * count * n * (n + 1.0) / delta) / (2.0 * n))
    bounds[0] = max(0.0, mean - radius)
    bounds[1] = min(1.0, mean + radius)


class Hoeffding(Elementwise):
    """Intervals whose width does not depend on what was seen, but on how often one looked."""

    guarantee = "1 - delta, for all times at once"

    @property
    def interval(self) -> Entry:
        """Hoeffding's."""
        return _interval
