"""Descents on the dual, for rewards that are not smooth: `TunedGradientDescent`, `TunedMirrorDescent`, `Doubling`.

`TunedGradientDescent`, TGD (section 5), for g Lipschitz in the Euclidean norm, without a horizon:

    theta_{t+1} = Proj_L( theta_t - eta_t [grad g*(theta_t) - V_t] ),    eta_t = L / (||1_K||_2 t^{2/3}),

Proj_L the projection on the Euclidean ball of radius L, after Zinkevich (2003) with t^{2/3} instead of t^{1/2}: theta
then moves slowly enough for the gradient threshold. theta_1 is 0, the centre of the ball.

The learning rate may be eta_t = c L t^{-a} / ||1|| with any c > 0 and 0 < a < 1 (`scale` and `exponent` = -a). Then

    oracle term    L ||1|| [2 T^{a - 1} / c + c (1 + (T^{1 - a} - 1) / (1 - a)) / (2T)],    from Zinkevich's theorem,
    episodes       those of tau' >= tau + C tau^{a/2} with C^2 = Q / (2 c L),    as theta moves by at most c L t^{-a},

so the regret falls like T to the power -min(1 - a, a/2), which is largest at the paper's a = 2/3.

`TunedMirrorDescent`, TMD(F, T) (section 5), for a horizon T known in advance, from theta_1 = argmin F:

    theta_{t+1} = argmax over theta in dom F of  -theta.(eta Z_t) - F(theta),
    Z_t = sum over q <= t of grad g*(theta_q) - V_q,     eta = L' / (||1_K|| T^{2/3}).

With the learning rate eta = c L' T^{-a} / ||1||

    oracle term after t steps    L' ||1|| [T^a / c + c t T^{-a}] / t,             as L'^2 / eta + eta ||1||^2 t,
    episodes in t steps          1 + sqrt(c L' / Q) T^{-a/2} t,                   as theta moves by at most eta ||1||.

`Doubling` is its anytime form (appendix C.3.2, Algorithm TOC-UCRL2-Anytime-TMD): mega-episode h = 1, 2, ... lasts 2^h
steps and runs TOC-UCRL2 with TMD(F, 2^h). With `inherit=False`, the algorithm as displayed, every mega-episode starts
from nothing, with its own clock and with delta / 2^h. With `inherit=True`, the remark above the display, counts are
kept, and with them the one clock tau and the one confidence event of level delta; only the oracle starts again, and a
new episode with it.
"""

from __future__ import annotations

import math
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import check_count, check_float
from equipoise.errors import OracleError, ParameterError
from equipoise.oracles.base import (
    Oracle,
    OracleKernel,
    OracleTheory,
    Restarted,
    growth_episodes,
    mismatch,
    moves_unless_flat,
)
from equipoise.oracles.frame import conjugate_argmax, opened, oracle_entry, project_ball
from equipoise.oracles.mirror_maps import MirrorMap
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones

PAPERS_EXPONENT: Final = -2.0 / 3.0  # of the learning rates of both descents


@oracle_entry
def _gradient_step(frame):  # type: ignore[no-untyped-def]
    step = opened(frame)
    radius, rate = step.params[0], step.params[1] / (step.local ** step.params[2])
    conjugate_argmax(step, step.theta, step.scratch)
    for k in range(step.theta.shape[0]):
        step.theta[k] -= rate * (step.scratch[k] - step.outcome[k])
    project_ball(step.theta, radius)


