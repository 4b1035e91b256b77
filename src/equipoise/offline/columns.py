r"""The offline program by column generation: policies one by one, mixed.

The program maximises g(w) over the outcomes w of all occupancies, the hull of the outcomes of deterministic policies.
There are far too many of them, and no more than K + 1 are needed.

    1. *Plan.* For a point of the dual, multipliers lambda_i and vectors theta_i: the best policy for the scores
       -(sum_i lambda_i theta_i).v (`gains`) and what it earns, phi. Weak duality:
       opt <= g*(theta_0) + sum_j lambda_j (h_j*(theta_j) - level_j) + phi, with the proof of `certificate`.
    2. *Add.* Each recurrent class of that policy has a stationary distribution, a column, with outcomes w_i.
    3. *Mix.* The best mixture of all columns (`mixtures`) is an occupancy: opt >= g(mixture). Its dual is the next.

The dual is kept as (lambda, lambda_i times a supergradient), in which the bound is convex. If functions have kinks, the
dual of a mixture jumps from plan to plan. Planning half way between it and the one with the best bound so far takes a
third fewer plans, and more of the smooth; a plan that adds nothing is followed by one for the dual of the mixture
itself.

It ends when the two bounds meet, or when a plan adds nothing: then nothing of the polytope scores more than the
mixture, which is optimal, and what is left of the gap is rounding. Plans are as exact as the gap asks for.

Mixtures may violate constraints at a price: with few columns none meets them. If the best mixture still violates a
constraint when the bounds meet, either the price is below the multipliers, or the constraints cannot be met. The
problem without objective says which: where no policy comes within 0 of meeting them, its bound is the proof (Farkas),
and nothing more is tried. Otherwise the price rises.

A column is stored as a policy and a distribution, and the cost of everything but planning does not depend on S. With
as many outcomes as states (maximum entropy) there are many columns, and `program` is the better way.
"""

from __future__ import annotations

from typing import Final, NamedTuple, final

import numpy as np

from equipoise._types import Vector
from equipoise.models.model import Model
from equipoise.offline.certificate import sum_conjugates, sum_thetas
from equipoise.offline.gains import Column, Gain, GainSearch
from equipoise.offline.mixtures import Mixer, make_mixer
from equipoise.offline.problem import Claim, DualPoint, Problem, bound_terms, gradient_at
from equipoise.rewards.norms import ones

COLUMNS: Final = "columns"
_ROUNDS: Final = 200  # plans, at most,
_ROUNDS_PER_NUMBER: Final = 20  # and so many more for each number of the dual
_CLASSES: Final = 8  # columns that one plan may add
_COARSE: Final = 1e-2  # span of the first plan, relative to that of the scores
_PLAN: Final = 0.1  # part of the gap that a plan may be off by, and of the tolerance that a mixture may
_SAME: Final = 1e-12  # a column that scores no more than that above the mixture, or is as near to another, adds nothing
_IDLE: Final = 4  # plans in a row that added nothing, at finer and finer spans
_INWARD: Final = 0.5  # of the way from the next dual to the best so far, if functions have kinks
_LEAST: Final = 1e-9  # outcomes at which the first gradient is taken; some do not exist at 0
_MIN_SHARE: Final = 1e-9  # a share of a mixture that a solver's rounding makes
_FIRST_PRICE: Final = 10.0  # times the largest difference of g that its Lipschitz constant allows
_RAISES: Final = 5  # prices that are tried, at most,
_RAISE: Final = 10.0  # each so many times the one before


@final
class Pool:
    """The columns of one model, found so far: whatever the problem was, they serve for others too."""

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
        """The occupancy, one number per pair, of a mixture of the columns; those that came later have no share."""
        occupancy = np.zeros(self.model.n_pairs)
        for column, share in zip(self.columns, np.where(weights > _MIN_SHARE, weights, 0.0), strict=False):
            occupancy[column.pairs] += share * column.weight
        return occupancy


class Generated(NamedTuple):
    """What column generation came to: a mixture, two points of the dual, the bias of the first, and both bounds."""

    weights: Vector
    duals: tuple[DualPoint, DualPoint]
    bias: Vector
    lower: float
    upper: float


