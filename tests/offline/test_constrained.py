"""The constrained program: closed forms, multipliers by hand, conflicts with their proofs, and other programs."""

from __future__ import annotations

import itertools
import math
import re

import cvxpy
import numpy as np
import pytest

import equipoise as eq
from equipoise import rewards
from equipoise.errors import ParameterError, SolverError
from equipoise.offline import benchmark, certificate
from equipoise.offline.benchmark import Solution, judge, make_benchmark
from equipoise.offline.columns import Pool
from equipoise.offline.methods import try_methods
from equipoise.offline.problem import Problem
from equipoise.offline.program import flow_matrix
from equipoise.rewards import Constrained, Constraint, Linear, at_least, at_most

TIGHT = 1e-6


@pytest.fixture(params=["program", "columns"])
def method(request):
    """Both ways meet the same closed forms."""
    return request.param


def certified(best):
    """All that a certificate claims, recomputed here from the arrays alone."""
    model, goal = best.model, best.reward
    x = best.occupancy
    assert np.all(x >= 0)
    assert x.sum() == pytest.approx(1.0)
    assert np.abs(flow_matrix(model) @ x).sum() <= best.tolerance
    w = model.means.T @ x
    assert w == pytest.approx(best.outcomes, abs=1e-12)
    assert best.value == pytest.approx(goal.reward.value(best.outcomes), abs=1e-12)
    theta, total = np.zeros(model.n_outcomes), 0.0
    for i, term in enumerate(best.terms):
        assert term.weight >= 0
        h = goal.reward if i == 0 else goal.constraints[i - 1].function
        assert term.reward == h
        assert term.level == (0.0 if i == 0 else goal.constraints[i - 1].at_least)
        total += term.weight * (h.conjugate(term.theta) - term.level)
        theta += term.weight * term.theta
    scores = -(model.means @ theta)
    gain = (scores + model.transitions() @ best.bias - best.bias[model.state_of]).max()
    assert best.terms[0].weight == 1.0
    assert best.dual_value == pytest.approx(total + gain, abs=1e-8)
    assert best.dual_value - best.value <= best.tolerance
    assert max(best.violations.values()) <= best.tolerance
    assert list(best.multipliers.values()) == [term.weight for term in best.terms[1:]]
    assert 0.0 <= best.seconds < 3600.0


def refuted(best):
    """The proof that constraints are in conflict, recomputed."""
    assert best.status == "infeasible"
    assert math.isnan(best.value)
    assert 0.0 <= best.seconds < 3600.0
    conflict, model = best.conflict, best.model
    by_name = dict(zip(best.reward.names, best.reward.constraints, strict=True))
    weights = np.array([term.weight for term in conflict.terms])
    assert np.all(weights >= 0)
    assert weights.sum() == pytest.approx(1.0)
    total, theta = 0.0, np.zeros(model.n_outcomes)
    for name, term in zip(conflict.names, conflict.terms, strict=True):
        assert (term.reward, term.level) == (by_name[name].function, by_name[name].at_least)
        total += term.weight * (term.reward.conjugate(term.theta) - term.level)
        theta += term.weight * term.theta
    scores = -(model.means @ theta)
    gain = (scores + model.transitions() @ conflict.bias - conflict.bias[model.state_of]).max()
    assert -conflict.short_by == pytest.approx(total + gain, abs=1e-8)
    assert conflict.short_by > 0
    return conflict


def arms(outcomes):
    """One state, an action for each row."""
    return eq.Model.from_arrays([[[1.0]] * len(outcomes)], [outcomes], noise="none")


def test_one_floor_by_hand(method):
    """Two arms, (1, 0) and (0, 1): max w_0 with w_1 >= 1/4 is 3/4, and the floor costs 1 a unit."""
    model = eq.models.bandit(2)
    best = eq.solve(
        model, Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, model, "floor")], price=2.0), method=method
    )
    assert best.status == "optimal"
    certified(best)
    assert best.value == pytest.approx(0.75, abs=TIGHT)
    assert best.multipliers == pytest.approx({"floor": 1.0})
    assert best.occupancy == pytest.approx([0.75, 0.25], abs=TIGHT)


