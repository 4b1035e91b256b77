"""A wrapper that turns several outcomes into one reward for a learner that knows only one.

At time t it pays -theta_ref . V_t. theta follows the average outcomes by the oracle at every step, theta_ref only when
theta has drifted from it by more than Q in sum: `equipoise.agents.steering`. The average is over all steps: `reset`
leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from equipoise.adapters.scaling import Ranges, Request, declared_ranges
from equipoise.agents.schedules import Schedule
from equipoise.agents.steering import Steering
from equipoise.errors import AdapterError, RewardError
from equipoise.oracles.base import Oracle
from equipoise.rewards.base import Reward

VECTOR: Final = "vector_reward"  # in `info`, as MO-Gymnasium's LinearReward has it
OUTCOMES: Final = "outcomes"
THETA: Final = "theta_ref"
_SHOWN: Final = "theta"  # in observations that are dictionaries

ThetaPlace = int | str | None  # where an observation shows theta_ref: from which entry on, under which key, or nowhere


@final
class GradientThreshold(gymnasium.Wrapper):  # type: ignore[misc]
    """An environment with vector rewards, paid as one number that steers the average towards a concave goal.

    The reward of a step is -theta_ref . outcomes. ``info["vector_reward"]`` is the vector that the environment paid,
    ``info["outcomes"]`` the same scaled into [0, 1], and ``info["theta_ref"]`` what the step was paid by. The one of
    the next step is ``env.steering.theta_ref``; `ThetaAwareObservation` shows it to a learner.

    Parameters
    ----------
    env : gymnasium.Env
        Its rewards are vectors, as MO-Gymnasium's are; a number is a vector of one.
    reward : Reward
        The concave g, to be maximised at the average of the outcomes over all steps.
    oracle : Oracle, optional
        None: the one that fits the reward.
    threshold : float or Schedule, optional
        Q. None: the Lipschitz constant of g; 0: theta_ref follows every step; `math.inf`: it never changes.
    ranges : mapping or sequence, optional
        Component of the reward -> (low, high), or all of these pairs: which values become 0 and 1. None: as the
        environment declares them in its `reward_space`.
    drop : sequence of int
        Components of the reward that are no outcomes.

    Attributes
    ----------
    steering : Steering
        theta, theta_ref, the drift, the average; `save` and `resume` keep them.
    scaling : Scaling
        How the outcomes stand for the environment's rewards.

    Examples
    --------
    >>> import equipoise as eq
    >>> env = eq.adapters.to_gymnasium(eq.models.bandit(2))
    >>> env = GradientThreshold(env, eq.rewards.Quadratic([0.5, 0.5]))
    >>> observation, info = env.reset(seed=0)
    >>> info["theta_ref"].tolist()
    [-0.5, -0.5]
    >>> observation, reward, terminated, truncated, info = env.step(0)
    >>> bool(reward == -info["theta_ref"] @ info["outcomes"])
    True
    """

    def __init__(
        self,
        env: Any,
        reward: Reward,
        oracle: Oracle | None = None,
        threshold: float | Schedule | None = None,
        *,
        ranges: Ranges | None = None,
        drop: Sequence[int] = (),
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            raise AdapterError(f"env: got {type(env).__name__}; a gymnasium.Env is needed")
        super().__init__(env)
        self.steering = Steering(reward, oracle, threshold)
        declared = declared_ranges(env)
        if declared is None and not isinstance(ranges, Sequence):
            raise AdapterError("env: it declares no reward_space; give ranges=[(low, high), ...], one for each outcome")
        self._size = len(ranges) if declared is None else declared[0].size  # type: ignore[arg-type]
        self.scaling = Request(None, ranges, tuple(drop), False, declared).scaling(None, None)
        if len(self.scaling.names) != reward.n_outcomes:
            found = f"the environment has {len(self.scaling.names)}"
            raise RewardError(f"reward: it takes {reward.n_outcomes} outcomes; {found}")
        self._held = False

    @property
    def held(self) -> bool:
        """Whether theta_ref is kept as it is, see `hold`."""
        return self._held

    def hold(self) -> None:
        """Keep theta_ref unchanged until `release`, such as within a rollout; theta, drift and average go on."""
        self._held = True

    def release(self) -> bool:
        """End what `hold` began: theta_ref moves now if the drift has passed Q; says whether it did."""
        self._held = False
        return self.steering.turn()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; the average, theta and the drift go on, and info has theta_ref.

        Parameters
        ----------
        seed, options : optional
            For the environment.
        """
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, THETA: self.steering.theta_ref}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step, and pay it by theta_ref; info has the vector, the outcomes and theta_ref.

        Parameters
        ----------
        action : object
            For the environment.
        """
        observation, vector, terminated, truncated, info = self.env.step(action)
        outcomes = np.array(self.scaling.outcomes(self._checked(vector), False))
        theta = self.steering.theta_ref
        self.steering.observe(outcomes)
        if not self._held:
            self.steering.turn()
        more = {VECTOR: np.atleast_1d(np.array(vector)), OUTCOMES: outcomes, THETA: theta}
        return observation, -float(theta @ outcomes), terminated, truncated, {**info, **more}

    def _checked(self, vector: Any) -> list[float]:
        try:
            reward = np.atleast_1d(np.asarray(vector, dtype=np.float64))  # a single number is a vector of one
        except (TypeError, ValueError):
            raise AdapterError(f"reward: got {vector!r}; a vector of numbers is needed") from None
        if reward.shape != (self._size,):
            raise AdapterError(f"reward: got {vector!r}; a vector of {self._size} is declared or given")
        return reward.tolist()  # type: ignore[no-any-return]


@final
class ThetaAwareObservation(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """Shows theta_ref to the learner, which can then tell one reward from another.

    theta_ref is shown as its direction, of length 1 (zero if it is zero): rewards that are multiples of each other have
    the same best policies. A vector of numbers has it appended; the number of a state is turned into a one-hot vector
    first; a dictionary has the additional entry "theta"; any other observation, such as an image, becomes
    {"observation": ..., "theta": ...}.

    Parameters
    ----------
    env : gymnasium.Env
        A `GradientThreshold`, or wrappers around one.

    Examples
    --------
    >>> import equipoise as eq
    >>> env = eq.adapters.to_gymnasium(eq.models.bandit(2))
    >>> env = ThetaAwareObservation(GradientThreshold(env, eq.rewards.Quadratic([0.5, 0.5])))
    >>> env.reset(seed=0)[0].round(3)
    array([ 1.   , -0.707, -0.707], dtype=float32)
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._steering = steering_of(env)
        K, inner = self._steering.reward.n_outcomes, env.observation_space
        theta = spaces.Box(-1.0, 1.0, (K,), np.float32)
        self._states = int(inner.n) if isinstance(inner, spaces.Discrete) else 0
        if self._states:
            self._first = int(inner.start)
            self.observation_space = spaces.Box(-1.0, 1.0, (self._states + K,), np.float32)
        elif isinstance(inner, spaces.Box) and len(inner.shape) == 1:
            low, high = np.append(inner.low, theta.low), np.append(inner.high, theta.high)
            self.observation_space = spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)
        elif isinstance(inner, spaces.Dict):
            if _SHOWN in inner.spaces:
                raise AdapterError(
                    f"env: its observations have an entry {_SHOWN!r} already; give that another name, with "
                    "gymnasium.wrappers.TransformObservation"
                )
            self.observation_space = spaces.Dict({**inner.spaces, _SHOWN: theta})
        else:
            self.observation_space = spaces.Dict({"observation": inner, _SHOWN: theta})
        self._within = isinstance(inner, spaces.Dict)

    @property
    def theta_place(self) -> int | str:
        """Where its observations show theta_ref: from which entry on, or under which key."""
        if isinstance(self.observation_space, spaces.Dict):
            return _SHOWN
        return int(self.observation_space.shape[0]) - self._steering.reward.n_outcomes

    def observation(self, observation: Any) -> Any:
        """The observation with theta_ref.

        Parameters
        ----------
        observation : object
            That of the environment.
        """
        theta = direction(self._steering.theta_ref)
        if isinstance(self.observation_space, spaces.Dict):
            seen = observation if self._within else {"observation": observation}
            return {**seen, _SHOWN: theta}
        if self._states:
            state = np.zeros(self._states, np.float32)
            state[int(observation) - self._first] = 1.0
            return np.append(state, theta)
        return np.append(np.asarray(observation, dtype=np.float32), theta)