@final
class TunedGradientDescent(Oracle):
    """Projected gradient descent on the dual, with the learning rate L / (||1|| t^(2/3)).

    Parameters
    ----------
    scale : float
        A factor of the learning rate; by default 1, the paper's.
    exponent : float
        The power of t in the learning rate, strictly between -1 and 0; -2/3, the paper's, by default.

    Examples
    --------
    >>> from equipoise.rewards import Balance
    >>> TunedGradientDescent().initial_theta(Balance([0.5, 0.5])).tolist()
    [0.0, 0.0]
    >>> round(TunedGradientDescent(exponent=-0.5).theory.rate, 6)
    -0.25
    """

    def __init__(self, scale: float = 1.0, exponent: float = PAPERS_EXPONENT) -> None:
        self.scale, self.exponent = checked_rate(scale, exponent)

    def check(self, reward: Reward) -> None:
        """A reward that is Lipschitz in the Euclidean norm, with a finite constant, is needed."""
        if reward.norm != 2.0 or not np.isfinite(reward.lipschitz):
            needs, has = "needs a reward that is Lipschitz in the 2-norm", f"declares the {reward.norm}-norm"
            raise mismatch("TunedGradientDescent", reward, needs, f"{has} with L = {reward.lipschitz}")

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The centre of the ball."""
        return np.zeros(reward.n_outcomes)

    def kernel(self, reward: Reward) -> OracleKernel:
        """The maximiser of the reward's conjugate; L, L / ||1|| times the scale, and minus the exponent."""
        L = reward.lipschitz
        params = np.array([L, self.scale * (L / ones(reward.n_outcomes, 2.0)), -self.exponent])
        return OracleKernel(_gradient_step, params, scratch=reward.n_outcomes, calls=("conjugate_argmax",))

    @property
    def theory(self) -> OracleTheory:
        """Lemma C.3 and (C.5), with the constants that are proven; for the paper's rate, also what it prints."""
        papers = self.scale == 1.0 and self.exponent == PAPERS_EXPONENT
        return OracleTheory(
            rate=descent_rate(self.exponent),
            regret_term=self._regret_term,
            gradient_episodes=self._gradient_episodes,
            moves=moves_unless_flat,
            printed=_PRINTED if papers else None,
            start=0.0,  # the theorem holds from any point of the ball
        )

    def _regret_term(self, reward: Reward, steps: int) -> float:
        """L ||1|| [2 T^{a-1} / c + c (1 + (T^{1-a} - 1) / (1 - a)) / (2T)]."""
        a, c = -self.exponent, self.scale
        unit = reward.lipschitz * ones(reward.n_outcomes, reward.norm)
        rates = 1.0 + (math.pow(steps, 1.0 - a) - 1.0) / (1.0 - a)  # the sum of t^{-a} is at most that
        return unit * (2.0 * math.pow(steps, a - 1.0) / c + c * rates / (2.0 * steps))

    def _gradient_episodes(self, reward: Reward, threshold: float, steps: int) -> float:
        """Those of tau' >= tau + C tau^{a/2}, C^2 = Q / (2 c L); log2(C^{3/2}) + 1.71 T^{2/3} / C at the paper's."""
        pace = math.sqrt(threshold / (2.0 * self.scale * reward.lipschitz))
        return growth_episodes(pace, -self.exponent / 2.0, steps)


def checked_rate(scale: float, exponent: float) -> tuple[float, float]:
    """The scale and the exponent of a learning rate, or an error that says what is allowed."""
    factor, power = check_float(scale, "scale", error=OracleError), check_float(exponent, "exponent", error=OracleError)
    if not 0.0 < factor < math.inf:
        raise OracleError(f"scale: got {scale}; the learning rate needs a finite factor > 0")
    if not -1.0 < power < 0.0:
        raise OracleError(f"exponent: got {exponent}; it must lie strictly between -1 and 0, or no bound falls with T")
    return factor, power


def descent_rate(exponent: float) -> float:
    """The power of T in the bound on the regret of a descent, by that in its learning rate."""
    return -1.0 / 3.0 if exponent == PAPERS_EXPONENT else -min(1.0 + exponent, -exponent / 2.0)


def _printed_term(reward: Reward, steps: int) -> float:
    """(C.5): 3 L ||1|| / T^{1/3}."""
    return 3.0 * (reward.lipschitz * ones(reward.n_outcomes, reward.norm)) * math.pow(steps, -1.0 / 3.0)


def _printed_episodes(reward: Reward, threshold: float, steps: int) -> float:
    """(C.9): 1 + (Q / 2L)^{3/4} + sqrt(9 L / Q) T^{2/3}."""
    L = reward.lipschitz
    return 1.0 + math.pow(threshold / (2.0 * L), 0.75) + math.sqrt(9.0 * L / threshold) * math.pow(steps, 2.0 / 3.0)


_PRINTED: Final = OracleTheory(regret_term=_printed_term, gradient_episodes=_printed_episodes)


