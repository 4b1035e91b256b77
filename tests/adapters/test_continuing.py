"""Episodes that follow one another: nothing ends, and what is seen after an end is the start."""

from __future__ import annotations

import gymnasium
import mo_gymnasium
import numpy as np
import pytest

import equipoise as eq
from equipoise.adapters import Continuing, GradientThreshold
from tests.adapters.scripted import Scripted


def test_after_the_end_comes_the_start():
    inner = Scripted([[0.0, 1.0]], length=3)
    env = Continuing(inner)
    env.reset(seed=4)
    ended = []
    for taken in range(1, 10):
        observation, reward, terminated, truncated, info = env.step(0)
        assert (terminated, truncated, reward.tolist()) == (False, False, [0.0, 1.0])
        ended.append(info["episode_ended"])
        assert ("final_observation" in info) == ended[-1]
        assert observation == 5 + taken
    assert ended == [False, False, True] * 3
    assert [seed for seed, _, _ in inner.resets] == [4, None, None, None]


def test_truncation_is_passed_on_and_is_no_end_even_together_with_a_termination():
    inner = Scripted([[0.0, 1.0]], length=3)
    env = Continuing(gymnasium.wrappers.TimeLimit(inner, 2))
    env.reset()
    assert [env.step(0)[2:4] for _ in range(2)] == [(False, False), (False, True)]
    env.reset()  # the third step ends the episode
    env.env._max_episode_steps = 1
    assert env.step(0)[2:4] == (False, True)
    assert len(inner.resets) == 2


# MO-Gymnasium declares its rewards in double precision, as single.
@pytest.mark.filterwarnings("ignore:.*precision lowered by casting:UserWarning")
def test_fishwood_goes_on_past_its_two_hundred_steps():
    """In the woods all the time: wood with probability 0.9, no fish, whatever its clock says."""
    goal = eq.rewards.BottomSum(2, 1)
    env = GradientThreshold(Continuing(mo_gymnasium.make("fishwood-v0")), goal, threshold=np.inf)
    env.reset(seed=0)
    for t in range(1, 1001):
        _, _, terminated, truncated, _ = env.step(np.int64(1))
        assert (terminated, truncated) == (False, t % 200 == 0)  # it sets both at once, and is a limit of time
        if truncated:
            env.reset()
    fish, wood = env.steering.average
    assert fish == 0.0
    assert abs(wood - 0.9) < 5 * np.sqrt(0.9 * 0.1 / 1000)
