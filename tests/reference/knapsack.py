"""Algorithm MDPwK: TOC-UCRL2 on g_C until the inventory runs low, then the null action."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tests.reference.oracles import TunedMirrorDescent, knapsack_simplex
from tests.reference.rewards import Knapsack
from tests.reference.toc_ucrl2 import Reference


class KnapsackReference:
    """Outcome 0 is the reward, the others are consumed from b T units each; ``null_actions[s]`` is a_0 at s.

    The null actions are known to yield nothing. The agent stops as soon as some I_k < 1, so that the budget
    holds (erratum 4); the paper's test, I_k >= 0, lets one unit too many go.
    """

    def __init__(
        self,
        n_actions: Sequence[int],
        n_outcomes: int,
        start: int,
        budget: float,
        horizon: int,
        null_actions: Sequence[int],
        delta: float = 0.05,
        tolerance: float | None = None,
    ) -> None:
        reward = Knapsack(n_outcomes, budget)
        self.null_actions = list(null_actions)
        self.inventory = np.full(n_outcomes - 1, budget * horizon)
        self.steps = 0  # the paper's tau
        self.inner = Reference(
            n_actions,
            n_outcomes,
            start,
            reward,
            TunedMirrorDescent(reward, knapsack_simplex(n_outcomes, budget), horizon),
            Q=1 + 2 / budget,
            delta=delta,
            tolerance=tolerance,
            known={(s, a): np.zeros(n_outcomes) for s, a in enumerate(null_actions)},
        )

    @property
    def stopped(self) -> bool:
        return bool(np.any(self.inventory < 1))

    def act(self, state: int) -> int:
        return self.null_actions[state] if self.stopped else self.inner.act(state)

    def observe(self, outcomes: ArrayLike, next_state: int) -> None:
        if self.stopped:
            return
        self.inner.observe(outcomes, next_state)
        self.inventory = self.inventory - np.asarray(outcomes, dtype=float)[1:]
        self.steps += 1