def steering_of(env: Any) -> Steering:
    """The steering of the `GradientThreshold` among the wrappers of an environment."""
    try:
        steering = env.get_wrapper_attr("steering")
    except AttributeError:
        raise AdapterError("env: no GradientThreshold is among its wrappers; wrap it in one first") from None
    if not isinstance(steering, Steering):
        raise AdapterError(f"env: its attribute steering is {steering!r}; that of a GradientThreshold is needed")
    return steering


def theta_place(env: Any) -> ThetaPlace:
    """Where the observations of an environment show theta_ref; None without a `ThetaAwareObservation`."""
    outermost = env
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, ThetaAwareObservation):
            if env.observation_space != outermost.observation_space:
                raise AdapterError(
                    "env: a wrapper around ThetaAwareObservation changes the observations, so that theta_ref cannot be "
                    "found in them; make ThetaAwareObservation the last one"
                )
            return env.theta_place
        env = env.env
    return None


def direction(theta: NDArray[np.float64]) -> NDArray[np.float32]:
    """The direction of theta: at length 1, in single precision; zero stays zero."""
    size = float(np.sqrt(theta @ theta))
    return np.asarray(theta / size if size > 0.0 else theta, dtype=np.float32)


def show_theta(observations: Any, place: ThetaPlace, theta: Any) -> None:
    """Write another theta_ref into a batch of observations."""
    if isinstance(place, str):
        observations[place][...] = theta
    elif place is not None:
        observations[:, place:] = theta
