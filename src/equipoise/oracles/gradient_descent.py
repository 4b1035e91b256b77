r"""The tuned gradient descent oracle TGD (section 5), for g Lipschitz in the Euclidean norm.

    theta_{t+1} = Proj_L( theta_t - eta_t [grad g*(theta_t) - V_t] ),    eta_t = L / (||1_K||_2 t^{2/3}),

Proj_L the projection on the Euclidean ball of radius L, after Zinkevich (2003) with t^{2/3} in place of
t^{1/2}: theta then moves slowly enough for the gradient threshold. theta_1 is arbitrary in the paper;
here it is the centre of the ball, 0. It is anytime: no horizon is needed.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import OracleError
from equipoise.oracles.base import Oracle, OracleKernel
from equipoise.oracles.frame import conjugate_argmax, opened, oracle_entry
from equipoise.oracles.kernels import project_ball
from equipoise.oracles.theory import OracleTheory, ended_by_growth, moves_unless_flat
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


@oracle_entry
def _descend(frame):  # type: ignore[no-untyped-def]
    step = opened(frame)
    radius, rate = step.params[0], step.params[1] / (step.local ** (2.0 / 3.0))
    conjugate_argmax(step, step.theta, step.scratch)
    for k in range(step.theta.shape[0]):
        step.theta[k] -= rate * (step.scratch[k] - step.outcome[k])
    project_ball(step.theta, radius)


@final
class TunedGradientDescent(Oracle):
    """Projected gradient descent on the dual, with step L / (||1|| t^(2/3)).

    See Also
    --------
    equipoise.oracles.FrankWolfe : For smooth rewards, at a better rate.
    equipoise.oracles.Doubling : For other norms.

    Examples
    --------
    >>> from equipoise.rewards import Balance
    >>> TunedGradientDescent().first_theta(Balance([0.5, 0.5])).tolist()
    [0.0, 0.0]
    """

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
        return OracleKernel(_descend, params, scratch=reward.n_outcomes, calls=("conjugate_argmax",))

    @property
    def theory(self) -> OracleTheory:
        """Lemma C.3 and (C.5), with the constants that are proven."""
        return _KNOWLEDGE


def _regret_term(reward: Reward, steps: int) -> float:
    """L ||1|| [2 T^{-1/3} + (3 T^{1/3} - 2) / (2T)]."""
    root = math.pow(steps, 1.0 / 3.0)
    scale = reward.lipschitz * ones(reward.n_outcomes, reward.norm)
    return scale * (2.0 / root + (3.0 * root - 2.0) / (2.0 * steps))


def _gradient_episodes(reward: Reward, threshold: float, steps: int) -> float:
    """Those of tau' >= tau + C tau^{1/3}, C^2 = Q / 2L: log2(C^{3/2}) + 1.71 T^{2/3} / C for large T."""
    return ended_by_growth(math.sqrt(threshold / (2.0 * reward.lipschitz)), 1.0 / 3.0, steps)


def _printed_term(reward: Reward, steps: int) -> float:
    """(C.5): 3 L ||1|| / T^{1/3}."""
    return 3.0 * (reward.lipschitz * ones(reward.n_outcomes, reward.norm)) * math.pow(steps, -1.0 / 3.0)


def _printed_episodes(reward: Reward, threshold: float, steps: int) -> float:
    """(C.9): 1 + (Q / 2L)^{3/4} + sqrt(9 L / Q) T^{2/3}."""
    L = reward.lipschitz
    return 1.0 + math.pow(threshold / (2.0 * L), 0.75) + math.sqrt(9.0 * L / threshold) * math.pow(steps, 2.0 / 3.0)


_KNOWLEDGE = OracleTheory(
    rate=-1.0 / 3.0,
    regret_term=_regret_term,
    gradient_episodes=_gradient_episodes,
    moves=moves_unless_flat,
    printed=OracleTheory(regret_term=_printed_term, gradient_episodes=_printed_episodes),
)
