"""The Frank-Wolfe oracle FW (section 3): theta_{t+1} = -grad g(average of the outcomes so far).

theta_1 = -grad g(0). It needs a smooth g: by beta-smoothness theta moves by O(beta / t) a step, which is
what bounds the number of episodes (lemma fw_bd_M_brief).
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import OracleError
from equipoise.oracles._kernels import FRANK_WOLFE
from equipoise.oracles.base import Oracle, OracleKernel
from equipoise.rewards.base import Reward


@final
class FrankWolfe(Oracle):
    """theta_{t+1} = -grad g(average).

    >>> from equipoise.rewards.quadratic import Quadratic
    >>> FrankWolfe().first_theta(Quadratic([0.5, 0.25])).tolist()
    [-0.5, -0.25]
    """

    def check(self, reward: Reward) -> None:
        """A smooth reward is needed."""
        if reward.smoothness is None:
            from equipoise.oracles.choice import fitting_oracle

            raise OracleError(
                f"FrankWolfe needs a smooth reward, and {reward!r} is not; use {fitting_oracle(reward)!r}"
            )

    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
        """-grad g(0)."""
        return -reward.at(1).gradient(np.zeros(reward.n_outcomes))

    def kernel(self, reward: Reward) -> OracleKernel:
        """The reward's gradient, negated."""
        return OracleKernel(FRANK_WOLFE, reward.kernels.gradient, np.zeros(1))
