r"""Frank-Wolfe with upper confidence bounds, for one state: bandits with concave rewards.

After Agrawal and Devanur (2014), Algorithm 4. At time t, with the gradient taken at the average outcome vector,

    a_t = argmax over arms a of  max over v in H^v_t(a) of grad g(average) . v,

recomputed at every step: no threshold, no episodes. Here H^v_t are the regions of `Bernstein` at tau = t, so that
the one difference from `TocUCRL2` in a single state is the gradient threshold procedure. (The original has radii of the
same shape with a constant in place of log t.) Ties go to the lowest arm.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from equipoise._files import ensure, load_array
from equipoise._runtime.compiler import call_entry, inlined, kernel
from equipoise.agents.base import Agent
from equipoise.agents.phase import check_delta
from equipoise.errors import ParameterError
from equipoise.models.model import Model, Space
from equipoise.models.world import get_sampling, sample
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.rewards.base import Reward

_TIE = 1e-12


@inlined
def _best(t, delta, visits, sums, total, average, gradient, entry, params):
    n_arms = visits.shape[0]
    n = total.shape[0]
    for k in range(n):
        average[k] = total[k] / max(1, t - 1)
    call_entry(entry, max(1, t - 1), average, params, gradient)
    log_v = np.log(12.0 * n * n_arms * float(t) * float(t) / delta)
    best = -np.inf
    choice = 0
    for arm in range(n_arms):
        count = float(max(1, visits[arm]))
        value = 0.0
        for k in range(n):
            mean = sums[arm, k] / count
            radius = np.sqrt(2.0 * mean * log_v / count) + 3.0 * log_v / count
            value += max(gradient[k] * max(0.0, mean - radius), gradient[k] * min(1.0, mean + radius))
        if best == -np.inf or value > best + _TIE * max(1.0, abs(best)):
            best = value
            choice = arm
    return choice


@kernel
def _choice(t, delta, visits, sums, total, average, gradient, entry, params):
    return _best(t, delta, visits, sums, total, average, gradient, entry, params)


@kernel
def _play(steps, delta, visits, sums, clock, total, average, gradient, entry, params, outcome, rng, world):
    now = clock[0]
    for _ in range(steps):
        arm = _best(now.time, delta, visits, sums, total, average, gradient, entry, params)
        now.state = sample(rng, arm, world, outcome)
        visits[arm] += 1
        for k in range(total.shape[0]):
            sums[arm, k] += outcome[k]
            total[k] += outcome[k]
        now.time += 1


@final
class FrankWolfeUCB(Agent):
    """Frank-Wolfe on the average outcomes, with optimistic estimates of each arm; one state only.

    Parameters
    ----------
    space : Space
        With a single state.
    reward : Reward
        A smooth one.
    delta : float
        The level of the regions.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(3)
    >>> agent = FrankWolfeUCB(model.space, eq.rewards.Quadratic([1 / 3] * 3))
    >>> bool(eq.simulate(model, agent, 10_000).values[-1] > 0.999)
    True
    """

    def __init__(self, space: Space, reward: Reward, delta: float = 0.05) -> None:
        super().__init__(space, reward)
        if space.n_states != 1:
            raise ParameterError(f"space: it has {space.n_states} states; this algorithm is for one")
        self.delta = check_delta(delta)
        FrankWolfe().check(reward)
        self._outcome = np.zeros(space.n_outcomes)
        self._visits = np.zeros(space.n_pairs, dtype=np.int64)
        self._sums = np.zeros((space.n_pairs, space.n_outcomes))
        self._mean = np.zeros(space.n_outcomes)
        self._gradient = np.zeros(space.n_outcomes)

    def choose(self, state: int) -> int:  # noqa: ARG002
        """The arm that looks best, optimistically."""
        return int(
            _choice(
                self.t, self.delta, self._visits, self._sums, self._total, self._mean, self._gradient,
                self.reward.kernels.gradient.address, self.reward.params,
            )
        )  # fmt: skip

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:  # noqa: ARG002
        """Count."""
        self._visits[action] += 1
        self._sums[action] += outcomes

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled."""
        _play(
            steps, self.delta, self._visits, self._sums, self._clock, self._total, self._mean, self._gradient,
            self.reward.kernels.gradient.address, self.reward.params, self._outcome, rng, get_sampling(model),
        )  # fmt: skip

    def memory(self) -> dict[str, NDArray[Any]]:
        """What was counted."""
        return {"visits": self._visits, "sums": self._sums}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with these counts."""
        visits, sums = load_array(memory, "visits", self._visits), load_array(memory, "sums", self._sums)
        ensure(np.all(visits >= 0) and sum(visits.tolist()) == self.t - 1, "the array 'visits' is not of as many steps")
        ensure(np.all((sums >= 0.0) & (sums <= visits[:, None])), "the array 'sums' is not of outcomes in [0, 1]")
        self._visits, self._sums = visits, sums
