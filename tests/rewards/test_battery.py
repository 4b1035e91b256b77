"""What every reward must satisfy, whatever its family."""

from __future__ import annotations

import json

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise import rewards
from equipoise.errors import RewardError
from equipoise.rewards import Reward
from equipoise.rewards.norms import dual, length
from tests.rewards.battery import CASES, SMOOTH, grid, missing, points, vertices

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


def test_every_family_is_in_the_battery():
    families = {type(case.make()).__name__ for case in CASES.values()}
    assert families == set(rewards.__all__) - {"Reward", "Custom"}


def test_numerical_gradient(smooth: Reward):
    @quick
    @given(points(smooth.n_outcomes, 0.01, 0.99))
    def check(w: np.ndarray) -> None:
        # Central differences, once extrapolated: the error is of order h^4 and rounding of order 1e-16 / h.
        gradient = smooth.gradient(w)
        for k in range(w.size):
            e = np.eye(w.size)[k]
            slopes = [(smooth.value(w + h * e) - smooth.value(w - h * e)) / (2 * h) for h in (2e-4, 1e-4)]
            numerical = (4 * slopes[1] - slopes[0]) / 3
            assert gradient[k] == pytest.approx(numerical, abs=1e-7 * size(smooth))

    if not isinstance(smooth, rewards.TargetSquared):
        check()


def test_supergradient_inequality(reward: Reward):
    @quick
    @given(points(reward.n_outcomes), points(reward.n_outcomes))
    def check(u: np.ndarray, w: np.ndarray) -> None:
        assert reward.value(u) <= reward.value(w) + reward.gradient(w) @ (u - w) + 1e-13 * size(reward)

    check()


def test_fenchel_young(reward: Reward):
    @quick
    @given(points(reward.n_outcomes), thetas(reward))
    def check(w: np.ndarray, theta: np.ndarray) -> None:
        assert reward.conjugate(theta) >= reward.value(w) + theta @ w - 1e-11 * size(reward)
        theta = -reward.gradient(w)
        assert reward.conjugate(theta) == pytest.approx(reward.value(w) + theta @ w, abs=1e-11 * size(reward))

    check()


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
    rng = np.random.default_rng(5)
    w = cvxpy.Variable(reward.n_outcomes)
    theta = cvxpy.Parameter(reward.n_outcomes)
    program = cvxpy.Problem(cvxpy.Maximize(reward.concave_expression(w) + theta @ w), [w >= 0.0, w <= 1.0])
    assert program.is_dcp()
    for radius in (0.3, 0.9, 2.0):
        theta.value = radius * reward.lipschitz * rng.uniform(-1.0, 0.5, reward.n_outcomes)
        program.solve(solver=cvxpy.CLARABEL)
        assert reward.conjugate(theta.value) == pytest.approx(program.value, abs=2e-7 * size(reward))


def test_expression_is_the_value(reward: Reward):
    @quick
    @given(points(reward.n_outcomes))
    def check(w: np.ndarray) -> None:
        expression = reward.concave_expression(cvxpy.Constant(w))
        assert float(expression.value) == pytest.approx(reward.value(w), abs=1e-12 * size(reward))

    check()
    expression = reward.concave_expression(cvxpy.Variable(reward.n_outcomes))
    assert expression.is_scalar()
    assert expression.is_concave()
    assert not reward.piecewise_linear or (-expression).is_pwl()


def test_lipschitz(reward: Reward):
    @quick
    @given(points(reward.n_outcomes), points(reward.n_outcomes))
    def check(u: np.ndarray, w: np.ndarray) -> None:
        bound = reward.lipschitz * length(u - w, reward.norm)
        assert abs(reward.value(u) - reward.value(w)) <= bound + 1e-13 * size(reward)
        assert length(reward.gradient(w), dual(reward.norm)) <= reward.lipschitz * (1 + 1e-12)

    check()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.tight])
def test_lipschitz_constant_is_attained(name: str):
    reward = CASES[name].make()
    steepest = max(length(reward.gradient(w), dual(reward.norm)) for w in vertices(reward.n_outcomes))
    assert steepest == pytest.approx(reward.lipschitz, rel=1e-12)


def test_smoothness(smooth: Reward):
    @quick
    @given(points(smooth.n_outcomes), points(smooth.n_outcomes))
    def check(u: np.ndarray, w: np.ndarray) -> None:
        change = length(smooth.gradient(u) - smooth.gradient(w), dual(smooth.norm))
        assert change <= smooth.smoothness * length(u - w, smooth.norm) * (1 + 1e-12) + 1e-13 * size(smooth)

    check()


def test_smoothness_constant_is_attained(smooth: Reward):
    h = 1e-7
    fastest = max(
        length(smooth.gradient(w + h * e) - smooth.gradient(w), dual(smooth.norm)) / h
        for w in (np.zeros(smooth.n_outcomes), np.full(smooth.n_outcomes, 0.1))
        for e in np.eye(smooth.n_outcomes)
    )
    assert fastest == pytest.approx(smooth.smoothness, rel=1e-4, abs=1e-12)


def test_vertices_hold_every_supergradient(reward: Reward):
    if reward.vertices is None:
        return
    base, coordinate, scale = reward.vertices
    slack = bool((scale == 0.0).any())

    @quick
    @given(points(reward.n_outcomes))
    def check(w: np.ndarray) -> None:
        # Each coordinate has at most one vertex of its own: the weights can be read off.
        rest = reward.gradient(w) - base
        weights = np.array([rest[k] / s if s else 0.0 for k, s in zip(coordinate, scale, strict=True)])
        assert np.all(weights >= 0.0)
        assert weights.sum() <= 1.0 + 1e-12
        assert slack or weights.sum() == pytest.approx(1.0)
        rebuilt = base.copy()
        np.add.at(rebuilt, coordinate, weights * scale)
        assert rebuilt == pytest.approx(reward.gradient(w), abs=1e-12)

    check()


def test_arguments_rebuild_the_reward(reward: Reward):
    again = type(reward)(**json.loads(json.dumps(reward.arguments())))
    assert repr(again) == repr(reward)
    assert np.array_equal(again.params, reward.params)
    for name in ("n_outcomes", "norm", "lipschitz", "smoothness", "piecewise_linear"):
        assert getattr(again, name) == getattr(reward, name)


def test_wrong_vectors_are_refused(reward: Reward):
    K = reward.n_outcomes
    for method in (reward.value, reward.gradient, reward.conjugate_argmax, reward.conjugate):
        with pytest.raises(RewardError, match=f"{K + 1} entries"):
            method(np.zeros(K + 1))
        with pytest.raises(RewardError, match=r"\[0\]"):
            method(np.full(K, np.nan))


def test_time_changes_nothing(reward: Reward):
    assert reward.at(1000) is reward