@final
class TunedMirrorDescent(Oracle):
    """Lazy mirror descent on the dual, tuned for `horizon` steps.

    Parameters
    ----------
    mirror_map : MirrorMap
        `EuclideanBall`, `Box`, `SignedSimplex`, `SlackSimplex` or `CrossPolytope`, to fit the reward's norm.
    horizon : int
        T.
    scale : float
        A factor of the learning rate; by default 1, the paper's.
    exponent : float
        The power of T in the learning rate, strictly between -1 and 0; -2/3, the paper's, by default.

    Examples
    --------
    >>> from equipoise.oracles import EuclideanBall
    >>> TunedMirrorDescent(EuclideanBall(), horizon=1e5).horizon
    100000
    """

    def __init__(
        self, mirror_map: MirrorMap, horizon: int, scale: float = 1.0, exponent: float = PAPERS_EXPONENT
    ) -> None:
        if not isinstance(mirror_map, MirrorMap):
            raise OracleError(f"mirror_map: got {mirror_map!r}; a MirrorMap is needed, such as EuclideanBall()")
        self.mirror_map = mirror_map
        self._horizon = check_count(horizon, "horizon", 1, error=OracleError)
        self.scale, self.exponent = checked_rate(scale, exponent)

    @property
    def horizon(self) -> int:
        """T."""
        return self._horizon

    def check(self, reward: Reward) -> None:
        """The mirror map must fit the reward."""
        self.mirror_map.check(reward)

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The minimiser of F."""
        return self.mirror_map.initial_theta(reward)

    def allows(self, reward: Reward, theta: NDArray[np.float64]) -> bool:
        """The domain of F."""
        return bool(np.isfinite(self.mirror_map.value(reward, theta)))

    def eta(self, reward: Reward) -> float:
        """The learning rate.

        Parameters
        ----------
        reward : Reward
            g.
        """
        return self.scale * self.mirror_map.eta(reward, self.horizon, self.exponent)

    def kernel(self, reward: Reward) -> OracleKernel:
        """The mirror map's step."""
        params = self.mirror_map.params(reward, self.eta(reward))
        scratch = self.mirror_map.scratch(reward)
        return OracleKernel(self.mirror_map.step, params, scratch=scratch, calls=("conjugate_argmax",))

    @property
    def theory(self) -> OracleTheory:
        """Lemma C.8 and (C.19) to (C.23), with the constants that are proven."""
        return OracleTheory(
            rate=descent_rate(self.exponent),
            regret_term=self._regret_term,
            gradient_episodes=self._gradient_episodes,
            moves=moves_unless_flat,
            start=1.0,  # Z counts the first step at theta_1; no entry of grad g* - V is larger than 1
        )

    def _regret_term(self, reward: Reward, steps: int) -> float:
        """L' ||1|| [H^a / c + c T H^{-a}] / T, T <= H."""
        if steps > self.horizon:
            raise ParameterError(f"steps: got {steps}; the oracle is tuned for {self.horizon}")
        total = _total_loss(self.horizon, steps, self.scale, self.exponent)
        return self.mirror_map.radius(reward) * ones(reward.n_outcomes, reward.norm) * total / steps

    def _gradient_episodes(self, reward: Reward, threshold: float, steps: int) -> float:
        """1 + sqrt(c L' / Q) H^{-a/2} T."""
        reach = self.scale * self.mirror_map.radius(reward)
        return 1.0 + math.sqrt(reach / threshold) * math.pow(self.horizon, self.exponent / 2.0) * steps


def _total_loss(horizon: int, steps: int, scale: float, exponent: float) -> float:
    """H^a / c + c T H^{-a}: T times the regret of TMD(F, H) after T steps, in L' ||1||; a is minus the exponent."""
    slow = math.pow(horizon, -exponent) / scale
    return slow + steps / slow


@final
class Doubling(Restarted):
    """Mirror descent restarted with a doubled horizon.

    Parameters
    ----------
    mirror_map : MirrorMap
        To fit the reward's norm.
    inherit : bool
        Whether mega-episodes keep the counts of earlier ones.
    scale, exponent : float
        Of the learning rates, as for `TunedMirrorDescent`.

    Examples
    --------
    Mega-episode h has 2^h steps and the share 2^-h of delta.

    >>> from equipoise.oracles import EuclideanBall
    >>> [(phase.length, taken, phase.share) for phase, taken in Doubling(EuclideanBall()).phases(10)]
    [(2, 2, 0.5), (4, 4, 0.25), (8, 4, 0.125)]
    """

    def __init__(
        self, mirror_map: MirrorMap, inherit: bool = False, scale: float = 1.0, exponent: float = PAPERS_EXPONENT
    ) -> None:
        super().__init__(inherit)
        self.mirror_map = mirror_map
        first = TunedMirrorDescent(mirror_map, 2, scale, exponent)
        self.scale, self.exponent = first.scale, first.exponent

    def _tuned(self, horizon: int) -> Oracle:
        return TunedMirrorDescent(self.mirror_map, horizon, self.scale, self.exponent)

    @property
    def theory(self) -> OracleTheory:
        """The sums over its mega-episodes; the number of episodes is that of the phases, added up."""
        papers = self.scale == 1.0 and self.exponent == PAPERS_EXPONENT
        return OracleTheory(
            rate=descent_rate(self.exponent),
            regret_term=self._regret_term,
            moves=moves_unless_flat,
            printed=OracleTheory(regret_term=self._printed_term) if papers else None,
            start=1.0,
        )

    def _regret_term(self, reward: Reward, steps: int) -> float:
        """L' ||1|| sum over h of [2^{ah} / c + c l(h) 2^{-ah}] / T, with l(h) the steps taken in mega-episode h."""
        total = 0.0
        for phase, taken in self.phases(steps):
            assert phase.length is not None
            total += _total_loss(phase.length, taken, self.scale, self.exponent)
        return self.mirror_map.radius(reward) * ones(reward.n_outcomes, reward.norm) * total / steps

    def _printed_term(self, reward: Reward, steps: int) -> float:
        """(C.23): 10 L' ||1|| / T^{1/3}."""
        reach = self.mirror_map.radius(reward)
        return 10.0 * reach * ones(reward.n_outcomes, reward.norm) * math.pow(steps, -1.0 / 3.0)