def by_columns(pool: Pool, problem: Problem, tolerance: float) -> Claim:
    """Generate columns for a problem."""
    objective, price = problem.objective, 1.0
    if objective is not None and problem.constraints:
        scale = objective.lipschitz * ones(objective.n_outcomes, objective.norm)
        price = _FIRST_PRICE * max(1.0, scale if np.isfinite(scale) else 1.0)
    mixer = make_mixer(problem, _PLAN * tolerance)
    for raised in range(_RAISES):
        done = generate(pool, problem, mixer, _RAISE**raised * price, tolerance)
        if objective is None or not problem.constraints:
            break
        w = np.clip(done.weights @ pool.points(), 0.0, 1.0)
        if problem.violations(w).max() <= tolerance or (raised == 0 and _closest(pool, problem, tolerance) < 0.0):
            break
    return Claim(pool.mixture(done.weights), done.duals, done.bias, COLUMNS)


def _closest(pool: Pool, problem: Problem, tolerance: float) -> float:
    """How close any policy comes to meeting the constraints, from above."""
    alone = problem._replace(objective=None)
    return generate(pool, alone, make_mixer(alone, _PLAN * tolerance), 1.0, tolerance).upper


def generate(pool: Pool, problem: Problem, mixer: Mixer, price: float, tolerance: float) -> Generated:
    """Add columns to a pool until the bounds are within the tolerance, or nothing more can be added."""
    model, columns, count = pool.model, pool.columns, len(problem.functions)
    weights, lower, upper, idle = np.zeros(len(columns)), -np.inf, np.inf, 0

    def point(dual: Vector) -> DualPoint:
        return DualPoint(dual[:count], list(dual[count:].reshape(count, -1)))

    def mixed(points: Vector, begin: Vector) -> tuple[Vector, Vector]:
        best = mixer.best(points, begin, price)
        return best.weights, np.concatenate([best.dual.multipliers, *best.dual.slopes])

    if columns:
        weights, dual = mixed(pool.points(), np.full(len(columns), 1.0 / len(columns)))
        w = np.clip(weights @ pool.points(), 0.0, 1.0)
        lower = problem.value(w, price)
    else:
        w = np.clip(model.mean_rows.mean(axis=0), _LEAST, 1.0)
        dual = _first_dual(problem, w)
    scale = float(np.ptp(model.mean_rows @ sum_thetas(bound_terms(problem, point(dual)), model.n_outcomes)))
    span = max(_PLAN * tolerance, _COARSE * scale)
    proof = (dual, np.zeros(model.n_states))
    for _ in range(_ROUNDS + _ROUNDS_PER_NUMBER * dual.size):
        if upper < np.inf and problem.piecewise_linear and not idle:
            dual = dual + _INWARD * (proof[0] - dual)
        terms = bound_terms(problem, point(dual))
        theta = sum_thetas(terms, model.n_outcomes)
        scores = np.ascontiguousarray(-(model.mean_rows @ theta))
        pool.found = pool.search.best(scores, span, pool.found)
        bound = sum_conjugates(terms, w) + pool.found.upper
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
        shares, dual = mixed(points, begin)
        w = np.clip(shares @ points, 0.0, 1.0)
        value = problem.value(w, price)
        lower, weights = (value, shares) if value > lower else (lower, begin)
        if upper - lower <= tolerance:
            break
        span = _PLAN**idle * max(_PLAN * tolerance, min(span, _PLAN * (upper - lower)))
    return Generated(weights, (point(proof[0]), point(dual)), proof[1], lower, upper)


def _first_dual(problem: Problem, w: Vector) -> Vector:
    """A dual to begin with: the objective alone; without one, all constraints alike."""
    count = len(problem.functions)
    multipliers = np.eye(1, count).ravel() if problem.objective is not None else np.full(count, 1.0 / count)
    slopes = [share * gradient_at(f, w) for share, f in zip(multipliers, problem.functions, strict=True)]
    return np.concatenate([multipliers, *slopes])


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
