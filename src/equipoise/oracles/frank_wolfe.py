"""The Frank-Wolfe oracle FW (section 3): theta_{t+1} = -grad g(average of the outcomes so far).

theta_1 = -grad g(0). It needs a smooth g: by beta-smoothness theta moves by O(beta / t) a step, which is
what bounds the number of episodes (lemma fw_bd_M_brief).
"""

from __future__ import annotations

import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import OracleError
from equipoise.oracles.base import Oracle, OracleKernel
from equipoise.oracles.frame import gradient, opened, oracle_entry
from equipoise.oracles.theory import OracleTheory, ended_by_growth
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


@oracle_entry
def frank_wolfe_step(frame):  # type: ignore[no-untyped-def]
    """theta_{t+1} = -grad g(average). The agent's loop has this step built in, and calls it for no other oracle."""
    step = opened(frame)
    gradient(step, step.average, step.theta)
    for k in range(step.theta.shape[0]):
        step.theta[k] = -step.theta[k]


@final
class FrankWolfe(Oracle):
    """theta_{t+1} = -grad g(average).

    See Also
    --------
    equipoise.oracles.Doubling : For rewards that are not smooth.

    Examples
    --------
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

    def kernel(self, reward: Reward) -> OracleKernel:  # noqa: ARG002
        """The reward's gradient, negated."""
        return OracleKernel(frank_wolfe_step, np.zeros(1), calls=("gradient",))

    @property
    def theory(self) -> OracleTheory:
        """Lemma 4.3 and (4.3) to (4.6), with the constants that are proven."""
        return _KNOWLEDGE


def _moves(reward: Reward) -> bool:
    return reward.lipschitz > 0.0 and reward.smoothness != 0.0


def _regret_term(reward: Reward, steps: int) -> float:
    """Beta ||1||^2 (1 + log T) / (2T)."""
    return (
        (reward.smoothness or 0.0) * ones(reward.n_outcomes, reward.norm) ** 2 * (1.0 + math.log(steps)) / (2.0 * steps)
    )


def _gradient_episodes(reward: Reward, threshold: float, steps: int) -> float:
    """Those of tau' >= tau + C sqrt(tau), C^2 = Q / (2 beta ||1||): log2(C^2) + (1 + sqrt 2) sqrt(T)/C for large T."""
    return ended_by_growth(math.sqrt(threshold / (2.0 * _movement(reward))), 0.5, steps)


def _movement(reward: Reward) -> float:
    """Beta ||1||: the average moves by at most ||1|| n/t in n steps, theta by beta times that."""
    return (reward.smoothness or 0.0) * ones(reward.n_outcomes, reward.norm)


def _printed_term(reward: Reward, steps: int) -> float:
    """(4.6): beta ||1||^2 log T / T."""
    return (reward.smoothness or 0.0) * ones(reward.n_outcomes, reward.norm) ** 2 * math.log(steps) / steps


def _printed_episodes(reward: Reward, threshold: float, steps: int) -> float:
    """(4.7): 1 + Q / (2 beta ||1||) + sqrt(32 beta ||1|| T / Q)."""
    movement = _movement(reward)
    return 1.0 + threshold / (2.0 * movement) + math.sqrt(32.0 * movement * steps / threshold)


_KNOWLEDGE = OracleTheory(
    rate=-0.5,
    regret_term=_regret_term,
    gradient_episodes=_gradient_episodes,
    moves=_moves,
    printed=OracleTheory(regret_term=_printed_term, gradient_episodes=_printed_episodes),
)
