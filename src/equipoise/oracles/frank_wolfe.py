"""The Frank-Wolfe oracle FW (section 3): theta_{t+1} = -grad g(average of the outcomes so far).

theta_1 = -grad g(0). It needs a smooth g: by beta-smoothness theta moves by O(beta / t) per step, which bounds the
number of episodes (lemma fw_bd_M_brief).

`DoublingFrankWolfe` restarts it with a doubled guess of T, for the entropy (section 6.2). Mega-episode h runs
`FrankWolfeUntil` 2^h: Frank-Wolfe on the average of its own outcomes, with the reward in force at time 2^h. With
`Entropy(S)` that is H_mu, mu = 1 / (S^{2/3} 2^{h/3}), and Q = L_mu unless the agent is given another. As g is concave,
T Reg(T) is at most the sum over h of l(h) Reg_h, with l(h) the steps taken in mega-episode h.
"""

from __future__ import annotations

import dataclasses
import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import check_count
from equipoise.errors import OracleError
from equipoise.oracles.base import Oracle, OracleKernel, OracleTheory, Restarted, growth_episodes, mismatch
from equipoise.oracles.frame import gradient, opened, oracle_entry, reward_gradient_at
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


@oracle_entry
def frank_wolfe_step(frame):  # type: ignore[no-untyped-def]
    """theta_{t+1} = -grad g(average). The agent's loop has this step built in, and does not call it."""
    step = opened(frame)
    gradient(step, step.average, step.theta)
    for k in range(step.theta.shape[0]):
        step.theta[k] = -step.theta[k]


@final
class FrankWolfe(Oracle):
    """theta_{t+1} = -grad g(average).

    Examples
    --------
    >>> from equipoise.rewards.separable import Quadratic
    >>> FrankWolfe().initial_theta(Quadratic([0.5, 0.25])).tolist()
    [-0.5, -0.25]
    """

    def check(self, reward: Reward) -> None:
        """A smooth reward is needed."""
        if reward.smoothness is None:
            raise mismatch("FrankWolfe", reward, "needs a smooth reward", "is not")

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """-grad g(0)."""
        return -reward.at(1).gradient(np.zeros(reward.n_outcomes))

    def kernel(self, reward: Reward) -> OracleKernel:  # noqa: ARG002
        """The reward's gradient, negated."""
        return OracleKernel(frank_wolfe_step, np.zeros(1), calls=("gradient",))

    @property
    def theory(self) -> OracleTheory:
        """Lemma 4.3 and (4.3) to (4.6), with the constants that are proven."""
        return _THEORY


def _moves(reward: Reward) -> bool:
    return reward.lipschitz > 0.0 and reward.smoothness != 0.0


def _regret_term(reward: Reward, steps: int) -> float:
    """Beta ||1||^2 (1 + log T) / (2T)."""
    beta, unit = reward.smoothness or 0.0, ones(reward.n_outcomes, reward.norm)
    return beta * unit**2 * (1.0 + math.log(steps)) / (2.0 * steps)


def _gradient_episodes(reward: Reward, threshold: float, steps: int) -> float:
    """Those of tau' >= tau + C sqrt(tau), C^2 = Q / (2 beta ||1||): log2(C^2) + (1 + sqrt 2) sqrt(T)/C for large T."""
    return growth_episodes(math.sqrt(threshold / (2.0 * _movement(reward))), 0.5, steps)


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


_THEORY = OracleTheory(
    rate=-0.5,
    regret_term=_regret_term,
    gradient_episodes=_gradient_episodes,
    moves=_moves,
    printed=OracleTheory(regret_term=_printed_term, gradient_episodes=_printed_episodes),
    start=1.0,  # the first step alone uses theta_1, and no entry of v* - V_1 is larger than 1
)


@oracle_entry
def _mega_episode_step(frame):  # type: ignore[no-untyped-def]
    """theta_{t+1} = -grad g(average of the mega-episode), g as it is at the end; memory is the sum of its outcomes."""
    step = opened(frame)
    for k in range(step.theta.shape[0]):
        step.memory[k] += step.outcome[k]
        step.scratch[k] = step.memory[k] / step.local
    reward_gradient_at(step, np.int64(step.params[0]), step.scratch, step.theta)
    for k in range(step.theta.shape[0]):
        step.theta[k] = -step.theta[k]


@final
class FrankWolfeUntil(Oracle):
    """Frank-Wolfe on the average of its own outcomes, with the reward in force at a horizon.

    Parameters
    ----------
    horizon : int
        The number of steps, and the time at which a reward that changes with time is taken.

    Examples
    --------
    >>> from equipoise.rewards import Entropy
    >>> FrankWolfeUntil(8).initial_theta(Entropy(4)) == -Entropy(4).at(8).gradient([0.0] * 4)
    array([ True,  True,  True,  True])
    """

    def __init__(self, horizon: int) -> None:
        self._horizon = check_count(horizon, "horizon", 1, error=OracleError)

    @property
    def horizon(self) -> int:
        """The number of steps."""
        return self._horizon

    def check(self, reward: Reward) -> None:
        """A smooth reward is needed."""
        FrankWolfe().check(reward)

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """-grad g(0), g as it is at the horizon."""
        return -reward.at(self.horizon).gradient(np.zeros(reward.n_outcomes))

    def kernel(self, reward: Reward) -> OracleKernel:
        """The reward's gradient, negated; the memory is the sum of the outcomes."""
        horizon = np.array([float(self.horizon)])
        return OracleKernel(_mega_episode_step, horizon, scratch=reward.n_outcomes, calls=("gradient",))

    @property
    def theory(self) -> OracleTheory:
        """That of Frank-Wolfe, without what the paper prints."""
        return dataclasses.replace(FrankWolfe().theory, printed=None)


@final
class DoublingFrankWolfe(Restarted):
    """Frank-Wolfe restarted with a doubled guess of T: maximum entropy without knowing T (section 6.2).

    It is for `Entropy` with ``mu=None``; plain `FrankWolfe` with that reward needs no restarts.

    Parameters
    ----------
    inherit : bool
        Whether mega-episodes keep the counts of earlier ones; by default not, as in the paper.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.riverswim(4).visits()
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(4), eq.oracles.DoublingFrankWolfe(inherit=True))
    >>> bool(eq.simulate(model, agent, 20_000, seed=1).values[-1] > 0.95)
    True
    """

    def __init__(self, inherit: bool = False) -> None:
        super().__init__(inherit)

    def _tuned(self, horizon: int) -> Oracle:
        return FrankWolfeUntil(horizon)

    @property
    def theory(self) -> OracleTheory:
        """The sum over mega-episodes, for a reward that does not change; `theory.maximum_entropy` has the entropy."""
        return OracleTheory(rate=-0.5, regret_term=self._regret_term, moves=FrankWolfe().theory.moves, start=1.0)

    def _regret_term(self, reward: Reward, steps: int) -> float:
        """The sum over h of l(h) times the term of Frank-Wolfe after l(h) steps, over T."""
        term = FrankWolfe().theory.regret_term
        assert term is not None
        return sum(taken * term(reward, taken) for _, taken in self.phases(steps)) / steps
