r"""The best mixture of a few outcome vectors: the small problem of column generation.

    max  g(w) - price t   over   w = sum_i lambda_i w_i,   lambda >= 0,   sum of lambda = 1,   t >= 0,
         h_j(w) >= level_j - t   for every constraint j.

The price makes every problem solvable, however few vectors there are yet, and bounds the multipliers of the constraints
by the price in sum. Above the multipliers of the whole problem it changes nothing (the penalty is exact). Without an
objective -t is maximised, and t may be negative: by how much all constraints are exceeded.

There are a few vectors of K numbers, whatever the size of the model, and three ways: by cvxpy and Clarabel if all
functions have expressions (`ConeMixer`), by pairwise steps for a smooth g alone (`PairMixer`), by cutting planes
otherwise (`CutMixer`). The answer is the weights lambda and a point of the dual with which no vector scores more than
the best mixture: the next theta to plan for. Where g has several supergradients at w, that choice matters, and
multipliers of the problem are right where any one supergradient is not.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from equipoise._types import Vector
from equipoise.errors import SolverError
from equipoise.offline.hull import SmoothMaster
from equipoise.offline.problem import DualPoint, Problem, expression_of, gradient_at
from equipoise.offline.program import Cut, cutting_planes, dual_point, points_hull, solve_cone

_SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "max_iter": 200},
    {"max_iter": 200},
    {"max_iter": 200, "max_step_fraction": 0.9},  # these two are less exact, and not stuck where cones are thin
    {"max_iter": 200, "static_regularization_constant": 1e-7},
)
_FIRST_CAPACITY: Final = 32  # outcome vectors that the first problem takes; four times as many in the next


class Mixture(NamedTuple):
    """The best mixture of some outcome vectors."""

    weights: Vector
    dual: DualPoint


class Mixer(abc.ABC):
    """Finds the best mixtures of a growing number of outcome vectors."""

    @abc.abstractmethod
    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixture:
        """Return the best mixture."""


def make_mixer(problem: Problem, tolerance: float) -> Mixer:
    """Return what suits a problem."""
    if problem.is_expressible:
        return InTurn([ConeMixer(problem), CutMixer(problem, tolerance)])
    return PairMixer(problem, tolerance) if problem.is_smooth else CutMixer(problem, tolerance)


@final
class InTurn(Mixer):
    """The first of some that succeeds: cone programs with few vectors are at times too thin for their solver."""

    def __init__(self, mixers: Sequence[Mixer]) -> None:
        self._mixers = mixers

    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixture:
        """That of the first, or the next if it fails."""
        failures = []
        for mixer in self._mixers:
            try:
                return mixer.best(points, weights, price)
            except SolverError as error:
                failures.append(str(error))
        raise SolverError("; ".join(failures))


@final
class PairMixer(Mixer):
    """By pairwise steps, for a smooth objective without constraints."""

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self._reward, self._tolerance = problem.functions[0], tolerance
        self._master = SmoothMaster(self._reward)

    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixture:  # noqa: ARG002
        """Move weight from the worst vector in use to the best one."""
        weights = self._master.best(points, weights, 1.0, np.zeros(points.shape[1]), self._tolerance).weights
        return Mixture(weights, DualPoint(np.ones(1), [gradient_at(self._reward, weights @ points)]))


@final
class ConeMixer(Mixer):
    """By cvxpy and Clarabel. The problem is compiled once and given other vectors, which is most of its cost."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._capacity = 0
        self._parts: tuple[Any, ...] = ()

    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixture:  # noqa: ARG002
        """Solve the cone program; rows that are left over hold the first vector again."""
        n = points.shape[0]
        if n > self._capacity:
            self._capacity = max(_FIRST_CAPACITY, 4 * self._capacity, n)
            self._parts = self._compile()
        program, share, given, cost, links, met = self._parts
        padded = np.repeat(points[:1], self._capacity, axis=0)
        padded[:n] = points
        given.value, cost.value = padded.T, price
        shares, *duals = solve_cone(program, "CLARABEL", _SETTINGS, [share, *links, *met])
        shares = np.maximum(shares, 0.0)
        shares[0] += shares[n:].sum()
        slopes = duals[: len(links)]
        slopes[0] = slopes[0] - sum(slopes[1:], np.zeros(points.shape[1]))
        return Mixture(shares[:n] / shares[:n].sum(), dual_point(self._problem, slopes, duals[len(links) :]))

    def _compile(self) -> tuple[Any, ...]:
        """The program for so many vectors, and those of its parts that are set or read."""
        import cvxpy as cp

        of = self._problem
        share = cp.Variable(self._capacity, nonneg=True)
        cost = cp.Parameter(nonneg=True)
        ws, expressions = zip(*(expression_of(function) for function in of.functions), strict=True)
        given = cp.Parameter((ws[0].size, self._capacity))
        links = [ws[0] == given @ share, *(w == ws[0] for w in ws[1:])]
        short = cp.Variable(nonneg=of.objective is not None)
        functions = iter(expressions)
        goal = -short if of.objective is None else next(functions)
        met = [one.at_least - short <= h for one, h in zip(of.constraints, functions, strict=True)]
        if of.objective is not None and met:
            goal = goal - cost * short
        return cp.Problem(cp.Maximize(goal), [*links, *met, cp.sum(share) == 1]), share, given, cost, links, met


@final
class CutMixer(Mixer):
    """By Kelley's cutting planes: those of one mixture are kept for the next."""

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self._problem, self._tolerance = problem, tolerance
        self._cuts: list[Cut] = []

    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixture:
        """Replace every function by the least of its tangents."""
        start = np.clip(weights @ points, 0.0, 1.0)
        found = cutting_planes(points_hull(points), self._problem, start, self._tolerance, price, self._cuts)
        return Mixture(found.shares / found.shares.sum(), found.dual)
