r"""The slack of a bound: what the uncertainty about each outcome, transition or law adds to it.

With x~ the long run of the plan's optimistic model, u its bias, v^ and p^ the estimates,

    gain - sum over s of x~(s) [(-theta).v^ + p^.u - u(s)]  =  sum over s of x~(s) [(-theta).(v~ - v^) + (p~ - p^).u],

one term for each outcome and one for the transitions of each pair: what the uncertainty about it adds to the bound.

With known mechanics the second term is split further. Let x~(node) be the value of a node under the optimistic laws
and x^(node) under the estimated ones. Then

    x~(node) - x^(node) = sum over w of (q~(w) - q^(w)) x~(child w)  +  sum over w of q^(w) (x~ - x^)(child w),

so a node adds the first sum, times the mass that reaches it under the estimates. The terms of all nodes of one law are
summed, for each pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from equipoise._types import Index, Vector
from equipoise.confidence.counts import Counts, count_layout
from equipoise.confidence.nonzero import OTHERS, NonzeroBounds, NonzeroSums, listed_places
from equipoise.confidence.region import Region
from equipoise.models.labels import as_column
from equipoise.models.laws.laws import Laws
from equipoise.models.laws.validate import flow
from equipoise.models.model import Space
from equipoise.planning.optimistic_model import OptimisticPlan, optimistic_rows
from equipoise.planning.optimistic_transitions import optimistic_shares

if TYPE_CHECKING:
    import polars

_ROUNDING: Final = 1e-12  # less than that is not listed
_TRANSITIONS: Final = "transitions"
_POINT: Final = 1e-12  # a region whose lower bounds leave no more than this free is a point


def slack_table(space: Space, counts: Counts, region: Region, belief: OptimisticPlan) -> polars.DataFrame:
    """What the uncertainty about each pair's outcomes, transitions or laws adds to a bound, most first."""
    if space.laws is None:
        states, sources, visits, adds = _slack_of_pairs(space, counts, region, belief)
    else:
        states, sources, visits, adds = _slack_of_laws(space, space.laws, counts, region, belief)
    import polars

    labels, actions = space.labels, belief.plan.policy[states]
    frame = polars.DataFrame(
        {
            "state": as_column([labels.state(s) for s in states.tolist()]),
            "action": as_column([labels.action(s, a) for s, a in zip(states.tolist(), actions.tolist(), strict=True)]),
            "source": sources,
            "visits": visits,
            "adds": adds,
        },
        schema_overrides={"source": polars.String},
    )
    return frame.sort("adds", descending=True)


def _slack_of_pairs(
    space: Space, counts: Counts, region: Region, belief: OptimisticPlan
) -> tuple[Index, list[str], Index, Vector]:
    theta, pairs, share = belief.theta, belief.model.pairs, belief.model.share
    visits = (counts.visits + counts.fresh)[pairs]
    bias = belief.plan.bias
    of_transitions = share * (belief.model.chain @ bias - _estimate_values(counts, region, pairs, bias))
    adds, names = of_transitions[:, None], [_TRANSITIONS]
    if counts.nonzero is not None and region.nonzero is not None:
        return _slack_of_nonzero(space, counts.nonzero, region.nonzero, belief, visits, of_transitions)
    if count_layout(space).told is None:
        seen = visits > 0
        middle = 0.5 * (region.v_lo + region.v_hi)[pairs]
        means = np.where(seen[:, None], counts.sums[pairs] / np.maximum(visits, 1)[:, None], middle)
        known = space.known_mask[pairs]
        means[known] = space.known_outcomes[pairs][known]
        means = np.clip(means, region.v_lo[pairs], region.v_hi[pairs])
        of_outcomes = share[:, None] * -theta * (belief.model.outcomes - means)
        adds, names = np.column_stack([of_outcomes, adds]), [*space.outcome_names(), *names]
    states, sources = np.nonzero(adds > _ROUNDING)
    return states, [names[k] for k in sources], visits[states], adds[states, sources]


