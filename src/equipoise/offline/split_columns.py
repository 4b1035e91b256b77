r"""The offline program with constraints by column generation: policies one by one, mixed (see `columns`).

Mixtures of the columns found may violate constraints at a price (`mixing`): with few columns no mixture meets them.
Bounds are those of the Lagrangian: for multipliers lambda_j >= 0 and vectors theta_0, theta_j

    opt  <=  g*(theta_0) + sum_j lambda_j (h_j*(theta_j) - level_j) + phi,

phi the gain of the best policy for the scores -(theta_0 + sum_j lambda_j theta_j).v, which is planned for anyway. The
dual that columns are generated for is (lambda, lambda_j times a supergradient), in which the bound is convex.

If the best mixture still violates a constraint when the bounds meet, either the price is below the multipliers, or the
constraints cannot be met. The problem without objective says which: where no policy comes within 0 of meeting them, its
bound is the proof (Farkas), and nothing more is tried. Otherwise the price rises.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from equipoise._types import Vector
from equipoise.offline.columns import COLUMNS, Goal, Pool, generate
from equipoise.offline.cuts import gradient_at
from equipoise.offline.mixing import Mixer, mixer_of
from equipoise.offline.problem import Problem, SplitClaim, conjugate_of, terms_of, theta_of
from equipoise.rewards.norms import ones

_DEAR: Final = 10.0  # the first price, times the largest difference of g that its Lipschitz constant allows
_RAISES: Final = 5  # prices that are tried, at most,
_RAISE: Final = 10.0  # each so many times the one before
_PLAN: Final = 0.1  # part of the tolerance that a mixture may be off by


@final
class Split(Goal):
    """An objective with constraints, at a price; or how close the constraints come to being met.

    Parameters
    ----------
    problem : Problem
        What is maximised and met.
    mixer : Mixer
        For its master problems.
    price : float
        What a unit of the largest violation costs; 1 without an objective.
    """

    jumps: bool

    def __init__(self, problem: Problem, mixer: Mixer, price: float) -> None:
        self._problem, self._mixer, self._price = problem, mixer, price
        self._count = len(problem.functions)
        self.jumps = problem.piecewise_linear

    def first(self, w: Vector) -> Vector:
        """The objective alone; without one, all constraints alike."""
        problem, count = self._problem, self._count
        multipliers = np.eye(1, count).ravel() if problem.objective is not None else np.full(count, 1.0 / count)
        slopes = [share * gradient_at(f, w) for share, f in zip(multipliers, problem.functions, strict=True)]
        return np.concatenate([multipliers, *slopes])

    def theta(self, dual: Vector) -> Vector:
        """The sum of lambda_i theta_i."""
        return theta_of(terms_of(self._problem, *self.parts(dual)), self._problem.functions[0].n_outcomes)

    def conjugate(self, dual: Vector) -> float:
        """The sum of lambda_i (g_i*(theta_i) - level_i)."""
        return conjugate_of(terms_of(self._problem, *self.parts(dual)))

    def value(self, w: Vector) -> float:
        """The objective less what violations cost."""
        return self._problem.value(w, self._price)

    def best(self, points: Vector, weights: Vector) -> tuple[Vector, Vector]:
        """That of the mixer."""
        mixed = self._mixer.best(points, weights, self._price)
        return mixed.weights, np.concatenate([mixed.multipliers, *mixed.slopes])

    def parts(self, dual: Vector) -> tuple[Vector, list[Vector]]:
        """A dual as multipliers and slopes."""
        return dual[: self._count], list(dual[self._count :].reshape(self._count, -1))


def split_by_columns(pool: Pool, problem: Problem, tolerance: float) -> SplitClaim:
    """Generate columns for a problem with constraints.

    Parameters
    ----------
    pool : Pool
        Of the model; what is found stays in it.
    problem : Problem
        What is maximised and met.
    tolerance : float
        The gap at which to stop, and the violation.

    Raises
    ------
    SolverError
        When a distribution, or the best mixture, could not be computed.

    Examples
    --------
    >>> from equipoise.models import star
    >>> from equipoise.rewards import Linear, at_least
    >>> model = star(3, 4)
    >>> problem = Problem(Linear([1.0, 0.25, 0.5]), (at_least(1, 0.2, model), at_least(2, 0.3, model)))
    >>> claim = split_by_columns(Pool(model), problem, 1e-8)
    >>> (model.means.T @ claim.occupancy).round(6).tolist(), claim.multipliers.round(6).tolist()
    ([0.5, 0.2, 0.3], [1.0, 0.75, 0.5])
    """
    objective = problem.objective
    price = (
        1.0 if objective is None else _DEAR * max(1.0, objective.lipschitz * ones(objective.n_outcomes, objective.norm))
    )
    mixer = mixer_of(problem, _PLAN * tolerance)
    for raised in range(_RAISES):
        goal = Split(problem, mixer, _RAISE**raised * price)
        done = generate(pool, goal, tolerance)
        if objective is None or problem.lacking(np.clip(done.weights @ pool.points(), 0.0, 1.0)) <= tolerance:
            break
        if raised == 0 and _closest(pool, problem, tolerance) < 0.0:
            break
    return SplitClaim(pool.mixture(done.weights), *goal.parts(done.duals[0]), done.bias, COLUMNS)


def _closest(pool: Pool, problem: Problem, tolerance: float) -> float:
    """How close any policy comes to meeting the constraints, from above."""
    alone = Problem(None, problem.constraints)
    return generate(pool, Split(alone, mixer_of(alone, _PLAN * tolerance), 1.0), tolerance).upper
