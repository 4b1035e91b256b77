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

import abc
from typing import Final, NamedTuple, final

import numpy as np

from equipoise._types import Vector
from equipoise.models.model import Model
from equipoise.offline.cuts import gradient_at
from equipoise.offline.gains import Column, Gain, GainSearch
from equipoise.offline.master import master_of
from equipoise.offline.program import Claim
from equipoise.rewards.base import Reward

COLUMNS: Final = "columns"
_ROUNDS: Final = 200  # plans, at most,
_ROUNDS_PER_NUMBER: Final = 20  # and so many more for each number of the dual
_CLASSES: Final = 8  # columns that one plan may add
_COARSE: Final = 1e-2  # span of the first plan, relative to that of the scores
_PLAN: Final = 0.1  # part of the gap that a plan may be off by
_SAME: Final = 1e-12  # a column that scores no more than that above the mixture, or is as near to another, adds nothing
_IDLE: Final = 4  # plans in a row that added nothing, at finer and finer spans
_INWARD: Final = 0.5  # of the way from the next theta to the best so far, for a g with edges
_LEAST: Final = 1e-9  # outcomes at which the first gradient is taken; some do not exist at 0
_DUST: Final = 1e-9  # a share of a mixture that a solver's rounding makes


class Goal(abc.ABC):
    """What is maximised over the outcomes of all occupancies, and how its dual is written: as a vector.

    Attributes
    ----------
    jumps : bool
        Whether the dual of the best mixture jumps from plan to plan, as where there are edges.
    """

    jumps: bool

    @abc.abstractmethod
    def first(self, w: Vector) -> Vector:
        """A dual to begin with, such as minus the gradient at w."""

    @abc.abstractmethod
    def theta(self, dual: Vector) -> Vector:
        """The theta to plan for."""

    @abc.abstractmethod
    def conjugate(self, dual: Vector) -> float:
        """What is added to the gain to bound the goal from above."""

    @abc.abstractmethod
    def value(self, w: Vector) -> float:
        """The goal itself."""

    @abc.abstractmethod
    def best(self, points: Vector, weights: Vector) -> tuple[Vector, Vector]:
        """The best mixture of outcome vectors, one a row, beginning with some weights: its weights, and its dual."""


@final
class Plain(Goal):
    """A reward alone; its dual is theta."""

    def __init__(self, reward: Reward, tolerance: float) -> None:
        self._reward, self._master = reward, master_of(reward, tolerance)
        self.jumps = reward.piecewise_linear

    def first(self, w: Vector) -> Vector:
        """Minus the gradient."""
        return -gradient_at(self._reward, w)

    def theta(self, dual: Vector) -> Vector:
        """The dual itself."""
        return dual

    def conjugate(self, dual: Vector) -> float:
        """g*(theta), as the check will compute it."""
        return self._reward.conjugate(dual)

    def value(self, w: Vector) -> float:
        """g(w)."""
        return self._reward.value(w)

    def best(self, points: Vector, weights: Vector) -> tuple[Vector, Vector]:
        """That of the master problem."""
        return self._master.best(points, weights)