def _slack_of_nonzero(
    space: Space,
    sums: NonzeroSums,
    bounds: NonzeroBounds,
    belief: OptimisticPlan,
    visits: Index,
    of_transitions: Vector,
) -> tuple[Index, list[str], Index, Vector]:
    """The same where outcomes are nearly all zero: those that a pair never showed are one source together."""
    price, pairs, share = -belief.theta, belief.model.pairs, belief.model.share
    row, place = listed_places(sums, pairs)
    outcome, lo, hi = sums.pool_outcome[place], bounds.lo[place], bounds.hi[place]
    mean = np.clip(sums.pool_sum[place] / np.maximum(visits, 1)[row], lo, hi)  # listed is what was seen or told
    of_listed = share[row] * price[outcome] * (np.where(price[outcome] > 0.0, hi, lo) - mean)
    gains, losses = np.maximum(price, 0.0), np.minimum(price, 0.0)
    up = gains.sum() - np.bincount(row, gains[outcome], pairs.size)
    down = losses.sum() - np.bincount(row, losses[outcome], pairs.size)
    low, high = bounds.rest_lo[pairs], bounds.rest_hi[pairs]
    middle = np.where(visits > 0, low, 0.5 * (low + high))  # all seen were zero: the least that is possible
    of_others = share * (up * (high - middle) + down * (low - middle))
    names = [*space.outcome_names(), OTHERS, _TRANSITIONS]
    states = np.concatenate([row, np.arange(pairs.size), np.arange(pairs.size)])
    sources = np.concatenate([outcome, np.repeat([len(names) - 2, len(names) - 1], pairs.size)])
    adds = np.concatenate([of_listed, of_others, of_transitions])
    kept = np.flatnonzero(adds > _ROUNDING)
    return states[kept], [names[k] for k in sources[kept]], visits[states[kept]], adds[kept]


def _slack_of_laws(
    space: Space, laws: Laws, counts: Counts, region: Region, belief: OptimisticPlan
) -> tuple[Index, list[str], Index, Vector]:
    theta, arrays, work = belief.theta, laws.arrays, belief.work
    assert work is not None
    visits = counts.visits + counts.fresh
    optimistic, estimated = optimistic_shares(arrays, region, work), _estimate_shares(laws, counts)
    passing = flow(arrays, arrays.root[belief.model.pairs], estimated)
    share = belief.model.share[:, None]
    at_nodes = (optimistic - estimated) * work.value[arrays.child]
    node = np.repeat(np.arange(arrays.node_law.size), np.diff(arrays.node_first))
    of_node = np.bincount(node, weights=at_nodes, minlength=arrays.node_law.size)
    n_laws = arrays.first_value.size - 1
    of_law = np.zeros((share.size, n_laws))
    through = passing.nodes.multiply(of_node).tocoo()
    np.add.at(of_law, (through.row, arrays.node_law[through.col]), through.data)
    adds = [share * of_law[:, : arrays.learnt]]
    names, units = list(laws.names), list(range(arrays.learnt))
    for row in np.flatnonzero(arrays.row_unit >= 0).tolist():
        unit = int(arrays.row_unit[row])
        arriving = np.asarray(passing.leaves[:, np.flatnonzero(arrays.leaf_row == row)].sum(axis=1)).reshape(-1, 1)
        middle = 0.5 * (region.v_lo[unit] + region.v_hi[unit])
        mean = counts.sums[unit] / visits[unit] if visits[unit] else middle
        more = -theta * (
            optimistic_rows(arrays, region, theta)[row] - np.clip(mean, region.v_lo[unit], region.v_hi[unit])
        )
        adds.append(share * arriving * more)
        names += space.outcome_names()
        units += [unit] * space.n_outcomes
    together = np.hstack(adds)
    states, sources = np.nonzero(together > _ROUNDING)
    return states, [names[k] for k in sources], visits[np.array(units)[sources]], together[states, sources]


def _estimate_shares(laws: Laws, counts: Counts) -> Vector:
    """Relative frequencies of the values, for each node; of a law never seen, all alike."""
    arrays = laws.arrays
    laws_of: list[Vector] = []
    for law in range(arrays.first_value.size - 1):
        part = slice(arrays.first_value[law], arrays.first_value[law + 1])
        size = part.stop - part.start
        if law >= arrays.learnt:
            laws_of.append(arrays.probability[part])
            continue
        block = slice(counts.block_first[law], counts.block_first[law] + counts.block_used[law])
        number = np.bincount(counts.pool_state[block], weights=counts.pool_count[block], minlength=size)
        laws_of.append(number / number.sum() if number.sum() > 0 else np.full(size, 1.0 / size))
    return np.concatenate([laws_of[law] for law in arrays.node_law]) if arrays.node_law.size else np.zeros(0)


def _estimate_values(counts: Counts, region: Region, pairs: Index, bias: Vector) -> Vector:
    """p^.u of each pair; p.u of one whose region is a point; of one never seen, the mean of u."""
    estimates = np.full(pairs.size, bias.mean())
    for i, pair in enumerate(pairs.tolist()):
        part = slice(region.first[pair], region.first[pair + 1])
        if region.radius[pair] == 0.0 and region.lo[part].sum() >= 1.0 - _POINT:
            estimates[i] = region.lo[part] @ bias[region.successor[part]]
            continue
        block = slice(counts.block_first[pair], counts.block_first[pair] + counts.block_used[pair])
        numbers = counts.pool_count[block]
        if numbers.sum() > 0:
            estimates[i] = numbers @ bias[counts.pool_state[block]] / numbers.sum()
    return estimates
