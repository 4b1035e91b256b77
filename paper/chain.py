r"""The chain from (4.3) to (4.6) under Frank-Wolfe, with the numbers of a path.

With w_t the average of the first t outcomes, w_0 = 0, theta_t = -grad g(w_{t-1}), and any v*,

    (4.3)  g(w_t) >= g(w_{t-1}) + grad g(w_{t-1}).(w_t - w_{t-1}) - beta ||V_t - w_{t-1}||^2 / (2 t^2)     beta-smooth
    (4.4)  grad g(w_{t-1}).(v* - w_{t-1}) >= g(v*) - g(w_{t-1})                                            concave
    (4.5)  t Reg(t) <= (t-1) Reg(t-1) + beta ||V_t - w_{t-1}||^2 / (2t) + (-theta_t).(v* - V_t)

where Reg is against g(v*). For g(w) = 1 - ||w - c||^2 / 2 the first is an equality, and what the second gives away is
||v* - w_{t-1}||^2 / 2 exactly. So in (4.5) the right side exceeds the left by just that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.rewards.base import Reward
from equipoise.rewards.separable import Quadratic


class Chain(NamedTuple):
    """One entry a step.

    Attributes
    ----------
    theta : float array
        The distance of theta_t from -grad g(w_{t-1}), the largest entry.
    smooth : float array
        What the left side of (4.3) exceeds the right by.
    concave : float array
        What the left side of (4.4) exceeds the right by.
    step : float array
        What the right side of (4.5) exceeds the left by.
    curved : float array
        beta ||V_t - w_{t-1}||^2 / (2t), which the paper bounds by beta ||1||^2 / (2t).
    given_away : float array
        ||v* - w_{t-1}||^2 / 2.
    """

    theta: Vector
    smooth: Vector
    concave: Vector
    step: Vector
    curved: Vector
    given_away: Vector


def frank_wolfe_chain(reward: Reward, theta: Vector, outcomes: Vector, target: Vector) -> Chain:
    """The chain of a path of thetas and outcomes, against v* = `target`."""
    T = np.arange(1.0, theta.shape[0] + 1.0)
    after = np.cumsum(outcomes, axis=0) / T[:, None]
    before = np.vstack([np.zeros(theta.shape[1]), after[:-1]])
    values = np.array([reward.value(w) for w in np.vstack([before[:1], after])])
    slopes = _gradients(reward, before)
    beta, best = reward.smoothness or 0.0, reward.value(target)
    curved = beta * np.linalg.norm(outcomes - before, reward.norm, axis=1) ** 2 / (2.0 * T)
    error = np.einsum("tk,tk->t", -theta, target - outcomes)
    regret = np.append(0.0, T) * (best - values)
    return Chain(
        theta=np.abs(theta + slopes).max(axis=1),
        smooth=values[1:] - values[:-1] - np.einsum("tk,tk->t", slopes, after - before) + curved / T,
        concave=np.einsum("tk,tk->t", slopes, target - before) - (best - values[:-1]),
        step=regret[:-1] + curved + error - regret[1:],
        curved=curved,
        given_away=0.5 * np.linalg.norm(target - before, axis=1) ** 2,
    )


def _gradients(reward: Reward, points: Vector) -> Vector:
    """Grad g at each point; that of `Quadratic` by its formula."""
    if isinstance(reward, Quadratic):
        return reward.target - points
    return np.array([reward.gradient(w) for w in points])
