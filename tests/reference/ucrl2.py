"""UCRL2 (Jaksch, Ortner and Auer 2010), dense, with the regions of the paper: one reward, one trigger.

It knows nothing of gradients: the scalar rewards are weights.v, optimistic within H^v, and an episode ends when some
pair has been visited as often within it as before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tests.reference.confidence import outcome_region, transition_region
from tests.reference.planner import extended_value_iteration


class UCRL2:
    """``act(state)``, then ``observe(outcomes, next_state)``."""

    def __init__(self, n_actions: Sequence[int], weights: ArrayLike, start: int, delta: float) -> None:
        self.n_actions = tuple(n_actions)
        self.weights = np.asarray(weights, dtype=float)
        self.delta = delta
        n_pairs, n_states = sum(self.n_actions), len(self.n_actions)
        self.first = np.concatenate([[0], np.cumsum(self.n_actions)])
        self.before = np.zeros(n_pairs)
        self.within = np.zeros(n_pairs)
        self.sums = np.zeros((n_pairs, self.weights.size))
        self.successors = np.zeros((n_pairs, n_states))
        self.t = 1
        self.state = start
        self.policy: np.ndarray | None = None
        self.episode_starts: list[int] = []
        self.gains: list[float] = []

    def act(self, state: int) -> int:
        if self.policy is None or self._doubled(state):
            self._plan()
        assert self.policy is not None
        self.pair = self.first[state] + self.policy[state]
        return int(self.policy[state])

    def observe(self, outcomes: ArrayLike, next_state: int) -> None:
        self.within[self.pair] += 1
        self.sums[self.pair] += outcomes
        self.successors[self.pair, next_state] += 1
        self.t += 1

    def _doubled(self, state: int) -> bool:
        assert self.policy is not None
        pair = self.first[state] + self.policy[state]
        return bool(self.within[pair] >= max(1, self.before[pair]))

    def _plan(self) -> None:
        self.before += self.within
        self.within[:] = 0
        h_v = outcome_region(self.sums, self.before, self.t, self.delta)
        h_p = transition_region(self.successors, self.before, self.t, self.delta)
        rewards = np.where(self.weights > 0, h_v.hi, h_v.lo) @ self.weights
        plan = extended_value_iteration(rewards, h_p.lo, h_p.hi, self.n_actions, 1 / math.sqrt(self.t))
        self.policy = plan.policy
        self.episode_starts.append(self.t)
        self.gains.append(plan.gain)
