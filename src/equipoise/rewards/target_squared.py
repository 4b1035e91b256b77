"""g_SE(w) = 1 - (1/K) sum_k max(0, kpi_k - w_k)^2: reach key performance indexes, squared shortfall.

Section "Multi-objective optimization" of the paper, target set objectives. The gradient is
+(2/K) max(0, kpi_k - w_k); the paper's minus sign is a slip (it would drive the agent away from its targets).

With the Euclidean norm L = 2/sqrt(K) and beta = 2/K, as in the paper. beta is exact as soon as some kpi_k >
0. L is an upper bound, exact when every KPI is 1: the largest gradient is (2/K) ||kpi||_2, at w = 0. The
paper's constant is kept because the default threshold is Q = L and its bound is stated for Q = 2/sqrt(K).

The conjugate's maximiser is coordinatewise: 1 where theta_k > 0, else max(0, kpi_k + K theta_k / 2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._compile import entry
from equipoise._types import Vector
from equipoise.rewards.base import Reward, RewardKernels, checked_unit_vector, read_only

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        short = max(0.0, params[k] - w[k])
        total += short * short
    out[0] = 1.0 - total / n


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 2.0 * max(0.0, params[k] - w[k]) / n


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 1.0 if theta[k] > 0.0 else max(0.0, params[k] + 0.5 * n * theta[k])


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class TargetSquared(Reward):
    """1 minus the mean squared shortfall from the KPIs; 1 exactly when all of them are met.

    Parameters
    ----------
    kpi : array_like
        The level that each outcome should reach, in [0, 1].

    See Also
    --------
    equipoise.rewards.TargetDistance : The distance itself.
    equipoise.rewards.Goals : For shares of one outcome in another.

    Examples
    --------
    >>> g = TargetSquared([0.5, 0.5])
    >>> g.value([0.0, 0.9]), g.gradient([0.0, 0.9]).tolist()
    (0.875, [0.5, 0.0])
    """

    norm = 2.0
    separable = True

    def __init__(self, kpi: ArrayLike) -> None:
        self.params = checked_unit_vector(kpi, "kpi")
        self.n_outcomes = self.params.size
        self.lipschitz = 2.0 / math.sqrt(self.n_outcomes)
        self.smoothness = 2.0 / self.n_outcomes

    @property
    def kpi(self) -> Vector:
        """The level that each outcome should reach."""
        return read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def lipschitz_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """The largest gradient is that at the lowest corner.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return float(np.linalg.norm(2.0 * np.maximum(0.0, self.params - low) / self.n_outcomes))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - the mean of the squared positive parts."""
        import cvxpy

        return 1.0 - cvxpy.sum_squares(cvxpy.pos(self.params - w)) / self.n_outcomes
