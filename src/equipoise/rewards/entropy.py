"""The entropy of visits, and the divergence from a distribution of visits (section "Maximum entropy exploration").

w is the distribution of visits (`Model.visits`). Both rewards use the 1-norm; their constants are exact.

`Entropy`, H_mu(w) = (1 / log S) sum_s w_s log(1 / (w_s + mu)). With u = w_s + mu:

    gradient    h(w_s) = (-log u - w_s / u) / log S,      second derivative   -(w_s + 2 mu) / (u^2 log S) < 0,

    L = max(log(1/mu), log(1+mu) + 1/(1+mu)) / log S,     beta = 2 / (mu log S), attained at w_s = 0.

(The paper has log(1/mu) and 1/mu; the first fails for large mu, the second is half of what it must be.) The conjugate
is attained at 0 or 1 where h(w) + theta_s keeps one sign, otherwise at the root of -log u - 1 + mu/u + c = 0,
c = theta_s log S. In y = log u the left side is convex and decreasing, and positive at y = max(log mu, c - 1): Newton's
method from there increases to the root and stops when rounding stops it.

The anytime form (mu=None) has mu(t) = 1 / (S^(2/3) t^(1/3)), the paper's choice for a horizon t. Its kernels compute mu
from the time. Methods called from Python have no time and use the limit mu = 0, H(w) / log S, which has no finite
Lipschitz constant; `at(t)` is the reward in force at time t.

`RelativeEntropy`, 1 - D_mu(w, q) / log S, the plain KL divergence to q smoothed so that its gradients are bounded:

    D_mu(w, q) = sum_s (w_s + mu) log((w_s + mu) / (q_s + mu)) - w_s + q_s.

On distributions it equals (1 + S mu) KL(w' || q'), where w' and q' are w and q mixed with the uniform distribution, so
g(q) = 1 is the maximum for every mu. The paper names it (end of that section), without a formula. The gradient is
-log((w_s + mu) / (q_s + mu)) / log S, and

    L = max over s of max(log((q_s + mu) / mu), log((1 + mu) / (q_s + mu))) / log S,   beta = 1 / (mu log S).

The conjugate is attained at w_s = (q_s + mu) exp(theta_s log S) - mu, clipped to [0,1].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import entry, kernel
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import (
    Reward,
    RewardKernels,
    checked_count,
    checked_distribution,
    checked_smoothing,
    read_only,
)

if TYPE_CHECKING:
    import cvxpy

_NEWTON_STEPS: Final = 100  # more than are ever needed: a step that does not rise ends the iteration
_LIMIT_FROM: Final = 1 << 61  # a time from which on mu(t) is its limit


@kernel
def _smoothing(t: int, n: int, mu: float) -> float:
    """Give mu, or mu(t) when it is negative; from `_LIMIT_FROM` on that is its limit, 0."""
    if mu >= 0.0:
        return mu
    if t >= _LIMIT_FROM:
        return 0.0
    inverse: float = float(n) ** (2.0 / 3.0) * float(max(t, 1)) ** (1.0 / 3.0)
    return 1.0 / inverse


@entry
def _entropy_value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    mu = _smoothing(t, n, params[0])
    total = 0.0
    for k in range(n):
        if w[k] > 0.0:
            total -= w[k] * np.log(w[k] + mu)
    out[0] = total / params[1]


@entry
def _entropy_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    mu = _smoothing(t, n, params[0])
    for k in range(n):
        if mu > 0.0:
            out[k] = (-np.log(w[k] + mu) - w[k] / (w[k] + mu)) / params[1]
        else:
            out[k] = (-np.log(w[k]) - 1.0) / params[1]


@entry
def _entropy_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    mu = _smoothing(t, n, params[0])
    at_zero = -np.log(mu) if mu > 0.0 else np.inf
    at_one = -np.log1p(mu) - 1.0 / (1.0 + mu)
    for k in range(n):
        c = theta[k] * params[1]
        if at_zero + c <= 0.0:
            out[k] = 0.0
        elif at_one + c >= 0.0:
            out[k] = 1.0
        else:
            y = max(-at_zero, c - 1.0)
            for _ in range(_NEWTON_STEPS):
                ratio = mu * np.exp(-y)
                higher = y + (c - 1.0 - y + ratio) / (1.0 + ratio)
                if higher <= y:
                    break
                y = higher
            out[k] = min(1.0, max(0.0, np.exp(y) - mu))


@entry
def _entropy_lipschitz(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    mu = _smoothing(t, n, params[0])
    out[0] = max(-np.log(mu), np.log1p(mu) + 1.0 / (1.0 + mu)) / params[1]


_ENTROPY: Final = RewardKernels(_entropy_value, _entropy_gradient, _entropy_argmax)
_ANYTIME: Final = RewardKernels(_entropy_value, _entropy_gradient, _entropy_argmax, _entropy_lipschitz)


@final
class Entropy(Reward):
    """The smoothed entropy of the visits, divided by log S.

    Parameters
    ----------
    n_states : int
        S, at least 2; the outcome vector has one entry for each state.
    mu : float or None
        Smoothing, above 0 and at most 1. None: the anytime form, mu(t) = 1 / (S^(2/3) t^(1/3)); then `lipschitz` and
        `smoothness` are infinite, and ``at(t)`` has the ones in force at time t.

    Examples
    --------
    >>> g = Entropy(4)
    >>> g.value([0.25] * 4), g.value([1.0, 0.0, 0.0, 0.0])
    (1.0, 0.0)
    >>> round(g.at(1000).mu, 6), round(g.at(1000).lipschitz, 3)
    (0.039685, 2.328)
    """

    norm = 1.0
    smoothness: float
    separable = True

    def __init__(self, n_states: int, mu: float | None = None) -> None:
        self.n_outcomes = checked_count(n_states, "n_states", 2)
        self.mu = None if mu is None else checked_smoothing(mu)
        scale = math.log(self.n_outcomes)
        if self.mu is None:
            self.params = np.array([-1.0, scale])
            self.lipschitz = self.smoothness = math.inf
        else:
            self.params = np.array([self.mu, scale])
            last = math.log1p(self.mu) + 1.0 / (1.0 + self.mu)
            self.lipschitz = max(-math.log(self.mu), last) / scale
            self.smoothness = 2.0 / (self.mu * scale)

    @property
    def n_states(self) -> int:
        """S, which is the number of outcomes."""
        return self.n_outcomes

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _ANYTIME if self.mu is None else _ENTROPY

    def at(self, t: int) -> Entropy:
        """Return the reward in force at time `t`; itself unless mu is None."""
        if self.mu is not None:
            return self
        t = checked_count(t, "t", 1, _LIMIT_FROM)
        return Entropy(self.n_outcomes, 1.0 / (float(self.n_outcomes) ** (2.0 / 3.0) * float(t) ** (1.0 / 3.0)))

    def gradient(self, w: ArrayLike) -> Vector:
        """The gradient of H_mu at w."""
        w = self._vector(w, "w")
        zero = np.flatnonzero(w == 0.0)
        if self.mu is None and zero.size:
            raise RewardError(
                f"w[{zero[0]}]: got 0, where the entropy has no finite gradient; ask .at(t), the smoothed one"
            )
        return super().gradient(w)

    def smoothness_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """What beta is on a box: the largest (w + 2 mu) / (w + mu)^2, scaled, at the lower corner."""
        if self.mu is None:
            return self.smoothness
        least = float(low.min())
        return (least + 2.0 * self.mu) / ((least + self.mu) ** 2 * float(self.params[1]))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """With u = w + mu, -w log u = entr(u) + mu log u."""
        import cvxpy

        scale = float(self.params[1])
        if self.mu is None:
            return cvxpy.sum(cvxpy.entr(w)) / scale
        return (cvxpy.sum(cvxpy.entr(w + self.mu)) + self.mu * cvxpy.sum(cvxpy.log(w + self.mu))) / scale


@entry
def _relative_value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    mu = params[0]
    total = 0.0
    for k in range(n):
        gap = w[k] - params[2 + k]
        total += (w[k] + mu) * np.log((w[k] + mu) / (params[2 + k] + mu)) - gap
    out[0] = 1.0 - total / params[1]


@entry
def _relative_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = np.log((params[2 + k] + params[0]) / (w[k] + params[0])) / params[1]


@entry
def _relative_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        w = (params[2 + k] + params[0]) * np.exp(theta[k] * params[1]) - params[0]
        out[k] = min(1.0, max(0.0, w))


@final
class RelativeEntropy(Reward):
    """1 minus a smoothed KL divergence from w to a target distribution, divided by log S.

    Parameters
    ----------
    target : array_like
        The distribution of visits wanted, with at least 2 entries.
    mu : float
        Smoothing, above 0 and at most 1; the optimum is the target itself for every mu.

    Examples
    --------
    >>> g = RelativeEntropy([0.5, 0.5], mu=0.5)
    >>> g.value([0.5, 0.5]), round(g.value([1.0, 0.0]), 3), round(g.lipschitz, 3)
    (1.0, 0.623, 1.0)
    """

    norm = 1.0
    smoothness: float
    separable = True
    kernels = RewardKernels(_relative_value, _relative_gradient, _relative_argmax)

    def __init__(self, target: ArrayLike, mu: float) -> None:
        q = checked_distribution(target, "target")
        if q.size < 2:
            raise RewardError("target: got 1 entry; at least 2 are needed")
        self.n_outcomes = q.size
        self.mu = checked_smoothing(mu)
        scale = math.log(q.size)
        self.params = np.concatenate(([self.mu, scale], q))
        steepest = max(math.log1p(q.max() / self.mu), math.log((1.0 + self.mu) / (q.min() + self.mu)))
        self.lipschitz = steepest / scale
        self.smoothness = 1.0 / (self.mu * scale)
        self.target = read_only(self.params[2:])

    def smoothness_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """What beta is on a box: the largest 1 / (w + mu), scaled, at the lower corner."""
        return 1.0 / (float(self.params[1]) * (float(low.min()) + self.mu))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - the sum of kl_div(w + mu, target + mu), scaled."""
        import cvxpy

        divergence = cvxpy.sum(cvxpy.kl_div(w + self.mu, self.target + self.mu))
        return 1.0 - divergence / float(self.params[1])
