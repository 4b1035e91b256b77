"""Replay buffers that keep vectors: every sample is paid, and shown, by the present theta_ref."""

from __future__ import annotations

import math

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
from equipoise.adapters.deep import VectorDictReplayBuffer, VectorReplayBuffer, relabelling  # noqa: E402

HALVES = eq.rewards.Quadratic([0.5, 0.5])


def environment(kind, threshold=0.2, aware=True):
    table = np.random.default_rng(0).random((200, 2))
    env = GradientThreshold(Scripted(table, observations=kind), HALVES, threshold=threshold)
    return ThetaAwareObservation(env) if aware else env


def learner(env, **more):
    policy = "MultiInputPolicy" if hasattr(env.observation_space, "spaces") else "MlpPolicy"
    fixed = {"learning_starts": 20, "buffer_size": 64, "policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 0}
    return stable_baselines3.DQN(policy, env, **(fixed | more), **relabelling(env))


def test_a_dictionary_keeps_its_entries():
    env = environment("dictionary")
    model = learner(env)
    model.learn(50)
    samples = model.replay_buffer._get_samples(np.arange(50))
    theta = env.get_wrapper_attr("steering").theta_ref
    np.testing.assert_allclose(
        samples.rewards[:, 0].numpy(), [-(theta @ row) for row in env.unwrapped.rows[:50]], atol=1e-6
    )
    np.testing.assert_allclose(
        samples.observations["theta"].numpy(), np.tile(theta / np.linalg.norm(theta), (50, 1)), atol=1e-6
    )
    assert samples.observations["at"].numpy()[:, 0].tolist() == list(range(50))
    assert samples.next_observations["at"].numpy()[:, 0].tolist() == list(range(1, 51))


def test_a_steering_out_of_a_file_pays_nothing(tmp_path):
    env = environment("vector")
    model = learner(env)
    model.learn(30)
    model.save(tmp_path / "model")
    model.save_replay_buffer(tmp_path / "buffer")
    steering = env.get_wrapper_attr("steering")
    with pytest.raises(AdapterError, match=r"steering: .* stands still .*relabelling\(env\)"):
        stable_baselines3.DQN.load(tmp_path / "model", env=env).learn(5)
    again = stable_baselines3.DQN.load(tmp_path / "model", env=env, **relabelling(env))
    again.learn(5)
    assert again.replay_buffer.steering is steering
    again.load_replay_buffer(tmp_path / "buffer")
    with pytest.raises(AdapterError, match=r"model\.replay_buffer\.steering = env\.get_wrapper_attr"):
        again.learn(5)
    again.replay_buffer.steering = steering
    again.learn(5)
    assert again.replay_buffer.pos > model.replay_buffer.pos


@pytest.mark.parametrize("kind", ["number", "vector", "image"])
@pytest.mark.parametrize("aware", [True, False])
def test_samples_are_paid_and_shown_by_the_present_theta_ref(kind, aware):
    env = environment(kind, aware=aware)
    model = learner(env)
    model.learn(50)
    buffer, steering = model.replay_buffer, env.get_wrapper_attr("steering")
    dictionary = aware and kind == "image"
    assert isinstance(buffer, VectorDictReplayBuffer if dictionary else VectorReplayBuffer)
    assert steering.changes > 5
    table, theta = env.unwrapped.rows, steering.theta_ref
    samples = buffer._get_samples(np.arange(50))
    expected = [-(theta @ table[t]) for t in range(50)]
    np.testing.assert_allclose(samples.rewards[:, 0].numpy(), expected, atol=1e-6)
    assert not np.allclose(buffer.rewards[:50, 0], expected, atol=1e-3)  # what was paid at the time
    if aware:
        shown = theta / np.linalg.norm(theta)
        for observations in (samples.observations, samples.next_observations):
            part = observations["theta"] if dictionary else observations[:, -2:]
            np.testing.assert_allclose(part.numpy(), np.tile(shown, (50, 1)), atol=1e-6)
        rest = buffer.observations["observation"] if dictionary else buffer.observations[:, 0, :-2]
        seen = samples.observations["observation"] if dictionary else samples.observations[:, :-2]
        np.testing.assert_array_equal(seen.numpy().reshape(50, -1), rest[:50].reshape(50, -1))  # and nothing else is


def test_the_buffer_itself_keeps_what_was_seen():
    env = environment("vector")
    model = learner(env)
    model.learn(50)
    before = model.replay_buffer.observations.copy()
    model.replay_buffer.sample(32)
    np.testing.assert_array_equal(before, model.replay_buffer.observations)
    np.testing.assert_allclose(model.replay_buffer.vectors[:50], env.unwrapped.rows[:50], atol=1e-6)


def test_old_transitions_are_replaced_with_their_vectors():
    env = environment("vector")
    model = learner(env)
    model.learn(100)  # more than the buffer holds
    np.testing.assert_allclose(model.replay_buffer.vectors[:36], env.unwrapped.rows[64:100], atol=1e-6)
    np.testing.assert_allclose(model.replay_buffer.vectors[36:], env.unwrapped.rows[36:64], atol=1e-6)


def test_a_model_goes_on_after_it_was_saved(tmp_path):
    env = environment("vector")
    model = learner(env)
    model.learn(60)
    model.save(tmp_path / "model.zip", exclude=["replay_buffer_kwargs"])
    again = stable_baselines3.DQN.load(tmp_path / "model.zip", env=env, device="cpu", **relabelling(env))
    again.learn(32)
    assert again.replay_buffer.steering is env.get_wrapper_attr("steering")
    assert env.get_wrapper_attr("steering").t == 93


def test_what_cannot_be_is_refused_by_name():
    env = environment("vector")
    space, actions = env.observation_space, env.action_space
    place = relabelling(env)["replay_buffer_kwargs"]
    with pytest.raises(AdapterError, match="n_envs: got 2; the average is that of one environment"):
        VectorReplayBuffer(10, space, actions, n_envs=2, **place)
    with pytest.raises(AdapterError, match="steering: got float"):
        VectorReplayBuffer(10, space, actions, steering=0.5, place=None)
    buffer = VectorReplayBuffer(10, space, actions, "cpu", **place)
    vector = np.zeros(4, np.float32)
    with pytest.raises(AdapterError, match="info: it has no 'outcomes'"):
        buffer.add(vector, vector, np.zeros(1), np.zeros(1), np.zeros(1), [{}])
    with pytest.raises(AdapterError, match="VecNormalize"):
        buffer._get_samples(np.arange(2), env=object())
    with pytest.raises(AdapterError, match="no GradientThreshold"):
        relabelling(Scripted([[1.0, 1.0]]))


@pytest.mark.slow
def test_dqn_is_steered():
    """On the star with two loops: 0.6 and 0.4; with theta_ref fixed it stays on the first, which loses 0.16."""
    regrets, goal = {}, eq.rewards.Quadratic([0.6, 0.4])
    for threshold in (None, math.inf):
        env = eq.adapters.to_gymnasium(eq.models.star(2, 2))
        env = ThetaAwareObservation(GradientThreshold(env, goal, threshold=threshold))
        model = learner(
            env, buffer_size=5000, learning_rate=3e-3, gamma=0.9, exploration_fraction=0.3, target_update_interval=100,
            policy_kwargs={"net_arch": [32]}, learning_starts=100,
        )  # fmt: skip
        model.learn(3000)
        regrets[threshold] = 1.0 - goal.value(env.get_wrapper_attr("steering").average)
    assert regrets[None] < 0.03
    assert regrets[math.inf] > 0.08
