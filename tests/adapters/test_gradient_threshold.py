"""The wrapper: what it pays, when theta_ref moves, what it shows, what it keeps, what it refuses."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import equipoise as eq
from equipoise.adapters import GradientThreshold, ThetaAwareObservation
from equipoise.adapters.gradient_threshold import theta_place
from equipoise.errors import AdapterError, FileError, OracleError, RewardError
from tests.adapters.scripted import Scripted

HALVES = eq.rewards.Quadratic([0.5, 0.5])


def rows(count, seed=0):
    return np.random.default_rng(seed).random((count, 2))


def test_it_pays_minus_theta_ref_times_the_outcomes_and_moves_theta_ref_when_the_drift_has_passed():
    """Against a transcription for Frank-Wolfe: theta is the average minus the target."""
    table = rows(500)
    env = GradientThreshold(Scripted(table), HALVES, threshold=0.3)
    env.reset()
    reference, drift, changes = np.array([-0.5, -0.5]), 0.0, 0
    for t, row in enumerate(table, start=1):
        _, reward, terminated, truncated, info = env.step(0)
        assert reward == pytest.approx(-reference @ row, abs=1e-12)
        assert (terminated, truncated) == (False, False)
        np.testing.assert_allclose(info["theta_ref"], reference, atol=1e-12)
        np.testing.assert_array_equal(info["vector_reward"], row)
        theta = table[:t].mean(axis=0) - 0.5
        drift += np.linalg.norm(theta - reference)
        if drift > 0.3:
            reference, drift, changes = theta, 0.0, changes + 1
    assert env.steering.changes == changes > 5


@pytest.mark.parametrize(("threshold", "changes"), [(0, 200), (math.inf, 0)])
def test_the_ends_of_the_scale(threshold, changes):
    env = GradientThreshold(Scripted(rows(200)), HALVES, threshold=threshold)
    env.reset()
    for _ in range(200):
        env.step(0)
    assert env.steering.changes == changes


def test_resets_leave_the_average_and_pass_on_what_they_are_given():
    table, inner = rows(40), Scripted(rows(40), length=10)
    env = GradientThreshold(inner, HALVES)
    _, info = env.reset(seed=3, options={"a": 1})
    assert info["from"] == "reset"
    assert info["theta_ref"].tolist() == [-0.5, -0.5]
    for _ in range(40):
        _, _, terminated, _, _ = env.step(0)
        if terminated:
            env.reset()
    assert inner.resets == [(3, {"a": 1}, 0)] + [(None, None, taken) for taken in (10, 20, 30, 40)]
    np.testing.assert_allclose(env.steering.average, table.mean(axis=0))
    assert env.steering.t == 41


def test_it_is_a_gymnasium_environment_with_a_scalar_reward():
    env = GradientThreshold(eq.adapters.to_gymnasium(eq.models.star()), eq.rewards.Quadratic([1 / 3] * 3))
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert isinstance(env.step(0)[1], float)


def test_declared_ranges_are_scaled_and_given_ones_come_first():
    inner = Scripted([[5.0, -1.0], [10.0, 0.0]], declared=[(0, 10), (-2, 0)])
    env = GradientThreshold(inner, HALVES)
    env.reset()
    *_, info = env.step(0)
    assert info["outcomes"].tolist() == [0.5, 0.5]
    assert info["vector_reward"].tolist() == [5.0, -1.0]
    given = GradientThreshold(Scripted([[5.0, -1.0]], declared=[(0, 10), (-2, 0)]), HALVES, ranges={1: (-1, 1)})
    given.reset()
    assert given.step(0)[4]["outcomes"].tolist() == [0.5, 0.0]


def test_a_reward_that_is_no_outcome_is_dropped():
    inner = Scripted([[0.25, -7.0, 1.0]], declared=[(0, 1), (-math.inf, 0), (0, 1)])
    with pytest.raises(
        AdapterError, match=r"reward 1: its range is declared as -inf to 0, which is infinite; .* or drop=\[1\]"
    ):
        GradientThreshold(inner, HALVES)
    env = GradientThreshold(inner, HALVES, drop=[1])
    env.reset()
    assert env.step(0)[4]["outcomes"].tolist() == [0.25, 1.0]


def test_a_held_theta_ref_moves_when_it_is_released():
    env = GradientThreshold(Scripted([[1.0, 0.0]]), HALVES, threshold=0.1)
    env.reset()
    env.hold()
    for _ in range(20):
        assert env.step(0)[1] == 0.5
    assert env.held
    assert env.release()
    assert not env.held
    assert env.step(0)[1] == -0.5
    assert not env.release()


def test_what_is_saved_goes_on_bit_for_bit(tmp_path):
    table = rows(300)
    whole, first = (GradientThreshold(Scripted(table), HALVES, threshold=0.2) for _ in range(2))
    whole.reset()
    first.reset()
    for _ in range(150):
        whole.step(0)
        first.step(0)
    first.steering.save(tmp_path / "steering.npz")
    second = GradientThreshold(first.env, HALVES, threshold=0.2)
    second.steering.resume(tmp_path / "steering.npz")
    for _ in range(150):
        assert whole.step(0)[1] == second.step(0)[1]
    assert whole.steering.changes == second.steering.changes > 5
    for name, part in np.load(tmp_path / "steering.npz", allow_pickle=False).items():
        assert part.dtype != object, name


@pytest.mark.parametrize(
    ("reward", "oracle", "threshold", "part"),
    [
        (eq.rewards.Quadratic([0.5, 0.4]), None, 0.2, "fingerprint"),
        (eq.rewards.TargetSquared([0.5, 0.5]), None, 0.2, "reward"),
        (HALVES, eq.oracles.TunedGradientDescent(), 0.2, "oracle"),
        (HALVES, None, 0.3, "threshold"),
    ],
)
def test_a_file_of_other_parts_is_refused(tmp_path, reward, oracle, threshold, part):
    eq.agents.Steering(HALVES, threshold=0.2).save(tmp_path / "steering.npz")
    other = eq.agents.Steering(reward, oracle, threshold)
    with pytest.raises(FileError, match=rf"steering.npz: its {part} is"):
        other.resume(tmp_path / "steering.npz")


@pytest.mark.parametrize(
    ("inner", "more", "error", "match"),
    [
        (Scripted([[0.5, 1.5]]), {}, AdapterError, r"reward 1 is 1.5, outside of its range, 0 to 1"),
        (Scripted([[0.5, 3.0]], declared=[(0, 1), (0, 2)]), {}, AdapterError, "reward 1 is 3, outside .* 0 to 2"),
        (Scripted([[0.5, math.nan]]), {}, AdapterError, "reward 1 is nan"),
        (Scripted([[0.5, 0.5]], declared=None), {}, AdapterError, "env: it declares no reward_space; give ranges="),
        (Scripted([[0.5, 0.5]], declared=None), {"ranges": {0: (0, 1)}}, AdapterError, "declares no reward_space"),
        (Scripted([[0.5, 2.5]], declared=None), {"ranges": [(0, 1), (0, 2)]}, AdapterError, "reward 1 is 2.5"),
        (Scripted([[0.5]], declared=[(0, 1)]), {}, RewardError, "it takes 2 outcomes; the environment has 1"),
        (Scripted([0.5]), {}, AdapterError, "reward: got .*0.5.*a vector of 2 is declared"),
        (Scripted([["x", "y"]]), {}, AdapterError, "a vector of numbers is needed"),
        (Scripted([[1.0, 1.0, 1.0]]), {}, AdapterError, "a vector of 2 is declared or given"),
        (Scripted([[1, 1]]), {"ranges": [(0, 1)]}, AdapterError, "ranges: got 1; 2 are needed"),
        (Scripted([[1, 1]]), {"ranges": {1: 5}}, AdapterError, "ranges, reward 1: got 5"),
        (Scripted([[1, 1]]), {"ranges": {1: (2, 2)}}, AdapterError, r"ranges, reward 1: got \(2, 2\)"),
        (Scripted([[1, 1]]), {"drop": [2]}, AdapterError, "drop: got 2"),
        (Scripted([[1, 1]]), {"drop": [0, 1]}, AdapterError, "drop: nothing is left"),
        (Scripted([[1, 1]]), {"oracle": eq.oracles.TunedGradientDescent, "threshold": 1}, eq.EquipoiseError, "oracle"),
        ("an environment", {}, AdapterError, "env: got str; a gymnasium.Env is needed"),
    ],
)
def test_what_cannot_be_is_refused_by_name(inner, more, error, match):
    def run():
        env = GradientThreshold(inner, HALVES, **more)
        env.reset()
        env.step(0)

    with pytest.raises(error, match=match):
        run()


def test_an_oracle_that_does_not_fit_is_refused():
    with pytest.raises(OracleError, match="FrankWolfe needs a smooth reward"):
        GradientThreshold(Scripted([[1, 1]]), eq.rewards.BottomSum(2, 1), eq.oracles.FrankWolfe())


# -- theta_ref in observations ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["number", "vector", "image", "dictionary"])
def test_observations_show_the_theta_ref_that_pays_next(kind):
    env = ThetaAwareObservation(GradientThreshold(Scripted(rows(60), observations=kind), HALVES, threshold=0.3))
    observation, info = env.reset()
    assert env.observation_space.contains(observation)
    for taken in range(1, 60):
        before = observation
        observation, _, _, _, info = env.step(0)
        assert env.observation_space.contains(observation), observation
        shown = before["theta"] if isinstance(before, dict) else before[-2:]
        np.testing.assert_allclose(shown, info["theta_ref"] / np.linalg.norm(info["theta_ref"]), atol=1e-6)
        if kind == "number":
            assert observation[:-2].argmax() == taken
            assert observation[:-2].sum() == 1.0
        elif kind == "vector":
            assert observation[:2].tolist() == [taken, taken]
        elif kind == "dictionary":
            assert list(observation) == ["at", "light", "theta"]
            assert observation["at"].tolist() == [taken]
            assert observation["light"] == taken % 2
        else:
            assert (observation["observation"] == taken).all()
    assert env.get_wrapper_attr("steering").changes > 2
    assert theta_place(env) == {"number": 1000, "vector": 2}.get(kind, "theta")


def test_a_dictionary_that_has_a_theta_already_is_refused():
    env = Scripted([[1, 1]], observations="dictionary")
    env.observation_space = spaces.Dict({"theta": spaces.Discrete(2)})
    with pytest.raises(AdapterError, match="have an entry 'theta' already"):
        ThetaAwareObservation(GradientThreshold(env, HALVES))


def test_a_single_number_is_a_vector_of_one():
    env = GradientThreshold(Scripted([3.0, 1.0], declared=None), eq.rewards.TargetSquared([0.75]), ranges=[(1, 3)])
    _, info = env.reset()
    theta = info["theta_ref"]
    _, paid, _, _, info = env.step(0)
    assert paid == -theta[0] * 1.0
    assert info["vector_reward"].tolist() == [3.0]
    env.step(0)
    assert env.steering.average.tolist() == [0.5]


def test_a_theta_of_zero_is_shown_as_zero():
    env = ThetaAwareObservation(GradientThreshold(Scripted([[0.5, 0.5]]), HALVES, threshold=0.0))
    env.reset()
    assert env.step(0)[0][-2:].tolist() == [0.0, 0.0]


def test_theta_needs_a_threshold_to_come_from_and_a_place_to_be():
    with pytest.raises(AdapterError, match="no GradientThreshold is among its wrappers"):
        ThetaAwareObservation(Scripted([[1, 1]]))
    plain = GradientThreshold(Scripted([[1, 1]]), HALVES)
    assert theta_place(plain) is None
    aware = ThetaAwareObservation(plain)
    assert theta_place(gymnasium.wrappers.TimeLimit(aware, 10)) == 1000
    moved = gymnasium.wrappers.TransformObservation(aware, lambda x: x[::-1], gymnasium.spaces.Box(-1, 1, (1002,)))
    assert theta_place(moved) == 1000  # the space is the same, and nobody can see that the entries are not
    wider = gymnasium.wrappers.TransformObservation(aware, lambda x: x, gymnasium.spaces.Box(-2, 2, (1002,)))
    with pytest.raises(AdapterError, match="make ThetaAwareObservation the last one"):
        theta_place(wider)
