r"""The best point of g over the hull of a few outcome vectors: the small problem of column generation.

    max  g(w)   over   w = sum_i lambda_i w_i,   lambda >= 0,   sum of lambda = 1.

A few vectors of K numbers, whatever the size of the model. As for the whole program (see `program`) there are three
ways: by cvxpy, if g has an expression; by pairwise steps, if g is smooth; by cutting planes otherwise. The answer is
the weights lambda and a theta in minus the superdifferential of g at the best w, with which no vector of the hull
scores more than w itself: the next theta to plan for. Where g has several supergradients at w, that choice matters, and
multipliers of the problem are right where any one supergradient is not.
"""

from __future__ import annotations

import abc
from typing import Any, Final, NamedTuple, final

import numpy as np

from equipoise._types import Vector
from equipoise.errors import RewardError, SolverError
from equipoise.offline.program import expression_of, gradient_at, linear_program, pairwise, solved
from equipoise.rewards.base import Reward

_TIGHT: Final[dict[str, Any]] = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "max_iter": 200}
_USUAL: Final[dict[str, Any]] = {"max_iter": 200}
_ROOM: Final = 32  # outcome vectors that the first problem has room for; four times as many in the next
_CUTS: Final = 400


class Best(NamedTuple):
    """The best mixture of some outcome vectors.

    Attributes
    ----------
    weights : float array
        lambda.
    theta : float array
        Minus a supergradient at the mixture, with which no vector scores more than the mixture.
    """

    weights: Vector
    theta: Vector


class Master(abc.ABC):
    """Finds the best mixtures of a growing number of outcome vectors."""

    @abc.abstractmethod
    def best(self, points: Vector, weights: Vector) -> Best:
        """Return the best mixture.

        Parameters
        ----------
        points : float array
            One outcome vector a row.
        weights : float array
            A mixture to begin with.
        """


def master_of(reward: Reward, tolerance: float) -> Master:
    """Return what suits a reward.

    Parameters
    ----------
    reward : Reward
        g.
    tolerance : float
        By how much the value of a mixture may fall short of the best, where it is iterated for.

    Examples
    --------
    >>> from equipoise.rewards import Quadratic
    >>> best = master_of(Quadratic([0.5, 0.5]), 1e-9).best(np.eye(2), np.array([1.0, 0.0]))
    >>> best.weights.round(6).tolist(), (abs(best.theta) < 1e-6).tolist()
    ([0.5, 0.5], [True, True])
    """
    try:
        expression_of(reward)
    except RewardError:
        return ByPairs(reward, tolerance) if reward.smoothness is not None else ByCuts(reward, tolerance)
    return ByCone(reward)


@final
class ByCone(Master):
    """By cvxpy and Clarabel. The problem is compiled once and given other vectors, which is most of its cost."""

    def __init__(self, reward: Reward) -> None:
        self._reward = reward
        self._room = 0
        self._parts: tuple[Any, ...] = ()

    def best(self, points: Vector, weights: Vector) -> Best:  # noqa: ARG002
        """Solve the cone program; rows that are left over hold the first vector again."""
        n = points.shape[0]
        if n > self._room:
            self._room = max(_ROOM, 4 * self._room, n)
            self._parts = self._problem()
        problem, share, outcome, given = self._parts
        padded = np.repeat(points[:1], self._room, axis=0)
        padded[:n] = points
        given.value = padded.T
        shares, nu = solved(problem, "CLARABEL", (_TIGHT, _USUAL), (share, outcome))
        shares = np.maximum(shares, 0.0)
        shares[0] += shares[n:].sum()
        return Best(shares[:n] / shares[:n].sum(), -nu)

    def _problem(self) -> tuple[Any, ...]:
        import cvxpy as cp

        w, g = expression_of(self._reward)
        share = cp.Variable(self._room, nonneg=True)
        given = cp.Parameter((self._reward.n_outcomes, self._room))
        outcome = w == given @ share
        return cp.Problem(cp.Maximize(g), [outcome, cp.sum(share) == 1]), share, outcome, given


@final
class ByPairs(Master):
    """By pairwise steps, for a smooth g."""

    def __init__(self, reward: Reward, tolerance: float) -> None:
        self._reward, self._tolerance = reward, tolerance

    def best(self, points: Vector, weights: Vector) -> Best:
        """Move weight from the worst vector in use to the best one."""
        weights = pairwise(self._reward, points, weights, self._tolerance)
        return Best(weights, -gradient_at(self._reward, weights @ points))


@final
class ByCuts(Master):
    """By Kelley's cutting planes."""

    def __init__(self, reward: Reward, tolerance: float) -> None:
        self._reward, self._tolerance = reward, tolerance

    def best(self, points: Vector, weights: Vector) -> Best:
        """Replace g by the least of its tangents; theta is minus the mixture of their slopes by the multipliers."""
        n = points.shape[0]
        slopes: list[Vector] = []
        rows: list[Vector] = []
        levels: list[float] = []
        top, kept, theta = -np.inf, weights, np.zeros(points.shape[1])
        for _ in range(_CUTS):
            w = np.clip(weights @ points, 0.0, 1.0)
            slope, value = gradient_at(self._reward, w), self._reward.value(w)
            if value > top:
                top, kept = value, weights
            slopes.append(slope)
            rows.append(np.append(-(points @ slope), 1.0))
            levels.append(value - float(slope @ w))
            relaxed = linear_program(
                np.append(np.zeros(n), -1.0), np.array(rows), np.array(levels), np.array([[1.0] * n + [0.0]]), [1.0],
                [(0, None)] * n + [(None, None)],
            )  # fmt: skip
            if relaxed.status != 0:
                raise SolverError(f"HiGHS: the best mixture of {n} policies was not found ({relaxed.message})")
            theta = np.array(relaxed.ineqlin.marginals) @ np.array(slopes)  # marginals are minus the multipliers
            weights = np.maximum(relaxed.x[:n], 0.0)
            weights = weights / weights.sum()
            if float(relaxed.x[n]) - top <= self._tolerance:
                break
        return Best(kept, theta)
