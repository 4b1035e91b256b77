r"""The best mixture of policies over a region, by column generation.

For a concave g, an average so far and a time to come that is a share of all time,

    max  g(origin + share z)    over the long-run averages z that some model in the region allows,
    origin = (1 - share) average,

is the least of  g*(theta) - theta.origin + share gain(theta)  over theta, where gain is that of the planner. So

1. *Mix.* The best mixture of the outcome vectors of all policies at hand (`offline.hull`) is a lower bound; it has a
   theta.
2. *Plan.* The planner's gain for that theta is an upper bound, with its policy.
3. *Add.* Where that policy leads in the long run, in the model that the plan believes in, is another outcome vector.

It ends when the bounds meet, or when a plan adds nothing. With share 1 and origin 0 this is the bound of a certificate;
every plan for whatever share proves one too, g*(theta) + gain(theta), the least of which is kept.

If g has edges, the theta of a mixture jumps from plan to plan. So a plan is made half way between it and the theta with
the best bound, and at the theta of the mixture itself only after a plan that added nothing.

Policies are kept from one call to the next. In another region each is evaluated again, which is much cheaper than a
plan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, final

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Index, Vector
from equipoise.confidence.counts import Counts, count_layout
from equipoise.confidence.region import Region, empty_region
from equipoise.models.laws.validate import flow
from equipoise.models.space import Space
from equipoise.offline.hull import hull_master
from equipoise.planning.evi import SWEEP_LIMIT, convergence_error, last_plan, plan_over_laws, workspace
from equipoise.planning.kernels import CONVERGED
from equipoise.planning.occupancy import SMALL, dense_scratch, evaluate, respond
from equipoise.planning.optimistic_model import (
    OptimisticModel,
    optimistic_law_model,
    optimistic_model,
    optimistic_rewards,
    optimistic_rows,
    plan_optimistically,
)
from equipoise.planning.optimistic_transitions import optimistic_shares
from equipoise.rewards.base import Reward

_ROUNDS: Final = 60  # plans, at most,
_ROUNDS_PER_OUTCOME: Final = 5  # and so many more per outcome
_PLAN: Final = 0.3  # part of the tolerance that a plan may be off by
_MIX: Final = 0.1  # part of the tolerance that a mixture may be off by
_INWARD: Final = 0.5  # of the way from the next theta to the best so far, for a g with edges
_SAME: Final = 1e-8  # distance of outcome vectors that are the same
_ROUNDING: Final = 1e-12
_KEPT: Final = 12  # policies that are kept, at most,
_KEPT_PER_OUTCOME: Final = 4  # and so many more per outcome,
_KEPT_SPARSE: Final = 2  # or so many beyond those in use, where they are not evaluated densely
_NO_WEIGHT: Final = 1e-9
_WAY: Final = 1e-3  # tolerance of the plan of a way, in units of its reward on top


class PlannedPolicy(NamedTuple):
    """A policy, and where it leads in the model that its plan believes in."""

    theta: Vector
    policy: Index
    bias: Vector
    gain: float
    share: Vector
    outcomes: Vector
    sweeps: int


class Mixture(NamedTuple):
    """The best mixture of policies."""

    policies: list[PlannedPolicy]
    weights: Vector
    best: PlannedPolicy
    lower: float
    upper: float
    bound: float
    bound_theta: Vector
    bound_gain: float
    sweeps: int

    @property
    def outcomes(self) -> Vector:
        """The outcome vector of the mixture."""
        return np.asarray(self.weights @ np.array([one.outcomes for one in self.policies]))


@final
class MixturePlanner:
    """Plans mixtures for one reward, in one region after another."""

    def __init__(self, space: Space, reward: Reward, relaxation: float) -> None:
        self._space, self._reward = space, reward
        self._relaxation, self._limit = relaxation, SWEEP_LIMIT
        self._master = hull_master(reward)
        self._jumps = reward.smoothness is None
        self._pool: list[PlannedPolicy] = []
        self._weights = np.zeros(0)
        self._counts: Counts | None = None
        self._region: Region | None = None
        self._cut = 0.0
        self._dense = self._work = None
        self._bonus = np.zeros(space.n_pairs)
        listed = space.sparse_outcomes or count_layout(space).told is not None  # regions have no array of outcomes
        if space.laws is None and space.n_states <= SMALL and not listed:
            self._dense, self._work = dense_scratch(space.n_states), workspace(space.n_states, space.n_pairs)

    def memory(self) -> dict[str, Vector | Index]:
        """What the next plan begins with, as arrays."""
        pool, size = self._pool, len(self._pool)
        states, outcomes = self._space.n_states, self._space.n_outcomes
        return {
            "theta": np.array([one.theta for one in pool]).reshape(size, outcomes),
            "policy": np.array([one.policy for one in pool], dtype=np.int64).reshape(size, states),
            "bias": np.array([one.bias for one in pool]).reshape(size, states),
            "gain": np.array([one.gain for one in pool]),
            "share": np.array([one.share for one in pool]).reshape(size, states),
            "outcomes": np.array([one.outcomes for one in pool]).reshape(size, outcomes),
            "weights": self._weights.copy(),
            "tangents": self._master.tangents,
        }

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Begin the next plan with these; all of one length, with actions that there are."""
        columns = [memory[name] for name in ("theta", "policy", "bias", "gain", "share", "outcomes")]
        self._pool = [
            PlannedPolicy(theta.copy(), policy.copy(), bias.copy(), float(gain), share.copy(), outcomes.copy(), 0)
            for theta, policy, bias, gain, share, outcomes in zip(*columns, strict=True)
        ]
        self._weights = memory["weights"].copy()
        self._master.tangents = memory["tangents"]

    def follow(self, reward: Reward) -> None:
        """Plan for another reward from now on; policies are kept, and so are their outcomes."""
        self._reward, self._master = reward, hull_master(reward)
        self._jumps = reward.smoothness is None

    def enter(self, counts: Counts, region: Region, cut: float = 0.0, limit: int = SWEEP_LIMIT) -> None:
        """Plan in this region from now on."""
        self.stay(counts, region, cut, limit)
        self._pool = [self._again(one) for one in self._pool]

    def stay(self, counts: Counts, region: Region, cut: float = 0.0, limit: int = SWEEP_LIMIT) -> None:
        """As `enter`, in the region of the last plan: policies need not be evaluated again."""
        self._counts, self._region, self._cut, self._limit = counts, region, cut, limit

    def plan(self, average: Vector, share: float, tolerance: float) -> Mixture:
        """Plan for a share of all time, the rest of which had this average."""
        origin, within = (1.0 - share) * average, share * tolerance
        pool, weights = self._pool, self._weights
        if not pool:
            middle = np.clip(origin + 0.5 * share, 1e-9, 1.0)
            pool.append(self._respond(-self._reward.gradient(middle), _PLAN * tolerance, None))
            weights = np.ones(1)
        best, best_upper, best_conjugate, sweeps = pool[-1], math.inf, 0.0, 0
        bound, bound_theta, bound_gain, point, idle = math.inf, pool[-1].theta, math.inf, None, False
        for _ in range(_ROUNDS + _ROUNDS_PER_OUTCOME * average.size):
            points = np.array([one.outcomes for one in pool])
            point = self._master.best(points, weights, share, origin, _MIX * within)
            weights = point.weights
            if best_upper - point.value <= within:
                break
            theta, conjugate = point.theta, point.conjugate
            inward = self._jumps and not idle and best_upper < math.inf
            if inward:
                theta = theta + _INWARD * (best.theta - theta)
                conjugate += _INWARD * (best_conjugate - conjugate)
            found = self._respond(theta, _PLAN * tolerance, best if best_upper < math.inf else pool[-1])
            sweeps += found.sweeps
            gain = found.gain + _ROUNDING * float(np.abs(theta).sum() + np.ptp(found.bias))
            upper = conjugate - float(theta @ origin) + share * gain
            if upper < best_upper:
                best, best_upper, best_conjugate = found, upper, conjugate
            if conjugate + gain < bound:
                bound, bound_theta, bound_gain = conjugate + gain, theta, gain
            if best_upper - point.value <= within:
                break
            distances = np.abs(points - found.outcomes).max(axis=1)
            added = bool(distances.min() > _SAME)
            if not added:  # what it does elsewhere may be better by now
                pool[int(np.argmin(distances))] = found
            if added:
                pool.append(found)
                weights = np.append(weights, 0.0)
            elif not inward:
                break
            idle = not added
        assert point is not None
        size = point.weights.size
        chosen = np.flatnonzero(point.weights > _NO_WEIGHT)
        mixture = Mixture(
            [pool[i] for i in chosen], point.weights[chosen] / point.weights[chosen].sum(), best,
            point.value, best_upper, bound, bound_theta, bound_gain, sweeps,
        )  # fmt: skip
        kept = set(chosen.tolist()) | set(range(max(0, len(pool) - self._most), len(pool)))
        order = sorted(kept)
        self._pool = [pool[i] for i in order]
        self._weights = np.array([point.weights[i] if i < size else 0.0 for i in order])
        return mixture

    def chain(self, one: PlannedPolicy) -> Vector | csr_array:
        """The transitions of a policy, one row per state, in the model that its plan believes in; sparse if large."""
        if self._dense is not None:
            self._again(one)
            return self._dense.chain.copy()
        return self._believes(one).chain

    def way(self, pairs: Index, best: PlannedPolicy) -> PlannedPolicy:
        """Plan a way to where some pairs are: for the theta of a plan, with a reward on top for each of these pairs."""
        space, region, unit = self._space, self._region, self.unit(best)
        assert region is not None
        if self._dense is not None:
            self._bonus[pairs] = unit
            try:
                return self._respond(best.theta, _WAY * unit, best)
            finally:
                self._bonus[pairs] = 0.0
        model, rewards = region, self._rewards(best)
        if space.laws is not None:
            model = self._pairs_region(best)
        rewards[pairs] += unit
        plan = last_plan(
            space.first_pair, model, rewards, _WAY * unit, limit=self._limit, relaxation=0.5, bias=best.bias
        )
        return best._replace(policy=plan.policy, bias=plan.bias, gain=plan.gain, sweeps=plan.sweeps)

    def unit(self, one: PlannedPolicy) -> float:
        """How much the rewards of a plan differ from pair to pair; 1 if they do not."""
        return float(np.ptp(self._rewards(one))) or 1.0

    def _rewards(self, one: PlannedPolicy) -> Vector:
        """What each pair pays by the theta of a plan."""
        space, region, counts, theta = self._space, self._region, self._counts, one.theta
        assert region is not None  # set by `enter`
        assert counts is not None
        if space.laws is not None:
            laws = space.laws.arrays
            leaves = self._leaves(one)
            return np.asarray(leaves @ (optimistic_rows(laws, region, theta)[laws.leaf_row] @ -theta))
        return optimistic_rewards(space, counts, region, theta)

    def _leaves(self, one: PlannedPolicy) -> csr_array:
        """Of known dynamics: the distribution over leaves of each pair in the model that a plan believes in."""
        space, region, counts = self._space, self._region, self._counts
        assert region is not None  # set by `enter`
        assert counts is not None
        assert space.laws is not None
        laws = space.laws.arrays
        _, work = plan_over_laws(
            space.first_pair, laws, region, one.theta, math.inf, self._relaxation, one.bias, limit=1
        )
        return csr_array(flow(laws, laws.root, optimistic_shares(laws, region, work)).leaves)

    def _pairs_region(self, one: PlannedPolicy) -> Region:
        """Of known dynamics: the model that a plan believes in, pair by pair."""
        laws = self._space.laws
        assert laws is not None
        arrays, n_leaves = laws.arrays, laws.arrays.leaf_next.size
        lead = csr_array(
            (np.ones(n_leaves), (np.arange(n_leaves), arrays.leaf_next)), shape=(n_leaves, self._space.n_states)
        )
        moves = csr_array(self._leaves(one) @ lead)
        moves.sum_duplicates()
        n_pairs = self._space.n_pairs
        region = empty_region(n_pairs, 0, moves.nnz)
        region.first[:], region.successor[:] = moves.indptr, moves.indices
        region.lo[:] = region.hi[:] = moves.data
        region.rest_sum[:] = 0.0
        return region

    def _believes(self, one: PlannedPolicy) -> OptimisticModel:
        """The model that a plan believes in, where it is not kept dense."""
        space, region, counts = self._space, self._region, self._counts
        assert region is not None  # set by `enter`
        assert counts is not None
        if space.laws is not None:
            laws = space.laws.arrays
            plan, work = plan_over_laws(
                space.first_pair, laws, region, one.theta, math.inf, self._relaxation, one.bias, limit=1
            )
            return optimistic_law_model(
                space.first_pair, laws, region, one.theta, plan._replace(policy=one.policy), work
            )
        told = space.known_rows if count_layout(space).told is not None else None
        return optimistic_model(space.first_pair, region, one.theta, one.bias, one.policy, told, counts.nonzero)

    @property
    def _most(self) -> int:
        """How many policies are kept besides those with a weight; few where it takes long to evaluate one."""
        return _KEPT + _KEPT_PER_OUTCOME * self._space.n_outcomes if self._dense is not None else _KEPT_SPARSE

    def _respond(self, theta: Vector, tolerance: float, start: PlannedPolicy | None) -> PlannedPolicy:
        """Plan for a theta."""
        space, region, counts = self._space, self._region, self._counts
        assert region is not None  # set by `enter`
        assert counts is not None
        bias = np.zeros(space.n_states) if start is None else start.bias.copy()
        if self._dense is None or self._work is None:
            belief = plan_optimistically(space, counts, region, theta, tolerance, self._relaxation, bias, self._limit)
            plan, said = belief.plan, belief.model
            return PlannedPolicy(theta, plan.policy, plan.bias, plan.gain, said.share, said.column, plan.sweeps)
        policy = np.zeros(space.n_states, dtype=np.int64) if start is None else start.policy.copy()
        share, column, reward = np.zeros(space.n_states), np.zeros(theta.size), np.zeros(space.n_pairs)
        ended = respond(
            space.first_pair, region, theta, self._bonus, tolerance, self._limit, self._relaxation, self._cut, bias,
            policy, reward, self._work, self._dense, share, column,
        )  # fmt: skip
        gain, span, sweeps = self._work.certificate[0].item()
        if ended != CONVERGED and not 0.0 <= span < math.inf:
            raise convergence_error(span, self._limit, self._relaxation)
        return PlannedPolicy(theta, policy, bias, gain, share, column, sweeps)

    def _again(self, one: PlannedPolicy) -> PlannedPolicy:
        """Evaluate a policy in the present region."""
        space, region = self._space, self._region
        assert region is not None
        if self._dense is None or self._work is None:
            said = self._believes(one)
            return one._replace(gain=math.nan, share=said.share, outcomes=said.column)
        share, column = np.zeros(space.n_states), np.zeros(one.theta.size)
        evaluate(
            space.first_pair, region, one.theta, one.bias, one.policy, self._cut, self._work, self._dense, share, column
        )
        return one._replace(gain=math.nan, share=share, outcomes=column)
