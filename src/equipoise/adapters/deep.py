"""For learners of Stable-Baselines3 whose reward is paid by a `GradientThreshold`; the extra `deep`.

**Off-policy learners** (DQN) sample old transitions, which were paid by an old theta_ref. `relabelling(env)` gives them
a replay buffer that keeps the outcome vectors V, and pays and shows every sample by the present theta_ref:
-theta_ref . V. **On-policy learners** (PPO) need one reward within a rollout: `BetweenRollouts` lets theta_ref move
between two of them.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from equipoise.adapters import import_extra

for _library in ("gymnasium", "torch", "stable_baselines3"):
    import_extra(_library, "deep")  # says what to install, if it is missing

import torch
from gymnasium import spaces
from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.vec_env import unwrap_vec_normalize

from equipoise.adapters.gradient_threshold import OUTCOMES, ThetaPlace, direction, show_theta, steering_of, theta_place
from equipoise.agents.steering import Steering
from equipoise.errors import AdapterError

__all__ = ["BetweenRollouts", "VectorDictReplayBuffer", "VectorReplayBuffer", "relabelling"]


class VectorReplayBuffer(ReplayBuffer):  # type: ignore[misc]
    """Keeps outcome vectors, and pays them by the present theta_ref; Stable-Baselines3 makes it, see `relabelling`.

    Parameters
    ----------
    buffer_size : int
        How many transitions are kept.
    observation_space, action_space : gymnasium.spaces.Space
        Of the environment.
    device : str or torch.device
        Where samples are put.
    n_envs : int
        One: an average is that of one environment.
    optimize_memory_usage, handle_timeout_termination : bool
        As of Stable-Baselines3's own.
    steering : Steering
        Whose theta_ref pays.
    place : int, str or None
        Where theta_ref is in an observation: from which entry on, or under which key; None: nowhere.

    Examples
    --------
    >>> import equipoise as eq
    >>> env = eq.adapters.to_gymnasium(eq.models.bandit(2))
    >>> env = eq.adapters.GradientThreshold(env, eq.rewards.Quadratic([0.5, 0.5]))
    >>> relabelling(env)["replay_buffer_class"] is VectorReplayBuffer
    True
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: Any,
        action_space: Any,
        device: Any = "auto",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
        handle_timeout_termination: bool = True,
        *,
        steering: Steering,
        place: ThetaPlace,
    ) -> None:
        if not isinstance(steering, Steering):
            raise AdapterError(f"steering: got {type(steering).__name__}; that of a GradientThreshold is needed")
        if n_envs != 1:
            raise AdapterError(f"n_envs: got {n_envs}; the average is that of one environment")
        super().__init__(
            buffer_size, observation_space, action_space, device, n_envs,
            optimize_memory_usage=optimize_memory_usage, handle_timeout_termination=handle_timeout_termination,
        )  # fmt: skip
        self.steering = steering
        self.place = place
        self._time = steering.t  # of the last transition that was added
        self.vectors = np.zeros((self.buffer_size, steering.reward.n_outcomes), np.float32)

    def add(
        self,
        obs: Any,
        next_obs: Any,
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Keep a transition, with the outcomes that its info has.

        Parameters
        ----------
        obs, next_obs, action, reward, done : numpy.ndarray
            As Stable-Baselines3 gives them.
        infos : list of dict
            One.
        """
        if OUTCOMES not in infos[0]:
            raise AdapterError(f"info: it has no {OUTCOMES!r}; wrap the environment in a GradientThreshold")
        if self.steering.t == self._time:
            raise AdapterError(
                "steering: that of this replay buffer stands still while the environment is stepped: it is a copy out "
                "of a file. Load a model with **relabelling(env) besides env=env, and after load_replay_buffer say "
                'model.replay_buffer.steering = env.get_wrapper_attr("steering")'
            )
        self._time = self.steering.t
        self.vectors[self.pos] = infos[0][OUTCOMES]
        super().add(obs, next_obs, action, reward, done, infos)

    def _get_samples(self, batch_inds: NDArray[np.int64], env: Any = None) -> Any:
        if env is not None:
            raise AdapterError(
                "VecNormalize: it would rescale what is paid and shown anew; do without, as outcomes lie in [0, 1]"
            )
        samples = super()._get_samples(batch_inds)
        theta = self.steering.theta_ref
        paid = -(self.vectors[batch_inds] @ theta.astype(np.float32))
        for observations in (samples.observations, samples.next_observations):
            show_theta(observations, self.place, torch.as_tensor(direction(theta), device=self.device))
        return samples._replace(rewards=self.to_torch(paid.reshape(-1, 1)))


@final
class VectorDictReplayBuffer(VectorReplayBuffer, DictReplayBuffer):  # type: ignore[misc]
    """The same for observations that are dictionaries.

    Parameters
    ----------
    buffer_size, observation_space, action_space, device, n_envs, optimize_memory_usage, handle_timeout_termination
        As of `VectorReplayBuffer`.
    steering, place
        As of `VectorReplayBuffer`.

    Examples
    --------
    >>> import equipoise as eq
    >>> env = eq.adapters.to_gymnasium(eq.models.bandit(2))
    >>> env = eq.adapters.GradientThreshold(env, eq.rewards.Quadratic([0.5, 0.5]))
    >>> relabelling(env)["replay_buffer_class"] is VectorDictReplayBuffer
    False
    """


def relabelling(env: Any) -> dict[str, Any]:
    """Make the arguments of an off-policy learner of Stable-Baselines3.

    Parameters
    ----------
    env : gymnasium.Env
        A `GradientThreshold`, or wrappers around one. A `ThetaAwareObservation` must be the last to change
        observations.

    Returns
    -------
    dict
        ``replay_buffer_class`` and ``replay_buffer_kwargs``.

    Examples
    --------
    >>> import equipoise as eq
    >>> from stable_baselines3 import DQN
    >>> env = eq.adapters.to_gymnasium(eq.models.bandit(2))
    >>> env = eq.adapters.GradientThreshold(env, eq.rewards.Quadratic([0.5, 0.5]))
    >>> env = eq.adapters.ThetaAwareObservation(env)
    >>> model = DQN("MlpPolicy", env, learning_starts=10, device="cpu", **relabelling(env))
    >>> env.get_wrapper_attr("steering").t, model.learn(20).num_timesteps
    (1, 20)
    """
    dictionary = isinstance(env.observation_space, spaces.Dict)
    return {
        "replay_buffer_class": VectorDictReplayBuffer if dictionary else VectorReplayBuffer,
        "replay_buffer_kwargs": {"steering": steering_of(env), "place": theta_place(env)},
    }


@final
class BetweenRollouts(BaseCallback):  # type: ignore[misc]
    """A callback for `learn`: theta_ref moves at the end of a rollout, if the drift has passed Q by then.

    The observation with which the next rollout begins shows the theta_ref that it will be paid by.

    Examples
    --------
    >>> import equipoise as eq
    >>> from stable_baselines3 import PPO
    >>> env = eq.adapters.to_gymnasium(eq.models.bandit(2))
    >>> env = eq.adapters.GradientThreshold(env, eq.rewards.Quadratic([0.5, 0.5]), threshold=0)
    >>> model = PPO("MlpPolicy", env, n_steps=32, batch_size=32, device="cpu")
    >>> model.learn(96, callback=BetweenRollouts()).num_timesteps, env.steering.changes
    (96, 3)
    """

    def __init__(self) -> None:
        super().__init__()

    def _on_training_start(self) -> None:
        if not isinstance(self.model, OnPolicyAlgorithm):
            raise AdapterError(
                f"BetweenRollouts: it is for on-policy learners, and {type(self.model).__name__} is none; give that "
                "relabelling(env)"
            )
        if self.training_env.num_envs != 1:
            raise AdapterError(f"n_envs: got {self.training_env.num_envs}; the average is that of one environment")
        environments = getattr(self.training_env.unwrapped, "envs", None)
        if environments is None:
            raise AdapterError("env: it runs in another process, where theta_ref cannot be seen; use a DummyVecEnv")
        self._env: Any = environments[0]
        self._steering, self._place = steering_of(self._env), theta_place(self._env)
        normaliser = unwrap_vec_normalize(self.training_env)
        if normaliser is not None and normaliser.norm_obs and self._place is not None:
            raise AdapterError("VecNormalize: it rescales the theta that observations show; give it norm_obs=False")

    def _on_rollout_start(self) -> None:
        self._env.get_wrapper_attr("hold")()

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self._on_rollout_end()  # a rollout that was broken off holds nothing any more

    def _on_rollout_end(self) -> None:
        if self._env.get_wrapper_attr("release")():
            show_theta(self.model._last_obs, self._place, direction(self._steering.theta_ref))
