"""The offline optimum: closed forms, independent answers, and a certificate that can fail."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from equipoise import models, rewards
from equipoise.errors import ModelError, ParameterError, RewardError
from equipoise.models import Model
from equipoise.offline import Benchmark, solve
from equipoise.offline.certificate import Term, dual_bound, gain_bound, optimal_gain, slack, verdict
from equipoise.offline.chains import greedy
from equipoise.offline.problem import Problem
from equipoise.offline.program import by_clarabel, by_cuts, by_highs, by_vertices, flow_matrix, middle
from equipoise.rewards import Reward
from tests.offline.common import check, plain_claim, primal_point

WORLDS = {
    "bandit": models.bandit(3),
    "hub": models.hub(3),
    "hub around a garnet": models.hub(2, centre=models.garnet(5, 2, 2, 1, seed=3)),
    "scalar_hub": models.scalar_hub(3),
    "star(3,4)": models.star(3, 4),
    "star(5,8)": models.star(5, 8),
    "ring": models.ring(7),
    "riverswim(6)": models.riverswim(6),
    "riverswim(20)": models.riverswim(20),
    "riverswim(50)": models.riverswim(50),
    "garnet(20)": models.garnet(20, 3, 3, 4, seed=1),
    "garnet, deterministic": models.garnet(50, 2, 1, 2, seed=2),
    "garnet(60)": models.garnet(60, 4, 5, 8, seed=3),
    "grid": models.grid(5, 5),
    "grid, three goals": models.grid(6, 6, goals=[(0, 5), (5, 0), (5, 5)]),
    "queue": models.queue(),
    "inventory": models.inventory(),
    "scheduler": models.scheduler(),
    "patrol": models.patrol(),
    "sites": models.sites(),
    "pricing": models.pricing(),
    "bidding": models.bidding(),
}


def families(K: int) -> Iterator[Reward]:
    kpi = np.linspace(0.2, 0.6, K)
    yield rewards.Linear(np.linspace(1.0, 0.3, K))
    yield rewards.Quadratic(kpi)
    yield rewards.TargetSquared(kpi)
    for norm in (1, 2, math.inf):
        yield rewards.TargetDistance(kpi, norm)
    yield rewards.Balance(np.full(K, 1 / K))
    yield rewards.BottomSum(K, max(1, K // 2))
    yield rewards.GeneralisedGini(np.linspace(1.0, 0.2, K))
    yield rewards.ProportionalFairness(K, 0.01)
    if K >= 2:
        weights = np.arange(1.0, K + 1.0)
        yield rewards.Entropy(K)
        yield rewards.Entropy(K, 0.01)
        yield rewards.RelativeEntropy(weights / weights.sum(), 0.01)
        yield rewards.CrossEntropy(weights / weights.sum(), 0.01)
        yield rewards.Knapsack(K, 0.3)


def test_what_a_flow_residual_may_add_is_half_its_size_times_the_span():
    """No residual that sums to zero has more of the bias, and one has as much."""
    bias = np.array([0.25, 1.5, 0.0, 0.75])
    for size in (1.0, 0.125):
        # rho = up - down, its l1 norm at most the size, its sum zero
        sums = [np.ones((1, 8)), np.append(np.ones(4), -np.ones(4))[None]]
        worst = linprog(
            -np.append(bias, -bias),
            A_ub=sums[0],
            b_ub=[size],
            A_eq=sums[1],
            b_eq=[0.0],
            bounds=(0, None),
            method="highs",
        )
        assert slack(bias, size) == pytest.approx(-worst.fun, abs=1e-12)
        assert slack(bias, size) == 1.5 * size / 2.0


def claim_reward(K: int, expression: bool = False) -> rewards.Custom:
    """The g of the paper's claim on Q = 0: sum_k w_k - (w_k - 1/K)^2 / 2."""
    return rewards.Custom(
        K,
        value=lambda w: np.sum(w - (w - 1.0 / w.size) ** 2 / 2.0),
        gradient=lambda w: 1.0 - (w - 1.0 / w.size),
        norm=2,
        lipschitz=2.0 * math.sqrt(K),
        smoothness=1.0,
        expression=_claim_expression if expression else None,
        samples=50,
    )