def test_a_linear_program_by_hand(method):
    """Three arms a, b, c with shares x: max 3a + 2b, cost 4a + b <= 1, waste c >= 1/10.

    a = (1/2) * ..., both constraints hold with equality: c = 1/10, a + b = 9/10, 4a + b = 1: a = 1/30, b = 26/30; the
    multipliers y (cost), z (waste), and phi of the simplex solve 3 = 4y + phi, 2 = y + phi, 0 = phi - z.
    """
    model = arms([[1.0, 1.0, 0.0], [2 / 3, 0.25, 0.0], [0.0, 0.0, 1.0]])  # in units of 3, 4 and 1
    goal = Constrained(
        Linear([3.0, 0.0, 0.0]), [at_most(1, 0.25, model, "cost"), at_least(2, 0.1, model, "c")], price=9.0
    )
    best = eq.solve(model, goal, method=method)
    certified(best)
    assert best.occupancy == pytest.approx([1 / 30, 26 / 30, 0.1], abs=TIGHT)
    assert best.value == pytest.approx(3 / 30 + 52 / 30, abs=TIGHT)
    assert best.multipliers["cost"] == pytest.approx(4 / 3, abs=TIGHT)  # 4 y, y = 1/3, in units of 1/4
    assert best.multipliers["c"] == pytest.approx(5 / 3, abs=TIGHT)


def test_the_star_with_floors(method):
    """All time at the best end but for the floors; moving between ends costs nothing in the long run."""
    model = eq.models.star(branches=3, diameter=4)
    floors = [at_least(1, 0.2, model), at_least(2, 0.3, model)]
    best = eq.solve(model, Constrained(Linear([1.0, 0.25, 0.5]), floors, price=2.0), method=method)
    certified(best)
    assert best.outcomes == pytest.approx([0.5, 0.2, 0.3], abs=TIGHT)
    assert best.value == pytest.approx(0.5 + 0.05 + 0.15, abs=TIGHT)
    assert list(best.multipliers.values()) == pytest.approx([0.75, 0.5], abs=TIGHT)


def test_a_redundant_constraint_costs_nothing(method):
    model = eq.models.bandit(2)
    best = eq.solve(
        model,
        Constrained(
            Linear([1.0, 0.0]), [at_least(0, 0.5, model, "slack"), at_least(1, 0.25, model, "floor")], price=2.0
        ),
        method=method,
    )
    certified(best)
    assert best.multipliers == {"slack": 0.0, "floor": pytest.approx(1.0)}


