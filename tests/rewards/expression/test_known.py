"""The built-in rewards written in CVXPY: the same values, gradients, constants and optima; and closed forms."""

from __future__ import annotations

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest

import equipoise as eq
from equipoise import rewards
from equipoise.rewards import Expression, from_cvxpy
from equipoise.testing import check_reward

W = cp.Variable(3)
TARGET = np.array([0.2, 0.9, 0.4])
MU = 0.05

PAIRS = {
    "Linear": (rewards.Linear([1.0, -0.5, 0.25]), np.array([1.0, -0.5, 0.25]) @ W),
    "Quadratic": (rewards.Quadratic(TARGET), 1 - 0.5 * cp.sum_squares(W - TARGET)),
    "TargetSquared": (rewards.TargetSquared(TARGET), 1 - cp.mean(cp.square(cp.pos(TARGET - W)))),
    "TargetDistance-1": (rewards.TargetDistance(TARGET, 1), 1 - cp.sum(cp.pos(TARGET - W))),
    "TargetDistance-2": (rewards.TargetDistance(TARGET, 2), 1 - cp.norm(cp.pos(TARGET - W), 2)),
    "TargetDistance-inf": (rewards.TargetDistance(TARGET, math.inf), 1 - cp.max(cp.pos(TARGET - W))),
    "Balance": (rewards.Balance([0.2, 0.3, 0.5]), 1 - 0.5 * cp.norm1(W - np.array([0.2, 0.3, 0.5]))),
    "BottomSum": (rewards.BottomSum(3, 2), cp.sum_smallest(W, 2)),
    "max-min": (rewards.BottomSum(3, 1), cp.min(W)),
    "GeneralisedGini": (
        rewards.GeneralisedGini([0.5, 0.3, 0.2]),
        0.2 * cp.sum(W) + 0.1 * cp.sum_smallest(W, 2) + 0.2 * cp.min(W),
    ),
    "ProportionalFairness": (
        rewards.ProportionalFairness(3, MU),
        cp.sum(cp.log(1 + W / MU)) / (3 * math.log1p(1 / MU)),
    ),
    "Entropy": (
        rewards.Entropy(3, mu=MU),
        (cp.sum(cp.entr(W + MU)) + MU * cp.sum(cp.log(W + MU))) / math.log(3),
    ),
}
EXACT_CONSTANTS = set(PAIRS) - {"GeneralisedGini"}


def converted(name: str) -> Expression:
    built_in, expression = PAIRS[name]
    made = from_cvxpy(expression, W, norm=built_in.norm)
    assert isinstance(made, Expression)
    return made


@pytest.mark.parametrize("name", PAIRS)
def test_same_function(name: str):
    g, own = PAIRS[name][0], converted(name)
    rng = np.random.default_rng(3)
    shift = own.value([0.5, 0.5, 0.5]) - g.value([0.5, 0.5, 0.5])  # a constant changes nothing
    for w in rng.random((60, 3)):  # inside the box and without ties a gradient is unique
        assert own.value(w) - shift == pytest.approx(g.value(w), abs=1e-12)
        assert own.gradient(w) == pytest.approx(g.gradient(w), abs=1e-12)


@pytest.mark.parametrize("name", sorted(EXACT_CONSTANTS))
def test_same_constants(name: str):
    g, own = PAIRS[name][0], converted(name)
    if name == "TargetSquared":  # its own is that for targets of 1; the largest slope is (2/3) |target|
        assert own.lipschitz == pytest.approx(2.0 / 3.0 * np.linalg.norm(TARGET), rel=1e-12)
    else:
        assert own.lipschitz == pytest.approx(g.lipschitz, rel=1e-12)
    if g.smoothness is not None:
        assert own.smoothness == pytest.approx(g.smoothness, rel=1e-12)
    assert (own.smoothness is None) == (g.smoothness is None)
    assert own.piecewise_linear == g.piecewise_linear