def _claim_expression(w):
    import cvxpy

    return cvxpy.sum(w) - cvxpy.sum_squares(w - 1.0 / w.size) / 2.0


def agrees(best: Benchmark, value: float, within: float = 1e-6) -> bool:
    return best.status == "optimal" and abs(best.value - value) <= within


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("visits", [False, True])
def test_every_world_with_every_reward_is_certified(name: str, visits: bool) -> None:
    model = WORLDS[name].visits() if visits else WORLDS[name]
    for reward in families(model.n_outcomes):
        best = solve(model, reward)
        assert best.status == "optimal", (reward, best)
        assert abs(best.gap) <= 1e-6
        assert abs(best.occupancy.sum() - 1.0) <= 1e-12
        assert best.occupancy.min() >= 0.0
        assert np.abs(flow_matrix(model) @ best.occupancy).sum() <= 1e-6
        assert gain_bound(model, -model.means @ best.theta, best.bias) <= best.gain + 1e-12


@pytest.mark.slow
def test_closed_forms_of_the_paper() -> None:
    thirds = [1 / 3] * 3
    assert agrees(solve(models.bandit(3), rewards.Balance(thirds)), 1.0)
    assert agrees(solve(models.hub(3), rewards.Balance(thirds)), 1.0)
    assert agrees(solve(models.star(3, 4), rewards.Quadratic(thirds)), 1.0)
    assert agrees(solve(models.star(3, 4), claim_reward(3)), 1.0)
    assert agrees(solve(models.star(3, 4), claim_reward(3, expression=True)), 1.0)
    assert agrees(solve(models.scalar_hub(3), rewards.Linear([1.0])), 1.0)
    assert agrees(solve(models.star(3, 4), rewards.Entropy(3)), 1.0)
    for length in (1, 2, 5, 12):
        assert agrees(solve(models.ring(length), rewards.Linear([1.0])), 1.0 / length, 1e-9)


@pytest.mark.parametrize("n", [6, 20])
def test_riverswim_against_a_plain_linear_program(n: int) -> None:
    model = models.riverswim(n)
    p = model.transitions().toarray()
    equal = np.vstack([np.eye(n)[:, model.state_of] - p.T, np.ones(2 * n)])
    answer = linprog(-model.means[:, 0], A_eq=equal, b_eq=np.append(np.zeros(n), 1.0))
    best = solve(model, rewards.Linear([1.0]))
    assert agrees(best, -answer.fun, 1e-8)
    # And against value iteration on dense arrays, with lazy steps.
    u = np.zeros(n)
    for _ in range(30_000):
        after = (model.means[:, 0] + p @ u).reshape(n, 2).max(axis=1)
        change = after - u
        u = u + 0.5 * change
    assert change.min() - 1e-7 <= best.value <= change.max() + 1e-7


def test_a_wrong_occupancy_is_rejected() -> None:
    model, reward = models.star(3, 4), rewards.Quadratic([1 / 3] * 3)
    good = solve(model, reward)
    wrong = np.zeros(model.n_pairs)
    wrong[model.pair(2, 0)] = 1.0  # one loop only: a true occupancy, but not optimal
    found = check(model, reward, plain_claim(wrong, (good.theta,), good.bias), 1e-6)
    assert found.status.startswith("gap")
    assert found.gap >= 0.3
    assert found.value == pytest.approx(2 / 3)
    river = models.riverswim(6)
    best = solve(river, rewards.Linear([1.0]))
    lie = np.zeros(river.n_pairs)
    lie[river.pair(5, 1)] = 1.0  # always at the right end: that would pay 1
    found = check(river, rewards.Linear([1.0]), plain_claim(lie, (best.theta,), best.bias), 1e-6)
    assert found.status.startswith("flow residual")
    assert found.value == 1.0
    assert found.value <= found.dual_value + slack(found.bias, found.residual_l1) + 1e-12
    for bad in (np.zeros(12), np.ones(3), np.full(12, np.nan)):
        with pytest.raises(ParameterError, match="occupancy"):
            primal_point(river, rewards.Linear([1.0]), bad)


