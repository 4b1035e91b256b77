"""g(w) = sum_k a_k w_(k), w_(1) <= ... <= w_(K) and a_1 >= ... >= a_K >= 0: generalised Gini welfare.

The family of fairness functions that the paper's g_(kappa) is a special case of (section "Multi-objective
optimization"; the paper cites Busa-Fekete et al. 2017): the worse off an outcome, the more it counts. Equal
weights give a multiple of the plain sum, weights (1, 0, ..., 0) the minimum.

A supergradient gives each outcome the weight of its rank, lowest index first among equals, so in the dual
of the infinity norm its length is L = sum of the weights, everywhere. Not smooth.

With x = -theta, g*(theta) = max over n of (a_{K-n+1} + ... + a_K) - (sum of the n smallest x), attained at
the 0/1 vector of those n. In short: g(w) + theta.w is an average, over levels s in [0,1], of its values at
the indicators of the sets {k: w_k >= s}, so no w beats the best 0/1 vector; the details are in `_ordered`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards._ordered import ORDERED
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_vector, read_only

if TYPE_CHECKING:
    import cvxpy


@final
class GeneralisedGini(Reward):
    """A weighted sum of the outcomes in ascending order, the smallest with the largest weight.

    Parameters
    ----------
    weights : array_like
        Nonincreasing, not negative, the first positive; ``weights[0]`` goes to the smallest outcome.

    See Also
    --------
    equipoise.rewards.BottomSum : The worst off alone.

    Examples
    --------
    >>> g = GeneralisedGini([0.5, 0.25, 0.25])
    >>> g.value([1.0, 0.0, 0.5]), g.gradient([1.0, 0.0, 0.5]).tolist()
    (0.375, [0.25, 0.5, 0.25])
    """

    norm = math.inf
    smoothness = None
    piecewise_linear = True

    def __init__(self, weights: ArrayLike) -> None:
        self.params = checked_vector(weights, "weights")
        self.n_outcomes = self.params.size
        negative = np.flatnonzero(self.params < 0.0)
        if negative.size:
            k = int(negative[0])
            raise RewardError(f"weights[{k}]: got {self.params[k]}; it must not be negative")
        rising = np.flatnonzero(np.diff(self.params) > 0.0)
        if rising.size:
            k = int(rising[0]) + 1
            raise RewardError(
                f"weights[{k}]: got {self.params[k]}, more than weights[{k - 1}] = {self.params[k - 1]}; "
                "they must not increase, or the reward is not concave"
            )
        if self.params[0] == 0.0:
            raise RewardError("weights[0]: got 0.0; it must be positive, or the reward is 0 everywhere")
        self.lipschitz = float(self.params.sum())
        self.vertices = Vertices(
            np.zeros(self.n_outcomes), np.arange(self.n_outcomes), np.full(self.n_outcomes, self.lipschitz)
        )

    @property
    def weights(self) -> Vector:
        """In nonincreasing order."""
        return read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return ORDERED

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """Sums of the k smallest entries, times the drops of the weights."""
        import cvxpy

        drops = -np.diff(self.params, append=0.0)
        terms = [drop * cvxpy.sum_smallest(w, k + 1) for k, drop in enumerate(drops[:-1].tolist()) if drop > 0.0]
        return sum(terms, float(drops[-1]) * cvxpy.sum(w))