def test_constants_of_ordered_sums():
    gini = converted("GeneralisedGini")
    assert PAIRS["GeneralisedGini"][0].lipschitz * (1 - 1e-12) <= gini.lipschitz <= 1.1  # 0.2 of 3, 0.1 of 2, 0.2 of 1
    assert from_cvxpy(cp.sum_smallest(W, 2), W).lipschitz == pytest.approx(math.sqrt(2.0), rel=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_same_optimum(name: str):
    g, own = PAIRS[name][0], converted(name)
    model = eq.models.star(3, 2)
    shift = own.value([0.5, 0.5, 0.5]) - g.value([0.5, 0.5, 0.5])
    one, two = eq.solve(model, g), eq.solve(model, own)
    assert two.status == "optimal"
    assert two.value - shift == pytest.approx(one.value, abs=1e-6)
    assert two.gap < 1e-6


def test_same_trajectory_as_the_built_in_one():
    model = eq.models.star(3, 2)
    runs = [
        eq.simulate(model, eq.TocUCRL2(model.space, g), steps=3000, seed=1)
        for g in (PAIRS["Quadratic"][0], converted("Quadratic"))
    ]
    assert runs[1].outcomes[-1] == pytest.approx(runs[0].outcomes[-1], abs=1e-12)
    assert len(runs[0].episodes) == len(runs[1].episodes)


@pytest.mark.parametrize(
    "formula",
    [
        "min(w)",
        "sum_smallest(w, 2)",
        "-norm(w - [0.2, 0.9, 0.4])",
        "-norm_inf(w - 0.5)",
        "geo_mean(w + 0.1)",
        "harmonic_mean(w)",
        "-log_sum_exp(2 * w)",
        "-quad_form(w, [[2, 1, 0], [1, 2, 0], [0, 0, 1]])",
        "-var(w)",
        "minimum(sum(w) / 3, 0.5) - 0.1 * tv(w)",
        "-quad_over_lin(w[1:] - 0.5, w[0] + 0.5)",
        "-square(w[0] + square(w[1]))",
        "log(min(w) + 0.1)",
        "[1, -0.5, 0.25] @ w",
    ],
)
def test_contract(formula: str):
    check_reward(Expression(formula, 3), samples=120)


def test_smoothness_of_compositions_in_closed_form():
    # -(w^2 + w)^2: the second derivative at 1 is 12 + 12 + 2 = 26, and it grows until there.
    g = Expression("-square(w[0] + square(w[0]))", 1)
    assert (g.lipschitz, g.smoothness) == (12.0, 26.0)
    # Of two equal numbers the Hessian is [[1, -1], [-1, 1]] / 4, with the eigenvalue 1/2.
    assert 0.5 <= Expression("-log_sum_exp(w)", 2).smoothness <= 1.0
    # x'Px has the Hessian 2P, and its largest eigenvalue is 6.
    assert Expression("-quad_form(w, [[2, 1], [1, 2]])", 2).smoothness == pytest.approx(6.0, rel=1e-12)
    assert Expression("-quad_form(w, [[2, 1], [1, 2]])", 2, 1.0).smoothness == pytest.approx(4.0, rel=1e-12)
    assert Expression("-quad_form(w, [[2, 1], [1, 2]])", 2, math.inf).smoothness == pytest.approx(12.0, rel=1e-12)
    assert Expression("-square(pos(w[0] - 0.5)) - abs(w[0] + 1)", 1).smoothness == 2.0
    assert Expression("-pos(w[0] - 0.5)", 1).smoothness is None


def test_a_norm_of_a_matrix_is_as_steep_as_the_matrix_is_long():
    A = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]])
    formula = f"-norm({A.tolist()} @ w - 0.3)"
    assert Expression(formula, 2).lipschitz == pytest.approx(np.linalg.norm(A, 2), rel=1e-12)
    column = np.linalg.norm(A, axis=0).max()
    assert column <= Expression(formula, 2, 1.0).lipschitz


