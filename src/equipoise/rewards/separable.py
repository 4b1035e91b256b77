"""Rewards that are sums of functions of one outcome each; constants are exact unless it says otherwise.

`Linear`, weights.w: the ordinary problem of UCRL2 (the paper's introduction). L is the length of the weights in the
dual norm, beta = 0. The conjugate is attained at w_k = 1 where weights_k + theta_k > 0, at 0 elsewhere.

`Quadratic`, 1 - ||w - c||_2^2 / 2: the paper's running example. The gradient is c - w; with the Euclidean norm L is
the largest ||c - w|| on the box, and beta = 1. The conjugate is attained at c + theta, clipped to [0,1]. With
c = (1 + 1/K) 1 it is the reward of claim B.1 up to a constant.

`TargetSquared`, g_SE(w) = 1 - (1/K) sum_k max(0, kpi_k - w_k)^2 (section "Multi-objective optimization"). The gradient
is (2/K) max(0, kpi_k - w_k); the paper's minus sign is a slip. With the Euclidean norm L = 2/sqrt(K) and beta = 2/K, as
in the paper. L is exact if every KPI is 1, else an upper bound, kept because the paper's bound is stated for
Q = L = 2/sqrt(K). The conjugate is attained at 1 where theta_k > 0, else at max(0, kpi_k + K theta_k / 2).

`ProportionalFairness`, (1/c) sum_k log(1 + w_k / eps) with c = K log(1 + 1/eps), and `CrossEntropy`,
(1/c) sum_k q_k log(1 + w_k / mu) with c = log(1 + 1/mu), share their kernels (q = 1 for the first). Both are
sum_k q_k log(w_k + mu), scaled so that g(0) = 0 and g(1, ..., 1) = 1. The first is Nash's product of the outcomes and
not in the paper. The second is named at the end of section "Maximum entropy exploration", without a formula: unlike
`RelativeEntropy` it does not depend on states outside the support of q, and on distributions its maximum is q up to
terms of order K mu. The gradient q_k / (c (w_k + mu)) is largest at w = 0: L = ||q||_* / (c mu) and
beta = max q / (c mu^2), with the 2-norm for the first and the 1-norm for the second. The conjugate is attained at
-q_k / (c theta_k) - mu, clipped to [0,1], where theta_k < 0; elsewhere at 1, but at 0 where theta_k = q_k = 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import entry
from equipoise._types import Vector
from equipoise.rewards.base import (
    Reward,
    RewardKernels,
    checked_count,
    checked_distribution,
    checked_number,
    checked_smoothing,
    checked_unit_vector,
    checked_vector,
    read_only,
)
from equipoise.rewards.norms import check_norm, dual, length

if TYPE_CHECKING:
    import cvxpy


@entry
def _linear_value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += params[k] * w[k]
    out[0] = total


@entry
def _linear_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = params[k]


@entry
def _linear_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 1.0 if params[k] + theta[k] > 0.0 else 0.0


@final
class Linear(Reward):
    """A weighted sum of the outcomes; a negative weight makes a cost of one.

    Parameters
    ----------
    weights : array_like
        One finite number for each outcome.
    norm : float
        The norm that `lipschitz` refers to; its value is the length of the weights in the dual norm.

    Examples
    --------
    >>> g = Linear([3.0, -4.0])
    >>> g.value([0.5, 0.25]), g.lipschitz, g.smoothness
    (0.5, 5.0, 0.0)
    """

    smoothness = 0.0
    separable = True
    piecewise_linear = True
    kernels = RewardKernels(_linear_value, _linear_gradient, _linear_argmax)

    def __init__(self, weights: ArrayLike, norm: float = 2.0) -> None:
        self.params = checked_vector(weights, "weights")
        self.n_outcomes = self.params.size
        self.norm = check_norm(norm)
        self.lipschitz = length(self.params, dual(self.norm))
        self.weights = read_only(self.params)

    def lipschitz_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """The same everywhere."""
        return self.lipschitz

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The inner product."""
        return self.params @ w


@entry
def _quadratic_value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        gap = w[k] - params[k]
        total += gap * gap
    out[0] = 1.0 - 0.5 * total


@entry
def _quadratic_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = params[k] - w[k]


@entry
def _quadratic_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = min(1.0, max(0.0, params[k] + theta[k]))


