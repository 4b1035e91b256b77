r"""The offline program (P_M) by column generation: policies one by one, mixed.

The program maximises g(w) over the outcomes w of all occupancies, the hull of the outcomes of deterministic policies.
There are far too many of them, and no more than K + 1 are needed.

    1. *Plan.* For a theta, the best policy for the scores -theta.v (`gains`) and what it earns, phi. Weak duality:
       opt(P_M) <= g*(theta) + phi, with the proof (theta, phi, bias) of `certificate`.
    2. *Add.* Each recurrent class of that policy has a stationary distribution, a column, with outcomes w_i.
    3. *Mix.* The best mixture of all columns (`master`) is an occupancy: opt(P_M) >= g(mixture). Its theta is the next.

If g has edges, the theta of a mixture jumps from plan to plan. Planning half way between it and the theta with the
best bound so far takes a third fewer plans, and more of the smooth; a plan that adds nothing is followed by one for the
theta of the mixture itself.

It ends when the two bounds meet, or when a plan adds nothing: then nothing of the polytope scores more at the theta
of the mixture, which is optimal, and what is left of the gap is rounding. Plans are as exact as the gap asks for.

A column is stored as a policy and a distribution, and the cost of everything but planning does not depend on S. With
as many outcomes as states (maximum entropy) there are many columns, and `program` is the better way.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.models.model import Model
from equipoise.offline.gains import Column, Gain, GainSearch
from equipoise.offline.master import master_of
from equipoise.offline.program import Claim, gradient_at
from equipoise.rewards.base import Reward

_ROUNDS: Final = 200  # plans, at most,
_ROUNDS_PER_OUTCOME: Final = 20  # and so many more for each outcome
_CLASSES: Final = 8  # columns that one plan may add
_COARSE: Final = 1e-2  # span of the first plan, relative to that of the scores
_PLAN: Final = 0.1  # part of the gap that a plan may be off by
_SAME: Final = 1e-12  # a column that scores no more than that above the mixture adds nothing
_IDLE: Final = 4  # plans in a row that added nothing, at finer and finer spans
_INWARD: Final = 0.5  # of the way from the next theta to the best so far, for a g with edges
_LEAST: Final = 1e-9  # outcomes at which the first gradient is taken; some do not exist at 0
_DUST: Final = 1e-9  # a share of a mixture that a solver's rounding makes


def by_columns(model: Model, reward: Reward, tolerance: float) -> Claim:
    """Generate columns until the bounds are within the tolerance, or nothing more can be added.

    Parameters
    ----------
    model : Model
        A communicating one.
    reward : Reward
        For as many outcomes as it has.
    tolerance : float
        The gap at which to stop.

    Raises
    ------
    SolverError
        When a distribution, or the best mixture, could not be computed.

    Examples
    --------
    >>> from equipoise.models import star
    >>> from equipoise.rewards import Quadratic
    >>> claim = by_columns(star(3, 4), Quadratic([1 / 3] * 3), 1e-8)
    >>> claim.solver, (star(3, 4).means.T @ claim.occupancy).round(6).tolist()
    ('columns', [0.333333, 0.333333, 0.333333])
    """
    search, master = GainSearch(model), master_of(reward, _PLAN * tolerance)
    columns: list[Column] = []
    weights = np.empty(0)
    theta = -gradient_at(reward, np.clip(model.means.mean(axis=0), _LEAST, 1.0))
    found: Gain | None = None
    lower, upper, idle = -np.inf, np.inf, 0
    span = _COARSE * float(np.ptp(model.means @ theta)) or tolerance
    proof = (theta, np.zeros(model.n_states))
    inward = _INWARD if reward.piecewise_linear else 0.0
    for _ in range(_ROUNDS + _ROUNDS_PER_OUTCOME * model.n_outcomes):
        if upper < np.inf and not idle:
            theta = theta + inward * (proof[0] - theta)
        scores = np.ascontiguousarray(-(model.means @ theta))
        found = search.best(scores, span, found)
        bound = reward.conjugate_bound(theta) + found.upper
        if bound < upper:
            upper, proof = bound, (theta, found.bias)
        if upper - lower <= tolerance:
            break
        added = _added(search.columns(found.pairs), theta, columns, weights)
        idle = 0 if added else idle + 1
        if idle == _IDLE:
            break
        columns += added
        points = np.array([column.outcomes for column in columns])
        begin = np.append(weights, np.zeros(len(added))) if weights.size else np.full(len(added), 1.0 / len(added))
        best = master.best(points, begin)
        value = reward.value(np.clip(best.weights @ points, 0.0, 1.0))
        if value > lower:
            lower, weights = value, best.weights
        else:
            weights = begin
        theta = best.theta
        if upper - lower <= tolerance:
            break
        span = _PLAN**idle * max(_PLAN * tolerance, min(span, _PLAN * (upper - lower)))
    return Claim(_mixture(model, columns, weights), (proof[0], theta), proof[1], "columns")


def _added(new: list[Column], theta: Vector, columns: list[Column], weights: Vector) -> list[Column]:
    """The columns of a plan that score more than the mixture at hand, the best of them."""
    scored = sorted(((float(-theta @ column.outcomes), column) for column in new), key=lambda one: -one[0])
    if columns:
        mixed = float(weights @ np.array([-theta @ column.outcomes for column in columns]))
        scored = [one for one in scored if one[0] > mixed + _SAME]
    return [column for _, column in scored[:_CLASSES]]


def _mixture(model: Model, columns: list[Column], weights: Vector) -> Vector:
    """The occupancy, one number a pair, of a mixture of columns."""
    occupancy = np.zeros(model.n_pairs)
    for column, share in zip(columns, np.where(weights > _DUST, weights, 0.0), strict=True):
        occupancy[column.pairs] += share * column.weight
    return occupancy
