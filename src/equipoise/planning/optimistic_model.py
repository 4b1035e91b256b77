r"""The optimistic model of a plan: the transitions and outcomes in its region that its last sweep used.

In state s the policy takes the pair i = pi(s), and the sweep used a p in the region of i at which p.u is largest
(`optimistic_transitions`). The stationary distribution of that chain, x~, has the property that for every theta'

    gain(theta')  >=  (-theta').z,      z = sum over s of x~(s) v~(s, pi(s)),

with v~ the optimistic outcomes: policy and model stay in the region when theta changes. So z is a cut of the convex
function theta -> gain(theta), and -z a subgradient of it where it was planned.

With known mechanics every node that the policy reaches used a q in the region of its law. Together they give each state
a distribution over leaves, and so the chain and the outcomes. Two nodes of one law may use different q: the model lies
in the enlarged set over which the planner maximises, and the gain bounds what it earns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Index, Vector
from equipoise.confidence.counts import Counts, count_layout
from equipoise.confidence.nonzero import NonzeroBounds, NonzeroSums, listed_places
from equipoise.confidence.region import Region
from equipoise.models.laws.laws import LawArrays
from equipoise.models.laws.validate import flow
from equipoise.models.model import Space
from equipoise.models.outcome_rows import Rows
from equipoise.planning.evi import SWEEP_LIMIT, Plan, last_plan, plan_over_laws
from equipoise.planning.kernels import nonzero_rewards
from equipoise.planning.laws import LawWork
from equipoise.planning.optimistic_transitions import optimistic_shares, optimistic_transitions


@final
@dataclass(frozen=True, eq=False)
class SparseOutcomes:
    r"""Optimistic outcomes of some pairs, where those of each are nearly all alike; see `confidence.nonzero`.

    An outcome of pair i that is not listed has the mean high(i) if theta_k < 0, else low(i). As a matrix that is
    high (x) up + low (x) (1 - up) + listed, with up the indicator of theta < 0 and `listed` what the listed outcomes
    have beyond that. It stands on either side of ``@``, one row per pair.
    """

    listed: csr_array
    high: Vector
    low: Vector
    up: Vector
    __array_ufunc__ = None  # so that an array on the left leaves the product to this class

    def __matmul__(self, vector: Vector) -> Vector:
        return np.asarray(self.listed @ vector + self.high * (self.up @ vector) + self.low * ((1.0 - self.up) @ vector))

    def __rmatmul__(self, weights: Vector) -> Vector:
        product: Any = weights @ self.listed
        return np.asarray(product + (weights @ self.high) * self.up + (weights @ self.low) * (1.0 - self.up))


class OptimisticModel(NamedTuple):
    """What a policy does in the long run in the optimistic model of a plan."""

    pairs: Index
    share: Vector
    outcomes: Rows | SparseOutcomes
    chain: csr_array

    @property
    def column(self) -> Vector:
        """z: the long-run average of the optimistic outcomes."""
        return np.asarray(self.share @ self.outcomes)


class OptimisticPlan(NamedTuple):
    """A plan and its optimistic model."""

    theta: Vector
    plan: Plan
    model: OptimisticModel
    work: LawWork | None


def plan_optimistically(
    space: Space,
    counts: Counts,
    region: Region,
    theta: Vector,
    tolerance: float,
    relaxation: float,
    bias: Vector,
    limit: int = SWEEP_LIMIT,
) -> OptimisticPlan:
    """Plan for (-theta).v over a region. If the sweeps run out, the span of the plan is above the tolerance."""
    if space.laws is not None:
        laws = space.laws.arrays
        plan, work = plan_over_laws(space.first_pair, laws, region, theta, tolerance, relaxation, bias, limit)
        return OptimisticPlan(
            theta, plan, optimistic_law_model(space.first_pair, laws, region, theta, plan, work), work
        )
    told = space.known_rows if count_layout(space).told is not None else None
    rewards = optimistic_rewards(space, counts, region, theta)
    plan = last_plan(space.first_pair, region, rewards, tolerance, limit=limit, relaxation=relaxation, bias=bias)
    model = optimistic_model(space.first_pair, region, theta, plan.bias, plan.policy, told, counts.nonzero)
    return OptimisticPlan(theta, plan, model, None)


def optimistic_rewards(space: Space, counts: Counts, region: Region, theta: Vector) -> Vector:
    """The largest (-theta).v of each pair of a table that a region allows."""
    sums, bounds = counts.nonzero, region.nonzero
    if sums is not None and bounds is not None:
        rewards = np.zeros(space.n_pairs)
        nonzero_rewards(theta, sums, bounds, rewards)
        return rewards
    if count_layout(space).told is not None:
        return np.asarray(space.known_rows @ -theta)
    return np.asarray(np.maximum(-theta * region.v_lo, -theta * region.v_hi).sum(axis=1))


def optimistic_model(
    first_pair: Index,
    region: Region,
    theta: Vector,
    bias: Vector,
    policy: Index,
    told: Rows | None = None,
    nonzero: NonzeroSums | None = None,
) -> OptimisticModel:
    """The optimistic model of a policy over a table."""
    pairs = first_pair[:-1] + policy
    first, successor, probability = optimistic_transitions(region, pairs, bias)
    chain = csr_array((probability, successor, first), shape=(bias.size, bias.size))
    outcomes: Rows | SparseOutcomes
    if told is not None:
        outcomes = told[pairs]
    elif nonzero is not None and region.nonzero is not None:
        outcomes = sparse_outcomes(nonzero, region.nonzero, theta, pairs)
    else:
        outcomes = np.where(theta < 0.0, region.v_hi[pairs], region.v_lo[pairs])
    return OptimisticModel(pairs, best_long_run(chain, outcomes @ -theta), outcomes, chain)


def sparse_outcomes(sums: NonzeroSums, bounds: NonzeroBounds, theta: Vector, pairs: Index) -> SparseOutcomes:
    """Optimistic outcomes of these pairs, where few are listed."""
    row, place = listed_places(sums, pairs)
    outcome, high, low = sums.pool_outcome[place], bounds.rest_hi[pairs], bounds.rest_lo[pairs]
    better = theta[outcome] < 0.0
    more = np.where(better, bounds.hi[place] - high[row], bounds.lo[place] - low[row])
    listed = csr_array((more, (row, outcome)), shape=(pairs.size, theta.size))
    return SparseOutcomes(listed, high, low, (theta < 0.0).astype(np.float64))


def optimistic_law_model(
    first_pair: Index, laws: LawArrays, region: Region, theta: Vector, plan: Plan, work: LawWork
) -> OptimisticModel:
    """The optimistic model of a plan over known mechanics."""
    pairs = first_pair[:-1] + plan.policy
    arriving = flow(laws, laws.root[pairs], optimistic_shares(laws, region, work)).leaves
    n_leaves, n_states = laws.leaf_next.size, pairs.size
    lead = csr_array((np.ones(n_leaves), (np.arange(n_leaves), laws.leaf_next)), shape=(n_leaves, n_states))
    outcomes = np.asarray(arriving @ optimistic_rows(laws, region, theta)[laws.leaf_row])
    chain = csr_array(arriving @ lead)
    return OptimisticModel(pairs, best_long_run(chain, outcomes @ -theta), outcomes, chain)


def optimistic_rows(laws: LawArrays, region: Region, theta: Vector) -> Vector:
    """The outcomes of each row: as they are known, or the best within their bounds."""
    rows = laws.rows.copy()
    unknown = np.flatnonzero(laws.row_unit >= 0)
    units = laws.row_unit[unknown]
    rows[unknown] = np.where(theta < 0.0, region.v_hi[units], region.v_lo[units])
    return rows


def best_long_run(chain: csr_array, reward: Vector) -> Vector:
    """The stationary distribution of the recurrent class that pays most."""
    from equipoise.offline.chains import Moves  # takes long to import
    from equipoise.offline.gains import stationary_distributions

    best, share = -np.inf, np.zeros(reward.size)
    moves = Moves(chain.indptr.astype(np.int64), chain.indices.astype(np.int64), chain.data)
    for states, inside in stationary_distributions(moves):
        pays = float(inside @ reward[states])
        if pays > best:
            best = pays
            share = np.zeros(reward.size)
            share[states] = inside
    return share
