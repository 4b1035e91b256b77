"""g_(kappa)(w) = the sum of the kappa smallest entries of w: fairness between outcomes.

Section "Multi-objective optimization" of the paper, fairness objectives, and appendix "Supplements to the
discussions on Fairness Objectives". kappa = 1 is max-min fairness, kappa = K the plain sum.

A supergradient is 1 on the kappa smallest entries (lowest index first among equals) and 0 elsewhere, so in
the dual of the infinity norm its length is kappa everywhere: L = kappa, exact. Not smooth unless kappa = K;
the reward is treated as not smooth in all cases. Note that g reaches kappa, not 1: only concavity and L
matter.

With x = -theta, g*(theta) = max over n of max(0, n - K + kappa) - (sum of the n smallest x), attained at
the 0/1 vector of those n; the proof is in `_ordered`, of which this is the case of weights (1, ..., 1, 0,
..., 0).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import numpy as np

from equipoise.rewards._checks import checked_count
from equipoise.rewards._ordered import ORDERED
from equipoise.rewards.base import Reward, RewardKernels, Vertices

if TYPE_CHECKING:
    import cvxpy


@final
class BottomSum(Reward):
    """The sum of the `kappa` smallest outcomes.

    Parameters
    ----------
    n_outcomes : int
        K.
    kappa : int
        How many of the smallest outcomes count, from 1 to K.

    See Also
    --------
    equipoise.rewards.GeneralisedGini : Weights for all ranks.
    equipoise.rewards.ProportionalFairness : Smooth, and so learnt at a better rate.

    Examples
    --------
    >>> g = BottomSum(3, kappa=2)
    >>> g.value([0.5, 1.0, 0.25]), g.gradient([0.5, 1.0, 0.25]).tolist()
    (0.75, [1.0, 0.0, 1.0])
    """

    norm = math.inf
    smoothness = None
    piecewise_linear = True

    def __init__(self, n_outcomes: int, kappa: int) -> None:
        self.n_outcomes = checked_count(n_outcomes, "n_outcomes", 1)
        self.kappa = checked_count(kappa, "kappa", 1, self.n_outcomes)
        self.lipschitz = float(self.kappa)
        self.params = np.zeros(self.n_outcomes)
        self.params[: self.kappa] = 1.0
        self.vertices = Vertices(
            np.zeros(self.n_outcomes), np.arange(self.n_outcomes), np.full(self.n_outcomes, self.lipschitz)
        )

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return ORDERED

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The sum of the smallest entries."""
        import cvxpy

        return cvxpy.sum_smallest(w, self.kappa)
