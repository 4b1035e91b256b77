"""Small hidden models as dense arrays: one row a state-action pair, pairs ordered by state, then action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """A model: ``transitions[pair]`` is a distribution over states, ``means[pair]`` the mean outcomes."""

    n_actions: tuple[int, ...]
    transitions: Array
    means: Array
    start: int = 0

    @property
    def n_states(self) -> int:
        return len(self.n_actions)

    @property
    def n_outcomes(self) -> int:
        return int(self.means.shape[1])

    def pair(self, state: int, action: int) -> int:
        return sum(self.n_actions[:state]) + action

    def step(self, state: int, action: int, rng: np.random.Generator, *, noisy: bool) -> tuple[Array, int]:
        """Draw outcomes (Bernoulli if noisy, else the mean) and the next state."""
        pair = self.pair(state, action)
        mean = self.means[pair]
        outcomes = (rng.random(mean.size) < mean).astype(float) if noisy else mean.copy()
        return outcomes, int(rng.choice(self.n_states, p=self.transitions[pair]))


def star(branches: int, diameter: int) -> World:
    """Build the paper's star: a centre, and branches of ``diameter / 2`` states that end in a leaf.

    Centre action k enters branch k. Inside a branch, action 0 goes outwards and action 1 inwards. At leaf k
    action 0 loops and yields outcome e_k, action 1 goes back; every other outcome is zero. Branch k holds the
    states 1 + k d, ..., (k + 1) d with d = diameter / 2, the last being the leaf.
    """
    depth, odd = divmod(diameter, 2)
    if odd or depth < 1:
        raise ValueError("the diameter of a star is even and at least 2")
    n_states = 1 + branches * depth
    moves: list[tuple[int, int | None]] = [(1 + k * depth, None) for k in range(branches)]
    for k in range(branches):
        for j in range(depth):
            here = 1 + k * depth + j
            back = here - 1 if j > 0 else 0
            leaf = j == depth - 1
            moves += [(here, k) if leaf else (here + 1, None), (back, None)]
    transitions = np.zeros((len(moves), n_states))
    means = np.zeros((len(moves), branches))
    for pair, (to, outcome) in enumerate(moves):
        transitions[pair, to] = 1.0
        if outcome is not None:
            means[pair, outcome] = 1.0
    return World((branches, *[2] * (n_states - 1)), transitions, means)


def random_world(n_actions: tuple[int, ...], n_outcomes: int, rng: np.random.Generator) -> World:
    """Draw a world with all transition probabilities positive: communicating and aperiodic."""
    n_pairs, n_states = sum(n_actions), len(n_actions)
    transitions = rng.dirichlet(np.ones(n_states), size=n_pairs) * 0.9 + 0.1 / n_states
    transitions /= transitions.sum(axis=1, keepdims=True)
    return World(n_actions, transitions, rng.random((n_pairs, n_outcomes)))
