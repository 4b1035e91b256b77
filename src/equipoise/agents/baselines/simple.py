"""What the baselines share: a clock, a state, and the average of the outcomes."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.agents.base import PENDING, TIME, ClockedAgent
from equipoise.errors import ParameterError, RewardError
from equipoise.models.model import Space
from equipoise.rewards.base import Reward


class SimpleAgent(ClockedAgent):
    """An agent without episodes; a subclass chooses actions and has a compiled loop."""

    def __init__(self, space: Space, reward: Reward) -> None:
        for value, kind, name in ((space, Space, "space"), (reward, Reward, "reward")):
            if not isinstance(value, kind):
                raise ParameterError(f"{name}: got {type(value).__name__}; it must be of type {kind.__name__}")
        if reward.n_outcomes != space.n_outcomes:
            raise RewardError(f"reward: it takes {reward.n_outcomes} outcomes; the space has {space.n_outcomes}")
        self.space = space
        self.reward = reward
        self._total = np.zeros(space.n_outcomes)
        self._outcome = np.zeros(space.n_outcomes)
        self._start_clock()

    @property
    def average(self) -> NDArray[np.float64]:
        """The average outcome vector so far; zero before the first step."""
        return self._total / max(1, self.t - 1)

    def act(self, state: int) -> int:
        """Choose the action of time t in `state`."""
        self._check_act(state)
        first = int(self.space.first_pair[state])
        pair = self._choose()
        self._clock[PENDING] = pair
        return pair - first

    def observe(self, outcomes: ArrayLike, next_state: int) -> None:
        """Take in the outcomes of the last action and the state it led to."""
        vector, after = self._checked_observation(outcomes, next_state)
        self._learn(int(self._clock[PENDING]), vector)
        self._total += vector
        self._clock[:] = self._clock[TIME] + 1, after, -1

    def _memory(self) -> dict[str, NDArray[Any]]:
        """The arrays that decide what comes next, by name; a checkpoint keeps them."""
        return {"clock": self._clock, "total": self._total}

    def _sound(self) -> bool:
        """Whether these arrays can have come about, given that the clock can; n numbers in [0, 1] sum to at most n."""
        return bool(np.all((self._total >= 0.0) & (self._total <= self.t - 1)))

    @abc.abstractmethod
    def _choose(self) -> int:
        """The pair of the present state to take."""

    def _learn(self, pair: int, outcome: NDArray[np.float64]) -> None:
        """What an observation teaches; nothing, unless a subclass says so."""
