r"""Upper bounds on the optimum, from plans and from a search over theta.

For every theta, opt(P_M) <= g*(theta) + phi(theta), where phi(theta) is the largest long-run average of (-theta).v in
the true model (weak duality, appendix A). If the region of a plan contains the true model, its gain is at least
phi(theta). So every plan of an agent bounds the optimum,

    opt(P_M)  <=  g*(theta_m) + gain_m,

all of them together with the probability that all regions contain the true model. `Proof` keeps the least of them
(`kernels.prove`). It costs a plan one value of g.

g*(theta) is known exactly in two cases: theta = -grad g(average), as under Frank-Wolfe, where the average itself is the
maximiser of g(w) + theta.w; and where the reward has its conjugate in closed form. Where the maximiser w is found by
iteration, g(w) + theta.w would be too small; then a supergradient q at w gives a bound that is never too small,

    g*(theta)  <=  g(w) - q.w + sum over k of max(0, q_k + theta_k).

Rounding is relative to the numbers that are summed: values of the planner are at most sum_k |theta_k| plus the span
of the bias, and then there are g and its tangent. So each bound is made larger by `ROUNDING` times the span + |g(w)| +
sum_k |theta_k| (+ |q_k|). The bound is valid for any theta, also for those of a reward that changes with time: they
bound the optimum of its limit, by which runs are judged.

The search. The right side is convex in theta. Minimised over all theta it is the best bound that a region can prove;
its value is the largest g of any long-run average that some model in the region allows. `effort` is the number of plans
after the first. Each adds a column z_j, a long-run average of outcomes that the region allows, of the optimistic model
(`planning.optimistic_model`). As gain(theta) >= (-theta).z_j, the largest g over mixtures of the columns,

    lower = max over mixtures z of g(z) = min over theta of [g*(theta) + max over j of (-theta).z_j]  <=  the minimum,

and minus a supergradient of g at the best mixture (`offline.hull`) is the theta of the next plan: the method of
cutting planes. It stops when the bound is within a ten-thousandth of itself (or of 1, if that is more) of `lower`, or
the effort is spent.

A plan whose sweeps run out before its tolerance is reached gives a bound all the same: its gain is the largest entry
of Tu - u, which bounds the optimal gain of every model in the region for whatever u. `Bound.loose` says by how much it
may be too large.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import check_int
from equipoise._types import Vector
from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.errors import ParameterError, RewardError, SolverError
from equipoise.models.space import Space
from equipoise.planning.optimistic_model import OptimisticPlan, plan_optimistically
from equipoise.rewards.base import Reward

# How g*(theta) is found.
NOT_AT_ALL: Final = 0  # no bound: the regions are not proven to contain the true model
AT_THE_AVERAGE: Final = 1
BY_CONJUGATE: Final = 2
BY_TANGENT: Final = 3

ROUNDING: Final = 1e-12  # of a bound, relative to the numbers that are summed

_BOUND_TOLERANCE: Final = 1e-4  # relative: how near the bound must come to the best that the region can prove
_MAX_EFFORT: Final = 1000
_MIXTURE_TOLERANCE: Final = 1e-9  # by how much a mixture of columns may fall short of the best


class Proof(NamedTuple):
    """The least bound so far."""

    bound: NDArray[np.float64]
    time: NDArray[np.int64]
    theta: NDArray[np.float64]
    point: NDArray[np.float64]
    slope: NDArray[np.float64]
    number: NDArray[np.float64]


def empty_proof(n_outcomes: int) -> Proof:
    """Before the first plan."""
    theta, point, slope = (np.zeros(n_outcomes) for _ in range(3))
    return Proof(np.full(1, np.inf), np.zeros(1, dtype=np.int64), theta, point, slope, np.zeros(1))


class Evidence(NamedTuple):
    """What a bound rests on: observations, and the regions made from them."""

    space: Space
    counts: Counts
    region: Region


class BoundOptions(NamedTuple):
    """Where the search for a bound starts, the options of its plans, and how many more to make."""

    theta: Vector
    bias: Vector
    tolerance: float
    relaxation: float
    limit: int
    effort: int


class Bound(NamedTuple):
    """An upper bound on the optimum, with the plan that gives it."""

    value: float
    theta: Vector
    belief: OptimisticPlan
    loose: float


def best_bound(evidence: Evidence, reward: Reward, options: BoundOptions) -> Bound:
    """The least bound of a plan for the first theta and of as many more as the effort, each for a better theta."""
    from equipoise.offline.hull import hull_master  # takes long to import

    check_int(options.effort, "effort", 0, _MAX_EFFORT, error=ParameterError)
    best = bound = _bound_by_plan(evidence, reward, options)
    master, nothing = hull_master(reward), np.zeros(reward.n_outcomes)
    columns, weights = np.zeros((0, reward.n_outcomes)), np.zeros(0)
    for number in range(options.effort):
        columns = np.vstack([columns, bound.belief.model.column])
        try:
            mixed = master.best(columns, np.append(weights, float(number == 0)), 1.0, nothing, _MIXTURE_TOLERANCE)
        except SolverError:
            break  # what was proven so far stands
        weights = mixed.weights
        if best.value - mixed.value <= _BOUND_TOLERANCE * max(abs(best.value), 1.0):
            break
        mixture = np.clip(weights @ columns, 0.0, 1.0)
        bound = _bound_by_plan(
            evidence, reward, options._replace(theta=mixed.theta, bias=bound.belief.plan.bias), mixture
        )
        best = min(best, bound, key=lambda each: each.value)
    return _cap_bound(best, reward)


def largest_value(reward: Reward) -> float:
    """A bound on the optimum that needs no data, for theta = 0: the largest value of g in all of [0,1]^K."""
    try:
        return reward.conjugate_bound(np.zeros(reward.n_outcomes))
    except RewardError:
        return math.inf


def _cap_bound(bound: Bound, reward: Reward) -> Bound:
    """The bound, or the largest value of g."""
    ceiling = largest_value(reward)
    return bound._replace(value=ceiling, theta=np.zeros(reward.n_outcomes)) if ceiling < bound.value else bound


def _bound_by_plan(evidence: Evidence, reward: Reward, options: BoundOptions, *near: Vector) -> Bound:
    theta, bias, tolerance, relaxation, limit, _ = options
    belief = plan_optimistically(
        evidence.space, evidence.counts, evidence.region, theta, tolerance, relaxation, bias, limit
    )
    plan = belief.plan
    conjugate = reward.conjugate_bound(theta, *near)
    rounding = ROUNDING * (float(np.ptp(plan.bias)) + abs(conjugate) + float(np.abs(theta).sum()))
    loose = plan.span if plan.span > tolerance else 0.0
    return Bound(conjugate + plan.gain + rounding, theta, belief, loose)
