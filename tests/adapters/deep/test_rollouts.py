"""On-policy learners: theta_ref stays within a rollout, and the next one begins with what it is paid by."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.adapters import GradientThreshold, ThetaAwareObservation
from equipoise.errors import AdapterError
from tests.adapters.optional import needed
from tests.adapters.scripted import Scripted

stable_baselines3 = needed("stable_baselines3")
torch = needed("torch")
torch.set_num_threads(1)
from stable_baselines3.common.callbacks import BaseCallback, CallbackList  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize  # noqa: E402

from equipoise.adapters.deep import BetweenRollouts, relabelling  # noqa: E402

HALVES = eq.rewards.Quadratic([0.5, 0.5])
FEW = {"n_steps": 16, "batch_size": 16, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 0}


def environment(kind="vector", threshold=0.0):
    table = np.random.default_rng(0).random((200, 2))
    return ThetaAwareObservation(GradientThreshold(Scripted(table, observations=kind), HALVES, threshold=threshold))


class Watch(BaseCallback):
    """Keeps theta_ref as it was paid by, and as it was shown, at every step."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.paid, self.shown = kind, [], []

    def _on_step(self):
        self.paid.append(self.locals["infos"][0]["theta_ref"])
        before = self.locals["self"]._last_obs
        self.shown.append(before["theta"][0].copy() if self.kind == "image" else before[0, -2:].copy())
        return True


@pytest.mark.parametrize("kind", ["number", "vector", "image"])
def test_one_theta_ref_a_rollout_and_shown_from_its_first_observation_on(kind):
    env, watch = environment(kind), Watch(kind)
    policy = "MultiInputPolicy" if kind == "image" else "MlpPolicy"
    model = stable_baselines3.PPO(policy, env, **FEW)
    model.learn(64, callback=CallbackList([BetweenRollouts(), watch]))
    paid = np.array(watch.paid).reshape(4, 16, 2)
    assert (paid == paid[:, :1]).all()
    assert len(np.unique(paid[:, 0], axis=0)) == 4
    directions = np.array(watch.paid) / np.linalg.norm(watch.paid, axis=1, keepdims=True)
    np.testing.assert_allclose(np.array(watch.shown), directions, atol=1e-6)
    table = env.unwrapped.rows
    for n in range(1, 4):  # each was theta at the end of the rollout before
        np.testing.assert_allclose(paid[n, 0], np.mean(table[: 16 * n], axis=0) - 0.5, atol=1e-12)
    assert not env.get_wrapper_attr("held")


def test_a_rollout_that_is_broken_off_holds_nothing():
    class Stop(BaseCallback):
        def _on_step(self):
            return self.num_timesteps < 20

    env = environment()
    model = stable_baselines3.PPO("MlpPolicy", env, **FEW)
    model.learn(64, callback=CallbackList([BetweenRollouts(), Stop()]))
    assert model.num_timesteps == 20
    assert not env.get_wrapper_attr("held")
    assert env.get_wrapper_attr("steering").changes == 2


def test_a_drift_within_q_moves_nothing():
    env = environment(threshold=1e9)
    stable_baselines3.PPO("MlpPolicy", env, **FEW).learn(64, callback=BetweenRollouts())
    assert env.get_wrapper_attr("steering").changes == 0


def test_what_cannot_be_is_refused_by_name():
    env = environment()
    dqn = stable_baselines3.DQN("MlpPolicy", env, device="cpu", buffer_size=10, **relabelling(env))
    with pytest.raises(AdapterError, match="for on-policy learners, and DQN is none; give that relabelling"):
        dqn.learn(5, callback=BetweenRollouts())
    two = stable_baselines3.PPO("MlpPolicy", DummyVecEnv([environment, environment]), **FEW)
    with pytest.raises(AdapterError, match="n_envs: got 2"):
        two.learn(5, callback=BetweenRollouts())
    scaled = stable_baselines3.PPO("MlpPolicy", VecNormalize(DummyVecEnv([environment])), **FEW)
    with pytest.raises(AdapterError, match="give it norm_obs=False"):
        scaled.learn(5, callback=BetweenRollouts())
    plain = stable_baselines3.PPO("MlpPolicy", "CartPole-v1", **FEW)
    with pytest.raises(AdapterError, match="no GradientThreshold"):
        plain.learn(5, callback=BetweenRollouts())
