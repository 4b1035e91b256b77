r"""The least upper bound on the optimum that a region can prove, by cutting planes.

Every theta bounds the optimum by opt(P_M) <= g*(theta) + phi(theta) <= g*(theta) + gain(theta), the second wherever the
region holds the truth (`proof`). The right side is convex in theta. Minimised over all theta it is the best that the
present region can prove; its value is the largest g of any long-run average that some model in the region allows.

`effort` asks for so many plans beyond the first. Each adds a column z_j, a long-run average of outcomes that the region
allows (`planning.response`). As gain(theta) >= (-theta).z_j, the largest g over mixtures of the columns,

    lower = max over mixtures z of g(z) = min over theta of [g*(theta) + max over j of (-theta).z_j]  <=  the minimum,

and minus a supergradient of g at the best mixture (`offline.master`) is the theta of the next plan: the method of
cutting planes. It stops when the bound is within a ten-thousandth of itself (or of 1, if that is more) of `lower`, or
the effort is spent.

A plan whose sweeps run out before its tolerance is reached proves a bound all the same: its gain is the largest entry
of Tu - u, which bounds the optimal gain of every model in the region for whatever u. `Bound.loose` says by how much it
may be too large.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from equipoise._numbers import whole
from equipoise._types import Vector
from equipoise.agents.proof import ROUNDING
from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.errors import ParameterError, RewardError, SolverError
from equipoise.models.space import Space
from equipoise.offline.master import master_of
from equipoise.planning.believing import Belief, believed
from equipoise.rewards.base import Reward

_CLOSE: Final = 1e-4  # how near the bound must come to the best that the region can prove, as a part of itself
_MOST_EFFORT: Final = 1000
_EXACT: Final = 1e-9  # by how much a mixture of columns may fall short of the best


class Grounds(NamedTuple):
    """What a bound rests on: observations, and the regions made from them.

    Attributes
    ----------
    space : Space
        Of the world.
    counts : Counts
        What was observed.
    region : Region
        What that leaves possible.
    """

    space: Space
    counts: Counts
    region: Region


class Search(NamedTuple):
    """How a bound is looked for.

    Attributes
    ----------
    theta : float array
        Where to begin.
    bias : float array
        Where the first plan starts from.
    tolerance : float
        Of the plans: the bound may be too large by as much.
    relaxation : float
        Of the planner.
    limit : int
        Sweeps of a plan at most.
    effort : int
        How many plans more than one.
    """

    theta: Vector
    bias: Vector
    tolerance: float
    relaxation: float
    limit: int
    effort: int


class Bound(NamedTuple):
    """An upper bound on the optimum, with the plan that gives it.

    Attributes
    ----------
    value : float
        g*(theta) + gain.
    theta : float array
        By which.
    belief : Belief
        The plan whose gain it is, and the model that it believes in.
    loose : float
        The span at which that plan had to stop, if its tolerance was not reached: the value may be too large by as
        much. 0 if it was.
    """

    value: float
    theta: Vector
    belief: Belief
    loose: float


def best_bound(grounds: Grounds, reward: Reward, search: Search) -> Bound:
    """The least bound of a plan for a theta and so many more, each for a theta that the ones before point to.

    Parameters
    ----------
    grounds : Grounds
        What is known.
    reward : Reward
        g; the limit of one that changes with time.
    search : Search
        How it is looked for.
    """
    whole(search.effort, "effort", 0, _MOST_EFFORT, error=ParameterError)
    best = bound = _planned(grounds, reward, search)
    master = master_of(reward, _EXACT)
    columns, weights = np.zeros((0, reward.n_outcomes)), np.zeros(0)
    for number in range(search.effort):
        columns = np.vstack([columns, bound.belief.response.column])
        try:
            weights, theta = master.best(columns, np.append(weights, float(number == 0)))
        except SolverError:
            break  # what was proven so far stands
        lower = reward.value(np.clip(weights @ columns, 0.0, 1.0))
        if best.value - lower <= _CLOSE * max(abs(best.value), 1.0):
            break
        bound = _planned(grounds, reward, search._replace(theta=theta, bias=bound.belief.plan.bias))
        best = min(best, bound, key=lambda each: each.value)
    return _at_most(best, reward)


def largest_value(reward: Reward) -> float:
    """A bound on the optimum that needs no data, for theta = 0: the largest value of g in all of [0,1]^K.

    It is infinity where a function of somebody's fails at the maximiser, which no run need ever come to.

    Parameters
    ----------
    reward : Reward
        g; the limit of one that changes with time.
    """
    try:
        return reward.conjugate_bound(np.zeros(reward.n_outcomes))
    except RewardError:
        return math.inf


def _at_most(bound: Bound, reward: Reward) -> Bound:
    """The bound, or the largest value of g."""
    ceiling = largest_value(reward)
    return bound._replace(value=ceiling, theta=np.zeros(reward.n_outcomes)) if ceiling < bound.value else bound


def _planned(grounds: Grounds, reward: Reward, search: Search) -> Bound:
    theta, bias, tolerance, relaxation, limit, _ = search
    belief = believed(grounds.space, grounds.counts, grounds.region, theta, tolerance, relaxation, bias, limit)
    plan = belief.plan
    rounding = ROUNDING * (1.0 + float(plan.bias.max() - plan.bias.min()))
    loose = plan.span if plan.span > tolerance else 0.0
    return Bound(reward.conjugate_bound(theta) + plan.gain + rounding, theta, belief, loose)
