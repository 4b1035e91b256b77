"""Rewards that weigh the outcomes by rank: g(w) = sum_k a_k w_(k), w_(1) <= ... <= w_(K) and a_1 >= ... >= a_K >= 0.

`GeneralisedGini` takes any weights a: generalised Gini welfare, which the paper's g_(kappa) is a special case of
(section "Multi-objective optimization", which cites Busa-Fekete et al. 2017). The lower an outcome, the more it counts.
`BottomSum` is that g_(kappa), the sum of the kappa smallest outcomes (fairness objectives, and appendix "Supplements to
the discussions on Fairness Objectives"): kappa ones, then zeros. kappa = 1 is max-min fairness, kappa = K the plain
sum. It reaches kappa, not 1: only concavity and L matter.

g is concave: it is the minimum of sum_k a_pi(k) w_k over permutations pi (rearrangement inequality), and the weights by
rank are a supergradient. Ties in rank go to the lowest index. With the infinity norm L = a_1 + ... + a_K, exactly. All
of these are treated as not smooth.

Conjugate. Let f(n) = a_{K-n+1} + ... + a_K, the value of g at a 0/1 vector with n ones. For w in [0,1]^K and a level s,
let A_s = {k: w_k >= s}; then g(w) = integral over s in [0,1] of f(|A_s|) and theta.w = integral of theta(A_s), the sum
of theta over A_s. So g(w) + theta.w never exceeds the largest f(|A|) + theta(A) over sets A, which is its own value at
the indicator of A; and among the sets of n elements the best holds the n smallest x = -theta. Hence

    g*(theta) = max over n of f(n) - (sum of the n smallest x), attained at the 0/1 vector of those n.

A larger n replaces a smaller one only when it is better by more than 1e-12 * max(1, |best|). The case is common: on
theta = -(softmax weights times the sum of a), n = 0 and n = K tie in exact arithmetic.

Ranks are found by counting, without scratch memory: O(K^2), which is fast for the few outcomes of such rewards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import entry, kernel
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_count, checked_vector, read_only

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


_ORDERED: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


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
        return _ORDERED

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The sum of the smallest entries."""
        import cvxpy

        return cvxpy.sum_smallest(w, self.kappa)


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
        self.weights = read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _ORDERED

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """Sums of the k smallest entries, times the drops of the weights."""
        import cvxpy

        drops = -np.diff(self.params, append=0.0)
        terms = [drop * cvxpy.sum_smallest(w, k + 1) for k, drop in enumerate(drops[:-1].tolist()) if drop > 0.0]
        return sum(terms, float(drops[-1]) * cvxpy.sum(w))
