r"""The tuned gradient descent oracle TGD (section 5), for g Lipschitz in the Euclidean norm.

    theta_{t+1} = Proj_L( theta_t - eta_t [grad g*(theta_t) - V_t] ),    eta_t = L / (||1_K||_2 t^{2/3}),

Proj_L the projection on the Euclidean ball of radius L, after Zinkevich (2003) with t^{2/3} in place of
t^{1/2}: theta then moves slowly enough for the gradient threshold. theta_1 is arbitrary in the paper;
here it is the centre of the ball, 0. It is anytime: no horizon is needed.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import OracleError
from equipoise.oracles._kernels import GRADIENT_DESCENT
from equipoise.oracles.base import Oracle, OracleKernel
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


@final
class TunedGradientDescent(Oracle):
    """Projected gradient descent on the dual, with step L / (||1|| t^(2/3))."""

    def check(self, reward: Reward) -> None:
        """A reward that is Lipschitz in the Euclidean norm, with a finite constant, is needed."""
        if reward.norm != 2.0 or not np.isfinite(reward.lipschitz):
            from equipoise.oracles.choice import fitting_oracle

            raise OracleError(
                f"TunedGradientDescent needs a reward that is Lipschitz in the 2-norm, and {reward!r} declares "
                f"the {reward.norm}-norm with L = {reward.lipschitz}; use {fitting_oracle(reward)!r}"
            )

    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The centre of the ball."""
        return np.zeros(reward.n_outcomes)

    def kernel(self, reward: Reward) -> OracleKernel:
        """The maximiser of the reward's conjugate, and L and L / ||1||."""
        L = reward.lipschitz
        params = np.array([L, L / ones(reward.n_outcomes, 2.0)])
        return OracleKernel(GRADIENT_DESCENT, reward.kernels.conjugate_argmax, params)
