"""A world as a Gymnasium environment: the same world, in the hands of Gymnasium's and MO-Gymnasium's own tools."""

import copy
import pickle

import gymnasium
import mo_gymnasium.wrappers as mo
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

import equipoise as eq
from equipoise.adapters import to_gymnasium
from equipoise.errors import AdapterError, ProtocolError

WORLDS = {
    "star": eq.models.star(branches=3, diameter=4),  # states differ in their actions
    "riverswim": eq.models.riverswim(6),  # Bernoulli outcomes: 1 + K draws a step
    "garnet": eq.models.garnet(20, 3, 3, 2, seed=1),
}
# The check asks for a reward that is a number, and warns of a wrapper that makes one; each warning is met alone.
VECTOR = r"ignore:.*The reward returned by `step\(\)` must be a float:UserWarning"
WRAPPED = "ignore:.*is different from the unwrapped version:UserWarning"


@pytest.fixture(params=WORLDS)
def model(request):
    return WORLDS[request.param]


def test_it_draws_what_the_world_of_the_same_seed_draws(model):
    env, world, rng = to_gymnasium(model), model.world(seed=7), np.random.default_rng(0)
    state, info = env.reset(seed=7)
    assert state == world.state == model.start
    for _ in range(500):
        action = int(rng.integers(model.n_actions[state]))
        expected, _ = world.step(action)
        state, reward, terminated, truncated, info = env.step(action)
        assert state == world.state
        assert reward.tolist() == expected.tolist()
        assert (terminated, truncated) == (False, False)
        assert reward.dtype == np.float64
        assert env.reward_space.contains(reward)
        assert info["action_mask"].sum() == model.n_actions[state]


@pytest.mark.filterwarnings(VECTOR)
def test_gymnasium_finds_no_fault_but_that_rewards_are_vectors(model):
    check_env(to_gymnasium(model), skip_render_check=True)


@pytest.mark.filterwarnings(WRAPPED)
def test_gymnasium_finds_no_fault_with_a_scalar_reward(model):
    # Not with MO-Gymnasium's LinearReward: that puts one array of weights into every info, which is a fault by itself.
    total = gymnasium.wrappers.TransformReward(to_gymnasium(model), lambda reward: float(reward.sum()))
    check_env(total, skip_render_check=True)


def test_a_number_beyond_the_last_action_stands_for_the_last():
    model = WORLDS["star"]
    assert min(model.n_actions) < max(model.n_actions)
    beyond, last = to_gymnasium(model), to_gymnasium(model)
    first, second = beyond.reset(seed=3), last.reset(seed=3)
    for _ in range(50):
        first = beyond.step(beyond.action_space.n - 1)
        second = last.step(model.n_actions[second[0]] - 1)
        assert first[0] == second[0]
        assert first[1].tolist() == second[1].tolist()


def test_a_draw_with_the_mask_is_an_action_of_the_state():
    model = WORLDS["star"]
    env = to_gymnasium(model)
    env.action_space.seed(0)
    state, info = env.reset(seed=0)
    for _ in range(100):
        action = env.action_space.sample(mask=info["action_mask"])
        assert action < model.n_actions[state]
        state, _, _, _, info = env.step(action)


def test_a_reset_without_a_seed_goes_on_with_the_stream():
    env = to_gymnasium(WORLDS["riverswim"])
    env.reset(seed=5)
    one = [env.step(1)[0] for _ in range(30)]
    env.reset()
    other = [env.step(1)[0] for _ in range(30)]
    env.reset(seed=5)
    assert [env.step(1)[0] for _ in range(30)] == one != other


def test_a_time_limit_makes_episodes_of_it():
    spec = EnvSpec("Star-v0", entry_point=lambda: to_gymnasium(WORLDS["star"]), max_episode_steps=7)
    env = gymnasium.make(spec, disable_env_checker=True)
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(7)]
    assert ends == [(False, False)] * 6 + [(False, True)]


def test_copies_go_on_alike():
    env = to_gymnasium(WORLDS["garnet"])
    env.reset(seed=1)
    env.step(1)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(20):
        state = env.step(0)[0]
        for twin in twins:
            assert twin.step(0)[0] == state
            assert twin.model.means.flags.writeable is False


def test_the_wrappers_of_mo_gymnasium_work_on_it(model):
    rng = np.random.default_rng(2)
    weight = rng.random(model.n_outcomes)
    plain, linear = to_gymnasium(model), mo.LinearReward(to_gymnasium(model), weight)
    normal, clipped = mo.MONormalizeReward(to_gymnasium(model), 0), mo.MOClipReward(to_gymnasium(model), 0, 0.2, 0.5)
    envs = [plain, linear, normal, clipped]
    assert len({env.reset(seed=4)[0] for env in envs}) == 1
    for _ in range(50):
        action = int(rng.integers(plain.action_space.n))
        vector, scalar, scaled, cut = (env.step(action)[1] for env in envs)
        assert scalar == pytest.approx(vector @ weight)
        assert scaled[1:].tolist() == vector[1:].tolist() == cut[1:].tolist()
        assert cut[0] == np.clip(vector[0], 0.2, 0.5)


def test_statistics_of_episodes_and_skipped_frames(model):
    recorded = mo.MORecordEpisodeStatistics(gymnasium.wrappers.TimeLimit(to_gymnasium(model), 12))
    skipping = mo.MOMaxAndSkipObservation(to_gymnasium(model), skip=4)
    recorded.reset(seed=9)
    skipping.reset(seed=9)
    total = np.zeros(model.n_outcomes)
    for step in range(12):
        _, reward, _, truncated, info = recorded.step(0)
        total += reward
        assert truncated == (step == 11)
    assert info["episode"]["r"] == pytest.approx(total, abs=1e-5)  # kept there as float32
    assert sum(skipping.step(0)[1] for _ in range(3)) == pytest.approx(total, abs=1e-5)


def test_vectors_of_environments(model):
    several = mo.vector.MORecordEpisodeStatistics(MOSyncVectorEnv([lambda: to_gymnasium(model)] * 3))
    several.reset(seed=[1, 2, 3])
    alone = to_gymnasium(model)
    alone.reset(seed=2)
    for _ in range(20):
        states, rewards, terminated, _, _ = several.step(np.zeros(3, np.int64))
        state, reward, *_ = alone.step(0)
        assert states[1] == state
        assert rewards[1] == pytest.approx(reward, abs=1e-6)
        assert rewards.shape == (3, model.n_outcomes)
        assert not terminated.any()
    several.close()


def test_what_is_refused():
    env = to_gymnasium(WORLDS["star"])
    with pytest.raises(ProtocolError, match="call reset first"):
        env.step(0)
    env.reset(seed=0)
    for action in (3, -1, 0.5, "left", None):
        with pytest.raises(ProtocolError, match="an integer from 0 to 2 is needed"):
            env.step(action)
    with pytest.raises(AdapterError, match="got str; a Model is needed"):
        to_gymnasium("star")
