"""What a log leaves possible: for every outcome and every transition of every pair, an interval.

All intervals hold the truth together with probability 1 - delta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise._types import Vector
from equipoise.confidence.absorbing import absorbed
from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts
from equipoise.confidence.fill import region_of
from equipoise.confidence.law_counts import nothing_counted
from equipoise.confidence.law_intervals import law_table
from equipoise.confidence.nonzero import OTHERS, listed_places
from equipoise.confidence.region import Region
from equipoise.models.labels import as_column
from equipoise.models.log import Source
from equipoise.models.rows import dense_row
from equipoise.models.space import Space

if TYPE_CHECKING:
    import polars


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
    names = space.outcome_names()
    pairs: list[int] = []
    what: list[str] = []
    numbers: list[tuple[float, float, float]] = []
    for pair in range(space.n_pairs):
        n = max(int(visits[pair]), 1)
        for name, mean, low, high in zip(*_of_outcomes(space, names, counts, region, pair), strict=True):
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
    space: Space, names: list[str], counts: Counts, region: Region, pair: int
) -> tuple[list[str], Vector, Vector, Vector]:
    """The outcomes of a pair: names, estimates, and bounds from below and above."""
    sums, bounds, n = counts.nonzero, region.nonzero, max(int(counts.visits[pair] + counts.fresh[pair]), 1)
    if sums is not None and bounds is not None:
        place = listed_places(sums, np.array([pair]))[1]
        listed = [names[k] for k in sums.pool_outcome[place].tolist()]
        means, lows, highs = sums.pool_sum[place], bounds.lo[place], bounds.hi[place]
        if not space.known_mask[pair]:  # of a pair that is told they are the means already
            means = means / n
        if place.size < len(names):
            others = (0.0, bounds.rest_lo[pair], bounds.rest_hi[pair])
            listed.append(OTHERS)
            means, lows, highs = (np.append(*ends) for ends in zip((means, lows, highs), others, strict=True))
        return listed, means, lows, highs
    if space.known_mask[pair]:
        means = dense_row(space.known_rows, pair)
        return names, means, means, means
    return names, counts.sums[pair] / n, region.v_lo[pair], region.v_hi[pair]
