"""The bounds of `solve` against optima computed by formulas and a polytope that are written here alone."""

from __future__ import annotations

import inspect

import cvxpy as cp
import numpy as np
import pytest

import equipoise as eq
from equipoise import rewards
from equipoise.offline import certificate
from equipoise.rewards import Constrained, Constraint, Linear, Sum, at_least
from tests.rewards import members, test_combinations, test_images

SMALL = {name: case.make for name, case in members.CASES.items()} | test_combinations.CASES | test_images.CASES
SOLVER = 1e-7  # what Clarabel leaves open here


def spread(weights):
    """The cross-entropy of a target of 30 outcomes, nearly unsmoothed: steps of 1/beta get nowhere."""
    return Sum([rewards.CrossEntropy(weights, mu=1e-6), rewards.Quadratic(weights[::-1])])


def groups():
    """Thirty outcomes in five groups, and the logarithm of nearly 0."""
    A = np.zeros((5, 30))
    A[np.arange(30) % 5, np.arange(30)] = 1 / 6
    return rewards.ProportionalFairness(5, 1e-5).of(A)


def sparse_arms():
    rng = np.random.default_rng(0)
    means = rng.random((40, 30)) * (rng.random((40, 30)) < 0.1)
    return eq.Model.from_arrays([[[1.0]] * 40], [list(means)], noise="none")


def target(kpi, z):
    """Whether z meets all KPIs, or lies in the target set."""
    match kpi:
        case rewards.TargetBox():
            return [z >= kpi.low, z <= kpi.high]
        case rewards.TargetBall():
            return [cp.norm(z - kpi.centre, 2) <= kpi.radius]
        case rewards.TargetHull():
            share = cp.Variable(len(kpi.points), nonneg=True)
            return [share @ kpi.points == z, cp.sum(share) == 1]
        case rewards.TargetPolytope():
            return [kpi.matrix @ z <= kpi.bound, z >= 0, z <= 1]
    return [z >= kpi]


def formula(g, w, inside):
    """g(w) by the formulas of the documentation; boxes outside of which another one holds are added to `inside`."""
    K = g.n_outcomes
    match g:
        case rewards.Linear():
            return g.weights @ w
        case rewards.Quadratic():
            return 1 - cp.sum_squares(w - g.target) / 2
        case rewards.TargetSquared():
            return 1 - cp.sum_squares(cp.pos(g.kpi - w)) / K
        case rewards.TargetDistance():
            z, p = cp.Variable(K), g.norm if g.p is None else g.p
            inside += target(g.kpi, z)
            weights = np.ones(K) if g.weights is None else g.weights
            return 1 - cp.norm(cp.multiply(weights, w - z), "inf" if p == np.inf else p)
        case rewards.Balance():
            return 1 - cp.norm1(w - g.target) / 2
        case rewards.BottomSum():
            return cp.sum_smallest(w, g.kappa)
        case rewards.GeneralisedGini():
            steps = g.weights - np.append(g.weights[1:], 0.0)
            return sum(step * cp.sum_smallest(w, k) for k, step in enumerate(steps, 1))
        case rewards.ProportionalFairness():
            return cp.sum(cp.log(1 + w / g.eps)) / (K * np.log(1 + 1 / g.eps))
        case rewards.CrossEntropy():
            return g.target @ cp.log(1 + w / g.mu) / np.log(1 + 1 / g.mu)
        case rewards.Entropy():
            return cp.sum(cp.entr(w + g.mu) + g.mu * cp.log(w + g.mu)) / np.log(K)
        case rewards.RelativeEntropy():
            return 1 - cp.sum(cp.kl_div(w + g.mu, g.target + g.mu)) / np.log(K)
        case rewards.Knapsack():
            return w[0] - 2 / g.budget * cp.max(cp.pos(w[1:] - g.budget))
        case rewards.Expression():
            names = {name: getattr(cp, name) for name in dir(cp) if not name.startswith("_")}
            return eval(g.maximise, names, {"w": w, "min": cp.min, "sum": cp.sum})
        case rewards.Sum():
            return sum(c * formula(part, w, inside) for c, part in zip(g.weights, g.rewards, strict=True))
        case rewards.Minimum():
            return cp.min(cp.hstack([formula(part, w, inside) for part in g.rewards]))
        case rewards.Shortfall():
            short = cp.pos(g.at_least - formula(g.function, w, inside))
            return -cp.huber(short, g.smoothing) / (2 * g.smoothing) if g.smoothing else -short
        case rewards.Affine():
            return formula(g.inner, g.matrix @ w + g.offset, inside)
        case rewards.Within():
            inside += [w >= g.low, w <= g.high]
            return formula(g.inner, w, inside)
        case rewards.Custom():  # those of the tests of composed rewards
            if g.norm == 1.0:
                return -cp.square(cp.sum(w)) / 2
            return (1 if K == 2 else 0) - cp.sum_squares(w - 0.25)


def optimum(model, g):
    """The largest g of an occupancy's outcomes, by Clarabel; within boxes outside of which g is another formula."""
    x, inside = cp.Variable(model.n_pairs, nonneg=True), []
    kernel, own = model.transitions().toarray(), np.eye(model.n_states)[model.state_of]
    value = formula(g, model.means.T @ x, inside)
    problem = cp.Problem(cp.Maximize(value), [(own - kernel).T @ x == 0, cp.sum(x) == 1, *inside])
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    return float(problem.value)


