"""What is known of each law: how often a value was seen, its relative frequency, and an interval for its probability.

All intervals hold the truth together with probability 1 - delta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.models.labels import text
from equipoise.models.laws.laws import Laws

if TYPE_CHECKING:
    import polars


def law_table(laws: Laws, counts: Counts, region: Region) -> polars.DataFrame:
    """One row a value of each law: law, value, visits of the law, seen, estimate, low, high.

    Parameters
    ----------
    laws : Laws
        Of a space.
    counts : Counts
        What was observed.
    region : Region
        What that leaves possible; where it is a ball, the bounds are those of the ball alone.
    """
    import polars

    rows: list[tuple[str, str, int, int, float, float, float]] = []
    for law, (name, values) in enumerate(zip(laws.names, laws.values, strict=True)):
        block = slice(counts.block_first[law], counts.block_first[law] + counts.block_used[law])
        seen = np.bincount(counts.pool_state[block], counts.pool_count[block], len(values)).astype(np.int64)
        visits = int(counts.visits[law] + counts.fresh[law])
        low, high = np.zeros(len(values)), np.full(len(values), min(1.0, region.rest[law], region.rest_sum[law]))
        listed = slice(region.first[law], region.first[law + 1])
        low[region.successor[listed]], high[region.successor[listed]] = region.lo[listed], region.hi[listed]
        if region.radius[law] > 0.0:
            centre = low.copy()
            low = np.maximum(0.0, centre - 0.5 * region.radius[law])
            high = np.minimum(1.0, centre + 0.5 * region.radius[law])
        for i, value in enumerate(values):
            estimate = seen[i] / visits if visits else np.nan
            rows.append((name, text(value), visits, int(seen[i]), estimate, float(low[i]), float(high[i])))
    columns = ["law", "value", "visits", "seen", "estimate", "low", "high"]
    return polars.DataFrame(rows, schema=columns, orient="row")
