r"""The best point of g over the hull of a few outcome vectors: the small problem of column generation.

    max  g(w)   over   w = sum_i lambda_i w_i,   lambda >= 0,   sum of lambda = 1.

A few vectors of K numbers, whatever the size of the model. As for the whole program (see `program`) there are three
ways: by cvxpy, if g has an expression; by pairwise steps, if g is smooth; by cutting planes otherwise (`mixing`, which
has constraints besides, for the first and the last). The answer is
the weights lambda and a theta in minus the superdifferential of g at the best w, with which no vector of the hull
scores more than w itself: the next theta to plan for. Where g has several supergradients at w, that choice matters, and
multipliers of the problem are right where any one supergradient is not.
"""

from __future__ import annotations

import abc
from typing import NamedTuple, final

from equipoise._types import Vector
from equipoise.offline.cuts import gradient_at
from equipoise.offline.mixing import Mixer, mixer_of
from equipoise.offline.problem import Problem
from equipoise.offline.program import pairwise
from equipoise.rewards.base import Reward


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
    >>> import numpy as np
    >>> from equipoise.rewards import Quadratic
    >>> best = master_of(Quadratic([0.5, 0.5]), 1e-9).best(np.eye(2), np.array([1.0, 0.0]))
    >>> best.weights.round(6).tolist(), (abs(best.theta) < 1e-6).tolist()
    ([0.5, 0.5], [True, True])
    """
    problem = Problem(reward, ())
    if reward.smoothness is not None and not problem.expressible:
        return ByPairs(reward, tolerance)
    return ByMixer(mixer_of(problem, tolerance))


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
class ByMixer(Master):
    """By a cone program or by cutting planes: that of a problem without constraints."""

    def __init__(self, mixer: Mixer) -> None:
        self._mixer = mixer

    def best(self, points: Vector, weights: Vector) -> Best:
        """Theta is minus the slope that the multipliers say."""
        mixed = self._mixer.best(points, weights)
        return Best(mixed.weights, -mixed.slopes[0])
