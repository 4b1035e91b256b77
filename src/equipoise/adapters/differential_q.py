"""A tabular learner of an average reward with vector values: an example of a learner that a threshold can steer.

Differential Q-learning (Wan, Naik and Sutton, *Learning and Planning in Average-Reward Markov Decision Processes*, ICML
2021), after a step from (s, a) to s' with the scalar reward r:

    delta = r - mean + max over a' of Q(s', a') - Q(s, a),      Q(s, a) += step delta,      mean += eta step delta.

Here Q and the mean have K entries, one for each outcome, r is the outcome vector V, and a' is the best action by the
scalar -theta_ref . Q(s', .). As all of this is linear in r, -theta_ref . Q is the table of a learner of the scalar
-theta_ref . V; when theta_ref moves, what was learnt is revalued instead of forgotten.

It explores with probability epsilon(t) = max(least, 1 / sqrt(1 + t / pace)). It has no regret bound.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from equipoise._checks import SEED_LIMIT, check_count, check_float, check_int
from equipoise.adapters.gradient_threshold import OUTCOMES, steering_of
from equipoise.errors import AdapterError, ParameterError


@final
class DifferentialQ:
    """Differential Q-learning on a table of vectors, steered by a `GradientThreshold`.

    Parameters
    ----------
    env : gymnasium.Env
        A `GradientThreshold`, or wrappers around one, with numbered observations and actions. After the end of an
        episode comes the start of the next; a truncation is no event, and the environment is reset.
    step_size : float
        Of the updates, in (0, 1].
    mean_step : float
        eta, the step of the mean in units of `step_size`. While the mean lags behind, actions never tried look better
        than those that have become worth less, and so are tried.
    least_exploration : float
        The probability of a random action that is always left.
    pace : float
        After so many steps the probability of a random action is 1 / sqrt(2), after 99 times as many 1/10.
    seed : int
        Of the random actions, and of the first reset.

    Examples
    --------
    >>> import equipoise as eq
    >>> env = eq.adapters.to_gymnasium(eq.models.star(branches=2, diameter=2))
    >>> env = eq.adapters.GradientThreshold(env, eq.rewards.Quadratic([0.5, 0.5]))
    >>> learner = DifferentialQ(env, seed=1)
    >>> learner.run(5000)
    >>> bool(env.steering.reward.value(env.steering.average) > 0.98)
    True
    """

    def __init__(
        self,
        env: Any,
        *,
        step_size: float = 0.2,
        mean_step: float = 0.003,
        least_exploration: float = 0.01,
        pace: float = 20.0,
        seed: int = 0,
    ) -> None:
        self._steering = steering_of(env)
        for name, space in (("observations", env.observation_space), ("actions", env.action_space)):
            if not isinstance(space, spaces.Discrete):
                raise AdapterError(f"env: its {name} are {space}; a table needs Discrete ones")
        self.env = env
        self.step_size = _fraction(step_size, "step_size")
        self.mean_step = _fraction(mean_step, "mean_step", most=math.inf)
        self.least_exploration = _fraction(least_exploration, "least_exploration", least=0.0)
        self.pace = _fraction(pace, "pace", most=math.inf)
        self._seed = check_int(seed, "seed", 0, SEED_LIMIT, error=ParameterError)
        self._rng = np.random.default_rng(self._seed)
        n_states, n_actions = int(env.observation_space.n), int(env.action_space.n)
        self.values = np.zeros((n_states, n_actions, self._steering.reward.n_outcomes))
        self.mean = np.zeros(self._steering.reward.n_outcomes)
        self.t = 1
        self._state: int | None = None

    def epsilon(self) -> float:
        """The probability of a random action at the present time."""
        return max(self.least_exploration, 1.0 / math.sqrt(1.0 + self.t / self.pace))

    def choose(self, state: int) -> int:
        """An action: mostly the best at present, by the lowest number among equals.

        Parameters
        ----------
        state : int
            From 0.
        """
        if self._rng.random() < self.epsilon():
            return int(self._rng.integers(self.values.shape[1]))
        return self._best(state, self._steering.theta_ref)

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:
        """Update the table after one step.

        Parameters
        ----------
        state, action : int
            What was done, and where.
        outcomes : numpy.ndarray
            What followed.
        next_state : int
            And where that led to.
        """
        after = self.values[next_state, self._best(next_state, self._steering.theta_ref)]
        delta = self.step_size * (outcomes - self.mean + after - self.values[state, action])
        self.values[state, action] += delta
        self.mean += self.mean_step * delta
        self.t += 1

    def run(self, steps: int) -> None:
        """Act and learn for so many steps; it may be called again to go on.

        Parameters
        ----------
        steps : int
            How many.
        """
        count, first = check_count(steps, "steps", 0, error=ParameterError), int(self.env.observation_space.start)
        if self._state is None:
            self._state = int(self.env.reset(seed=self._seed)[0]) - first
        state = self._state
        for _ in range(count):
            action = self.choose(state)
            observation, _, terminated, truncated, info = self.env.step(action + int(self.env.action_space.start))
            if terminated and not truncated:  # after the end comes the next start
                observation = self.env.reset()[0]
            after = int(observation) - first
            self.learn(state, action, info[OUTCOMES], after)
            state = int(self.env.reset()[0]) - first if truncated else after
        self._state = state

    def _best(self, state: int, theta: NDArray[np.float64]) -> int:
        return int(np.argmin(self.values[state] @ theta))


def _fraction(x: float, name: str, *, least: float | None = None, most: float = 1.0) -> float:
    """A number in (0, most], or in [least, most]."""
    value = check_float(x, name, error=ParameterError)
    if not (0.0 < value <= most if least is None else least <= value <= most) or math.isinf(value):
        wanted = f"{'>' if least is None else '>='} 0{'' if math.isinf(most) else f' and at most {most:g}'}"
        raise ParameterError(f"{name}: got {x}; a number {wanted} is needed")
    return value