def test_conjugates_in_closed_form():
    g = Expression("-norm1(w - [0.25, 0.5])", 2)
    assert g.exact_conjugate
    assert g.conjugate_argmax([0.5, -0.5]).tolist() == [0.25, 0.5]
    assert g.conjugate_argmax([1.5, -1.5]).tolist() == [1.0, 0.0]
    quadratic = Expression("-0.5 * sum_squares(w - [0.25, 0.5])", 2)
    assert quadratic.conjugate_argmax([0.25, -1.0]).tolist() == pytest.approx([0.5, 0.0], abs=1e-15)
    assert Expression("min(w)", 2).exact_conjugate
    assert Expression("min(w)", 2).conjugate([-0.3, -0.3]) == pytest.approx(0.4, abs=1e-15)
    stretched = Expression("min([1, 1.5] * w)", 2)  # largest at (1, 2/3)
    assert not stretched.exact_conjugate
    assert stretched.conjugate([-0.3, -0.3]) == pytest.approx(0.5, abs=1e-9)


def test_within_a_box():
    g = Expression("sum(log(w + 0.001))", 2)
    inside = g.within([0.1, 0.1], [0.9, 0.9])
    assert inside.lipschitz == pytest.approx(math.sqrt(2.0) / 0.101, rel=1e-12)
    check_reward(inside, samples=80)


def test_an_affine_image():
    of = Expression("1 - 0.5 * sum_squares(w - [0.5])", 1).of([[2.0, -2.0]], [0.5])  # from -1.5 to 2.5
    assert of.value([0.5, 0.25]) == 0.875
    check_reward(of, samples=80)
    with pytest.raises(eq.errors.RewardError, match=r"matrix\[0\]"):
        Expression("sqrt(w[0] + 0.1)", 1).of([[2.0, -2.0]])


@pytest.mark.parametrize(
    "formula",
    [
        "min(w)",
        "-max(w)",
        "3 * min(2 * w + 1) - max(w)",
        "sum_smallest(w, 2) + [0.5, -0.25, 0.125, 0.0] @ w",
        "min(w) + 0.1 * sum(w) - sum_largest(w, 1.5)",
    ],
)
def test_conjugates_of_order_statistics_are_attained_at_corners(formula):
    reward = Expression(formula, 4)
    assert reward.exact_conjugate
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=4)))
    inside = np.random.default_rng(0).random((200, 4))
    values = [reward.value(w) for w in corners]
    elsewhere = [reward.value(w) for w in inside]
    for theta in np.random.default_rng(1).normal(size=(100, 4)).round(1) * reward.lipschitz:  # with ties
        assert reward.conjugate(theta) == pytest.approx(max(values + corners @ theta), abs=1e-12)
        assert reward.conjugate(theta) >= max(elsewhere + inside @ theta)


def test_conjugates_of_other_formulas_are_not_taken_for_such():
    others = "min(w[:2])", "min([1, 2, 1] * w)", "min(w + [0, 0.5, 0])", "min(w) + sqrt(w[0] + 1)", "-max(abs(w - 0.5))"
    assert not any(Expression(formula, 3).exact_conjugate for formula in others)


@pytest.mark.parametrize("p", [1.1, 1.5, 1.9])
@pytest.mark.parametrize("width", [2, 4, 9])
def test_norms_between_the_first_and_the_second_are_steeper_than_one(p: float, width: int):
    """On the diagonal all entries are K^(1/p - 1), and the length is K^(1/p - 1/2) > 1; by Hoelder it is never more."""
    g = Expression(f"-norm(w, {p})", width)
    steepest = width ** (1.0 / p - 0.5)
    assert np.linalg.norm(g.gradient(np.full(width, 0.5))) == pytest.approx(steepest)
    assert g.lipschitz == pytest.approx(steepest, abs=1e-12)
