"""A reward of an affine image: the contract, the formula, sound constants, and shares as goals."""

from __future__ import annotations

import json
import math

import cvxpy
import numpy as np
import pytest

import equipoise as eq
from equipoise import rewards
from equipoise.errors import RewardError
from equipoise.rewards import Affine
from equipoise.rewards.norms import dual, length
from equipoise.testing import REWARD_CLAUSES
from tests.rewards.members import assert_same_elsewhere

A = [[-0.3, 0.7, 0.0], [0.2, 0.2, 0.6]]
B = [0.3, 0.0]
TALL = [[0.5, 0.0], [0.0, -0.25], [0.3, 0.7]]
HIGH = [0.25, 0.5, 0.0]


def custom():
    return rewards.Custom(
        2, lambda w: 1 - np.sum((w - 0.25) ** 2), lambda w: 0.5 - 2 * w, norm=2, lipschitz=3.0, smoothness=2.0
    )


CASES = {
    "squared": lambda: rewards.TargetSquared([0.6, 0.7]).of(A, B),
    "squared, tall": lambda: rewards.TargetSquared([0.6, 0.5, 1.0]).of(TALL, HIGH),
    "quadratic": lambda: rewards.Quadratic([0.2, 0.9]).of(A, B),
    "linear, norm 1": lambda: rewards.Linear([1.0, -2.0], norm=1).of(A, B),
    "linear, inf": lambda: rewards.Linear([1.0, -2.0], norm=math.inf).of(A, B),
    "distance 1": lambda: rewards.TargetDistance([0.6, 0.7], 1).of(A, B),
    "distance inf": lambda: rewards.TargetDistance([0.6, 0.7, 0.2], math.inf).of(TALL, HIGH),
    "balance": lambda: rewards.Balance([0.4, 0.6]).of(A, B),
    "bottom": lambda: rewards.BottomSum(3, 2).of(TALL, HIGH),
    "proportional": lambda: rewards.ProportionalFairness(2, 0.1).of(A, B),
    "entropy": lambda: rewards.Entropy(2, mu=0.1).of(A, B),
    "knapsack": lambda: rewards.Knapsack(2, 0.5).of(A, B),
    "one row": lambda: rewards.TargetSquared([0.8]).of([[0.5, 0.25, 0.125, 0.125]]),
    "the other way round": lambda: rewards.TargetSquared([0.8, 0.6]).of([[0.0, -1.0], [-1.0, 0.0]], [1.0, 1.0]),
    "squared, beyond": lambda: rewards.TargetSquared([0.5, 0.9]).of([[-2.0, 4.0, 0.0], [0.5, 0.0, -3.0]], [0.5, 2.0]),
    "distance 2, beyond": lambda: rewards.TargetDistance([0.5, 0.9]).of(
        [[-2.0, 4.0, 0.0], [0.5, 0.0, -3.0]], [0.5, 2.0]
    ),
    "twice": lambda: rewards.TargetSquared([0.6, 0.7]).of(A, B).of(TALL, HIGH),
    "of one's own": lambda: custom().of(A, B),
}


@pytest.fixture(params=CASES)
def reward(request):
    return CASES[request.param]()


@pytest.mark.parametrize("clause", REWARD_CLAUSES.values(), ids=REWARD_CLAUSES)
def test_contract(reward, clause):
    clause(reward)


def test_it_is_g_of_the_image(reward):
    rng = np.random.default_rng(3)
    for w in rng.random((50, reward.n_outcomes)):
        x = reward.matrix @ w + reward.offset
        assert reward.value(w) == pytest.approx(reward.inner.value(x), abs=1e-12)
        assert reward.gradient(w) == pytest.approx(reward.matrix.T @ reward.inner.gradient(x), abs=1e-12)
        assert reward.image(w) == pytest.approx(x)


