"""Which oracle fits a reward: the default of an agent, and what an error message recommends.

Smooth: `FrankWolfe`. Otherwise the tuned descent of its norm, in anytime form: 2, `TunedGradientDescent`;
1, `Doubling(Box())`; infinity, `Doubling` over the simplex that the reward states, or over the whole dual
ball if it states none.
"""

from __future__ import annotations

from equipoise.oracles.base import Oracle
from equipoise.oracles.doubling import Doubling
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.oracles.gradient_descent import TunedGradientDescent
from equipoise.oracles.mirror_maps import Box, CrossPolytope, SignedSimplex, SlackSimplex
from equipoise.rewards.base import Reward


def fitting_oracle(reward: Reward) -> Oracle:
    """The oracle that an agent uses when none is given."""
    if reward.smoothness is not None:
        return FrankWolfe()
    if reward.norm == 2.0:
        return TunedGradientDescent()
    if reward.norm == 1.0:
        return Doubling(Box())
    if reward.vertices is None:
        return Doubling(CrossPolytope())
    slack = bool((reward.vertices.scale == 0).any())
    return Doubling(SlackSimplex() if slack else SignedSimplex())
