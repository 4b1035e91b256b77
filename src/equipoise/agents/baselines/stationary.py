"""Following one stationary policy, deterministic or randomised: what most controllers do.

It ignores the balance reached so far. The paper's point is that no such policy is optimal in general; see
`best_stationary` for the best that can be had.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._compile import inlined, kernel
from equipoise._numbers import SEEDS, whole
from equipoise.agents.base import Agent
from equipoise.agents.restoring import require
from equipoise.errors import ParameterError
from equipoise.models.branches import SUM_TOLERANCE
from equipoise.models.kernels import sample
from equipoise.models.model import Model, Space
from equipoise.models.world import sampling_arrays
from equipoise.rewards.base import Reward


@inlined
def _drawn(rng, first_pair, cumulative, state):
    u = rng.random()
    pair = first_pair[state]
    while u >= cumulative[pair] and pair < first_pair[state + 1] - 1:
        pair += 1
    return pair


@kernel
def _draw(rng, first_pair, cumulative, state):
    return _drawn(rng, first_pair, cumulative, state)


@kernel
def follow(steps, actions, cumulative, first_pair, clock, total, outcome, rng, world):
    """Take steps in a sampled world by the cumulative probabilities of a policy; `actions` is the stream they use."""
    state = clock[0].state
    for _ in range(steps):
        pair = _drawn(actions, first_pair, cumulative, state)
        state = sample(rng, pair, world, outcome)
        for k in range(total.shape[0]):
            total[k] += outcome[k]
    clock[0].state = state
    clock[0].time += steps


@final
class StationaryAgent(Agent):
    """An agent that follows one policy for ever.

    Parameters
    ----------
    space : Space
        The world's.
    reward : Reward
        What its outcomes are judged by.
    policy : array of float, optional
        A probability for each pair, summing to 1 in each state (`Benchmark.policy`, `Stationary.policy`); None:
        every action alike.
    seed : int
        Of its own stream, which only a randomised policy uses.

    See Also
    --------
    equipoise.best_stationary : Where policies for it come from.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = StationaryAgent(model.space, eq.rewards.Quadratic([0.5, 0.5]), [0.5, 0.5])
    >>> bool(eq.simulate(model, agent, 10_000).values[-1] > 0.999)
    True
    """

    def __init__(self, space: Space, reward: Reward, policy: ArrayLike | None = None, seed: int = 0) -> None:
        super().__init__(space, reward)
        self.seed = whole(seed, "seed", 0, SEEDS, error=ParameterError)
        counts = np.diff(space.first_pair)
        uniform = np.repeat(1.0 / counts, counts)
        self._given = policy is not None
        self.probabilities = uniform if policy is None else _checked_policy(space, policy)
        self._cumulative = cumulated(self.probabilities, space.first_pair)
        self._outcome = np.zeros(space.n_outcomes)
        # spawned, so that it is another stream than a world's of the same seed
        self._actions = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed).spawn(1)[0]))

    def arguments(self) -> dict[str, Any]:
        """The policy that was given, None if none was, and the seed; `probabilities` is the policy in force."""
        return {"policy": self.probabilities.tolist() if self._given else None, "seed": self.seed}

    def choose(self, state: int) -> int:
        """Drawn by the policy."""
        first_pair = self.space.first_pair
        return int(_draw(self._actions, first_pair, self._cumulative, state) - first_pair[state])

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled."""
        follow(
            steps, self._actions, self._cumulative, self.space.first_pair, self._clock, self._total, self._outcome,
            rng, sampling_arrays(model),
        )  # fmt: skip

    def memory(self) -> dict[str, Any]:
        """Where its stream of random numbers is."""
        return {"stream": self._actions.bit_generator.state}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with that stream: each action has taken one number of it."""
        possible = not self.pending or self.probabilities[self._clock["pending"][0]] > 0.0
        require(possible, "an action is pending that its policy never takes")
        cast(np.random.PCG64, self._actions.bit_generator).advance(self.t - 1 + self.pending)
        here = self._actions.bit_generator.state
        require(memory.get("stream") == here, "its stream of random numbers is not where its seed and its clock put it")


def _checked_policy(space: Space, policy: ArrayLike) -> NDArray[np.float64]:
    if callable(policy):
        raise ParameterError(f"policy: got {policy!r}; it must be called first, as in best.policy()")
    try:
        probability = np.array(policy, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"policy: {space.n_pairs} probabilities are needed, one a pair") from None
    if probability.shape != (space.n_pairs,) or not np.all(probability >= 0.0):
        raise ParameterError(f"policy: {space.n_pairs} probabilities are needed, one a pair")
    total = np.add.reduceat(probability, space.first_pair[:-1])
    wrong = np.flatnonzero(~(np.abs(total - 1.0) <= SUM_TOLERANCE))
    if wrong.size:
        state = int(wrong[0])
        raise ParameterError(f"policy: in {space.name_state(state)} it sums to {total[state]}; 1 is needed")
    return probability


def cumulated(probability: NDArray[np.float64], first_pair: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cumulative probabilities within each state; 1 from the last possible action on."""
    running = np.empty_like(probability)
    for begin, end in itertools.pairwise(first_pair.tolist()):
        running[begin:end] = np.cumsum(probability[begin:end])
        running[begin + int(np.flatnonzero(probability[begin:end])[-1]) : end] = 1.0
    return running
