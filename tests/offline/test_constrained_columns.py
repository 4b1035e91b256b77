"""Constraints and budgets by columns: against programs, at a size where none goes, and claims that are broken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise import rewards
from equipoise.errors import ParameterError, SolverError
from equipoise.models import Model
from equipoise.offline import columns, mixtures
from equipoise.offline.columns import Pool, by_columns
from equipoise.offline.methods import check_claim
from equipoise.offline.problem import DualPoint, Problem, bound_terms
from equipoise.rewards import Constrained, Constraint, Linear, Reward, at_least, at_most


def function(rng: np.random.Generator, K: int) -> Reward:
    kinds: list[Reward] = [
        Linear(rng.uniform(-1, 1, K)),
        rewards.BottomSum(K, int(rng.integers(1, K + 1))),
        rewards.Quadratic(rng.random(K)),
        rewards.TargetDistance(rng.random(K), 1),
        rewards.TargetSquared(rng.random(K)),
    ]
    return kinds[rng.integers(len(kinds))]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(2, 4), st.integers(1, 3))
def test_both_ways_agree(seed: int, n_states: int, K: int, count: int) -> None:
    """Feasible or not, and what it is worth: two certificates that share no solver."""
    rng = np.random.default_rng(seed)
    model = eq.models.garnet(n_states, 3, min(3, n_states), K, seed=seed)
    middle = eq.solve(model, rewards.Quadratic(rng.random(K))).outcomes
    hs = [function(rng, K) for _ in range(count)]
    wishes = [Constraint(h, h.value(middle) + rng.uniform(-0.05, 0.05)) for h in hs]
    goal = Constrained(function(rng, K), wishes, price=1.0)
    one, other = (eq.solve(model, goal, method=method) for method in ("columns", "program"))
    assert (one.method, other.method) == ("columns", "program")
    assert one.status == other.status
    if one.conflict is None:
        assert one.status == "optimal"
        assert one.value == pytest.approx(other.value, abs=2e-6)
        assert one.value <= other.dual_value + 1e-6 * (1.0 + sum(other.multipliers.values()))
    else:
        assert other.conflict is not None
        if one.conflict.names == other.conflict.names:
            assert one.conflict.short_by == pytest.approx(other.conflict.short_by, abs=2e-6)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 3))
def test_both_ways_agree_on_budgets(seed: int, n_states: int, resources: int) -> None:
    rng = np.random.default_rng(seed)
    model = eq.models.garnet(n_states, 3, min(3, n_states), 1 + resources, seed=seed)
    budget = rng.uniform(0.2, 0.6, resources)
    goal = Constrained(
        Linear([1.0] + [0.0] * resources), [at_most(k, budget[k - 1], model) for k in range(1, 1 + resources)], 1.0
    )
    if eq.solve(model, goal, method="program").conflict is not None:
        for method in ("columns", "program"):
            with pytest.raises(SolverError, match="no policy keeps within"):
                eq.solve_knapsack(model, budget, method=method)
        return
    one, other = (eq.solve_knapsack(model, budget, method=method) for method in ("columns", "program"))
    assert (one.method, other.method) == ("columns", "program")
    assert (one.status, other.status) == ("optimal", "optimal")
    assert one.value == pytest.approx(other.value, abs=2e-6)
    assert one.dual_value >= other.value - 1e-9
    assert one.excess <= 1e-6


def test_budgets_that_cannot_be_kept_are_named() -> None:
    """Both arms take at least .2 of the first resource, and none takes more than .5 of the second."""
    model = Model.from_arrays([[[1.0], [1.0]]], [[[0.9, 0.8, 0.1], [0.5, 0.2, 0.5]]])
    for method in ("columns", "program"):
        with pytest.raises(SolverError, match=r"outcome_1 at most 0.1' cannot be met: it is missed by 0.1 at least"):
            eq.solve_knapsack(model, [0.1, 0.6], method=method)
        with pytest.raises(SolverError, match=r"must rise by 0.1 at least"):
            eq.solve_knapsack(model, [0.1, 0.6], method=method)


def test_a_world_that_is_too_large_for_a_program() -> None:
    """40,000 pairs: the certificate is computed anew from the arrays alone."""
    model = eq.models.garnet(10_000, 4, 5, 3, seed=7)
    goal = Constrained(
        Linear([1.0, 0.0, 0.0]), [at_least(1, 0.6, model, "much"), at_most(2, 0.4, model, "little")], price=1.0
    )
    best = eq.solve(model, goal)
    assert (best.status, best.method) == ("optimal", "columns")
    w = model.means.T @ best.occupancy
    flow = np.bincount(model.state_of, best.occupancy) - model.transitions().T @ best.occupancy
    assert np.abs(flow).sum() <= 1e-9
    assert w[1] >= 0.6 - 1e-6
    assert w[2] <= 0.4 + 1e-6
    prices = np.array([1.0, best.multipliers["much"], -best.multipliers["little"]])
    gamma = best.bias
    phi = (model.means @ prices + model.transitions() @ gamma - gamma[model.state_of]).max()
    bound = phi - prices[1] * 0.6 - prices[2] * 0.4
    assert w[0] <= bound + 1e-9
    assert bound - w[0] <= 1e-6
    budget = eq.solve_knapsack(model, [0.99, 0.4])
    assert (budget.status, budget.method) == ("optimal", "columns")
    assert budget.value >= best.value - 1e-6


def test_a_conflict_in_a_large_world() -> None:
    model = eq.models.garnet(5_000, 4, 5, 3, seed=7)
    wishes = [at_least(k, 0.72, model) for k in range(3)] + [at_least(0, 0.1, model, "easy")]
    best = eq.solve(model, Constrained(Linear([1.0, 0.0, 0.0]), wishes, price=1.0))
    assert (best.status, best.method) == ("infeasible", "columns")
    assert best.conflict is not None
    assert "easy" not in best.conflict.names
    weights = np.zeros(3)
    for name, weight in best.conflict.multipliers.items():
        weights[best.reward.names.index(name)] += weight  # type: ignore[attr-defined]
    gamma = best.conflict.bias
    phi = (model.means @ weights + model.transitions() @ gamma - gamma[model.state_of]).max()
    assert phi < 0.72  # a mixture of the averages that no policy lifts to where each of them should be
    assert best.conflict.short_by <= 0.72 - phi + 1e-9


def test_multipliers_above_the_first_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """One arm pays 1 and violates by 1/1000: a multiplier of 1000, which a price of 10 does not reach."""
    model = Model.from_arrays([[[1.0], [1.0]]], [[[1.0, 0.001], [0.0, 0.0]]])
    goal = Constrained(Linear([1.0, 0.0]), [at_most(1, 0.00025, model, "cap")], price=1.0)
    best = eq.solve(model, goal, method="columns")
    assert best.status == "optimal"
    assert best.value == pytest.approx(0.25, abs=1e-6)
    assert best.multipliers["cap"] == pytest.approx(1000.0, rel=1e-6)
    monkeypatch.setattr(columns, "_RAISES", 1)
    assert "is violated by" in eq.solve(model, goal, 1e-9, method="columns").status


def test_claims_are_broken_and_found_out() -> None:
    model = eq.models.garnet(60, 4, 5, 3, seed=3)
    problem = Problem(rewards.Quadratic([0.9] * 3), (at_most(0, 0.5, model), at_least(1, 0.6, model)))
    claim = by_columns(Pool(model), problem, 1e-8)
    right = check_claim(model, problem, claim, 1e-6)
    assert right.gap <= 1e-6
    wrong = claim.occupancy.copy()
    wrong[:10] += 1e-3
    assert check_claim(model, problem, claim._replace(occupancy=wrong), 1e-6).primal.residual_l1 > 1e-6
    found = claim.duals[0]
    for multipliers in (found.multipliers * [1.0, 0.5, 1.0], np.add(found.multipliers, [0.0, 0.1, 0.0])):
        told = check_claim(model, problem, claim._replace(duals=(found._replace(multipliers=multipliers),)), 1e-6)
        assert told.dual.value >= right.primal.value - 1e-9  # whatever is claimed, it is a bound,
        assert told.gap > 1e-6  # and a worse one
    tilted = claim._replace(duals=(found._replace(slopes=[slope + 0.1 for slope in found.slopes]),))
    assert check_claim(model, problem, tilted, 1e-6).dual.value >= right.primal.value - 1e-9


def test_terms_of_one_constraint_weigh_one() -> None:
    floor = Constraint(Linear([0.0, 1.0]), 0.25)
    terms = bound_terms(
        Problem(None, (floor, floor)), DualPoint(np.array([3.0, 1e-12]), [np.array([0.0, 3.0]), np.ones(2)])
    )
    assert [term.weight for term in terms] == [pytest.approx(1.0), 0.0]
    assert terms[1].theta.tolist() == [0.0, 0.0]


def test_the_next_mixer_is_asked_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise SolverError("it did not settle")

    model = eq.models.garnet(60, 4, 5, 3, seed=3)
    goal = Constrained(rewards.Quadratic([0.9] * 3), [at_most(0, 0.5, model)], price=1.0)
    right = eq.solve(model, goal, method="columns")
    monkeypatch.setattr(mixtures, "solve_cone", fail)
    best = eq.solve(model, goal, 1e-5, method="columns")
    assert best.status == "optimal"
    assert best.value == pytest.approx(right.value, abs=2e-5)


def test_a_method_that_does_not_exist() -> None:
    model = eq.models.bandit(2)
    goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, model)], price=2.0)
    with pytest.raises(ParameterError, match="'columns', 'program' or None is needed"):
        eq.solve(model, goal, method="simplex")
    with pytest.raises(ParameterError, match="'columns', 'program' or None is needed"):
        eq.solve_knapsack(model, 0.5, method="simplex")