def test_constants_are_sound(reward):
    """No direction is stretched by more than the constants say, among random ones and the worst of each norm."""
    rng = np.random.default_rng(1)
    K, norm = reward.n_outcomes, reward.norm
    directions = np.concatenate([rng.standard_normal((500, K)), np.eye(K), np.sign(rng.standard_normal((50, K)))])
    stretch = max(length(reward.matrix @ u, norm) / length(u, norm) for u in directions)
    assert reward.lipschitz >= reward.inner.lipschitz * stretch * (1 - 1e-12)
    low = reward.offset + np.minimum(reward.matrix, 0.0).sum(axis=1)
    high = reward.offset + np.maximum(reward.matrix, 0.0).sum(axis=1)
    beyond = min(low) < 0.0 or max(high) > 1.0 + 1e-9
    steepest = reward.inner.lipschitz_on(low, high) if beyond else reward.inner.lipschitz
    assert reward.lipschitz <= max(reward.inner.lipschitz, steepest) * stretch * 1.05  # and some direction nearly is
    if reward.smoothness is not None:
        assert reward.smoothness >= reward.inner.smoothness * stretch**2 * (1 - 1e-12)
    for w in rng.random((50, K)):
        assert length(reward.gradient(w), dual(norm)) <= reward.lipschitz * (1 + 1e-12)


def test_conjugate_against_a_convex_solver(reward):
    if not isinstance(reward.inner, rewards.Custom):
        rng = np.random.default_rng(5)
        w, theta = cvxpy.Variable(reward.n_outcomes), cvxpy.Parameter(reward.n_outcomes)
        program = cvxpy.Problem(cvxpy.Maximize(reward.concave_expression(w) + theta @ w), [w >= 0.0, w <= 1.0])
        assert program.is_dcp()
        for radius in (0.1, 0.5, 2.0):
            theta.value = radius * reward.lipschitz * rng.uniform(-1.0, 0.5, reward.n_outcomes)
            program.solve(solver=cvxpy.CLARABEL)
            assert reward.conjugate(theta.value) == pytest.approx(program.value, abs=1e-6)
            assert reward.conjugate_bound(theta.value) >= program.value - 1e-7
            assert reward.conjugate_bound(theta.value) >= reward.conjugate(theta.value) - 1e-12


def test_arguments_survive_json_and_a_description():
    reward = CASES["squared"]()
    data = eq.studies.vocabulary.part_spec(reward, "reward")
    again = eq.studies.vocabulary.make_reward(json.loads(json.dumps(data)), eq.models.bandit(3), "reward")
    assert again == reward
    assert repr(again) == repr(reward)
    assert reward != CASES["quadratic"]()
    for vector in (reward.matrix, reward.offset):
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 1.0


def test_a_pickle_has_no_addresses(tmp_path):
    assert_same_elsewhere(CASES["twice"](), [0.3, 0.8], tmp_path)


def test_an_agent_with_it_runs_is_saved_and_proves(tmp_path):
    model = eq.models.garnet(5, 3, 3, 3, seed=8)
    reward = CASES["squared"]()
    best = eq.solve(model, reward)
    agent = eq.recommended(model.space, reward)
    eq.simulate(model, agent, 3000, seed=1)
    agent.save(tmp_path / "agent")
    again = eq.TocUCRL2.load(tmp_path / "agent")
    runs = [eq.simulate(model, one, 2000, seed=1) for one in (agent, again)]
    assert np.array_equal(runs[0].outcomes, runs[1].outcomes)
    assert agent.certificate(effort=3).best_possible >= best.value - 1e-9
    assert 0 <= runs[0].regret(best.value)[-1] < 0.02


@pytest.mark.parametrize("name", ["squared", "balance", "bottom", "entropy", "distance 1", "knapsack"])
def test_there_is_an_oracle_for_it(name):
    reward = CASES[name]()
    model = eq.models.garnet(4, 2, 3, reward.n_outcomes, seed=8)
    run = eq.simulate(model, eq.recommended(model.space, reward), 5000, seed=1)
    assert run.regret(eq.solve(model, reward).value)[-1] < 0.1


def test_descent_by_the_iterated_conjugate():
    reward = CASES["squared"]()
    model = eq.models.garnet(4, 2, 3, 3, seed=8)
    agent = eq.TocUCRL2(model.space, reward, eq.oracles.TunedGradientDescent())
    run = eq.simulate(model, agent, 2000, seed=1)
    best = eq.solve(model, reward).value
    assert run.regret(best)[-1] < 0.1
    assert agent.certificate().best_possible >= best - 1e-9


