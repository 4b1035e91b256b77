"""Every family keeps the contract of rewards, and more: sharp constants, exact maximisers."""

from __future__ import annotations

import inspect
import json

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise import models, rewards, studies
from equipoise.errors import RewardError
from equipoise.rewards import Reward
from equipoise.rewards.norms import dual, length
from equipoise.testing import REWARD_CLAUSES
from equipoise.testing.reward import Sampling
from tests.rewards.members import CASES, SMOOTH, grid, missing, points, vertices

EXACT = Sampling(samples=600, slack=1e-12)  # for formulas written out; iterations need more slack
quick = settings(max_examples=25, deadline=None)


@pytest.fixture(params=CASES)
def reward(request: pytest.FixtureRequest) -> Reward:
    return CASES[request.param].make()


@pytest.fixture(params=SMOOTH)
def smooth(request: pytest.FixtureRequest) -> Reward:
    return CASES[request.param].make()


def size(reward: Reward) -> float:
    """What rounding errors are relative to."""
    return max(1.0, reward.lipschitz) * reward.n_outcomes


def thetas(reward: Reward) -> st.SearchStrategy[np.ndarray]:
    """Inside the dual ball, and well outside it."""
    reach = 1.5 * reward.lipschitz + 0.5
    return st.one_of(points(reward.n_outcomes, -reach, reach), points(reward.n_outcomes, -1.0, 1.0))


def test_every_family_is_a_member():
    families = {type(case.make()) for case in CASES.values()}
    public = {getattr(rewards, name) for name in rewards.__all__}
    known = {one for one in public if inspect.isclass(one) and issubclass(one, Reward) and not inspect.isabstract(one)}
    elsewhere = {rewards.Custom, rewards.Affine, rewards.Minimum, rewards.Shortfall, rewards.Constrained}
    assert families == known - elsewhere  # these have tests of their own, with conjugates that are iterated for
    prefixes = {(name.partition("-")[0], type(case.make())) for name, case in CASES.items()}
    assert len(prefixes) == len(families)  # which `make test` goes by, that runs one case of each for each property


@pytest.mark.parametrize("clause", REWARD_CLAUSES.values(), ids=REWARD_CLAUSES)
def test_contract(reward: Reward, clause):
    clause(reward, EXACT)


def test_the_anytime_entropy_keeps_the_contract():
    for clause in REWARD_CLAUSES.values():
        clause(rewards.Entropy(4))


def test_conjugate_argmax_lies_in_the_box_and_beats_a_grid(reward: Reward):
    candidates = np.concatenate((grid(reward.n_outcomes), vertices(reward.n_outcomes)))
    values = np.array([reward.value(w) for w in candidates])

    @quick
    @given(thetas(reward))
    def check(theta: np.ndarray) -> None:
        w = reward.conjugate_argmax(theta)
        assert np.all((w >= 0.0) & (w <= 1.0))
        assert reward.conjugate(theta) == reward.value(w) + theta @ w
        assert reward.conjugate(theta) >= (values + candidates @ theta).max() - 1e-11 * size(reward)
        assert np.array_equal(w, reward.conjugate_argmax(theta))

    check()


def test_conjugate_argmax_of_smooth_rewards_has_no_gap(smooth: Reward):
    @quick
    @given(thetas(smooth))
    def check(theta: np.ndarray) -> None:
        assert missing(smooth, smooth.conjugate_argmax(theta), theta) <= 1e-11 * size(smooth)

    check()


def test_conjugate_against_a_convex_solver(reward: Reward):
    if isinstance(reward, rewards.TargetDistance) and not isinstance(reward.kpi, np.ndarray | rewards.TargetBox):
        pytest.skip("it has no expression; test_target_sets.py writes the program down")
    rng = np.random.default_rng(5)
    w = cvxpy.Variable(reward.n_outcomes)
    theta = cvxpy.Parameter(reward.n_outcomes)
    program = cvxpy.Problem(cvxpy.Maximize(reward.concave_expression(w) + theta @ w), [w >= 0.0, w <= 1.0])
    assert program.is_dcp()
    for radius in (0.3, 0.9, 2.0):
        theta.value = radius * reward.lipschitz * rng.uniform(-1.0, 0.5, reward.n_outcomes)
        program.solve(solver=cvxpy.CLARABEL)
        assert reward.conjugate(theta.value) == pytest.approx(program.value, abs=2e-7 * size(reward))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.tight])
def test_lipschitz_constant_is_attained(name: str):
    reward = CASES[name].make()
    steepest = max(length(reward.gradient(w), dual(reward.norm)) for w in vertices(reward.n_outcomes))
    assert steepest == pytest.approx(reward.lipschitz, rel=1e-12)


@pytest.mark.parametrize("name", SMOOTH)
def test_smoothness_constant_is_attained(name: str):
    smooth, h = CASES[name].make(), 1e-7
    fastest = max(
        length(smooth.gradient(w + h * e) - smooth.gradient(w), dual(smooth.norm)) / h
        for w in (np.zeros(smooth.n_outcomes), np.full(smooth.n_outcomes, 0.1))
        for e in np.eye(smooth.n_outcomes)
    )
    assert fastest == pytest.approx(smooth.smoothness, rel=1e-4, abs=1e-12)


def test_wrong_vectors_are_refused(reward: Reward):
    K = reward.n_outcomes
    for method in (reward.value, reward.gradient, reward.conjugate_argmax, reward.conjugate):
        with pytest.raises(RewardError, match=f"{K + 1} entries"):
            method(np.zeros(K + 1))
        with pytest.raises(RewardError, match=r"\[0\]"):
            method(np.full(K, np.nan))


def test_arguments_survive_json(reward: Reward):
    data = json.loads(json.dumps(studies.vocabulary.part_spec(reward, "reward")))
    again = studies.vocabulary.make_reward(data, models.bandit(reward.n_outcomes), "reward")
    assert repr(again) == repr(reward)


def test_every_argument_is_an_attribute(reward: Reward):
    for name, value in reward.arguments().items():
        attribute = getattr(reward, name)
        assert np.array_equal(attribute, value)
        assert not isinstance(attribute, np.ndarray) or (
            attribute.dtype == np.float64 and not attribute.flags.writeable
        )


def test_fingerprints_tell_the_members_apart():
    prints = {name: case.make().fingerprint() for name, case in CASES.items()}
    assert prints == {name: case.make().fingerprint() for name, case in CASES.items()}
    assert len({tuple(numbers) for numbers in prints.values()}) == len(prints)
    for name, numbers in prints.items():
        K = CASES[name].make().n_outcomes
        assert len(numbers) == 4 + 4 * (1 + K)


def test_a_fingerprint_is_of_the_values_and_of_the_constants():
    assert rewards.Quadratic([0.5, 0.5]).fingerprint() != rewards.Quadratic([0.5, 0.5 + 1e-6]).fingerprint()
    anytime = rewards.Entropy(4).fingerprint()
    assert np.isfinite(anytime).all()
    assert anytime == rewards.Entropy(4).at(1000).fingerprint()


def test_time_changes_nothing(reward: Reward):
    assert reward.at(1000) is reward