def test_a_sum_of_squares_by_hand(method):
    """Max w_0 + w_1 with w_0^2 + w_1^2 <= 1/8, arms (1, 0), (0, 1), (0, 0): at (1/4, 1/4), multiplier 1 / (2 / 4) = 2.

    1 - |w|^2 / 2 >= 1 - 1/16, so the multiplier of that is twice that of the sum of squares.
    """
    model = arms([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    risk = Constraint(rewards.Quadratic([0.0, 0.0]), 1 - 1 / 16, "risk")
    best = eq.solve(model, Constrained(Linear([1.0, 1.0]), [risk], price=9.0), method=method)
    certified(best)
    assert best.outcomes == pytest.approx([0.25, 0.25], abs=1e-5)
    assert best.multipliers["risk"] == pytest.approx(4.0, abs=1e-4)


def test_entropy_at_least_by_hand(method):
    """Two arms: max w_0 with H(w) / log 2 >= h binds; the multiplier is 1 / |dH/dw_0| along the simplex."""
    model = eq.models.bandit(2)
    h = rewards.Entropy(2, mu=1e-6)
    best = eq.solve(model, Constrained(Linear([1.0, 0.0]), [Constraint(h, 0.75, "diverse")], price=9.0), method=method)
    certified(best)
    p = best.outcomes[0]
    assert p > 0.5
    assert (-p * math.log(p) - (1 - p) * math.log(1 - p)) / math.log(2) == pytest.approx(0.75, abs=1e-5)
    assert best.multipliers["diverse"] == pytest.approx(math.log(2) / math.log(p / (1 - p)), rel=1e-3)


def test_a_concave_reward_with_a_floor_by_hand(method):
    """max -(w_0 - 1)^2 / 2 - w_1^2 / 2 + 1 with w_1 >= 1/4 on the simplex: at (3/4, 1/4) with multiplier 1/2.

    Along the simplex the slope of w_1 there is -(1 - 3/4) - 1/4.
    """
    model = eq.models.bandit(2)
    best = eq.solve(
        model, Constrained(rewards.Quadratic([1.0, 0.0]), [at_least(1, 0.25, model, "floor")], price=2.0), method=method
    )
    certified(best)
    assert best.value == pytest.approx(1 - 1 / 16, abs=TIGHT)
    assert best.multipliers["floor"] == pytest.approx(0.5, abs=1e-5)


def test_the_boundary(method):
    """A floor that one policy alone meets: still solved, up to the tolerance."""
    model = eq.models.bandit(2)
    best = eq.solve(model, Constrained(Linear([1.0, 0.0]), [at_least(1, 1.0, model)], price=2.0), method=method)
    assert best.status == "optimal"
    assert best.value == pytest.approx(0.0, abs=2e-6)


def test_a_conflict_of_two_among_four(method):
    """Shares of 0.6 and 0.5 of one day: 0.1 too much, 0.05 each if both give, 0.1 if one does."""
    model = eq.models.bandit(3)
    wishes = [
        at_least(0, 0.6, model, "a"), at_least(1, 0.5, model, "b"),
        at_most(2, 0.9, model, "c"), at_least(0, 0.1, model, "d"),
    ]  # fmt: skip
    best = eq.solve(model, Constrained(Linear([0.0, 0.0, 1.0]), wishes, price=1.0), method=method)
    conflict = refuted(best)
    assert conflict.names == ("a", "b")
    assert conflict.short_by == pytest.approx(0.05, abs=TIGHT)
    assert conflict.each_alone == pytest.approx({"a": 0.1, "b": 0.1}, abs=TIGHT)
    assert conflict.multipliers == pytest.approx({"a": 0.5, "b": 0.5}, abs=TIGHT)
    assert best.multipliers == pytest.approx({"a": 0.5, "b": 0.5, "c": 0.0, "d": 0.0}, abs=TIGHT)
    assert max(best.violations.values()) == pytest.approx(0.05, abs=1e-5)
    assert "'a' and 'b' cannot be met together: one of them is missed by 0.05 at least" in str(conflict)
    assert "infeasible: 'a' and 'b'" in repr(best)


def test_a_conflict_of_one(method):
    model = eq.models.riverswim(4)
    reach = eq.solve(model, Linear([1.0])).value
    best = eq.solve(model, Constrained(Linear([1.0]), [at_least(0, 1.0, model, "all")], price=1.0), method=method)
    conflict = refuted(best)
    assert conflict.names == ("all",)
    assert conflict.short_by == pytest.approx(1.0 - reach, abs=TIGHT)
    assert str(conflict).startswith("'all' cannot be met: it is missed by")


def test_two_conflicts_give_one_that_is_irreducible(method):
    """a with b, and c with d: one of the two pairs is named, not all four."""
    model = arms(np.eye(4))
    wishes = [at_least(k, 0.6, model, "abcd"[k]) for k in range(4)]
    conflict = refuted(eq.solve(model, Constrained(Linear([1.0, 0, 0, 0]), wishes, price=1.0), method=method))
    assert len(conflict.names) == 2
    assert conflict.short_by == pytest.approx(0.1, abs=TIGHT)


def test_a_conflict_that_is_not_linear(method):
    """A sum of squares of at most 1/8 and an average of at least 0.3 each: |(0.3, 0.3)|^2 = 0.18."""
    model = arms([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    wishes = [
        Constraint(rewards.Quadratic([0.0, 0.0]), 1 - 1 / 16, "risk"),
        Constraint(rewards.BottomSum(2, 1), 0.3, "fair"),
    ]
    best = eq.solve(model, Constrained(Linear([1.0, 1.0]), wishes, price=1.0), method=method)
    conflict = refuted(best)
    assert set(conflict.names) == {"risk", "fair"}
    assert conflict.each_alone["fair"] == pytest.approx(0.05, abs=1e-4)  # (1/4, 1/4) is the most that the risk allows
    assert conflict.each_alone["risk"] == pytest.approx(0.09 - 1 / 16, abs=1e-4)


@pytest.mark.parametrize(
    ("beyond", "status"), [(1e-4, "infeasible"), (1e-5, "infeasible"), (1e-9, None), (0.0, "optimal")]
)
def test_infeasible_by_very_little(beyond, status, method):
    """Beyond the tolerance it is refuted; within it either answer is right, and each is checked."""
    model = eq.models.bandit(2)
    wishes = [at_least(0, 0.5, model), at_least(1, 0.5 + beyond, model)]
    best = eq.solve(model, Constrained(Linear([1.0, 0.0]), wishes, price=1.0), method=method)
    if status is not None:
        assert best.status == status
    if best.status == "infeasible":
        assert refuted(best).short_by == pytest.approx(beyond / 2, rel=0.2)
    else:
        certified(best)


def test_no_multiplier_is_no_silent_error(method):
    """Max w_0 with -(w_0 - 1/2)^2 >= 0, up to a shift: no multiplier exists, and the answer may not be certified.

    Then it says so; or it is within the tolerance, by the constraint eased by half of it.
    """
    model = eq.models.bandit(2)
    point = Constraint(rewards.Quadratic([0.5, 0.5]), 1.0, "a point")
    best = eq.solve(model, Constrained(Linear([1.0, 0.0]), [point], price=1.0), method=method)
    if best.status == "optimal":
        certified(best)
    else:
        assert "above tolerance" in best.status
    assert best.value == pytest.approx(0.5, abs=2e-3)
    assert best.dual_value >= 0.5 - 1e-9


def functions(rng, K):
    """Concave functions of several kinds, to be rewards or constraints."""
    return [
        Linear(rng.uniform(-1, 1, K)),
        rewards.BottomSum(K, int(rng.integers(1, K + 1))),
        rewards.Quadratic(rng.random(K)),
        rewards.TargetDistance(rng.random(K), [1, 2, math.inf][rng.integers(3)]),
        rewards.TargetSquared(rng.random(K)),
        rewards.ProportionalFairness(K, 0.1),
        rewards.Minimum([Linear(rng.uniform(0, 1, K)), Linear(rng.uniform(0, 1, K))]),
    ]


@pytest.mark.parametrize("seed", range(12))
def test_agreement_with_a_direct_program(seed, method):
    """Random worlds, rewards and constraints: the value and the verdict are those of the program written by hand."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 5))
    model = eq.models.garnet(4, 3, 3, K, seed=seed)
    chosen = functions(rng, K)
    rng.shuffle(chosen)
    g, hs = chosen[0], chosen[1 : 1 + int(rng.integers(1, 4))]
    middle = model.means.T @ eq.solve(model, rewards.Quadratic(rng.random(K))).occupancy
    levels = [h.value(middle) + rng.uniform(-0.02, 0.02) for h in hs]
    goal = Constrained(g, [Constraint(h, level) for h, level in zip(hs, levels, strict=True)], price=1.0)
    best = eq.solve(model, goal, method=method)
    x = cvxpy.Variable(model.n_pairs, nonneg=True)
    w = model.means.T @ x
    limits = [h.concave_expression(w) >= level for h, level in zip(hs, levels, strict=True)]
    direct = cvxpy.Problem(
        cvxpy.Maximize(g.concave_expression(w)), [flow_matrix(model) @ x == 0, cvxpy.sum(x) == 1, *limits]
    )
    direct.solve(solver=cvxpy.CLARABEL)
    if direct.status == "optimal":
        assert best.status == "optimal"
        certified(best)
        assert best.value == pytest.approx(direct.value, abs=1e-5)
    else:
        assert "infeasible" in direct.status
        refuted(best)


@pytest.mark.parametrize("seed", range(4))
def test_agreement_with_budgets(seed, method):
    model = eq.models.bidding() if seed == 0 else eq.models.garnet(5, 3, 3, 3, seed=seed)
    K = model.n_outcomes
    least = [-eq.solve(model, Linear(-np.eye(K)[k])).value for k in range(1, K)]
    b = float(np.clip(max(least) + 0.1, 0.05, 0.95))
    goal = Constrained(Linear(np.eye(K)[0]), [at_most(k, b, model) for k in range(1, K)], price=1.0)
    best = eq.solve(model, goal, method=method)
    try:
        budget = eq.solve_knapsack(model, b)
    except SolverError as error:
        rise = float(re.search(r"rise by (\S+) at least", str(error)).group(1))
        assert refuted(best).short_by == pytest.approx(rise, rel=1e-3)
        return
    certified(best)
    assert best.value == pytest.approx(budget.value, abs=TIGHT)
    assert sum(best.multipliers.values()) * b + best.gain == pytest.approx(budget.dual_value, abs=TIGHT)


def test_functions_without_an_expression(method):
    """Cutting planes, for a reward and a constraint of one's own."""
    own = rewards.Custom(
        2,
        lambda w: 1 - 0.5 * np.sum((w - 0.5) ** 2),
        lambda w: 0.5 - w,
        norm=2,
        lipschitz=1.0,
        smoothness=1.0,
        compiled=False,
    )
    model = arms([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    risk = rewards.Custom(
        2, lambda w: 1 - 0.5 * np.sum(w**2), lambda w: -w, norm=2, lipschitz=2.0, smoothness=1.0, compiled=False
    )
    best = eq.solve(model, Constrained(own, [Constraint(risk, 1 - 1 / 16, "risk")], price=1.0), method=method)
    assert best.solver == {"program": "cutting planes", "columns": "columns"}[method]
    certified(best)
    assert best.outcomes == pytest.approx([0.25, 0.25], abs=1e-3)
    assert best.multipliers["risk"] == pytest.approx(1.0, abs=1e-2)  # 1/2 - 1/4 = lambda / 4
    refuted(eq.solve(model, Constrained(own, [Constraint(risk, 1.1, "risk")], price=1.0), method=method))


def test_an_exact_penalty_and_a_smoothed_one():
    """With a price above the multiplier the penalised optimum is the constrained one; below it, it is not."""
    model = eq.models.star(branches=3, diameter=4)
    floors = [at_least(1, 0.2, model, "one"), at_least(2, 0.3, model, "two")]
    goal = Constrained(Linear([1.0, 0.25, 0.5]), floors, price=1.0, smoothing=0.0)
    best = eq.solve(model, goal)  # multipliers 0.75 and 0.5
    assert goal.is_exact(best.multipliers)
    exact = eq.solve(model, goal.penalised)
    assert exact.value == pytest.approx(best.value, abs=TIGHT)
    assert goal.violations(exact.outcomes) == pytest.approx([0.0, 0.0], abs=TIGHT)
    cheap = goal.at_prices([0.7, 1.0])
    assert not cheap.is_exact(best.multipliers)
    assert cheap.violations(eq.solve(model, cheap.penalised).outcomes) == pytest.approx([0.2, 0.0], abs=TIGHT)
    assert cheap.violation_at_most(best.multipliers)["one"] == math.inf
    for mu in (0.1, 0.02):
        smooth = goal.at_prices(1.5, mu)
        left = smooth.violations(eq.solve(model, smooth.penalised).outcomes)
        assert left == pytest.approx([mu * 0.75 / 1.5, mu * 0.5 / 1.5], abs=1e-5)  # price s / mu = multiplier
        at_most_left = smooth.violation_at_most(best.multipliers)
        assert np.all(left <= list(at_most_left.values()))


@pytest.mark.parametrize("mu", [0.0, 0.05])
def test_what_a_regret_allows(mu):
    """At any point what is violated is within what the formula says for the penalised regret there; it is sharp."""
    model = eq.models.star(branches=3, diameter=4)
    floors = [at_least(1, 0.2, model, "one"), at_least(2, 0.3, model, "two")]
    goal = Constrained(Linear([1.0, 0.25, 0.5]), floors, price=1.5, smoothing=mu)
    best = eq.solve(model, goal)
    rng = np.random.default_rng(0)
    closest = math.inf
    for _ in range(2000):
        w = rng.dirichlet([2.0, 0.5, 0.7])
        allowed = goal.violation_at_most(best.multipliers, best.value - goal.value(w), surplus=0.0)
        left = np.array(list(allowed.values())) - goal.violations(w)
        assert np.all(left >= -1e-6)
        closest = min(closest, left[0] if goal.violations(w)[0] > 0.1 else math.inf)
    assert closest < 0.01


def test_regret_is_in_units_of_the_reward():
    model = eq.models.bandit(2)
    goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, model, "floor")], price=2.0, smoothing=0.05)
    best = eq.solve(model, goal)
    run = eq.simulate(model, eq.recommended(model.space, goal), 20000, seed=1, checkpoints=[100, 20000])
    assert run.values == pytest.approx(run.outcomes[:, 0])
    assert run.regret(best) == pytest.approx(0.75 - run.outcomes[:, 0], abs=1e-6)
    assert run.violations["floor"] == pytest.approx(np.maximum(0.0, 0.25 - run.outcomes[:, 1]))
    assert run.regret(eq.solve(model, goal.at_prices(7.0))) == pytest.approx(run.regret(best), abs=1e-6)
    assert run.violations["floor"][-1] < 0.03
    assert run.certified[-1] >= run.regret(best)[-1] - 1e-9
    assert "floor" in "".join(run.frame(best).columns)


@pytest.mark.parametrize("seed", [2, 5, 7, 20])
def test_rounding_of_large_constraints_is_no_conflict(seed):
    """Shares that can be met exactly, in units of 1e-13: bounds below zero by rounding prove nothing."""
    model = eq.models.bandit(3)
    shares = np.random.default_rng(seed).dirichlet(np.ones(3)).tolist()
    floors = [Constraint(Linear(1e13 * row), 1e13 * share) for row, share in zip(np.eye(3), shares, strict=True)]
    assert eq.solve(model, Constrained(Linear([1.0, 0.0, 0.0]), floors, price=2.0), 0.01).conflict is None
    floors[0] = Constraint(floors[0].function, floors[0].at_least + 1e6)
    conflict = eq.solve(model, Constrained(Linear([1.0, 0.0, 0.0]), floors, price=2.0), 0.01).conflict
    assert conflict.short_by == pytest.approx(1e6 / 3, rel=1e-6)


@pytest.mark.parametrize("kind", ["luck", "windfall"])
def test_a_finite_run_exceeds_the_optimum_by_no_more_than_its_surplus(kind):
    """By luck, and by where it begins; without either part of the surplus it would."""
    if kind == "luck":
        model = eq.Model.from_arrays([[[1.0], [1.0]]], [[[0.5, 0.0], [0.0, 0.5]]])
    else:  # the start is left for ten steps of full pay, and comes back once in a while
        n = 10
        chain = [[[float(j == min(i + 1, n)) for j in range(n + 1)]] for i in range(n)]
        model = eq.Model.from_arrays(
            [*chain, [[0.001] + [0.0] * (n - 1) + [0.999]]], [[[1.0, 1.0]]] * n + [[[0.0, 0.3]]]
        )
    goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.2, model)], price=4.0)
    best = eq.solve(model, goal)
    (multiplier,) = best.multipliers.values()
    known, exceeded, passed, delta = eq.confidence.Known(model), 0, 0, 0.1
    for seed in range(100):
        agent = eq.TocUCRL2(model.space, goal, confidence=known, tolerance=1e-6)
        run = eq.simulate(model, agent, 300, seed=seed, checkpoints=[5, 10, 100, 300], progress=False)
        left = run.values - multiplier * next(iter(run.violations.values())) - best.value
        surplus = np.array([best.surplus_at_most(int(t), delta) for t in run.t])
        exceeded += np.any(left > surplus)
        passed += np.any(left > 1e-6)
        for t, w in zip(run.t.tolist(), run.outcomes, strict=True):
            within = best.surplus_at_most(t, delta)
            allowed = goal.violation_at_most(best.multipliers, best.value - goal.value(w), within)
            exceeded += goal.violations(w)[0] > next(iter(allowed.values()))
    assert exceeded <= 100 * delta
    assert passed > 50


