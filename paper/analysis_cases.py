"""The worlds and rewards on which the analysis of section 4 is measured: small, and unlike each other."""

from __future__ import annotations

from typing import NamedTuple

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models import scheduler
from equipoise.models.model import Model
from equipoise.models.paper_instances import bandit, ring, star
from equipoise.models.standard import garnet, riverswim
from equipoise.oracles.base import Oracle
from equipoise.oracles.descent import TunedGradientDescent
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance
from equipoise.rewards.ordered import BottomSum
from equipoise.rewards.separable import Linear, Quadratic


class Case(NamedTuple):
    """A world, a reward, and the oracle that steers the agent (None: the default)."""

    name: str
    model: Model
    reward: Reward
    oracle: Oracle | None = None

    def agent(self, delta: float = 0.05) -> TocUCRL2:
        """The paper's agent at its first step."""
        return TocUCRL2(self.model.space, self.reward, self.oracle, delta=delta)


def cases(random: int) -> list[Case]:
    """Named worlds with each kind of oracle, and so many random ones."""
    listed = [
        Case("bandit(3), Quadratic", bandit(3), Quadratic([1 / 3] * 3)),
        Case("star(3, 4), Quadratic", star(3, 4), Quadratic([1 / 3] * 3)),
        Case("star(2, 2), Balance, TGD", star(2, 2), Balance([0.5, 0.5]), TunedGradientDescent()),
        Case("scheduler, BottomSum, doubling", scheduler(), BottomSum(3, 1)),
        Case("riverswim(6), Linear", riverswim(6), Linear([1.0])),
        Case("ring(6), Linear", ring(6), Linear([1.0])),
    ]
    for seed in range(random):
        model = garnet(5, 2, 3, 2, seed=seed)
        listed.append(Case(f"garnet, seed {seed}, Quadratic", model, Quadratic([0.7, 0.7])))
    return listed
