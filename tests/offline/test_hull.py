"""The best point over a hull: against cvxpy, and by its own dual."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import equipoise as eq
from equipoise.offline.hull import hull_master
from equipoise.offline.problem import expression_of

K = 3
REWARDS = {
    "balance": eq.rewards.Balance([0.2, 0.3, 0.5]),
    "bottom": eq.rewards.BottomSum(K, 1),
    "bottom 2": eq.rewards.BottomSum(K, 2),
    "gini": eq.rewards.GeneralisedGini([3.0, 2.0, 1.0]),
    "knapsack": eq.rewards.Knapsack(n_outcomes=K, budget=0.3),
    "distance": eq.rewards.TargetDistance([0.6, 0.5, 0.4]),
    "quadratic": eq.rewards.Quadratic([0.4, 0.3, 0.2]),
    "fairness": eq.rewards.ProportionalFairness(K, 0.1),
    "entropy": eq.rewards.Entropy(K),
    "linear": eq.rewards.Linear([1.0, -0.5, 0.25]),
}


def best_by_cvxpy(reward, points, share, origin):
    w, g = expression_of(reward)
    weights = cp.Variable(len(points), nonneg=True)
    problem = cp.Problem(cp.Maximize(g), [w == origin + share * (points.T @ weights), cp.sum(weights) == 1])
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize("name", REWARDS)
@pytest.mark.parametrize("share", [1.0, 0.1])
def test_the_value_is_that_of_cvxpy_and_its_dual_proves_it(name, share):
    reward, rng = REWARDS[name], np.random.default_rng(7)
    master = hull_master(reward)
    for n in (1, 2, 5, 12):
        points = rng.random((n, K))
        origin = (1.0 - share) * rng.random(K)
        found = master.best(points, np.full(n, 1.0 / n), share, origin, 1e-8)
        w = origin + share * (found.weights @ points)
        assert found.weights.min() >= 0.0
        assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert found.value == pytest.approx(reward.value(np.clip(w, 0.0, 1.0)), abs=1e-9)
        assert found.value == pytest.approx(best_by_cvxpy(reward, points, share, origin), abs=1e-5)
        assert found.conjugate >= reward.conjugate(found.theta) - 1e-9
        bound = found.conjugate - found.theta @ origin + share * (points @ -found.theta).max()
        assert found.value <= bound + 1e-9
        assert bound <= found.value + 1e-6


def test_nearly_equal_vectors_are_no_trouble():
    rng = np.random.default_rng(0)
    corner = 0.99319616151715240 * rng.integers(0, 2, (10, K))
    points = corner + 2e-9 * rng.random((10, K))
    found = hull_master(eq.rewards.BottomSum(K, 1)).best(points, np.eye(10)[0], 0.65, np.full(K, 0.013), 1e-8)
    assert found.value == pytest.approx(best_by_cvxpy(eq.rewards.BottomSum(K, 1), points, 0.65, np.full(K, 0.013)))


@pytest.mark.parametrize("name", ["bottom", "quadratic"])
@pytest.mark.parametrize("twin", [copy.deepcopy, lambda master: pickle.loads(pickle.dumps(master))])
def test_a_copy_goes_on_alike(name, twin):
    rng, master = np.random.default_rng(1), hull_master(REWARDS[name])
    master.best(rng.random((4, K)), np.eye(4)[0], 1.0, np.zeros(K), 1e-8)
    other = twin(master)
    points = rng.random((6, K))
    first, second = (each.best(points, np.eye(6)[0], 1.0, np.zeros(K), 1e-8) for each in (master, other))
    np.testing.assert_array_equal(first.weights, second.weights)
    np.testing.assert_array_equal(first.theta, second.theta)


@pytest.mark.parametrize("size", [1e-13, 1.0, 1e13])
@pytest.mark.parametrize("name", ["linear", "bottom"])
def test_the_dual_is_proven_at_any_size(name, size):
    """Conjugates in exact arithmetic: of a linear g by its signs, of the least outcome by the corners of the box."""
    rng, g = np.random.default_rng(5), eq.rewards.Sum([REWARDS[name]], [size])
    for _ in range(10):
        points = rng.random((4, K))
        found = hull_master(g).best(points, np.full(4, 0.25), 1.0, np.zeros(K), 1e-8 * size)
        theta = [Fraction(x) for x in found.theta]
        if name == "linear":
            weights = [Fraction(size) * Fraction(c) for c in (1.0, -0.5, 0.25)]
            exact = sum(max(Fraction(0), c + x) for c, x in zip(weights, theta, strict=True))
        else:  # the least is 0 in all corners of the box but one
            exact = max(Fraction(size) + sum(theta), sum(x for x in theta if x > 0))
        assert Fraction(found.conjugate) >= exact
        assert found.conjugate - float(exact) <= 1e-11 * size


def test_tangents_are_made_again_from_where_they_touch():
    master = hull_master(REWARDS["bottom 2"])
    master.best(np.random.default_rng(2).random((5, K)), np.full(5, 0.2), 1.0, np.zeros(K), 1e-8)
    other = hull_master(REWARDS["bottom 2"])
    other.tangents = master.tangents
    np.testing.assert_array_equal(other.tangents, master.tangents)
    assert len(other.tangents) > 1
    points = np.random.default_rng(3).random((6, K))
    first, second = (each.best(points, np.full(6, 1 / 6), 1.0, np.zeros(K), 1e-8) for each in (master, other))
    np.testing.assert_array_equal(first.theta, second.theta)
    assert first.conjugate == second.conjugate