@final
class Pool:
    """The columns of one model, found so far: whatever the goal was, they serve for others too.

    Parameters
    ----------
    model : Model
        A communicating one.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.columns: list[Column] = []
        self.found: Gain | None = None  # where the next plan begins
        self._search: GainSearch | None = None

    @property
    def search(self) -> GainSearch:
        """The planner."""
        if self._search is None:
            self._search = GainSearch(self.model)
        return self._search

    def points(self) -> Vector:
        """The outcomes of the columns, one row each."""
        return np.array([column.outcomes for column in self.columns])

    def mixture(self, weights: Vector) -> Vector:
        """The occupancy, one number a pair, of a mixture of the columns; those that came later have no share."""
        occupancy = np.zeros(self.model.n_pairs)
        for column, share in zip(self.columns, np.where(weights > _DUST, weights, 0.0), strict=False):
            occupancy[column.pairs] += share * column.weight
        return occupancy


class Generated(NamedTuple):
    """What column generation came to.

    Attributes
    ----------
    weights : float array
        Of the columns of the pool: the best mixture.
    duals : tuple of float array
        The one with the best bound, and the last.
    bias : float array
        The proof of that bound.
    lower, upper : float
        The goal at the mixture, and the bound.
    """

    weights: Vector
    duals: tuple[Vector, Vector]
    bias: Vector
    lower: float
    upper: float


def generate(pool: Pool, goal: Goal, tolerance: float) -> Generated:
    """Add columns to a pool until the bounds are within the tolerance, or nothing more can be added.

    Parameters
    ----------
    pool : Pool
        Of the model.
    goal : Goal
        What is maximised.
    tolerance : float
        The gap at which to stop.

    Raises
    ------
    SolverError
        When a distribution, or the best mixture, could not be computed.
    """
    model, columns = pool.model, pool.columns
    weights, lower, upper, idle = np.zeros(len(columns)), -np.inf, np.inf, 0
    if columns:
        weights, dual = goal.best(pool.points(), np.full(len(columns), 1.0 / len(columns)))
        lower = goal.value(np.clip(weights @ pool.points(), 0.0, 1.0))
    else:
        dual = goal.first(np.clip(model.mean_rows.mean(axis=0), _LEAST, 1.0))
    span = max(_PLAN * tolerance, _COARSE * float(np.ptp(model.mean_rows @ goal.theta(dual))))
    proof = (dual, np.zeros(model.n_states))
    for _ in range(_ROUNDS + _ROUNDS_PER_NUMBER * dual.size):
        if upper < np.inf and goal.jumps and not idle:
            dual = dual + _INWARD * (proof[0] - dual)
        theta = goal.theta(dual)
        scores = np.ascontiguousarray(-(model.mean_rows @ theta))
        pool.found = pool.search.best(scores, span, pool.found)
        bound = goal.conjugate(dual) + pool.found.upper
        if bound < upper:
            upper, proof = bound, (dual, pool.found.bias)
        if upper - lower <= tolerance:
            break
        added = _added(pool.search.columns(pool.found.pairs), theta, columns, weights)
        idle = 0 if added else idle + 1
        if idle == _IDLE:
            break
        begin = np.append(weights, np.zeros(len(added))) if columns else np.full(len(added), 1.0 / len(added))
        columns += added
        points = pool.points()
        mixed, dual = goal.best(points, begin)
        value = goal.value(np.clip(mixed @ points, 0.0, 1.0))
        lower, weights = (value, mixed) if value > lower else (lower, begin)
        if upper - lower <= tolerance:
            break
        span = _PLAN**idle * max(_PLAN * tolerance, min(span, _PLAN * (upper - lower)))
    return Generated(weights, (proof[0], dual), proof[1], lower, upper)


def by_columns(model: Model, reward: Reward, tolerance: float) -> Claim:
    """Generate columns for a reward.

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
    pool = Pool(model)
    done = generate(pool, Plain(reward, _PLAN * tolerance), tolerance)
    return Claim(pool.mixture(done.weights), done.duals, done.bias, COLUMNS)


def _added(new: list[Column], theta: Vector, columns: list[Column], weights: Vector) -> list[Column]:
    """The columns of a plan that are new and score more than the mixture at hand, the best of them."""
    scored = sorted(((float(-theta @ column.outcomes), column) for column in new), key=lambda one: -one[0])
    if columns:
        mixed = float(weights @ np.array([-theta @ column.outcomes for column in columns]))
        known = np.array([column.outcomes for column in columns])
        scored = [
            (score, column)
            for score, column in scored
            if score > mixed + _SAME and np.abs(known - column.outcomes).max(axis=1).min() > _SAME
        ]
    return [column for _, column in scored[:_CLASSES]]