def test_the_surplus_in_closed_form():
    best = eq.solve(arms([[1.0, 0.0], [0.0, 1.0]]), Linear([2.0, 1.0]))
    for steps in (1, 100):
        expected = best.gap + 3.0 * math.sqrt(math.log(steps * (steps + 1) / 0.1) / (2 * steps))
        assert best.surplus_at_most(steps, 0.1) == pytest.approx(expected, abs=1e-9)
    ring = eq.solve(eq.models.ring(4), Linear([1.0]))
    span = np.ptp(ring.bias)
    assert span > 0.1
    noise = (span + 1.0) * math.sqrt(math.log(50 * 51 / 0.05) / 100)
    assert ring.surplus_at_most(50) == pytest.approx(max(0.0, ring.gap) + span / 50 + noise, abs=1e-9)
    both = [at_least(1, 1.0, ["a", "b"]), at_least(0, 0.5, ["a", "b"])]
    none = eq.solve(eq.models.bandit(2), Constrained(Linear([1.0, 0.0]), both, 1.0))
    with pytest.raises(ParameterError, match="nothing is proven of the optimum, as its status is 'infeasible'"):
        none.surplus_at_most(5)
    with pytest.raises(ParameterError, match="delta: got 0"):
        ring.surplus_at_most(50, 0.0)


