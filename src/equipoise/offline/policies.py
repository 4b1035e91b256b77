"""Stationary policies as arrays: one probability a pair, or for a deterministic one the pair of each state."""

from __future__ import annotations

import numpy as np

from equipoise._types import Index, Vector
from equipoise.models.model import Model
from equipoise.offline.chains import long_run
from equipoise.rewards.base import Reward


def policy_of(model: Model, occupancy: Vector) -> Vector:
    """Read the randomised stationary policy off an occupancy; uniform where nothing is visited.

    >>> from equipoise.models import star
    >>> policy_of(star(2, 2), np.array([0.0, 0.0, 0.25, 0.75, 0.0, 0.0])).tolist()
    [0.5, 0.5, 0.25, 0.75, 0.5, 0.5]
    """
    first = model.first_pair[:-1]
    total = np.add.reduceat(occupancy, first)[model.state_of]
    uniform = 1.0 / np.diff(model.first_pair)[model.state_of]
    return np.where(total > 0.0, np.divide(occupancy, total, where=total > 0.0, out=np.zeros_like(total)), uniform)


def ends_of(model: Model, pairs: Index) -> list[tuple[Index, Vector]]:
    """List the recurrent classes of a deterministic policy, given as one pair a state."""
    policy = np.zeros(model.n_pairs)
    policy[pairs] = 1.0
    return long_run(model, policy)


def led_to(model: Model, pairs: Index, states: Index) -> Index:
    """Change a policy outside of `states` so that it leads there from everywhere."""
    pairs = pairs.copy()
    reached = np.zeros(model.n_states, np.bool_)
    reached[states] = True
    p = model.transitions()
    while not reached.all():
        able = np.flatnonzero((p @ reached.astype(np.float64) > 0.0) & ~reached[model.state_of])[::-1]
        pairs[model.state_of[able]] = able  # of several the lowest, which is written last
        reached[model.state_of[able]] = True
    return pairs


def greedy(model: Model, q: Vector) -> Index:
    """Return in every state the first pair with the largest entry of q."""
    most = np.maximum.reduceat(q, model.first_pair[:-1])
    attained = np.flatnonzero(q == most[model.state_of])[::-1]
    pairs = np.empty(model.n_states, np.int64)
    pairs[model.state_of[attained]] = attained
    return pairs


def value_of(model: Model, reward: Reward, x: Vector) -> float:
    """The reward of the average outcomes of an occupancy."""
    return reward.value(np.clip(model.mean_rows.T @ x, 0.0, 1.0))
