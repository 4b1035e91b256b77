"""On-policy learners: theta_ref stays what it is within a rollout, and moves between two of them."""

from __future__ import annotations

from typing import Any, final

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.vec_env import unwrap_vec_normalize

from equipoise.adapters.gradient_threshold import direction, show_theta, steering_of, theta_place
from equipoise.errors import AdapterError


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
