"""P_C(b): closed forms, prices, part (ii) of the claim, and a check that can fail."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise import models, rewards
from equipoise.errors import ModelError, ParameterError, SolverError
from equipoise.models import Model
from equipoise.offline import solve, solve_knapsack
from equipoise.offline.knapsack import _checked, _Claim


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
    best = solve_knapsack(model, 0.5)
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


def test_a_wrong_claim_is_rejected() -> None:
    model = Model.from_arrays([[[1.0], [1.0]]], [[[0.9, 0.8], [0.5, 0.2]]])
    b, zero = np.array([0.5]), np.zeros(1)
    over = _checked(model, b, _Claim(np.array([1.0, 0.0]), np.array([2 / 3]), zero, "me"), 1e-6, 0.0)
    assert "exceeded by 0.3" in over.status
    timid = _checked(model, b, _Claim(np.array([0.0, 1.0]), np.array([2 / 3]), zero, "me"), 1e-6, 0.0)
    assert timid.status.startswith("gap 0.2")
    dear = _checked(model, b, _Claim(np.array([0.5, 0.5]), np.array([2.0]), zero, "me"), 1e-6, 0.0)
    assert dear.status.startswith("gap")


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
