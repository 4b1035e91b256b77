"""The oracles, from outcomes to gradients: theta_1 on construction, theta_{t+1} from ``update(V_t)``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tests.reference.rewards import AnytimeEntropy, Reward, vector

Array = NDArray[np.float64]


class Oracle(Protocol):
    """An OCO oracle; ``theta`` is theta_t at the start of time t."""

    theta: Array

    def update(self, outcomes: Array) -> Array: ...


def project_on_ball(x: Array, radius: float) -> Array:
    """Project on the Euclidean ball."""
    length = float(np.linalg.norm(x))
    return x if length <= radius else x * (radius / length)


def softmax(x: Array) -> Array:
    """Return the weights proportional to exp(x)."""
    weights = np.exp(x - x.max())
    return np.asarray(weights / weights.sum())


class FrankWolfe:
    """theta_1 = -grad g(0), theta_{t+1} = -grad g(average outcomes of times 1..t).

    For an anytime entropy theta_{t+1}, computed at the end of time t, is that of H_mu(t); theta_1 of H_mu(1).
    """

    def __init__(self, reward: Reward | AnytimeEntropy, n_outcomes: int) -> None:
        self.reward = reward
        self.t = 0
        self.total = np.zeros(n_outcomes)
        self.theta = -self._reward_at(1).gradient(np.zeros(n_outcomes))

    def _reward_at(self, t: int) -> Reward:
        return self.reward.at(t) if isinstance(self.reward, AnytimeEntropy) else self.reward

    def update(self, outcomes: Array) -> Array:
        self.t += 1
        self.total += outcomes
        self.theta = -self._reward_at(self.t).gradient(self.total / self.t)
        return self.theta


class TunedGradientDescent:
    """theta_{t+1} = Proj_L(theta_t - eta_t (grad g*(theta_t) - V_t)), eta_t = L / (|1_K|_2 t^(2/3)).

    theta_1 = 0.
    """

    def __init__(self, reward: Reward, n_outcomes: int, lipschitz: float | None = None) -> None:
        self.reward = reward
        self.lipschitz = reward.lipschitz if lipschitz is None else lipschitz
        self.t = 0
        self.theta = np.zeros(n_outcomes)

    def update(self, outcomes: Array) -> Array:
        self.t += 1
        eta = self.lipschitz / (math.sqrt(outcomes.size) * self.t ** (2 / 3))
        z = self.reward.conjugate_argmax(self.theta) - outcomes
        self.theta = project_on_ball(self.theta - eta * z, self.lipschitz)
        return self.theta


class MirrorMap(Protocol):
    """``theta(Z, T)`` = argmax over dom(F) of -theta.(eta Z) - F(theta), Z being the sum of the z_q."""

    n_outcomes: int

    def theta(self, total: Array, horizon: float) -> Array: ...


@dataclass(frozen=True)
class EuclideanBall:
    """F_2(theta) = |theta|_2^2 / 2 on the L-ball, for the 2-norm: L' = L / sqrt(2), |1_K| = sqrt(K)."""

    n_outcomes: int
    lipschitz: float

    def theta(self, total: Array, horizon: float) -> Array:
        l_prime = self.lipschitz / math.sqrt(2)
        eta = l_prime / (math.sqrt(self.n_outcomes) * horizon ** (2 / 3))
        return project_on_ball(-eta * total, self.lipschitz)


@dataclass(frozen=True)
class Cube:
    """F(theta) = |theta|_2^2 / 2 on [-L, L]^K, for the 1-norm: L'^2 = K L^2 / 2, |1_K| = K."""

    n_outcomes: int
    lipschitz: float

    def theta(self, total: Array, horizon: float) -> Array:
        l_prime = self.lipschitz * math.sqrt(self.n_outcomes / 2)
        eta = l_prime / (self.n_outcomes * horizon ** (2 / 3))
        return np.asarray(np.clip(-eta * total, -self.lipschitz, self.lipschitz))