def share(z, rate):
    """The row and the offset of z + (in_time - z seen) / rate, for the outcomes seen and in_time."""
    return [-z / rate, 1 / rate], z


def test_shares_of_the_department():
    """Nine urgent patients of ten in time, four standard ones of five, a further doctor in a quarter of the slots."""
    world = eq.mechanics.department().model()

    def goals(urgent, standard, doctor):
        (u, bu), (s, bs) = share(urgent, 1 / 12), share(standard, 1 / 6)
        matrix = [[*u, 0, 0, 0, 0], [0, 0, *s, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
        return rewards.TargetSquared([urgent, standard, 0.97, doctor]).of(matrix, [bu, bs, 0, 0])

    best = eq.solve(world, goals(0.9, 0.8, 0.75))
    assert best.value == pytest.approx(1.0, abs=1e-7)
    w = best.outcomes
    assert w[1] / w[0] > 0.9 - 1e-3
    assert w[3] / w[2] > 0.8 - 1e-3
    assert w[5] > 0.75 - 1e-3
    assert goals(0.9, 0.8, 0.75).image(w)[:2] == pytest.approx([w[1] / w[0], w[3] / w[2]], abs=0.01)
    missed = eq.solve(world, goals(0.9, 0.8, 0.9))  # but not with one in ten
    assert missed.value < 1 - 1e-3
    assert missed.outcomes[5] < 0.9


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Affine("TargetSquared", A), "inner: got 'TargetSquared'; a reward is needed"),
        (lambda: rewards.Entropy(2).of(A, B), "inner: .* changes with time"),
        (lambda: rewards.TargetSquared([0.5]).of(A), r"matrix: got an array of shape \(2, 3\); 1 rows are needed"),
        (lambda: rewards.TargetSquared([0.5]).of([1.0]), r"matrix: got an array of shape \(1,\)"),
        (lambda: rewards.TargetSquared([0.5]).of("a"), "matrix: got 'a'; a matrix of numbers is needed"),
        (lambda: rewards.TargetSquared([0.5]).of([[math.nan]]), r"matrix\[0\]\[0\]: got nan"),
        (lambda: rewards.TargetSquared([0.5]).of([[0.0, 0.0]]), "matrix: it is zero"),
        (lambda: rewards.TargetSquared([0.5, 0.5]).of(A, [0.3]), "offset: got 1 entries; 2 are needed"),
        (lambda: rewards.BottomSum(2, 1).of(A, [0.3, 0.1]), r"matrix\[1\]: .* from 0.1 to 1.1 on \[0,1\]\^3"),
        (lambda: rewards.BottomSum(2, 1).of(A), r"matrix\[0\]: .* from -0.3 to 0.7"),
    ],
)
def test_bad_input(make, complaint):
    with pytest.raises(RewardError, match=complaint):
        make()


@pytest.mark.parametrize(
    "inner", [rewards.BottomSum(2, kappa=1), rewards.TargetSquared([0.75, 0.5]), rewards.Entropy(2, mu=0.1)]
)
def test_outcomes_that_are_only_picked_have_the_conjugate_of_the_inner_reward(inner):
    picking = inner.of([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0]], [1.0, 0.0])  # 1 - w[2], and w[1]
    assert picking.exact_conjugate
    for theta in np.random.default_rng(0).normal(size=(50, 3)):
        known = inner.conjugate([-theta[2], theta[1]]) + theta[2] + max(0.0, theta[0])
        assert picking.conjugate(theta) == pytest.approx(known, abs=1e-12)


def test_what_is_scaled_added_or_picked_twice_is_iterated_for():
    inner = rewards.TargetSquared([0.75, 0.5])
    for matrix, offset in (
        ([[0.5, 0.0], [0.0, 1.0]], [0.0, 0.0]),
        ([[1.0, 0.0], [1.0, 0.0]], [0.0, 0.0]),
        ([[0.5, 0.5], [0.0, 1.0]], [0.0, 0.0]),
        ([[1.0, 0.0], [0.0, 1.0]], [0.25, 0.0]),
    ):
        assert not inner.of(matrix, offset).exact_conjugate
    assert not custom().of(np.eye(2)).exact_conjugate
