"""The oracle that fits a reward: the default of an agent, which error messages recommend.

`FrankWolfe` for a smooth reward, else the tuned descent of its norm, in anytime form: `TunedGradientDescent` for 2;
`Doubling(Box())` for 1; for infinity `Doubling` over the simplex that the reward declares, or the whole dual ball.
"""

from __future__ import annotations

from equipoise.oracles.base import Oracle
from equipoise.oracles.descent import Doubling, TunedGradientDescent
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.oracles.mirror_maps import Box, CrossPolytope, SignedSimplex, SlackSimplex
from equipoise.rewards.base import Reward


def fitting_oracle(reward: Reward, *, inherit: bool = False) -> Oracle:
    """The oracle that an agent uses when none is given.

    Parameters
    ----------
    reward : Reward
        To be maximised.
    inherit : bool
        For `Doubling`: whether counts are kept from one mega-episode to the next.

    Returns
    -------
    Oracle
        `FrankWolfe` for a smooth g, else the tuned descent of its norm.

    Examples
    --------
    >>> from equipoise.rewards import BottomSum, Quadratic
    >>> fitting_oracle(Quadratic([0.5, 0.5])), fitting_oracle(BottomSum(3, 2), inherit=True)
    (FrankWolfe(), Doubling(mirror_map=SignedSimplex(), inherit=True))
    """
    if reward.smoothness is not None:
        return FrankWolfe()
    if reward.norm == 2.0:
        return TunedGradientDescent()
    if reward.norm == 1.0:
        return Doubling(Box(), inherit)
    if reward.vertices is None:
        return Doubling(CrossPolytope(), inherit)
    slack = bool((reward.vertices.scale == 0).any())
    return Doubling(SlackSimplex() if slack else SignedSimplex(), inherit)
