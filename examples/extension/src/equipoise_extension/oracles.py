r"""An oracle: one compiled step with a memory of its own, and what is proven of it.

Projected descent on f_t(theta) = g*(theta) - theta.V_t, whose steps adapt to the gradients that were seen:

    z_t = grad g*(theta_t) - V_t,     S_t = ||z_1||^2 + ... + ||z_t||^2,
    theta_{t+1} = Proj_L( theta_t - eta_t z_t ),     eta_t = sqrt(2) L / sqrt(S_t),

Proj_L the projection on the Euclidean ball of radius L, in which minus every supergradient of g lies.

What is proven. For every theta in the ball, the projection does not increase distances, so
z_t.(theta_t - theta) <= (||theta_t - theta||^2 - ||theta_{t+1} - theta||^2) / (2 eta_t) + eta_t ||z_t||^2 / 2. As
1 / eta_t does not decrease and distances are at most 2L, the first terms sum to at most (2L)^2 / (2 eta_T)
= sqrt(2) L sqrt(S_T). The sum of ||z_t||^2 / sqrt(S_t) is at most 2 sqrt(S_T), since x / sqrt(S) <= 2 (sqrt(S) -
sqrt(S - x)); so the second ones sum to at most sqrt(2) L sqrt(S_T). Entries of z_t are differences of numbers in
[0, 1], so S_T <= ||1||^2 T, and with the convexity of g* the loss of T steps is at most 2 sqrt(2) L ||1|| sqrt(T).

How often theta turns is not known to be bounded: `gradient_episodes` stays None, and reports say that no bound on the
regret is known.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import equipoise as eq
from equipoise.oracles.base import Oracle, OracleKernel, OracleTheory
from equipoise.oracles.frame import conjugate_argmax, opened, oracle_entry
from equipoise.rewards.base import Reward


@oracle_entry
def _step(frame):  # type: ignore[no-untyped-def]
    """params[0] is L; memory[0] is S_t; the scratch holds z_t."""
    step = opened(frame)
    n, radius = step.theta.shape[0], step.params[0]
    conjugate_argmax(step, step.theta, step.scratch)
    for k in range(n):
        step.scratch[k] -= step.outcome[k]
        step.memory[0] += step.scratch[k] ** 2
    if step.memory[0] > 0.0:
        rate = math.sqrt(2.0) * radius / math.sqrt(step.memory[0])
        squares = 0.0
        for k in range(n):
            step.theta[k] -= rate * step.scratch[k]
            squares += step.theta[k] ** 2
        if squares > radius**2:
            for k in range(n):
                step.theta[k] *= radius / math.sqrt(squares)


class AdaptiveDescent(Oracle):
    """Descent on the dual whose steps adapt to the gradients seen; for rewards with a constant in the 2-norm."""

    def check(self, reward: Reward) -> None:
        """The ball is Euclidean, and has a radius."""
        if reward.norm != 2.0 or not math.isfinite(reward.lipschitz):
            raise eq.errors.OracleError(f"AdaptiveDescent is for rewards that are Lipschitz in norm 2, not {reward!r}")

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The centre of the ball."""
        return np.zeros(reward.n_outcomes)

    def kernel(self, reward: Reward) -> OracleKernel:
        """One number to remember, K for the moment."""
        params = np.array([reward.lipschitz])
        return OracleKernel(_step, params, memory=1, scratch=reward.n_outcomes, calls=("conjugate_argmax",))

    @property
    def theory(self) -> OracleTheory:
        """What the docstring of this file proves."""
        return OracleTheory(regret_term=_regret_term)


def _regret_term(reward: Reward, steps: int) -> float:
    """2 sqrt(2) L ||1|| / sqrt(T)."""
    return 2.0 * math.sqrt(2.0 * reward.n_outcomes / steps) * reward.lipschitz
