"""Taking the actions of each state in turn: even effort, whatever comes of it."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import inlined, kernel
from equipoise.agents.base import PENDING, STATE, TIME
from equipoise.agents.baselines.simple import SimpleAgent
from equipoise.models._kernels import sample
from equipoise.models.model import Model, Space
from equipoise.models.world import sampling_arrays
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
def _go_round(
    steps, turn, first_pair, clock, total, outcome,
    rng, branch_first, branch_cumulative, branch_next, branch_row, rows, bernoulli,
):  # fmt: skip
    state = clock[STATE]
    for _ in range(steps):
        pair = _turned(first_pair, turn, state)
        state = sample(rng, pair, branch_first, branch_cumulative, branch_next, branch_row, rows, bernoulli, outcome)
        for k in range(total.shape[0]):
            total[k] += outcome[k]
    clock[STATE] = state
    clock[TIME] += steps


@final
class RoundRobin(SimpleAgent):
    """An agent that takes the actions of each state one after the other, for ever.

    >>> import equipoise as eq
    >>> model = eq.models.bandit(3)
    >>> agent = RoundRobin(model.space, eq.rewards.Balance([1 / 3] * 3))
    >>> eq.simulate(model, agent, 300).outcomes[-1].round(3).tolist()
    [0.333, 0.333, 0.333]
    """

    def __init__(self, space: Space, reward: Reward) -> None:
        super().__init__(space, reward)
        self._turn = np.zeros(space.n_states, dtype=np.int64)

    def arguments(self) -> Mapping[str, Any]:
        """None."""
        return {}

    def _memory(self) -> dict[str, NDArray[Any]]:
        return super()._memory() | {"turn": self._turn}

    def _sound(self) -> bool:
        counts = np.diff(self.space.first_pair)
        if not (super()._sound() and np.all((self._turn >= 0) & (self._turn < counts))):
            return False
        taken = self.space.first_pair[self.state] + (self._turn[self.state] - 1) % counts[self.state]
        return not self.pending or bool(self._clock[PENDING] == taken)

    def _choose(self) -> int:
        return int(_turn(self.space.first_pair, self._turn, self.state))

    def _run(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        _go_round(
            steps, self._turn, self.space.first_pair, self._clock, self._total, self._outcome, rng,
            *sampling_arrays(model),
        )  # fmt: skip
