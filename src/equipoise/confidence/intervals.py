"""What a log proves: its rows counted as if they had been observed, and an interval for every mean.

A region says of each pair what the visits of that pair prove, whoever decided on them; so visits under another policy
count as much as one's own. The counts do not depend on the order of the rows, or on whether a log comes whole or in
parts, except for `Counts.latest`: it is set so that no row counts as a visit since the last new successor.

All intervals contain the true means together with probability 1 - delta.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import kernel
from equipoise._types import Vector
from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.base import Confidence, build_region
from equipoise.confidence.counts import Counts, add_outcome, count, count_case, empty_counts, pool_is_full
from equipoise.confidence.nonzero import OTHERS, add_nonzero, copy_arrays, extend_pool, listed_places, outcomes_are_full
from equipoise.confidence.region import Region
from equipoise.errors import LogError
from equipoise.models.labels import as_column, text
from equipoise.models.laws.laws import Laws
from equipoise.models.log import Batch, Source, fingerprint, read_log
from equipoise.models.outcome_rows import dense_row
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
        One row per outcome and per successor that was seen, of each pair: state, action, `what` (the outcome, or
        the next state after an arrow), visits of the pair, estimate, low, high. Where mechanics are known, one row per
        value of each law: law, value, visits of the law, seen, estimate, low, high. Where outcomes are nearly all zero
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
    counts, rows, _ = count_log(empty_counts(space, rule), log, space)
    region = build_region(rule, space, counts, rows + 1, delta, logged=True)
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


def law_table(laws: Laws, counts: Counts, region: Region) -> polars.DataFrame:
    """One row per value of each law: law, value, visits of the law, seen, estimate, low, high."""
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


@kernel
def _count_rows(counts, known, pair, outcomes, next_state, first):
    """Count rows from the `first` on; returns the row before which a pool was full, or their number."""
    for i in range(first, pair.shape[0]):
        if pool_is_full(counts) or outcomes_are_full(counts.nonzero):
            return i
        for k in range(counts.sums.shape[1]):  # none if all are told, or counted apart
            add_outcome(counts, pair[i], k, outcomes[i, k])
        add_nonzero(counts.nonzero, known, pair[i], outcomes[i])
        count(counts, pair[i], next_state[i])
    return pair.shape[0]


@kernel
def _count_cases(laws, counts, outcomes, case):
    for i in range(case.shape[0]):
        count_case(laws, counts, outcomes[i], case[i])


def count_log(
    counts: Counts, log: Source, space: Space, also: Callable[[Batch], None] | None = None
) -> tuple[Counts, int, Vector]:
    """The counts with those of a log added, how many rows it has, and the sum of their outcomes."""
    copy = copy_arrays(counts)
    total = np.zeros(space.n_outcomes)

    def take(batch: Batch) -> None:
        nonlocal copy, total
        total = total + batch.outcomes.sum(axis=0)
        if also is not None:
            also(batch)
        if space.laws is not None:
            _count_cases(space.laws.arrays, copy, batch.outcomes, batch.case)
            return
        done = 0
        known = space.known_mask
        while (done := _count_rows(copy, known, batch.pair, batch.outcomes, batch.next_state, done)) < batch.pair.size:
            if copy.nonzero is not None and outcomes_are_full(copy.nonzero):
                copy = copy._replace(nonzero=extend_pool(copy.nonzero))
            else:
                copy = extend_pool(copy)

    rows = read_log(log, space, take)
    own = np.where(copy.block_used > counts.block_used, 0, counts.visits + counts.fresh - counts.latest)
    copy.latest[:] = copy.visits + copy.fresh - own
    return copy, rows, total


def absorb_log(
    counts: Counts, log: Source, space: Space, before: NDArray[np.uint64], again: bool
) -> tuple[Counts, int, NDArray[np.uint64]]:
    """The counts with those of a log added, its rows, and all fingerprints; a log that was `before` is refused."""
    prints: list[int] = []
    copy, rows, _ = count_log(counts, log, space, lambda batch: prints.append(fingerprint(batch)))
    total = np.uint64(sum(prints) % 2**64)
    if not again and total in before:
        raise LogError(
            f"log: the same {rows:,} rows were absorbed before; counted twice, they would make the regions too "
            "small. If it is another log that happens to be alike: absorb(log, again=True)"
        )
    return copy, rows, np.append(before, total)