def test_a_wrong_theta_widens_the_gap() -> None:
    model, reward = models.garnet(20, 3, 3, 4, seed=1), rewards.Balance([0.25] * 4)
    best = solve(model, reward)
    primal = primal_point(model, reward, best.occupancy)
    thetas = [best.theta + size * np.array([1.0, -1.0, 0.5, 0.2]) for size in (0.0, 0.01, 0.1, 1.0)]
    gaps = [dual_bound(model, [Term(1.0, reward, theta)], primal=primal).value - best.value for theta in thetas]
    assert abs(gaps[0]) <= 1e-7
    assert gaps[1] > 1e-4
    assert gaps[1] < gaps[2] < gaps[3]
    found = check(model, reward, plain_claim(best.occupancy, (best.theta + 0.5,)), 1e-6)
    assert found.status.startswith("gap")


def test_a_mismatched_expression_does_not_pass_silently() -> None:
    import cvxpy

    reward = rewards.Custom(
        2,
        value=lambda w: 1.0 - np.sum((w - 0.5) ** 2) / 2.0,
        gradient=lambda w: 0.5 - w,
        norm=2,
        lipschitz=1.0,
        smoothness=1.0,
        expression=lambda w: cvxpy.sum(w[:1]),  # another function altogether
        samples=20,
    )
    best = solve(models.bandit(2), reward)
    assert best.solver == "Frank-Wolfe"  # the first answer failed the check, the second did not
    assert agrees(best, 1.0)


