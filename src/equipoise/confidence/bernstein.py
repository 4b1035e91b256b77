r"""The paper's regions (section 3, eqs. Hvm and Hpm), from the empirical Bernstein inequality.

With N+ = max(1, N_m(s,a)), SA the number of pairs, and

    log-v = log(12 K SA tau^2 / delta),          log-p = log(12 S SA tau^2 / delta),

    |v_k - v^_k| <= sqrt(2 v^_k log-v / N+) + 3 log-v / N+           for each outcome, within [0,1],
    |p(s') - p^(s')| <= sqrt(2 p^(s') log-p / N+) + 3 log-p / N+     for each successor, within [0,1].

The means v^_k and p^(s') stand where the inequality has the empirical variance, which they bound. For a
successor never seen p^ = 0, so all of them share the interval [0, min(1, 3 log-p / N+)]. Both events hold
for all episodes at once with probability 1 - delta/2 each (lemma conc). Outcomes that the space knows in
advance give singletons.
"""

from __future__ import annotations

from typing import final

import numpy as np

from equipoise._compile import Entry
from equipoise.confidence.elementwise import Elementwise, interval_entry


@interval_entry
def _interval(tau, delta, count, binary, n, total, squares, floats, bounds):  # type: ignore[no-untyped-def]
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