def test_without_a_surplus_a_violation_is_bounded_at_any_point():
    """Nothing is known of where the average is, not even that a policy reaches it."""
    model = eq.models.star(branches=3, diameter=4)
    goal = Constrained(Linear([1.0, 0.25, 0.5]), [at_least(1, 0.2, model), at_least(2, 0.3, model)], price=1.5)
    best = eq.solve(model, goal)
    for w in np.random.default_rng(0).random((500, 3)) ** 3:
        allowed = goal.violation_at_most(best.multipliers, best.value - goal.value(w))
        assert np.all(goal.violations(w) <= list(allowed.values()))


def test_an_optimum_that_does_not_exist_is_none_to_compare_with():
    model = eq.models.bandit(2)
    goal = Constrained(Linear([1.0, 0.0]), [at_least(0, 0.8, model, "a"), at_least(1, 0.4, model, "b")], price=2.0)
    best = eq.solve(model, goal)
    run = eq.simulate(model, eq.recommended(model.space, goal), 100, seed=1)
    with pytest.raises(ParameterError, match=re.escape("best: 'a' and 'b' cannot be met together")):
        run.regret(best)


def test_a_claim_that_is_wrong_is_found_out():
    """Whatever a solver says, the bounds are recomputed: wrong multipliers leave a gap."""
    model = eq.models.bandit(2)
    best = eq.solve(model, Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, model, "floor")], price=2.0))
    wrong = [best.terms[0], best.terms[1]._replace(weight=0.5)]
    assert certificate.dual_bound(model, wrong, best.bias).value > best.value + 0.1
    none = [best.terms[0]]
    assert certificate.dual_bound(model, none, best.bias).value == pytest.approx(1.0)


