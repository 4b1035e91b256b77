"""An agent in plain Python: it has random numbers of its own, and can be saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import equipoise as eq


class Curious(eq.Agent):
    """Does what seemed best for the next step, and now and then anything.

    What is best is what moves the average up the gradient of the reward: the action with the largest
    grad g(average).(mean outcome). It does not look ahead, so nothing is proven of it.

    Parameters
    ----------
    space : Space
        What it knows of the world.
    reward : Reward
        What its outcomes are judged by.
    curiosity : float
        The probability of an action at random, in [0, 1].
    seed : int
        Of its own random numbers; a study gives it the seed of the run.
    """

    def __init__(self, space: eq.Space, reward: eq.rewards.Reward, curiosity: float = 0.1, seed: int = 0) -> None:
        super().__init__(space, reward)
        if not 0.0 <= curiosity <= 1.0:
            raise eq.errors.ParameterError(f"curiosity: got {curiosity}; a probability is needed")
        self.curiosity = curiosity
        self.seed = seed
        self.visits = np.zeros(space.n_pairs)
        self.sums = np.zeros((space.n_pairs, space.n_outcomes))
        self.random = np.random.default_rng(seed)

    @property
    def caveat(self) -> str:
        """Reports show it beside the name."""
        return "nothing is proven of it"

    def choose(self, state: int) -> int:
        """The action that helps most at present, or any."""
        first, actions = int(self.space.first_pair[state]), int(self.space.n_actions[state])
        if self.random.random() < self.curiosity:
            return int(self.random.integers(actions))
        pairs = slice(first, first + actions)
        means = self.sums[pairs] / np.maximum(1.0, self.visits[pairs])[:, None]
        return int(np.argmax(means @ self.reward.at(self.t).gradient(self.average)))

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:  # noqa: ARG002
        """Count, and add up."""
        pair = int(self.space.first_pair[state]) + action
        self.visits[pair] += 1.0
        self.sums[pair] += outcomes

    def memory(self) -> dict[str, Any]:
        """All that decides what comes next: arrays and plain data."""
        return {"visits": self.visits, "sums": self.sums, "random": self.random.bit_generator.state}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """The way back."""
        self.visits, self.sums = memory["visits"], memory["sums"]
        self.random.bit_generator.state = memory["random"]
