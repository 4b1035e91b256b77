"""P_C(b): closed forms, prices, part (ii) of the claim, and a check that can fail."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from equipoise import models, rewards
from equipoise.errors import ModelError, ParameterError, SolverError
from equipoise.models import Model
from equipoise.offline import benchmark, program, solve, solve_knapsack
from equipoise.offline.benchmark import Solution, judge
from equipoise.offline.knapsack import KnapsackBenchmark, budget_problem, make_knapsack_benchmark
from equipoise.offline.methods import check_claim
from equipoise.offline.problem import Claim, DualPoint


def with_null(seed: int, n_states: int = 8, resources: int = 2) -> Model:
    """A garnet with one more action in every state, which stays, pays nothing and consumes nothing."""
    rng = np.random.default_rng(seed)
    inner = models.garnet(n_states, 2, 3, 1 + resources, seed=seed)
    p = inner.transitions().toarray().reshape(n_states, 2, n_states)
    v = inner.means.reshape(n_states, 2, 1 + resources) * rng.random()
    stay = np.eye(n_states)[:, None, :]
    return Model.from_arrays(
        np.concatenate([p, stay], axis=1), np.concatenate([v, np.zeros((n_states, 1, 1 + resources))], axis=1)
    )


def test_one_state_two_arms() -> None:
    # A pays .9 for .8, B pays .5 for .2: with the budget b between, mix them.
    model = Model.from_arrays([[[1.0], [1.0]]], [[[0.9, 0.8], [0.5, 0.2]]])
    began = time.perf_counter()
    best = solve_knapsack(model, 0.5)
    assert 0.0 < best.seconds <= time.perf_counter() - began
    assert best.status == "optimal"
    assert best.value == pytest.approx(0.7)
    assert best.prices == pytest.approx([0.4 / 0.6])
    assert best.theta == pytest.approx([-1.0, 0.4 / 0.6])
    assert best.policy() == pytest.approx([0.5, 0.5])
    assert abs(best.gap) <= 1e-9
    free = solve_knapsack(model, 0.9)
    assert free.value == pytest.approx(0.9)
    assert free.prices == pytest.approx([0.0])
    assert repr(best).startswith("KnapsackBenchmark(optimal: value=0.7")


def test_a_budget_for_each_resource() -> None:
    outcomes = [[[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]]
    model = Model.from_arrays([[[1.0]] * 3], outcomes, noise="none")
    best = solve_knapsack(model, [0.25, 0.5])
    assert best.value == pytest.approx(0.75)
    assert best.outcomes == pytest.approx([0.75, 0.25, 0.5])
    assert best.dual_value == pytest.approx(float(best.budget @ best.prices) + best.gain)


@pytest.mark.parametrize("seed", range(5))
def test_part_two_of_the_claim_and_the_surrogate(seed: int) -> None:
    model = with_null(seed)
    budgets = (0.02, 0.05, 0.1, 0.3)
    found = [solve_knapsack(model, b) for b in budgets]
    assert all(best.status == "optimal" for best in found)
    for b, small in zip(budgets, found, strict=True):
        for larger, large in zip(budgets, found, strict=True):
            if larger > b:
                assert b / larger * large.value <= small.value + 1e-9
                assert small.value <= large.value + 1e-9
        # opt of the surrogate g_C is at least that of P_C(b).
        assert solve(model, rewards.Knapsack(3, b)).value >= small.value - 1e-7


def checked(
    model: Model, budget: np.ndarray, occupancy: np.ndarray, prices: np.ndarray, tolerance: float = 1e-6
) -> KnapsackBenchmark:
    """What is returned of what a solver might claim."""
    problem, multipliers = budget_problem(model, budget), np.append(1.0, prices)
    dual = DualPoint(multipliers, [np.zeros(model.n_outcomes)] * multipliers.size)
    answer = check_claim(model, problem, Claim(occupancy, (dual,), np.zeros(model.n_states), "me"), tolerance)
    return make_knapsack_benchmark(model, budget, Solution(answer, judge(answer, problem, tolerance)), tolerance, 0.0)


def test_a_wrong_claim_is_rejected() -> None:
    model = Model.from_arrays([[[1.0], [1.0]]], [[[0.9, 0.8], [0.5, 0.2]]])
    b = np.array([0.5])
    over = checked(model, b, np.array([1.0, 0.0]), np.array([2 / 3]))
    assert "exceeded by 0.3" in over.status
    timid = checked(model, b, np.array([0.0, 1.0]), np.array([2 / 3]))
    assert timid.status.startswith("gap 0.2")
    dear = checked(model, b, np.array([0.5, 0.5]), np.array([2.0]))
    assert dear.status.startswith("gap")


def test_what_an_excess_over_the_budget_may_add_counts() -> None:
    """Prices at which a value beyond the budget meets its bound: within the tolerance all, and not optimal."""
    model = Model.from_arrays([[[1.0], [1.0]]], [[[1.0, 0.1], [0.0, 0.0]]], noise="none")
    budget, beyond, tolerance = np.array([0.05]), 0.5e-6, 1e-6  # a unit of the budget is worth 10
    share = 10.0 * (budget[0] + beyond)
    prices = np.array([10.0 + 10.0 * beyond / budget[0]])
    answer = checked(model, budget, np.array([share, 1.0 - share]), prices, tolerance)
    assert abs(answer.gap) <= tolerance
    assert answer.excess == pytest.approx(beyond, rel=1e-3)
    assert answer.excess <= tolerance
    assert answer.value > 0.5 + 4.0 * tolerance  # of an optimum of 0.5
    assert "may add 5e-06 to the value: above tolerance" in answer.status


def test_errors() -> None:
    model = Model.from_arrays([[[1.0], [1.0]]], [[[0.9, 0.8], [0.5, 0.2]]])
    with pytest.raises(SolverError, match=r"no policy keeps within \[0.1\].*0.1 at least"):
        solve_knapsack(model, 0.1)
    for budget in (0.0, 1.0, -1.0, np.nan, [0.5, 0.5], "much"):
        with pytest.raises(ParameterError, match="budget"):
            solve_knapsack(model, budget)
    with pytest.raises(ModelError, match="resource"):
        solve_knapsack(models.ring(3), 0.5)
    with pytest.raises(ModelError, match="communicating"):
        solve_knapsack(Model.from_arrays([[[1, 0]], [[0, 1]]], [[[0, 0]], [[0, 0]]]), 0.5)


def test_the_method_that_is_asked_for_is_used() -> None:
    model = with_null(0)
    solvers = [solve_knapsack(model, 0.1, method=method).solver for method in ("program", "columns")]
    assert solvers == ["HIGHS", "columns"]


def test_an_error_has_what_went_wrong_with_every_method(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> Iterator[SolverError]:
        yield SolverError("one failed")

    monkeypatch.setattr(benchmark, "try_methods", failing)
    monkeypatch.setattr(benchmark, "find_conflict", lambda *arguments: None)
    with pytest.raises(SolverError, match=r"^one failed; one failed$"):
        solve_knapsack(with_null(0), 0.1)


def test_a_program_that_is_not_solved_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    unsolved = SimpleNamespace(status=4, message="numbers too large")
    monkeypatch.setattr(program, "linear_program", lambda *arguments, **options: unsolved)
    for name in ("by_clarabel", "by_vertices", "by_cuts"):
        monkeypatch.setattr(program, name, program.by_highs)
    with pytest.raises(SolverError, match=r"no solution of the offline program .numbers too large"):
        solve_knapsack(with_null(0), 0.1, method="program")