@final
class Quadratic(Reward):
    """1 - ||w - target||^2 / 2 in the Euclidean norm.

    Parameters
    ----------
    target : array_like
        Where g is largest: one finite number for each outcome, in [0, 1] or not.

    Examples
    --------
    >>> g = Quadratic([0.5, 0.5])
    >>> g.value([0.5, 0.0]), g.gradient([0.5, 0.0]).tolist()
    (0.875, [0.0, 0.5])
    """

    smoothness = 1.0
    separable = True
    norm = 2.0
    kernels = RewardKernels(_quadratic_value, _quadratic_gradient, _quadratic_argmax)

    def __init__(self, target: ArrayLike) -> None:
        self.params = checked_vector(target, "target")
        self.n_outcomes = self.params.size
        self.lipschitz = float(np.linalg.norm(np.maximum(np.abs(self.params), np.abs(1.0 - self.params))))
        self.target = read_only(self.params)

    def lipschitz_on(self, low: Vector, high: Vector) -> float:
        """The largest gradient is that at the corner farthest from the target."""
        return float(np.linalg.norm(np.maximum(np.abs(self.params - low), np.abs(high - self.params))))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - sum of squares / 2."""
        import cvxpy

        return 1.0 - 0.5 * cvxpy.sum_squares(w - self.params)


@entry
def _squared_value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        short = max(0.0, params[k] - w[k])
        total += short * short
    out[0] = 1.0 - total / n


@entry
def _squared_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 2.0 * max(0.0, params[k] - w[k]) / n


@entry
def _squared_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 1.0 if theta[k] > 0.0 else max(0.0, params[k] + 0.5 * n * theta[k])


@final
class TargetSquared(Reward):
    """1 minus the mean squared shortfall from the KPIs; 1 exactly when all of them are met.

    Parameters
    ----------
    kpi : array_like
        The level that each outcome should reach, in [0, 1].

    Examples
    --------
    >>> g = TargetSquared([0.5, 0.5])
    >>> g.value([0.0, 0.9]), g.gradient([0.0, 0.9]).tolist()
    (0.875, [0.5, 0.0])
    """

    norm = 2.0
    separable = True
    kernels = RewardKernels(_squared_value, _squared_gradient, _squared_argmax)

    def __init__(self, kpi: ArrayLike) -> None:
        self.params = checked_unit_vector(kpi, "kpi")
        self.n_outcomes = self.params.size
        self.lipschitz = 2.0 / math.sqrt(self.n_outcomes)
        self.smoothness = 2.0 / self.n_outcomes
        self.kpi = read_only(self.params)

    def lipschitz_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """The largest gradient is that at the lowest corner."""
        return float(np.linalg.norm(2.0 * np.maximum(0.0, self.params - low) / self.n_outcomes))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - the mean of the squared positive parts."""
        import cvxpy

        return 1.0 - cvxpy.sum_squares(cvxpy.pos(self.params - w)) / self.n_outcomes


@entry
def _cross_value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += params[2 + k] * np.log1p(w[k] / params[0])
    out[0] = total / params[1]


@entry
def _cross_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = params[2 + k] / (params[1] * (w[k] + params[0]))


@entry
def _cross_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if theta[k] < 0.0:
            out[k] = min(1.0, max(0.0, -params[2 + k] / (params[1] * theta[k]) - params[0]))
        else:
            out[k] = 1.0 if theta[k] > 0.0 or params[2 + k] > 0.0 else 0.0


class _Logarithmic(Reward):
    """The sum of q_k log(1 + w_k / mu), scaled; `params` are mu, the scale and q."""

    smoothness: float
    separable = True
    kernels = RewardKernels(_cross_value, _cross_gradient, _cross_argmax)

    def smoothness_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """The largest q / (w + mu)^2 on the box, scaled."""
        return float((self.params[2:] / (low + self.params[0]) ** 2).max()) / float(self.params[1])

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The weighted sum of logarithms, scaled."""
        import cvxpy

        return (self.params[2:] / self.params[1]) @ cvxpy.log(1.0 + w / self.params[0])


@final
class ProportionalFairness(_Logarithmic):
    """The sum of log(w_k + eps), shifted and scaled so that its values fill [0, 1].

    Parameters
    ----------
    n_outcomes : int
        K.
    eps : float
        Above 0. The smaller it is, the more an outcome near 0 hurts, and the larger the constants.

    Examples
    --------
    >>> g = ProportionalFairness(2, eps=0.1)
    >>> g.value([0.0, 0.0]), round(g.value([0.5, 0.5]), 3), g.value([1.0, 1.0])
    (0.0, 0.747, 1.0)
    """

    norm = 2.0

    def __init__(self, n_outcomes: int, eps: float) -> None:
        self.n_outcomes = checked_count(n_outcomes, "n_outcomes", 1)
        self.eps = checked_number(eps, "eps", 0.0)
        scale = self.n_outcomes * math.log1p(1.0 / self.eps)
        self.params = np.concatenate(([self.eps, scale], np.ones(self.n_outcomes)))
        self.lipschitz = math.sqrt(self.n_outcomes) / (scale * self.eps)
        self.smoothness = 1.0 / (scale * self.eps) / self.eps


@final
class CrossEntropy(_Logarithmic):
    """Minus the smoothed cross-entropy of a target distribution relative to w, scaled to [0, 1].

    Parameters
    ----------
    target : array_like
        The distribution whose support must be covered.
    mu : float
        Smoothing, above 0 and at most 1.

    Examples
    --------
    >>> g = CrossEntropy([0.5, 0.5, 0.0], mu=0.01)
    >>> round(g.value([0.5, 0.5, 0.0]), 3), round(g.value([0.9, 0.1, 0.0]), 3)
    (0.852, 0.748)
    """

    norm = 1.0

    def __init__(self, target: ArrayLike, mu: float) -> None:
        q = checked_distribution(target, "target")
        self.n_outcomes = q.size
        self.mu = checked_smoothing(mu)
        scale = math.log1p(1.0 / self.mu)
        self.params = np.concatenate(([self.mu, scale], q))
        self.lipschitz = float(q.max()) / (scale * self.mu)
        self.smoothness = self.lipschitz / self.mu
        self.target = read_only(self.params[2:])