def test_what_has_no_stationary_answer():
    model = eq.models.bandit(2)
    goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, model, "floor")], price=2.0, smoothing=0.0)
    with pytest.raises(ParameterError, match="reward: it has constraints"):
        eq.best_stationary(model, goal)
    assert eq.best_stationary(model, goal.penalised).supremum == pytest.approx(0.75, abs=TIGHT)


def checked_at(goal, model, occupancy):
    """What is said of an occupancy that some solver might have claimed, with the bounds of the optimum."""
    problem = Problem.of(goal)
    (answer,) = itertools.islice(try_methods(Pool(model), problem, 1e-6, None), 1)
    x = np.array(occupancy)
    w = model.means.T @ x
    claimed = answer._replace(primal=certificate.Primal(x, w, answer.dual.value, 0.0, 0.0))
    return make_benchmark(model, goal, Solution(claimed, judge(claimed, problem, 1e-6)), 1e-6, 0.0)


def test_the_constraint_that_is_violated_most_is_named():
    model = eq.models.bandit(3)
    floors = [at_least(1, 0.1, model, "little"), at_least(2, 0.3, model, "much"), at_least(0, 0.2, model, "met")]
    best = checked_at(Constrained(Linear([1.0, 0.0, 0.0]), floors, price=2.0), model, [1.0, 0.0, 0.0])
    assert best.status == "'much' is violated by 0.3: above tolerance 1e-06"


def test_small_violations_of_dear_constraints_are_not_optimal():
    """A violation of 8e-7 is within the tolerance, but it buys 100 times as much of the objective."""
    model = eq.models.bandit(2)
    goal = Constrained(Linear([100.0, 0.0]), [at_least(1, 0.25, model)], price=200.0)
    assert checked_at(goal, model, [0.75, 0.25]).status == "optimal"
    best = checked_at(goal, model, [0.75 + 8e-7, 0.25 - 8e-7])
    assert best.status == "violations that may add 8e-05 to the value: above tolerance 1e-06"


def test_an_error_has_what_went_wrong_with_every_method(monkeypatch):
    def failing(*arguments):
        yield SolverError("one failed")
        yield SolverError("so did another")

    monkeypatch.setattr(benchmark, "try_methods", failing)
    monkeypatch.setattr(benchmark, "find_conflict", lambda *arguments: None)
    model = eq.models.bandit(2)
    with pytest.raises(SolverError, match="one failed; so did another"):
        eq.solve(model, Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, model)], price=2.0))
