"""g(w) = (1/c) sum_k log(1 + w_k / eps), c = K log(1 + 1/eps): proportional fairness, scaled to [0,1].

Up to a constant and a factor this is sum_k log(w_k + eps), Nash's product of the outcomes with a little of
each given for free, which keeps the gradient bounded. g(0) = 0 and g(1, ..., 1) = 1. It is one more
fairness objective in the sense of the paper's section "Multi-objective optimization"; the paper itself does
not have it.

grad g(w)_k = 1 / (c (w_k + eps)), largest at w = 0. With the Euclidean norm, both exact and both attained
at w = 0: L = sqrt(K) / (c eps), beta = 1 / (c eps^2).

The conjugate's maximiser is coordinatewise: 1 where theta_k >= 0, else -1 / (c theta_k) - eps clipped to
[0,1].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np

from equipoise._compile import entry
from equipoise._types import Vector
from equipoise.rewards._checks import checked_count
from equipoise.rewards.base import Reward, RewardKernels, checked_number

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += np.log1p(w[k] / params[0])
    out[0] = total / params[1]


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 1.0 / (params[1] * (w[k] + params[0]))


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if theta[k] >= 0.0:
            out[k] = 1.0
        else:
            out[k] = min(1.0, max(0.0, -1.0 / (params[1] * theta[k]) - params[0]))


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class ProportionalFairness(Reward):
    """The sum of log(w_k + eps), shifted and scaled so that its values fill [0, 1].

    Parameters
    ----------
    n_outcomes : int
        K.
    eps : float
        Above 0. The smaller it is, the more an outcome near 0 hurts, and the larger the constants.

    See Also
    --------
    equipoise.rewards.GeneralisedGini : Fairness by rank.

    Examples
    --------
    >>> g = ProportionalFairness(2, eps=0.1)
    >>> g.value([0.0, 0.0]), round(g.value([0.5, 0.5]), 3), g.value([1.0, 1.0])
    (0.0, 0.747, 1.0)
    """

    norm = 2.0
    separable = True

    def __init__(self, n_outcomes: int, eps: float) -> None:
        self.n_outcomes = checked_count(n_outcomes, "n_outcomes", 1)
        self.eps = checked_number(eps, "eps", 0.0)
        scale = self.n_outcomes * math.log1p(1.0 / self.eps)
        self.params = np.array([self.eps, scale])
        self.lipschitz = math.sqrt(self.n_outcomes) / (scale * self.eps)
        self.smoothness = 1.0 / (scale * self.eps) / self.eps

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def smoothness_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """What beta is on a box: the largest 1 / (w + eps)^2, scaled, at the lower corner.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return 1.0 / (float(self.params[1]) * (float(low.min()) + self.eps) ** 2)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The sum of logarithms, scaled."""
        import cvxpy

        return cvxpy.sum(cvxpy.log(1.0 + w / self.eps)) / float(self.params[1])
