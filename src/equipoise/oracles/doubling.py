"""The anytime form of mirror descent (appendix C.3.2, Algorithm TOC-UCRL2-Anytime-TMD).

Mega-episode h = 1, 2, ... lasts 2^h steps and runs TOC-UCRL2 with TMD(F, 2^h). (The paper writes
TMD(F, H), and uses delta_start before setting it.)

`inherit=False`, the algorithm as displayed: every mega-episode starts from nothing, with its own clock and
with delta / 2^h, which sums to delta.

`inherit=True`, the remark above the display: counts are kept, and with them the one clock tau and the one
confidence event of level delta over all time; only the oracle starts anew, and a new episode with it.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import OracleError
from equipoise.oracles.base import Oracle, OracleKernel, Phase
from equipoise.oracles.mirror_descent import TunedMirrorDescent, lost_in
from equipoise.oracles.mirror_maps import MirrorMap
from equipoise.oracles.theory import OracleTheory, moves_unless_flat
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


@final
class Doubling(Oracle):
    """Mirror descent restarted with a doubled horizon.

    Parameters
    ----------
    mirror_map : MirrorMap
        To fit the reward's norm.
    inherit : bool
        Whether a mega-episode keeps the counts of the one before.

    See Also
    --------
    equipoise.oracles.TunedMirrorDescent : What it runs in each phase.

    Examples
    --------
    Mega-episode h has 2^h steps and the share 2^-h of delta.

    >>> from equipoise.oracles import EuclideanBall
    >>> [(phase.length, taken, phase.share) for phase, taken in Doubling(EuclideanBall()).phases(10)]
    [(2, 2, 0.5), (4, 4, 0.25), (8, 4, 0.125)]
    """

    def __init__(self, mirror_map: MirrorMap, inherit: bool = False) -> None:
        self.mirror_map = mirror_map
        if not isinstance(inherit, bool | np.bool_):
            raise OracleError(f"inherit: got {inherit!r}; True or False is needed")
        self.inherit = bool(inherit)
        self._first = TunedMirrorDescent(mirror_map, 2)

    def phase(self, index: int) -> Phase:
        """Mega-episode `index`, of 2^index steps, after 2 + 4 + ... = 2^index - 2 others."""
        length = 2**index
        share = 1.0 if self.inherit else 0.5**index
        return Phase(TunedMirrorDescent(self.mirror_map, length), length, share, self.inherit, origin=length - 2)

    def check(self, reward: Reward) -> None:
        """The mirror map must fit the reward."""
        self._first.check(reward)

    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The minimiser of F."""
        return self._first.first_theta(reward)

    def kernel(self, reward: Reward) -> OracleKernel:
        """The step of the first mega-episode; the agent asks each phase for its own."""
        return self._first.kernel(reward)

    @property
    def theory(self) -> OracleTheory:
        """The sums over its mega-episodes; the number of episodes is that of the phases, added up."""
        return OracleTheory(
            rate=-1.0 / 3.0,
            regret_term=self._regret_term,
            moves=moves_unless_flat,
            printed=OracleTheory(regret_term=self._printed_term),
        )

    def _regret_term(self, reward: Reward, steps: int) -> float:
        """L' ||1|| sum over h of [2^{2h/3} + l(h) 2^{-2h/3}] / T, with l(h) the steps taken in mega-episode h."""
        total = 0.0
        for phase, taken in self.phases(steps):
            assert phase.length is not None
            total += lost_in(phase.length, taken)
        return self.mirror_map.radius(reward) * ones(reward.n_outcomes, reward.norm) * total / steps

    def _printed_term(self, reward: Reward, steps: int) -> float:
        """(C.23): 10 L' ||1|| / T^{1/3}."""
        reach = self.mirror_map.radius(reward)
        return 10.0 * reach * ones(reward.n_outcomes, reward.norm) * math.pow(steps, -1.0 / 3.0)
