r"""The tuned mirror descent oracle TMD(F, T) (section 5), for a horizon T known in advance.

    theta_{t+1} = argmax over theta in dom F of  -theta.(eta Z_t) - F(theta),
    Z_t = sum over q <= t of grad g*(theta_q) - V_q,     eta = L' / (||1_K|| T^{2/3}),

from theta_1 = argmin F. With F_2 it is lazy projected descent, with F_inf multiplicative weights: see
`mirror_maps`. When T is not known, `Doubling` guesses it.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import counted
from equipoise.errors import OracleError, ParameterError
from equipoise.oracles.base import Oracle, OracleKernel
from equipoise.oracles.mirror_maps import MirrorMap
from equipoise.oracles.theory import OracleTheory, moves_unless_flat
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


@final
class TunedMirrorDescent(Oracle):
    """Lazy mirror descent on the dual, tuned for `horizon` steps.

    Parameters
    ----------
    mirror_map : MirrorMap
        `EuclideanBall`, `Box`, `SignedSimplex`, `SlackSimplex` or `CrossPolytope`, to fit the reward's norm.
    horizon : int
        T.

    See Also
    --------
    equipoise.oracles.Doubling : Without a horizon.

    Examples
    --------
    >>> from equipoise.oracles import EuclideanBall
    >>> TunedMirrorDescent(EuclideanBall(), horizon=1e5).horizon
    100000
    """

    def __init__(self, mirror_map: MirrorMap, horizon: int) -> None:
        if not isinstance(mirror_map, MirrorMap):
            raise OracleError(f"mirror_map: got {mirror_map!r}; a MirrorMap is needed, such as EuclideanBall()")
        self.mirror_map = mirror_map
        self._horizon = counted(horizon, "horizon", 1, error=OracleError)

    @property
    def horizon(self) -> int:
        """T."""
        return self._horizon

    def check(self, reward: Reward) -> None:
        """The mirror map must fit the reward."""
        self.mirror_map.check(reward)

    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The minimiser of F."""
        return self.mirror_map.first_theta(reward)

    def kernel(self, reward: Reward) -> OracleKernel:
        """The mirror map's step."""
        params = self.mirror_map.params(reward, self.mirror_map.eta(reward, self.horizon))
        scratch = self.mirror_map.scratch(reward)
        return OracleKernel(self.mirror_map.step, params, scratch=scratch, calls=("conjugate_argmax",))

    @property
    def theory(self) -> OracleTheory:
        """Lemma C.8 and (C.19) to (C.23), with the constants that are proven."""
        return OracleTheory(
            rate=-1.0 / 3.0,
            regret_term=self._regret_term,
            gradient_episodes=self._gradient_episodes,
            moves=moves_unless_flat,
        )

    def _regret_term(self, reward: Reward, steps: int) -> float:
        """L' ||1|| [H^{2/3} / T + H^{-2/3}], T <= H."""
        if steps > self.horizon:
            raise ParameterError(f"steps: got {steps}; the oracle is tuned for {self.horizon}")
        total = lost_in(self.horizon, steps)
        return self.mirror_map.radius(reward) * ones(reward.n_outcomes, reward.norm) * total / steps

    def _gradient_episodes(self, reward: Reward, threshold: float, steps: int) -> float:
        """1 + sqrt(L' / Q) H^{-1/3} T."""
        reach = self.mirror_map.radius(reward)
        return 1.0 + math.sqrt(reach / threshold) * math.pow(self.horizon, -1.0 / 3.0) * steps


def lost_in(horizon: int, steps: int) -> float:
    """H^{2/3} + T H^{-2/3}: what T steps of TMD(F, H) lose in all, in units of L' ||1||."""
    slow = math.pow(horizon, 2.0 / 3.0)
    return slow + steps / slow