@given(st.integers(0, 10_000), st.floats(0.01, 3.0))
@settings(max_examples=40, deadline=None)
def test_weak_duality_for_any_theta_and_any_bias(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    model = models.garnet(6, 2, 2, 3, seed=seed % 7)
    reward = [rewards.Quadratic([0.5] * 3), rewards.BottomSum(3, 2), rewards.Entropy(3, 0.1)][seed % 3]
    theta, bias = scale * rng.standard_normal(3), scale * rng.standard_normal(6)
    scores = -model.means @ theta
    best = solve(model, reward)
    assert reward.conjugate(theta) + gain_bound(model, scores, bias) >= best.value - 1e-9
    bound = dual_bound(model, [Term(1.0, reward, theta)], bias)
    assert bound.value >= best.value - 1e-9
    assert bound.gain == pytest.approx(gain_bound(model, scores, bound.bias), abs=1e-12)
    assert bound.gain <= gain_bound(model, scores, bias) + 1e-12


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_what_a_residual_may_add(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, reward = models.garnet(5, 2, 2, 2, seed=seed % 5), rewards.Quadratic([0.9, 0.1])
    primal = primal_point(model, reward, rng.dirichlet(np.full(10, 0.3)))
    dual = dual_bound(model, [Term(1.0, reward, rng.standard_normal(2))])
    assert primal.value <= dual.value + slack(dual.bias, primal.residual_l1) + 1e-9


@pytest.mark.parametrize("name", ["star(3,4)", "ring", "riverswim(6)", "garnet(20)", "grid", "hub"])
def test_the_bias_obeys_lemma_mc(name: str) -> None:
    model = WORLDS[name]
    K = model.n_outcomes
    for reward in (rewards.Quadratic(np.linspace(0.3, 0.6, K)), rewards.BottomSum(K, 1), rewards.Linear(np.ones(K))):
        best = solve(model, reward)
        ones = float(np.linalg.norm(np.ones(K), reward.norm))
        bound = (reward.lipschitz * ones + best.gain) * model.diameter()
        assert np.ptp(best.bias) <= bound * (1 + 1e-6) + 1e-6


def test_the_gain_is_that_of_value_iteration_on_periodic_models_too() -> None:
    gain, bias, _ = optimal_gain(models.ring(6), np.array([1.0, 0, 0, 0, 0, 0]))
    assert gain == pytest.approx(1 / 6, abs=1e-8)
    assert bias.min() == 0.0


@pytest.mark.slow
def test_all_methods_agree() -> None:
    model = models.garnet(15, 3, 2, 3, seed=5)
    smooth, sharp = rewards.Quadratic([0.9, 0.8, 0.1]), rewards.BottomSum(3, 2)
    for reward, ways in ((smooth, (by_clarabel, by_vertices, by_cuts)), (sharp, (by_highs, by_clarabel, by_cuts))):
        found = [check(model, reward, way(model, Problem(reward), 1e-8), 1e-6) for way in ways]
        for one in found:
            assert one.status == "optimal", (reward, one)
            assert one.value == pytest.approx(found[0].value, abs=1e-6)


@pytest.mark.slow
def test_a_custom_reward_that_is_neither_smooth_nor_expressed() -> None:
    reward = rewards.Custom(
        3,
        value=lambda w: np.min(w),
        gradient=lambda w: (np.arange(w.size) == np.argmin(w)) * 1.0,
        norm=math.inf,
        lipschitz=1.0,
        samples=50,
    )
    best = solve(models.star(3, 4), reward)
    assert agrees(best, 1 / 3)
    assert best.solver == "cutting planes"


def test_the_policy_is_a_distribution_in_every_state() -> None:
    model = models.garnet(20, 3, 3, 4, seed=1)
    policy = solve(model, rewards.Quadratic([0.3] * 4)).policy()
    assert np.add.reduceat(policy, model.first_pair[:-1]) == pytest.approx(np.ones(20))
    assert policy.min() >= 0.0


def test_errors_and_words() -> None:
    split = Model.from_arrays([[[1, 0]], [[0, 1]]], [[[0]], [[0]]])
    with pytest.raises(ModelError, match="communicating"):
        solve(split, rewards.Linear([1.0]))
    with pytest.raises(RewardError, match="2 outcomes; the model has 3"):
        solve(models.bandit(3), rewards.Quadratic([0.5, 0.5]))
    for tolerance in (0.0, -1.0, math.nan):
        with pytest.raises(ParameterError, match="tolerance"):
            solve(models.bandit(2), rewards.Quadratic([0.5, 0.5]), tolerance)
    with pytest.raises(ParameterError, match="model"):
        solve("star", rewards.Linear([1.0]))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="reward"):
        solve(models.bandit(2), "balance")  # type: ignore[arg-type]
    assert repr(solve(models.ring(2), rewards.Linear([1.0]))).startswith("Benchmark(optimal: value=0.5, ")
    assert verdict(math.nan, 0.0, 0.0, 1e-6) != "optimal"
    assert verdict(-1e-3, 0.0, 0.0, 1e-6) != "optimal"
    assert verdict(0.0, 1e-3, 1e-9, 1e-6) != "optimal"


@pytest.mark.slow
def test_a_tolerance_out_of_reach_is_said() -> None:
    best = solve(models.grid(5, 5), rewards.ProportionalFairness(2, 0.01), tolerance=1e-15)
    assert best.status != "optimal"
    assert best.value == pytest.approx(best.dual_value, abs=1e-6)


def test_importing_the_package_does_not_import_cvxpy() -> None:
    import subprocess
    import sys

    words = "import sys, equipoise.offline; print('cvxpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_of_several_thetas_the_best_bound_is_taken() -> None:
    """The first theta proves little, and minus the gradient is none for g = min: the second must be tried."""
    model, reward = models.bandit(2), rewards.BottomSum(2, kappa=1)
    poor, right = np.array([0.0, -1.0]), np.array([-0.5, -0.5])
    for thetas in ((poor, right), (right, poor)):
        best = check(model, reward, plain_claim(np.array([0.5, 0.5]), thetas), 1e-6)
        assert best.status == "optimal"
        assert best.dual_value == pytest.approx(0.5, abs=1e-6)
        assert best.theta.tolist() == right.tolist()
    assert check(model, reward, plain_claim(np.array([0.5, 0.5]), (poor,)), 1e-6).status.startswith("gap 0.5")


def test_greedy_takes_the_first_pair_of_the_largest_entry() -> None:
    model = models.star(3, 4)
    q = np.random.default_rng(0).integers(0, 2, model.n_pairs).astype(np.float64)
    ends = zip(model.first_pair[:-1].tolist(), model.first_pair[1:].tolist(), strict=True)
    assert greedy(model, q).tolist() == [begin + int(np.argmax(q[begin:end])) for begin, end in ends]


def test_iterations_begin_at_the_mean_of_all_pairs() -> None:
    model = models.riverswim(4)
    assert middle(model).tolist() == pytest.approx(model.means.mean(axis=0).tolist())
