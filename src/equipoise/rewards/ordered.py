"""Rewards that weigh the outcomes by rank: g(w) = sum_k a_k w_(k), w_(1) <= ... <= w_(K) and a_1 >= ... >= a_K >= 0.

`GeneralisedGini` takes any weights a: generalised Gini welfare (section "Multi-objective optimization"). `BottomSum` is
the paper's g_(kappa), the sum of the kappa smallest outcomes (fairness objectives): kappa ones, then zeros. kappa = 1
is max-min fairness, kappa = K the plain sum.

g is the minimum of sum_k a_pi(k) w_k over permutations pi, so it is concave, and the weights by rank are a
supergradient. Ties in rank go to the lowest index. With the infinity norm L = a_1 + ... + a_K, exactly. Not smooth.

Conjugate. Let f(n) = a_{K-n+1} + ... + a_K, the value of g at a 0/1 vector with n ones, and A_s = {k: w_k >= s}. Then
g(w) and theta.w are the integrals over s in [0,1] of f(|A_s|) and of the sum of theta over A_s, so some 0/1 vector is a
maximiser; among those with n ones the best has them at the n smallest x = -theta:

    g*(theta) = max over n of f(n) - (sum of the n smallest x).

A larger n replaces a smaller one only when it is better by more than 1e-12 * max(1, |best|): on
theta = -(softmax weights times the sum of a), n = 0 and n = K tie in exact arithmetic.

Ranks are found by counting, without scratch memory: O(K^2), which is fast for the few outcomes of such rewards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import entry, kernel
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_count, checked_vector, read_only, require

if TYPE_CHECKING:
    import cvxpy


@kernel
def _rank(x: Any, n: int, k: int, sign: float) -> int:
    """How many entries of sign * x come before the k-th, in ascending order."""
    rank = 0
    for j in range(n):
        if sign * x[j] < sign * x[k] or (x[j] == x[k] and j < k):
            rank += 1
    return rank


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += params[_rank(w, n, k, 1.0)] * w[k]
    out[0] = total


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = params[_rank(w, n, k, 1.0)]


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[_rank(theta, n, k, -1.0)] = theta[k]
    total = 0.0
    best = 0.0
    size = 0
    for m in range(n):
        total += params[n - 1 - m] + out[m]
        if total > best + 1e-12 * max(1.0, abs(best)):
            best = total
            size = m + 1
    for k in range(n):
        out[k] = 1.0 if _rank(theta, n, k, -1.0) < size else 0.0


class _Ordered(Reward):
    """A sum of the outcomes weighted by rank."""

    norm = math.inf
    smoothness = None
    piecewise_linear = True
    kernels = RewardKernels(_value, _gradient, _conjugate_argmax)

    def __init__(self, weights: Vector) -> None:
        self.params = weights
        self.n_outcomes = K = weights.size
        self.lipschitz = float(weights.sum())
        self.vertices = Vertices(np.zeros(K), np.arange(K), np.full(K, self.lipschitz))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """Sums of the k smallest entries, times the drops of the weights."""
        import cvxpy

        drops = enumerate((-np.diff(self.params, append=0.0)).tolist(), 1)
        smallest = [(drop, cvxpy.sum_smallest(w, k) if k < w.size else cvxpy.sum(w)) for k, drop in drops if drop > 0.0]
        return sum(drop * total for drop, total in smallest)


@final
class BottomSum(_Ordered):
    """The sum of the `kappa` smallest outcomes.

    Parameters
    ----------
    n_outcomes : int
        K.
    kappa : int
        How many of the smallest outcomes count, from 1 to K.

    Examples
    --------
    >>> g = BottomSum(3, kappa=2)
    >>> g.value([0.5, 1.0, 0.25]), g.gradient([0.5, 1.0, 0.25]).tolist()
    (0.75, [1.0, 0.0, 1.0])
    """

    def __init__(self, n_outcomes: int, kappa: int) -> None:
        K = checked_count(n_outcomes, "n_outcomes", 1)
        self.kappa = checked_count(kappa, "kappa", 1, K)
        super().__init__(np.where(np.arange(K) < self.kappa, 1.0, 0.0))


@final
class GeneralisedGini(_Ordered):
    """A weighted sum of the outcomes in ascending order, the smallest with the largest weight.

    Parameters
    ----------
    weights : array_like
        Nonincreasing, not negative, the first positive; ``weights[0]`` goes to the smallest outcome.

    Examples
    --------
    >>> g = GeneralisedGini([0.5, 0.25, 0.25])
    >>> g.value([1.0, 0.0, 0.5]), g.gradient([1.0, 0.0, 0.5]).tolist()
    (0.375, [0.25, 0.5, 0.25])
    """

    def __init__(self, weights: ArrayLike) -> None:
        a = checked_vector(weights, "weights")
        require(a >= 0.0, a, "weights", "it must not be negative")
        for k in np.flatnonzero(np.diff(a) > 0.0) + 1:
            raise RewardError(
                f"weights[{k}]: got {a[k]}, more than weights[{k - 1}] = {a[k - 1]}; "
                "they must not increase, or the reward is not concave"
            )
        if a[0] == 0.0:
            raise RewardError("weights[0]: got 0.0; it must be positive, or the reward is 0 everywhere")
        super().__init__(a)
        self.weights = read_only(a)
