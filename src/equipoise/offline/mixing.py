r"""The best mixture of a few outcome vectors for a problem with constraints, violations being allowed at a price.

    max  g(w) - price t   over   w = sum_i lambda_i w_i,   lambda >= 0,   sum of lambda = 1,   t >= 0,
         h_j(w) >= level_j - t   for every constraint j.

The price makes every problem solvable, however few vectors there are yet, and bounds the multipliers of the constraints
by the price in sum. Above the multipliers of the whole problem it changes nothing (the penalty is exact). Without an
objective -t is maximised, and t may be negative: by how much all constraints are exceeded.

By cvxpy and Clarabel (`ConeMixer`), or if a function has no cvxpy expression by cutting planes (`CutMixer`).
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from equipoise._types import Vector
from equipoise.errors import SolverError
from equipoise.offline.cuts import Cut, cutting_planes, hull_of
from equipoise.offline.problem import Problem
from equipoise.offline.program import expression_of, solved

_SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "max_iter": 200},
    {"max_iter": 200},
    {"max_iter": 200, "max_step_fraction": 0.9},  # these two are less exact, and not stuck where cones are thin
    {"max_iter": 200, "static_regularization_constant": 1e-7},
)
_ROOM: Final = 32  # outcome vectors that the first problem has room for; four times as many in the next


class Mixed(NamedTuple):
    """The best mixture of some outcome vectors.

    Attributes
    ----------
    weights : float array
        lambda.
    multipliers : float array
        One a function: of the objective 1, of the constraints their multipliers.
    slopes : list of float array
        For each function its multiplier times a supergradient at the mixture. With minus their sum for theta no vector
        scores more than the mixture.
    """

    weights: Vector
    multipliers: Vector
    slopes: list[Vector]


class Mixer(abc.ABC):
    """Finds the best mixtures of a growing number of outcome vectors."""

    @abc.abstractmethod
    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixed:
        """Return the best mixture.

        Parameters
        ----------
        points : float array
            One outcome vector a row.
        weights : float array
            A mixture to begin with.
        price : float
            What a unit of the largest violation costs; 1 without an objective.
        """


def mixer_of(problem: Problem, tolerance: float) -> Mixer:
    """Return what suits a problem.

    Parameters
    ----------
    problem : Problem
        What is maximised and met.
    tolerance : float
        By how much the value of a mixture may fall short of the best, where it is iterated for.

    Examples
    --------
    >>> from equipoise.rewards import Linear, at_least
    >>> problem = Problem(Linear([1.0, 0.0]), (at_least(1, 0.25, ["work", "rest"]),))
    >>> best = mixer_of(problem, 1e-9).best(np.eye(2), np.array([1.0, 0.0]), price=10.0)
    >>> best.weights.round(6).tolist(), best.multipliers.round(6).tolist()
    ([0.75, 0.25], [1.0, 1.0])
    """
    cuts = CutMixer(problem, tolerance)
    return InTurn([ConeMixer(problem), cuts]) if problem.expressible else cuts


@final
class InTurn(Mixer):
    """The first of some that succeeds: cone programs with few vectors are at times too thin for their solver."""

    def __init__(self, mixers: Sequence[Mixer]) -> None:
        self._mixers = mixers

    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixed:
        """That of the first, or the next if it fails."""
        failures = []
        for mixer in self._mixers:
            try:
                return mixer.best(points, weights, price)
            except SolverError as error:
                failures.append(str(error))
        raise SolverError("; ".join(failures))


@final
class ConeMixer(Mixer):
    """By cvxpy and Clarabel. The problem is compiled once and given other vectors, which is most of its cost."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._room = 0
        self._parts: tuple[Any, ...] = ()

    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixed:  # noqa: ARG002
        """Solve the cone program; rows that are left over hold the first vector again."""
        n = points.shape[0]
        if n > self._room:
            self._room = max(_ROOM, 4 * self._room, n)
            self._parts = self._compiled()
        program, share, given, cost, links, met = self._parts
        padded = np.repeat(points[:1], self._room, axis=0)
        padded[:n] = points
        given.value, cost.value = padded.T, price
        shares, *duals = solved(program, "CLARABEL", _SETTINGS, [share, *links, *met])
        shares = np.maximum(shares, 0.0)
        shares[0] += shares[n:].sum()
        slopes = duals[: len(links)]
        slopes[0] = slopes[0] - sum(slopes[1:], np.zeros(points.shape[1]))
        multipliers = np.maximum(np.concatenate([np.zeros(0), *duals[len(links) :]]), 0.0)
        if self._problem.objective is not None:
            multipliers = np.append(1.0, multipliers)
        return Mixed(shares[:n] / shares[:n].sum(), multipliers, slopes)

    def _compiled(self) -> tuple[Any, ...]:
        """The program with room for so many vectors, and those of its parts that are set or read.

        The first function is linked to the mixture, and the others to the first: the multiplier of its link is then the
        sum of all slopes.
        """
        import cvxpy as cp

        of = self._problem
        share = cp.Variable(self._room, nonneg=True)
        cost = cp.Parameter(nonneg=True)
        ws, expressions = zip(*(expression_of(function) for function in of.functions), strict=True)
        given = cp.Parameter((ws[0].size, self._room))
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

    def best(self, points: Vector, weights: Vector, price: float = 1.0) -> Mixed:
        """Replace every function by the least of its tangents."""
        start = np.clip(weights @ points, 0.0, 1.0)
        found = cutting_planes(hull_of(points), self._problem.planes(), start, self._tolerance, price, self._cuts)
        return Mixed(found.shares / found.shares.sum(), np.maximum(found.multipliers, 0.0), found.slopes)
