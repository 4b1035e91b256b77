"""Round robin: the actions of each state in turn, whatever the outcomes."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from equipoise._files import ensure, load_array
from equipoise._runtime.compiler import inlined, kernel
from equipoise.agents.base import Agent
from equipoise.models.model import Model, Space
from equipoise.models.world import get_sampling, sample
from equipoise.rewards.base import Reward


@inlined
def _turned(first_pair, turn, state):
    pair = first_pair[state] + turn[state]
    turn[state] = (turn[state] + 1) % (first_pair[state + 1] - first_pair[state])
    return pair


@kernel
def _turn(first_pair, turn, state):
    return _turned(first_pair, turn, state)


@kernel
def _go_round(steps, turn, first_pair, clock, total, outcome, rng, world):
    state = clock[0].state
    for _ in range(steps):
        pair = _turned(first_pair, turn, state)
        state = sample(rng, pair, world, outcome)
        for k in range(total.shape[0]):
            total[k] += outcome[k]
    clock[0].state = state
    clock[0].time += steps


@final
class RoundRobin(Agent):
    """An agent that takes the actions of each state in turn, indefinitely.

    Parameters
    ----------
    space : Space
        The world's.
    reward : Reward
        What its outcomes are judged by.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(3)
    >>> agent = RoundRobin(model.space, eq.rewards.Balance([1 / 3] * 3))
    >>> eq.simulate(model, agent, 300).outcomes[-1].round(3).tolist()
    [0.333, 0.333, 0.333]
    """

    def __init__(self, space: Space, reward: Reward) -> None:
        super().__init__(space, reward)
        self._turn = np.zeros(space.n_states, dtype=np.int64)
        self._outcome = np.zeros(space.n_outcomes)

    def choose(self, state: int) -> int:
        """The next in turn."""
        return int(_turn(self.space.first_pair, self._turn, state) - self.space.first_pair[state])

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled."""
        _go_round(
            steps, self._turn, self.space.first_pair, self._clock, self._total, self._outcome, rng,
            get_sampling(model),
        )  # fmt: skip

    def memory(self) -> dict[str, NDArray[np.int64]]:
        """Whose turn it is in each state."""
        return {"turn": self._turn}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with these turns."""
        turn = load_array(memory, "turn", self._turn)
        counts = np.diff(self.space.first_pair)
        ensure(np.all((turn >= 0) & (turn < counts)), "the array 'turn' has a turn that no action has")
        taken = self.space.first_pair[self.state] + (turn[self.state] - 1) % counts[self.state]
        ensure(not self.pending or self._clock["pending"][0] == taken, "its turns and its clock do not fit together")
        self._turn = turn