def test_every_public_family_has_a_formula_here():
    found = {type(part) for make in SMALL.values() for part in with_parts(make())}
    public = {getattr(rewards, name) for name in rewards.__all__}
    known = {one for one in public if inspect.isclass(one) and issubclass(one, rewards.Reward)}
    assert found >= {one for one in known if not inspect.isabstract(one)} - {rewards.Constrained}  # as below


def with_parts(g):
    return [g, *(inner for part in getattr(g, "parts", ()) for inner in with_parts(part))]


@pytest.mark.parametrize("method", ["columns", "program"])
@pytest.mark.parametrize("name", SMALL)
def test_the_dual_value_is_at_least_the_optimum(name, method):
    g = SMALL[name]()
    model = eq.models.garnet(4, 3, 3, g.n_outcomes, seed=7)
    best, known = eq.solve(model, g, method=method), optimum(model, g)
    assert best.status == "optimal"
    assert best.dual_value >= known - SOLVER * max(1.0, abs(known))
    assert best.value >= known - best.tolerance - SOLVER * max(1.0, abs(known))


@pytest.mark.parametrize("method", ["columns", "program"])
@pytest.mark.parametrize(
    ("model", "make"),
    [(eq.models.bandit(30), lambda: spread(np.random.default_rng(1).dirichlet(np.ones(30)))), (sparse_arms(), groups)],
    ids=["spread", "groups"],
)
def test_an_iteration_that_comes_to_no_end_proves_nothing_false(model, make, method):
    g = make()
    best, known = eq.solve(model, g, method=method), optimum(model, g)
    assert best.dual_value >= known - SOLVER * max(1.0, abs(known))
    assert best.status != "optimal" or best.value >= known - 2.0 * best.tolerance


@pytest.mark.parametrize("method", ["columns", "program"])
@pytest.mark.parametrize("constrained", [False, True])
def test_no_bound_rests_on_the_maximiser_of_the_conjugate(monkeypatch, method, constrained):
    """Wherever the iteration ends, be it in a corner, bounds are bounds: by a program, by columns, and of conflicts."""
    model = eq.models.garnet(4, 3, 3, 3, seed=7)
    g = Sum([rewards.Entropy(3, mu=0.1), rewards.TargetDistance([0.5, 0.25, 0.75])])
    assert not g.exact_conjugate
    known = optimum(model, g)
    monkeypatch.setattr(Sum, "conjugate_argmax", lambda self, theta: np.zeros(3))
    goal = Constrained(g, [at_least(0, 0.0, model)], price=1.0) if constrained else g
    best = eq.solve(model, goal, method=method)
    assert best.dual_value >= known - SOLVER
    assert best.status == "optimal"
    assert best.value == pytest.approx(known, abs=2e-6)
    terms = best.terms or (certificate.Term(1.0, g, best.theta),)
    assert certificate.sum_conjugates(terms) + best.gain >= known - SOLVER  # at no point that is known to be good
    impossible = Constrained(Linear([1.0, 0.0, 0.0]), [Constraint(g, known + 0.01)], price=1.0)
    conflict = eq.solve(model, impossible, method=method).conflict
    assert 0.01 - 1e-5 <= conflict.short_by <= 0.01 + SOLVER
    possible = Constrained(Linear([1.0, 0.0, 0.0]), [Constraint(g, known - 0.01)], price=1.0)
    assert eq.solve(model, possible, method=method).conflict is None


def test_the_bound_of_a_conjugate_is_close_at_kinks_too():
    """Tangents are mixed where one is not enough: the minimum of all outcomes, at a theta inside of its simplex."""
    K = 12
    g = rewards.Minimum([Linear(row) for row in np.eye(K)])
    theta = -np.arange(1.0, K + 1.0) / 78
    assert not g.exact_conjugate
    assert g.conjugate_bound(theta) == pytest.approx(0.0, abs=1e-9)
    assert g.conjugate_bound(0.5 * theta) == pytest.approx(0.5, abs=1e-9)


def test_a_sum_of_functions_of_one_outcome_each_has_an_exact_conjugate():
    g = Sum(
        [rewards.CrossEntropy(np.arange(1.0, 7.0) / 21, mu=0.01), rewards.Balance(np.linspace(0.1, 0.9, 6))], [0.5, 2.0]
    )
    assert g.exact_conjugate
    for scale in (0.1, 1.0, 100.0):
        theta = scale * np.random.default_rng(2).normal(size=6)
        w = cp.Variable(6)
        program = cp.Problem(cp.Maximize(formula(g, w, []) + theta @ w), [w >= 0, w <= 1])
        program.solve(solver=cp.CLARABEL)
        assert g.conjugate(theta) == pytest.approx(program.value, abs=1e-6 * max(1.0, abs(program.value)))


def test_a_minimum_of_many_curved_goals_is_certified():
    """Thirty outcomes, where planes of single tangents come to no end: each side of the kink gives its own."""
    rng = np.random.default_rng(0)
    model = eq.models.garnet(200, 4, 5, 30, seed=1)
    g = rewards.Minimum([rewards.Quadratic(centre) for centre in rng.random(640)[490:].reshape(5, 30)])
    best, known = eq.solve(model, g, 1e-5, method="program"), optimum(model, g)
    assert best.status == "optimal"
    assert best.dual_value >= known - SOLVER
    assert best.value >= known - 1e-5 - SOLVER
