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

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from equipoise._compile import kernel
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.models.base import Space


@kernel
def _fill(
    visits, fresh, sums, block_first, block_used, block_room, pool_state, pool_count, end,
    first, successor, lo, hi, rest, v_lo, v_hi, n_states, known_mask, known_outcomes, tau, delta,
):  # fmt: skip
    n_pairs = visits.shape[0]
    n_outcomes = sums.shape[1]
    squared = float(tau) * float(tau)
    log_v = np.log(12.0 * n_outcomes * n_pairs * squared / delta)
    log_p = np.log(12.0 * n_states * n_pairs * squared / delta)
    listed = 0
    first[0] = 0
    for pair in range(n_pairs):
        n = float(max(1, visits[pair] + fresh[pair]))
        for k in range(n_outcomes):
            if known_mask[pair]:
                v_lo[pair, k] = known_outcomes[pair, k]
                v_hi[pair, k] = known_outcomes[pair, k]
            else:
                mean = sums[pair, k] / n
                radius = np.sqrt(2.0 * mean * log_v / n) + 3.0 * log_v / n
                v_lo[pair, k] = max(0.0, mean - radius)
                v_hi[pair, k] = min(1.0, mean + radius)
        for i in range(block_first[pair], block_first[pair] + block_used[pair]):
            mean = pool_count[i] / n
            radius = np.sqrt(2.0 * mean * log_p / n) + 3.0 * log_p / n
            successor[listed] = pool_state[i]
            lo[listed] = max(0.0, mean - radius)
            hi[listed] = min(1.0, mean + radius)
            listed += 1
        first[pair + 1] = listed
        rest[pair] = min(1.0, 3.0 * log_p / n)


@final
class Bernstein(Confidence):
    """The regions of the paper; the default."""

    def room(self, space: Space, counts: Counts) -> int:  # noqa: ARG002
        """Successors seen."""
        return int(counts.block_used.sum())

    def fill(self, space: Space, counts: Counts, tau: int, delta: float, region: Region) -> None:
        """Eqs. (Hvm) and (Hpm)."""
        _fill(*counts, *region, space.n_states, space.known_mask, space.known_outcomes, tau, delta)

    def arguments(self) -> Mapping[str, Any]:
        """None."""
        return {}
