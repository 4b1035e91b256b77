"""The rewards g: [0,1]^K -> R, a supergradient of each, and argmax_w {g(w) + theta.w} behind g*(theta).

Conventions: theta = -grad g, and g*(theta) = max over w in [0,1]^K of g(w) + theta.w. Where a supergradient
is not unique, ties go to the lowest index; where an argmax is not, the docstring says which is taken.
``norm`` is the norm in which g is ``lipschitz``; drifts are measured in its dual.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]

TIE = 1e-12
"""A candidate replaces the best so far only if better by more than TIE * max(1, |best|)."""


class Reward(Protocol):
    """What the oracles and the agent need of g."""

    @property
    def norm(self) -> float: ...

    @property
    def lipschitz(self) -> float: ...

    def value(self, w: Array) -> float: ...

    def gradient(self, w: Array) -> Array: ...

    def conjugate_argmax(self, theta: Array) -> Array: ...


def vector(values: ArrayLike) -> Array:
    """Copy anything to a float vector."""
    return np.array(values, dtype=float)


def dual_norm(x: Array, norm: float) -> float:
    """Measure x in the norm dual to ``norm`` (1, 2 or inf)."""
    return float(np.linalg.norm(x, {1: math.inf, 2: 2, math.inf: 1}[norm]))


def conjugate(reward: Reward, theta: Array) -> float:
    """Evaluate g*(theta) through its argmax."""
    w = reward.conjugate_argmax(theta)
    return reward.value(w) + float(theta @ w)


class Linear:
    """g(w) = r.w; the argmax is 0 where theta_k = -r_k."""

    def __init__(self, weights: ArrayLike, norm: float = 2) -> None:
        self.weights, self.norm = vector(weights), norm
        self.lipschitz = dual_norm(self.weights, norm)

    def value(self, w: Array) -> float:
        return float(self.weights @ w)

    def gradient(self, w: Array) -> Array:
        return self.weights.copy()

    def conjugate_argmax(self, theta: Array) -> Array:
        return (self.weights + theta > 0).astype(float)


class Quadratic:
    """g(w) = 1 - |w - c|_2^2 / 2."""

    norm = 2.0

    def __init__(self, target: ArrayLike) -> None:
        self.target = vector(target)
        self.lipschitz = float(np.linalg.norm(np.maximum(self.target, 1 - self.target)))

    def value(self, w: Array) -> float:
        return 1 - float(np.sum((w - self.target) ** 2)) / 2

    def gradient(self, w: Array) -> Array:
        return self.target - w

    def conjugate_argmax(self, theta: Array) -> Array:
        return np.clip(self.target + theta, 0, 1)


class ClaimQuadratic:
    """g(w) = sum_k w_k - (w_k - 1/K)^2 / 2, the reward of the claim on Q = 0."""

    norm = 2.0

    def __init__(self, n_outcomes: int) -> None:
        self.n_outcomes = n_outcomes
        self.lipschitz = math.sqrt(n_outcomes) * (1 + 1 / n_outcomes)  # |grad g(0)|; the paper says sqrt(K)

    def value(self, w: Array) -> float:
        return float(np.sum(w - (w - 1 / self.n_outcomes) ** 2 / 2))

    def gradient(self, w: Array) -> Array:
        return 1 + 1 / self.n_outcomes - w

    def conjugate_argmax(self, theta: Array) -> Array:
        return np.clip(1 + 1 / self.n_outcomes + theta, 0, 1)


class TargetSquared:
    """g_SE(w) = 1 - (1/K) sum_k max(0, zeta_k - w_k)^2. The gradient's sign is that of erratum 5.

    The argmax is zeta_k, the smallest maximiser, at theta_k = 0.
    """

    norm = 2.0

    def __init__(self, kpi: ArrayLike) -> None:
        self.kpi = vector(kpi)
        self.lipschitz = 2 / math.sqrt(self.kpi.size)

    def value(self, w: Array) -> float:
        return 1 - float(np.mean(np.maximum(0, self.kpi - w) ** 2))

    def gradient(self, w: Array) -> Array:
        return 2 / self.kpi.size * np.maximum(0, self.kpi - w)

    def conjugate_argmax(self, theta: Array) -> Array:
        below = np.maximum(0, self.kpi + self.kpi.size * theta / 2)
        return np.where(theta > 0, 1.0, below)


class TargetDistance:
    """g(w) = 1 - min over z >= kpi of |w - z| = 1 - |max(0, kpi - w)|, in the norm 1, 2 or inf.

    ``conjugate_argmax`` holds for theta in the dual unit ball: there theta.y <= |y| for every shortfall y, so
    falling short never pays, and w_k = 1 where theta_k > 0, w_k = kpi_k elsewhere.
    """

    lipschitz = 1.0

    def __init__(self, kpi: ArrayLike, norm: float) -> None:
        self.kpi, self.norm = vector(kpi), norm

    def value(self, w: Array) -> float:
        return 1 - float(np.linalg.norm(np.maximum(0, self.kpi - w), self.norm))

    def gradient(self, w: Array) -> Array:
        short = np.maximum(0, self.kpi - w)
        if not short.any():
            return np.zeros_like(short)
        if self.norm == 1:
            return (short > 0).astype(float)
        if self.norm == 2:
            return np.asarray(short / np.linalg.norm(short))
        worst = np.zeros_like(short)
        worst[np.argmax(short)] = 1.0
        return worst

    def conjugate_argmax(self, theta: Array) -> Array:
        if dual_norm(theta, self.norm) > 1 + 1e-9:
            raise ValueError("theta outside the dual unit ball")
        return np.where(theta > 0, 1.0, self.kpi)


class Balance:
    """g(w) = 1 - |w - c|_1 / 2; the argmax is c_k for |theta_k| <= 1/2, ends included."""

    norm = 1.0
    lipschitz = 0.5

    def __init__(self, target: ArrayLike) -> None:
        self.target = vector(target)

    def value(self, w: Array) -> float:
        return 1 - float(np.sum(np.abs(w - self.target))) / 2

    def gradient(self, w: Array) -> Array:
        return -np.sign(w - self.target) / 2

    def conjugate_argmax(self, theta: Array) -> Array:
        return np.where(theta > 0.5, 1.0, np.where(theta < -0.5, 0.0, self.target))


class GeneralisedGini:
    """g(w) = sum_i weights_i w_(i), w_(1) <= w_(2) <= ..., with weights that do not increase.

    g is symmetric, so a maximiser of g(w) + theta.w may be sought among the w ordered as theta is. There g is
    linear and the extreme points are the 0/1 vectors of the n largest theta, n = 0..K: all are tried, and the
    smallest n is kept unless a larger one is better by more than the tie tolerance.
    """

    norm = math.inf

    def __init__(self, weights: ArrayLike) -> None:
        self.weights = vector(weights)
        if np.any(np.diff(self.weights) > 0):
            raise ValueError("the weights must not increase")
        self.lipschitz = float(np.sum(np.abs(self.weights)))

    def value(self, w: Array) -> float:
        return float(self.weights @ np.sort(w))

    def gradient(self, w: Array) -> Array:
        gradient = np.zeros_like(w)
        gradient[np.argsort(w, kind="stable")] = self.weights
        return gradient

    def conjugate_argmax(self, theta: Array) -> Array:
        x = -theta
        order = np.argsort(x, kind="stable")
        n_outcomes = theta.size
        best, best_n = 0.0, 0
        for n in range(1, n_outcomes + 1):
            candidate = float(np.sum(self.weights[n_outcomes - n :]) - np.sum(x[order[:n]]))
            if candidate > best + TIE * max(1.0, abs(best)):
                best, best_n = candidate, n
        w = np.zeros(n_outcomes)
        w[order[:best_n]] = 1.0
        return w


class BottomSum(GeneralisedGini):
    """g_(kappa)(w) = the sum of the kappa smallest outcomes."""

    def __init__(self, n_outcomes: int, kappa: int) -> None:
        super().__init__([1.0] * kappa + [0.0] * (n_outcomes - kappa))


class ProportionalFairness:
    """g(w) = (1/K) sum_k log((w_k + eps) / eps) / log((1 + eps) / eps), in [0, 1]."""

    norm = 2.0

    def __init__(self, n_outcomes: int, eps: float) -> None:
        self.eps = eps
        self.scale = 1 / (n_outcomes * math.log((1 + eps) / eps))
        self.lipschitz = math.sqrt(n_outcomes) * self.scale / eps

    def value(self, w: Array) -> float:
        return self.scale * float(np.sum(np.log((w + self.eps) / self.eps)))

    def gradient(self, w: Array) -> Array:
        return self.scale / (w + self.eps)

    def conjugate_argmax(self, theta: Array) -> Array:
        w = np.ones_like(theta)
        falling = theta < 0
        w[falling] = np.clip(self.scale / -theta[falling] - self.eps, 0, 1)
        return w


class Entropy:
    """H_mu(w) = (1 / log S) sum_s w_s log(1 / (w_s + mu)), constants as in erratum 8."""

    norm = 1.0

    def __init__(self, n_states: int, mu: float) -> None:
        self.n_states, self.mu = n_states, mu
        self.scale = 1 / math.log(n_states)
        self.lipschitz = self.scale * max(math.log(1 / mu), math.log(1 + mu) + 1 / (1 + mu))

    def value(self, w: Array) -> float:
        return self.scale * float(np.sum(w * np.log(1 / (w + self.mu))))

    def gradient(self, w: Array) -> Array:
        return self.scale * (-np.log(w + self.mu) - w / (w + self.mu))

    def conjugate_argmax(self, theta: Array) -> Array:
        def slope(x: float, of: float) -> float:
            return float(self.gradient(np.array([x]))[0] + of)

        def one(of: float) -> float:
            if slope(0.0, of) <= 0:
                return 0.0
            if slope(1.0, of) >= 0:
                return 1.0
            return float(brentq(slope, 0.0, 1.0, args=(of,), xtol=1e-15))

        return np.array([one(float(of)) for of in theta])


@dataclass(frozen=True)
class AnytimeEntropy:
    """H_mu(t) with mu(t) = 1 / (S^(2/3) t^(1/3)): ``at(t)`` is the reward of time t."""

    n_states: int

    def at(self, t: int) -> Entropy:
        return Entropy(self.n_states, 1 / (self.n_states ** (2 / 3) * t ** (1 / 3)))


class Knapsack:
    """g_C(r, c) = r - (2/b) max_k max(0, c_k - b): outcome 0 is the reward, the others are consumed.

    In the argmax, all resources with theta_k > 0 exceed b by one common M in {0, 1 - b}, those with
    theta_k = 0 stay at b, the others at 0; so it is (., b, ..., b) if theta_k >= 0 and sum theta_k <= 2/b
    (erratum 3). The first entry is free at theta_0 = -1; it is then 0.
    """

    norm = math.inf

    def __init__(self, n_outcomes: int, budget: float) -> None:
        self.n_outcomes, self.budget = n_outcomes, budget
        self.lipschitz = 1 + 2 / budget

    def value(self, w: Array) -> float:
        return float(w[0] - 2 / self.budget * max(0.0, np.max(w[1:]) - self.budget))

    def gradient(self, w: Array) -> Array:
        gradient = np.zeros(self.n_outcomes)
        gradient[0] = 1.0
        worst = 1 + int(np.argmax(w[1:]))
        if w[worst] > self.budget:
            gradient[worst] = -2 / self.budget
        return gradient

    def conjugate_argmax(self, theta: Array) -> Array:
        b = self.budget
        worth = float(np.sum(np.maximum(0, theta[1:])))
        excess = 1 - b if worth > 2 / b * (1 + TIE) else 0.0
        w = np.zeros(self.n_outcomes)
        w[0] = 1.0 if theta[0] > -1 else 0.0
        w[1:] = np.where(theta[1:] > 0, b + excess, np.where(theta[1:] == 0, b, 0.0))
        return w
