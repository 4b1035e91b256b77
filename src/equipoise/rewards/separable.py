"""Rewards that are sums of functions of one outcome each; constants are exact unless it says otherwise.

`Linear`, weights.w: the problem is then the ordinary one of UCRL2 (the paper's introduction: "if g is linear, we
recover MDPwSR"). L is the length of the weights in the dual norm, and beta = 0. The conjugate is attained at w_k = 1
where weights_k + theta_k > 0, and at 0 elsewhere.

`Quadratic`, 1 - ||w - c||_2^2 / 2: the paper's running example. The gradient is c - w, so with the Euclidean norm L is
the largest ||c - w|| on the box, and beta = 1. The conjugate is attained at c_k + theta_k, clipped to [0,1]. A target
outside the box is allowed: with c = (1 + 1/K) 1 it is the sum_k w_k - (w_k - 1/K)^2 / 2 of claim B.1 up to a constant,
which rewards all outcomes and their balance.

`TargetSquared`, g_SE(w) = 1 - (1/K) sum_k max(0, kpi_k - w_k)^2 (section "Multi-objective optimization", target set
objectives). The gradient is +(2/K) max(0, kpi_k - w_k); the paper's minus sign is a slip, which would drive the agent
away from its targets. With the Euclidean norm L = 2/sqrt(K) and beta = 2/K, as in the paper. beta is exact if some
kpi_k > 0. L is exact if every KPI is 1, else an upper bound: the largest gradient is (2/K) ||kpi||_2, at w = 0. The
paper's constant is kept because the default threshold is Q = L, and its bound is stated for Q = 2/sqrt(K). The
conjugate is attained at 1 where theta_k > 0, else at max(0, kpi_k + K theta_k / 2).

`ProportionalFairness`, (1/c) sum_k log(1 + w_k / eps) with c = K log(1 + 1/eps): up to a constant and a factor
sum_k log(w_k + eps), Nash's product of the outcomes, where eps keeps the gradient bounded. The paper does not have it.
g(0) = 0 and g(1, ..., 1) = 1. The gradient 1 / (c (w_k + eps)) is largest at w = 0. With the Euclidean norm
L = sqrt(K) / (c eps) and beta = 1 / (c eps^2). The conjugate is attained at 1 where theta_k >= 0, else at
-1 / (c theta_k) - eps, clipped to [0,1].

`CrossEntropy`, (1/c) sum_s q_s log(1 + w_s / mu) with c = log(1 + 1/mu): the paper names the cross-entropy with respect
to a fixed distribution q among the objectives that its results hold for (end of section "Maximum entropy exploration"),
without a formula. This is -sum_s q_s log(w_s + mu), shifted, scaled and negated, so that g(0) = 0 and g(1, ..., 1) = 1.
Unlike `RelativeEntropy` it does not depend on states outside the support of q, and punishes states of q that are hardly
visited the most. On distributions its maximum is near q rather than at it: w_s + mu is proportional to q_s where that
is possible, so w = q up to terms of order S mu. The gradient q_s / (c (w_s + mu)) is largest at w = 0. With the 1-norm
L = max q / (c mu) and beta = max q / (c mu^2). The conjugate is attained at -q_s / (c theta_s) - mu, clipped to [0,1],
where theta_s < 0; elsewhere at 1, but at 0 where theta_s = q_s = 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

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


_LINEAR: Final = RewardKernels(_linear_value, _linear_gradient, _linear_argmax)


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

    def __init__(self, weights: ArrayLike, norm: float = 2.0) -> None:
        self.params = checked_vector(weights, "weights")
        self.n_outcomes = self.params.size
        self.norm = check_norm(norm)
        self.lipschitz = length(self.params, dual(self.norm))
        self.weights = read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _LINEAR

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


_QUADRATIC: Final = RewardKernels(_quadratic_value, _quadratic_gradient, _quadratic_argmax)


@final
class Quadratic(Reward):
    """1 - ||w - target||^2 / 2 in the Euclidean norm.

    Parameters
    ----------
    target : array_like
        Where g is largest: one finite number for each outcome, in [0, 1] or not.

    See Also
    --------
    equipoise.rewards.TargetSquared : Content above the target.
    equipoise.rewards.Balance : The plain distance, in the 1-norm.

    Examples
    --------
    >>> g = Quadratic([0.5, 0.5])
    >>> g.value([0.5, 0.0]), g.gradient([0.5, 0.0]).tolist()
    (0.875, [0.0, 0.5])
    """

    smoothness = 1.0
    separable = True
    norm = 2.0

    def __init__(self, target: ArrayLike) -> None:
        self.params = checked_vector(target, "target")
        self.n_outcomes = self.params.size
        self.lipschitz = float(np.linalg.norm(np.maximum(np.abs(self.params), np.abs(1.0 - self.params))))
        self.target = read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _QUADRATIC

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


_TARGET_SQUARED: Final = RewardKernels(_squared_value, _squared_gradient, _squared_argmax)


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
        self.kpi = read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _TARGET_SQUARED

    def lipschitz_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """The largest gradient is that at the lowest corner."""
        return float(np.linalg.norm(2.0 * np.maximum(0.0, self.params - low) / self.n_outcomes))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - the mean of the squared positive parts."""
        import cvxpy

        return 1.0 - cvxpy.sum_squares(cvxpy.pos(self.params - w)) / self.n_outcomes


@entry
def _fairness_value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += np.log1p(w[k] / params[0])
    out[0] = total / params[1]


@entry
def _fairness_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 1.0 / (params[1] * (w[k] + params[0]))


@entry
def _fairness_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if theta[k] >= 0.0:
            out[k] = 1.0
        else:
            out[k] = min(1.0, max(0.0, -1.0 / (params[1] * theta[k]) - params[0]))


_PROPORTIONAL_FAIRNESS: Final = RewardKernels(_fairness_value, _fairness_gradient, _fairness_argmax)


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
        return _PROPORTIONAL_FAIRNESS

    def smoothness_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """What beta is on a box: the largest 1 / (w + eps)^2, scaled, at the lower corner."""
        return 1.0 / (float(self.params[1]) * (float(low.min()) + self.eps) ** 2)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The sum of logarithms, scaled."""
        import cvxpy

        return cvxpy.sum(cvxpy.log(1.0 + w / self.eps)) / float(self.params[1])


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


_CROSS_ENTROPY: Final = RewardKernels(_cross_value, _cross_gradient, _cross_argmax)


@final
class CrossEntropy(Reward):
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
    smoothness: float
    separable = True

    def __init__(self, target: ArrayLike, mu: float) -> None:
        q = checked_distribution(target, "target")
        self.n_outcomes = q.size
        self.mu = checked_smoothing(mu)
        scale = math.log1p(1.0 / self.mu)
        self.params = np.concatenate(([self.mu, scale], q))
        self.lipschitz = float(q.max()) / (scale * self.mu)
        self.smoothness = self.lipschitz / self.mu
        self.target = read_only(self.params[2:])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _CROSS_ENTROPY

    def smoothness_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """What beta is on a box: the largest target / (w + mu)^2, scaled, at the lower corner."""
        return float((self.target / (low + self.mu) ** 2).max()) / float(self.params[1])

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The target's mean of the logarithms, scaled."""
        import cvxpy

        return (self.target / self.params[1]) @ cvxpy.log(1.0 + w / self.mu)
