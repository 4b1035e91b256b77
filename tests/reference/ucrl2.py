"""UCRL2 (Jaksch, Ortner and Auer 2010), dense, with the regions of the paper or with its own: one reward, one trigger.

It knows nothing of gradients: the scalar rewards are weights.v, optimistic within H^v, and an episode ends when some
pair has been visited as often within it as before it. Its own regions are balls in the 1-norm, planned in as figure 2
of that article says; the only liberty is that mean outcomes are kept within [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tests.reference.confidence import outcome_region, transition_region
from tests.reference.planner import Array, Plan, argmax_with_ties, extended_value_iteration, pairs_by_state


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
        plan = self._optimistic_plan(1 / math.sqrt(self.t))
        self.policy = plan.policy
        self.episode_starts.append(self.t)
        self.gains.append(plan.gain)

    def _optimistic_plan(self, epsilon: float) -> Plan:
        h_v = outcome_region(self.sums, self.before, self.t, self.delta)
        h_p = transition_region(self.successors, self.before, self.t, self.delta)
        rewards = np.where(self.weights > 0, h_v.hi, h_v.lo) @ self.weights
        return extended_value_iteration(rewards, h_p.lo, h_p.hi, self.n_actions, epsilon)


class OriginalUCRL2(UCRL2):
    """With the sets of the article, equations (3) and (4), for K outcomes instead of one reward."""

    def _optimistic_plan(self, epsilon: float) -> Plan:
        n_pairs, n_states, n_outcomes = len(self.before), len(self.n_actions), self.weights.size
        n = np.maximum(1, self.before)
        width = np.sqrt(7 * math.log(2 * n_outcomes * n_pairs * self.t / self.delta) / (2 * n))[:, None]
        mean = self.sums / n[:, None]
        low, high = np.clip(mean - width, 0, 1), np.clip(mean + width, 0, 1)
        rewards = np.where(self.weights > 0, high, low) @ self.weights
        radius = np.sqrt(14 * n_states * math.log(2 * n_pairs / n_states * self.t / self.delta) / n)
        return iteration_over_balls(rewards, self.successors / n[:, None], radius, self.n_actions, epsilon)


def best_in_ball(u: Array, centre: Array, radius: float) -> Array:
    """Figure 2: half the radius more for the best state, and as much less for the worst, one after the other."""
    best_first = np.argsort(-u, kind="stable")
    p = centre.copy()
    p[best_first[0]] = min(1.0, p[best_first[0]] + radius / 2)
    for state in best_first[::-1]:
        if p.sum() <= 1:
            break
        p[state] = max(0.0, 1 - (p.sum() - p[state]))
    return p


def iteration_over_balls(
    rewards: Array, centre: Array, radius: Array, n_actions: Sequence[int], epsilon: float, most: int = 100_000
) -> Plan:
    """Value iteration from u = 0 until the span of a difference is at most epsilon; the least of u is made zero."""
    pairs = pairs_by_state(n_actions)
    u = np.zeros(len(n_actions))
    for sweep in range(1, most + 1):
        values = rewards + np.array([best_in_ball(u, c, r) @ u for c, r in zip(centre, radius, strict=True)])
        following = np.array([values[r.start : r.stop].max() for r in pairs])
        difference = following - u
        if np.ptp(difference) <= epsilon:
            policy = np.array([argmax_with_ties(values[r.start : r.stop]) for r in pairs])
            return Plan(policy, float(difference.max()), u, float(np.ptp(difference)), sweep)
        u = following - following.min()
    raise ArithmeticError(f"no convergence in {most} sweeps")