@dataclass(frozen=True)
class SignedSimplex:
    """F_inf, signs as in errata 1 and 2: theta = -L softmax(sqrt(log K) Z / T^(2/3)), for the inf-norm."""

    n_outcomes: int
    lipschitz: float

    def theta(self, total: Array, horizon: float) -> Array:
        rate = math.sqrt(math.log(self.n_outcomes)) / horizon ** (2 / 3)
        return -self.lipschitz * softmax(rate * total)


class SlackSimplex:
    """theta = base + sum_j lambda_j scale_j e_{coord_j}, lambda in a simplex with one slack of scale 0.

    lambda_j is proportional to exp(-(sqrt(log J) / T^(2/3)) (scale_j / M) Z_{coord_j}), M = max |scale|, and
    J is the number of weights, the slack among them.
    """

    def __init__(self, base: ArrayLike, coords: Sequence[int], scale: ArrayLike) -> None:
        self.base, self.coords, self.scale = vector(base), list(coords), vector(scale)
        self.n_outcomes = self.base.size

    def weights(self, total: Array, horizon: float) -> Array:
        """Return lambda, the slack last."""
        rate = math.sqrt(math.log(len(self.coords) + 1)) / horizon ** (2 / 3)
        relative = self.scale / np.max(np.abs(self.scale))
        return softmax(np.append(-rate * relative * total[self.coords], 0.0))

    def theta(self, total: Array, horizon: float) -> Array:
        theta = self.base.copy()
        for coord, scale, weight in zip(self.coords, self.scale, self.weights(total, horizon), strict=False):
            theta[coord] += scale * weight
        return theta


class CrossPolytope:
    """theta = sum over signs and k of lambda_(sign,k) sign L e_k: multiplicative weights on the vertices of the 1-ball.

    lambda_(sign,k) is proportional to exp(-(sqrt(log 2K) / T^(2/3)) sign Z_k).
    """

    def __init__(self, n_outcomes: int, lipschitz: float) -> None:
        self.n_outcomes, self.lipschitz = n_outcomes, lipschitz

    def theta(self, total: Array, horizon: float) -> Array:
        rate = math.sqrt(math.log(2 * self.n_outcomes)) / horizon ** (2 / 3)
        weights = softmax(np.concatenate([-rate * total, rate * total]))
        return self.lipschitz * (weights[: self.n_outcomes] - weights[self.n_outcomes :])


def target_distance_simplex(n_outcomes: int) -> SlackSimplex:
    """Build the map for TargetDistance in the inf-norm: theta = -lambda, lambda >= 0, sum lambda <= 1."""
    return SlackSimplex(np.zeros(n_outcomes), range(n_outcomes), -np.ones(n_outcomes))


def knapsack_simplex(n_outcomes: int, budget: float) -> SlackSimplex:
    """Build the map for Knapsack (erratum 3): theta = (-1, (2/b) lambda), lambda >= 0, sum lambda <= 1."""
    base = np.zeros(n_outcomes)
    base[0] = -1.0
    return SlackSimplex(base, range(1, n_outcomes), np.full(n_outcomes - 1, 2 / budget))


class TunedMirrorDescent:
    """TMD(F, T): theta_1 = argmin F, theta_{t+1} from Z = sum over q <= t of z_q = grad g*(theta_q) - V_q."""

    def __init__(self, reward: Reward, mirror_map: MirrorMap, horizon: float) -> None:
        self.reward, self.mirror_map, self.horizon = reward, mirror_map, horizon
        self.total = np.zeros(mirror_map.n_outcomes)
        self.theta = mirror_map.theta(self.total, horizon)

    def update(self, outcomes: Array) -> Array:
        self.total += self.reward.conjugate_argmax(self.theta) - outcomes
        self.theta = self.mirror_map.theta(self.total, self.horizon)
        return self.theta


@dataclass(frozen=True)
class Doubling:
    """The doubling trick: in mega-episode h = 1, 2, ... of 2^h steps the oracle is ``make(2^h)``.

    Without ``inherit`` everything restarts with it on a local clock, with delta / 2^h. With ``inherit`` the
    counts, the global clock and delta are kept, and only the oracle and the episode start anew.
    """

    make: Callable[[int], Oracle]
    inherit: bool = False
