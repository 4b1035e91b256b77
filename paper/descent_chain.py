r"""The chain from Theorem C.4 to (C.5) under tuned gradient descent, with the numbers of a path.

With f_t(theta) = g*(theta) - theta.V_t, z_t its gradient at theta_t, eta_t = L / (||1|| t^(2/3)), theta' minus a
supergradient at the average w_T, and any v*,

    step   theta_{t+1} = Proj_L(theta_t - eta_t z_t)
    (C.4)  2 eta_t z_t.(theta_t - theta') <= ||theta_t - theta'||^2 - ||theta_{t+1} - theta'||^2 + eta_t^2 ||z_t||^2
    (C.5)  T Reg(T) - sum of (-theta_t).(v* - V_t) <= sum of f_t(theta_t) - f_t(theta') <= sum of z_t.(theta_t - theta')
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


class Descent(NamedTuple):
    """What the right sides exceed the left sides by.

    Attributes
    ----------
    theta : float array
        The distance of theta_{t+1} from its step, for t < T.
    step : float array
        (C.4), for t < T.
    regret : float
        (C.5), its first inequality.
    convex : float
        (C.5), its second.
    """

    theta: Vector
    step: Vector
    regret: float
    convex: float


def descent_chain(reward: Reward, theta: Vector, outcomes: Vector, target: Vector) -> Descent:
    """The chain of a path of thetas and outcomes, against v* = `target`."""
    count = theta.shape[0]
    L = reward.lipschitz
    best = np.array([reward.conjugate_argmax(one) for one in theta])
    z = best - outcomes
    eta = L / (ones(reward.n_outcomes, 2.0) * np.arange(1.0, count + 1.0) ** (2.0 / 3.0))
    moved = theta - eta[:, None] * z
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    projected = moved * np.minimum(1.0, L / np.maximum(length, L))
    average = outcomes.mean(axis=0)
    fixed = -reward.gradient(average)
    losses = np.array([reward.value(w) for w in best]) + _dot(theta, best) - _dot(theta, outcomes)
    left = count * (reward.value(target) - reward.value(average)) - float(_dot(-theta, target - outcomes).sum())
    middle = float(losses.sum()) - count * reward.value(average)  # f_t(theta') sums to T g(w_T)
    inner = _dot(z, theta - fixed)
    far = np.linalg.norm(theta - fixed, axis=1) ** 2
    right = far[:-1] - far[1:] + (eta**2 * np.linalg.norm(z, axis=1) ** 2)[:-1]
    return Descent(
        theta=np.abs(projected[:-1] - theta[1:]).max(axis=1),
        step=right - 2.0 * (eta * inner)[:-1],
        regret=middle - left,
        convex=float(inner.sum()) - middle,
    )


def _dot(x: Vector, y: Vector) -> Vector:
    """Row by row."""
    products: Vector = np.einsum("tk,tk->t", x, y)
    return products
