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

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from equipoise._compile import Entry
from equipoise.confidence.base import Confidence, confidence_entry


@confidence_entry
def _fill(  # type: ignore[no-untyped-def]
    tau, delta, n_states, n_pairs, n_outcomes, known_mask, known_outcomes, visits, fresh, sums,
    block_first, block_used, pool_state, pool_count, floats, ints, first, successor, lo, hi, rest, v_lo, v_hi,
):  # fmt: skip
    squared = float(tau) * float(tau)
    log_v = np.log(12.0 * n_outcomes * n_pairs * squared / delta)
    log_p = np.log(12.0 * n_states * n_pairs * squared / delta)
    listed = 0
    first[0] = 0
    for pair in range(n_pairs):
        n = float(max(1, visits[pair] + fresh[pair]))
        for k in range(pair * n_outcomes, (pair + 1) * n_outcomes):
            if known_mask[pair] != 0:
                v_lo[k] = known_outcomes[k]
                v_hi[k] = known_outcomes[k]
            else:
                mean = sums[k] / n
                radius = np.sqrt(2.0 * mean * log_v / n) + 3.0 * log_v / n
                v_lo[k] = max(0.0, mean - radius)
                v_hi[k] = min(1.0, mean + radius)
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

    @property
    def kernel(self) -> Entry:
        """Eqs. (Hvm) and (Hpm)."""
        return _fill

    def arguments(self) -> Mapping[str, Any]:
        """None."""
        return {}
