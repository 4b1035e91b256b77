"""What a log leaves possible: for every outcome and every transition of every pair, an interval.

All intervals hold the truth together with probability 1 - delta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from equipoise._types import Vector
from equipoise.confidence.absorbing import absorbed
from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts
from equipoise.confidence.fill import region_of
from equipoise.confidence.law_counts import nothing_counted
from equipoise.confidence.law_intervals import law_table
from equipoise.confidence.nonzero import listed_places
from equipoise.confidence.region import Region
from equipoise.models.labels import as_column
from equipoise.models.log import Source
from equipoise.models.rows import dense_row
from equipoise.models.space import Space

if TYPE_CHECKING:
    import polars

_OTHERS: Final = "every other outcome"


def intervals(space: Space, log: Source, delta: float = 0.05, confidence: Confidence | None = None) -> polars.DataFrame:
    """The estimates of a log, and how far from the truth they may be.

    Parameters
    ----------
    space : Space
        Of the system.
    log : frame or path
        A polars or pandas frame, or the path of a Parquet or CSV file, with the columns state, action, one for each
        outcome, and next_state.
    delta : float
        All intervals hold together with probability 1 - delta.
    confidence : Confidence, optional
        None: `Adaptive()`. Where its region is a ball, the bounds of each probability are those of the ball alone.

    Returns
    -------
    polars.DataFrame
        One row an outcome and one a successor that was seen, of each pair: state, action, `what` (the outcome, or the
        next state after an arrow), visits of the pair, estimate, low, high. Where mechanics are known, one row a value
        of each law: law, value, visits of the law, seen, estimate, low, high. Where outcomes are nearly all zero
        (``space.sparse_outcomes``), those of a pair that were never seen to be anything else are one row together.

    See Also
    --------
    equipoise.certify : What a log proves of the optimum.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.riverswim(3)
    >>> old = eq.agents.baselines.StationaryAgent(model.space, eq.rewards.Linear([1.0]))
    >>> table = intervals(model.space, eq.simulate(model, old, 20_000, trace=True).trace)
    >>> bool((table["low"] <= table["estimate"]).all() and (table["estimate"] <= table["high"]).all())
    True
    """
    import polars

    rule = Adaptive() if confidence is None else confidence
    counts, rows, _ = absorbed(nothing_counted(space, rule), log, space)
    region = region_of(rule, space, counts, rows + 1, delta)
    if space.laws is not None:
        return law_table(space.laws, counts, region)
    visits = counts.visits + counts.fresh
    pairs: list[int] = []
    what: list[str] = []
    numbers: list[tuple[float, float, float]] = []
    for pair in range(space.n_pairs):
        n = max(int(visits[pair]), 1)
        for name, mean, low, high in zip(*_of_outcomes(space, counts, region, pair, n), strict=True):
            numbers.append((float(mean) if visits[pair] else np.nan, float(low), float(high)))
            what.append(name)
        seen = slice(counts.block_first[pair], counts.block_first[pair] + counts.block_used[pair])
        chances = dict(zip(counts.pool_state[seen].tolist(), (counts.pool_count[seen] / n).tolist(), strict=True))
        listed = slice(region.first[pair], region.first[pair + 1])
        for state, low, high in zip(region.successor[listed], region.lo[listed], region.hi[listed], strict=True):
            radius = 0.5 * float(region.radius[pair])
            bounds = (
                (max(0.0, float(low) - radius), min(1.0, float(low) + radius)) if radius else (float(low), float(high))
            )
            numbers.append((chances.get(int(state), 0.0), *bounds))
            what.append(f"→ {space.labels.state(int(state))}")
        pairs += [pair] * (len(what) - len(pairs))
    states = space.state_of[pairs]
    actions = np.asarray(pairs) - space.first_pair[states]
    estimate, least, most = zip(*numbers, strict=True)
    return polars.DataFrame(
        {
            "state": as_column([space.labels.state(s) for s in states.tolist()]),
            "action": as_column(
                [space.labels.action(s, a) for s, a in zip(states.tolist(), actions.tolist(), strict=True)]
            ),
            "what": what,
            "visits": visits[pairs],
            "estimate": estimate,
            "low": least,
            "high": most,
        }
    )


def _of_outcomes(
    space: Space, counts: Counts, region: Region, pair: int, n: int
) -> tuple[list[str], Vector, Vector, Vector]:
    """The outcomes of a pair after n visits: names, estimates, and bounds from below and above."""
    names, sums, bounds = space.outcome_names(), counts.nonzero, region.nonzero
    if sums is not None and bounds is not None:
        place = listed_places(sums, np.array([pair]))[1]
        means = np.append(sums.pool_sum[place] / n, 0.0)
        lows, highs = (
            np.append(bounds.lo[place], bounds.rest_lo[pair]),
            np.append(bounds.hi[place], bounds.rest_hi[pair]),
        )
        return [*(names[k] for k in sums.pool_outcome[place].tolist()), _OTHERS], means, lows, highs
    if space.known_mask[pair]:
        means = dense_row(space.known_rows, pair)
        return names, means, means, means
    return names, counts.sums[pair] / n, region.v_lo[pair], region.v_hi[pair]
