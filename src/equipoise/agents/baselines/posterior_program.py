r"""A draw from the posterior, and the optimum of the model that was drawn: the plain way to learn with a concave goal.

At the start of each epoch a model is drawn, transitions from Dirichlet and mean outcomes from Beta distributions, and
its offline program is solved (`equipoise.solve`). Until the visits of some pair have doubled, the policy of its optimal
occupancy is followed, at random where it is; in states that the optimum never visits every action is as likely.

It is what several papers on constrained and concave reinforcement learning do, in the words of this package. Where the
optimum has several recurrent classes, the policy of its occupancy stays in one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._checks import SEED_LIMIT, check_float, check_int
from equipoise._files import ensure, load_array
from equipoise.agents.base import Agent
from equipoise.errors import ParameterError
from equipoise.models.model import Model, Space
from equipoise.offline.benchmark import solve
from equipoise.rewards.base import Reward

_LEAST: Final = 1e-12  # of a probability that is drawn: so every state can be reached
_MOST_ENTRIES: Final = 10**8
_BLOCK: Final = 4096  # random numbers that are made at once


@final
class PosteriorProgram(Agent):
    """An agent that solves the program of a model drawn from the posterior, whenever the visits of a pair have doubled.

    Parameters
    ----------
    space : Space
        The world's; of a table, as known dynamics are not made use of.
    reward : Reward
        The concave g.
    prior : float
        How many visits the prior over a pair's transitions is worth.
    seed : int
        Of its own random numbers.

    See Also
    --------
    equipoise.MixtureUCRL2 : With `PosteriorSampling`, a better use of the same draws.

    Examples
    --------
    >>> import equipoise as eq
    >>> model, reward = eq.models.scheduler(), eq.rewards.BottomSum(3, 1)
    >>> agent = PosteriorProgram(model.space, reward)
    >>> run = eq.simulate(model, agent, 1_000)
    >>> bool(run.regret(eq.solve(model, reward))[-1] < 0.15)
    True
    """

    def __init__(self, space: Space, reward: Reward, prior: float = 1.0, seed: int = 0) -> None:
        super().__init__(space, reward)
        self.prior = check_float(prior, "prior", error=ParameterError)
        if not 0 < self.prior < np.inf:
            raise ParameterError(f"prior: got {prior}; a number > 0 is needed")
        self.seed = check_int(seed, "seed", 0, SEED_LIMIT, error=ParameterError)
        n_pairs, n_states = space.n_pairs, space.n_states
        if n_pairs * n_states > _MOST_ENTRIES:
            raise ParameterError(
                f"space: {n_pairs} pairs and {n_states} states are too many for this agent's dense table"
            )
        self._moves = np.zeros((n_pairs, n_states), dtype=np.int64)
        self._sums = np.zeros((n_pairs, space.n_outcomes))
        self._before = np.zeros(n_pairs, dtype=np.int64)  # visits before this epoch
        self._policy = np.zeros(n_pairs)
        self._epochs = np.zeros(1, dtype=np.int64)
        self._block, self._uniforms = -1, np.zeros(_BLOCK)

    def choose(self, state: int) -> int:
        """An action of the policy, at random; a new policy first, if it is due."""
        begin, end = self.space.first_pair[state : state + 2]
        visits = self._moves[begin:end].sum(axis=1)
        if self._epochs[0] == 0 or np.any(visits >= 2 * np.maximum(1, self._before[begin:end])):
            self._plan()
        cumulated = np.cumsum(self._policy[begin:end])
        u = self._uniform()
        return min(int(np.searchsorted(cumulated, u * cumulated[-1], side="right")), int(end - begin) - 1)

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:
        """Count."""
        pair = int(self.space.first_pair[state]) + action
        self._moves[pair, next_state] += 1
        self._sums[pair] += outcomes

    def memory(self) -> dict[str, NDArray[Any]]:
        """What was counted, and the policy."""
        return {
            "moves": self._moves, "sums": self._sums, "before": self._before, "policy": self._policy,
            "epochs": self._epochs,
        }  # fmt: skip

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with these."""
        names = ("moves", "sums", "before", "policy", "epochs")
        parts = {name: load_array(memory, name, getattr(self, f"_{name}")) for name in names}
        visits = parts["moves"].sum(axis=1)
        ensure(np.all(parts["moves"] >= 0) and visits.sum() == self.t - 1, "its visits are not as many as its steps")
        ensure(np.all((parts["sums"] >= 0) & (parts["sums"] <= visits[:, None])), "its sums are not those of outcomes")
        ensure(np.all((parts["before"] >= 0) & (parts["before"] <= visits)), "its epochs do not fit its visits")
        ensure(np.all((parts["policy"] >= 0) & (parts["policy"] <= 1.0 + 1e-9)), "its policy is none")
        ensure(parts["epochs"][0] >= 0, "its number of epochs is none")
        for name, part in parts.items():
            setattr(self, f"_{name}", part)

    def _uniform(self) -> float:
        """The random number of this step: a function of the seed and the time."""
        block, place = divmod(self.t, _BLOCK)
        if block != self._block:
            sequence = np.random.SeedSequence(self.seed, spawn_key=(1, block))
            self._block, self._uniforms = block, np.random.Generator(np.random.PCG64(sequence)).random(_BLOCK)
        return float(self._uniforms[place])

    def _plan(self) -> None:
        """Draw a model, and take the policy of its optimum."""
        space = self.space
        rng = np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(0, int(self._epochs[0]))))
        )
        moves = np.maximum(rng.gamma(self._moves + self.prior / space.n_states), _LEAST)
        moves /= moves.sum(axis=1, keepdims=True)
        visits = self._moves.sum(axis=1)
        means = rng.beta(1.0 + self._sums, 1.0 + np.maximum(0.0, visits[:, None] - self._sums))
        means[space.known_mask] = space.known_outcomes[space.known_mask]
        drawn = Model.from_sparse(space.first_pair, csr_array(moves), means, start=space.start, noise="none")
        self._policy = solve(drawn, self.reward, 1e-4, progress=False).policy()
        self._before = visits
        self._epochs = self._epochs + 1
