"""What cannot be a reward is refused, with the part that is at fault and the way out."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from equipoise.errors import RewardError
from equipoise.rewards import Custom, Expression, from_cvxpy

W = cp.Variable(3, name="w")


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (cp.sum_squares(W), r"quad_over_lin\(w, 1.0\) is convex, not concave; to minimise it, maximise minus it"),
        (W[0] * W[1], r"not concave .* because of w\[0\] \* w\[1\]"),
        (cp.min(W) + cp.sqrt(cp.sum_squares(W)), r"because of power\(quad_over_lin\(w, 1.0\), 0.5\).*\(convex\)"),
        (cp.log(cp.exp(W[0])), r"because of log\(exp\(w\[0\]\)\)"),
        (W, r"w has the shape \(3,\); a number is needed"),
        (cp.min(W) * 1j, "is complex"),
        (cp.Constant(1.0), "does not depend on the outcomes"),
        (cp.min(W) - cp.max(cp.hstack([W, 2.0])) + cp.sum(W) - cp.sum(W) - cp.min(W), "not concave"),
        (
            cp.sum(cp.log(W)),
            r"log\(w\): its argument reaches 0 .* infinitely steep. Add an offset to it, such as 0.01$",
        ),
        (cp.sum(cp.sqrt(W - 0.5)), r"sqrt\(w - 0.5\): .* reaches -0.5 .* not defined. Add an offset .* 0.51$"),
        (cp.geo_mean(W), r"geo_mean.* infinitely steep"),
        (-cp.sum(cp.inv_pos(W)), r"inv_pos\(w\): .*infinitely steep"),
        (-cp.power(W[0] - 0.2, 3), r"power\(w\[0\] - 0.2, 3.0\): .* reaches -0.2 .* not defined"),
        (cp.log(cp.min(W)), r"log\(min\(w\)\): .* or give lipschitz="),
        (cp.min(W) + cp.Variable(name="z"), "another variable in it, z; it may depend on w alone"),
        (cp.log_det(cp.diag(W + 1)), r"log_det is not compiled, .* compiled=False"),
        (cp.min(W) * cp.Parameter(nonneg=True, name="p"), "the parameter p has no value"),
    ],
)
def test_expressions(expression: cp.Expression, words: str):
    with pytest.raises(RewardError, match=words):
        from_cvxpy(expression, W)


def test_a_geometric_mean_with_a_weight_of_0_is_refused_or_right():
    """By version, CVXPY keeps the entry that counts for nothing, or leaves it out."""
    mean = cp.geo_mean(W + 1, [1, 0, 1])
    if mean.args[0].size == 3:
        with pytest.raises(RewardError, match="weights of 0; leave these entries out"):
            from_cvxpy(mean, W)
    else:
        assert from_cvxpy(mean, W).value([0.21, 0.5, 0.44]) == pytest.approx(1.1 * 1.2)  # sqrt(1.21 * 1.44)


def test_what_is_no_expression():
    with pytest.raises(RewardError, match="maximise: got 3"):
        from_cvxpy(3, W)
    with pytest.raises(RewardError, match="variable: got 'w'"):
        from_cvxpy(cp.min(W), "w")
    with pytest.raises(RewardError, match=r"variable: got the shape \(2, 2\)"):
        from_cvxpy(cp.min(W), cp.Variable((2, 2)))
    with pytest.raises(RewardError, match="variable: it is declared nonpos"):
        from_cvxpy(cp.min(W), cp.Variable(3, nonpos=True))
    with pytest.raises(RewardError, match="maximise: got"):
        from_cvxpy(cp.Minimize(cp.max(W)), W)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("", "is no formula"),
        ("min(w", "is no formula .*never closed"),
        ("minimun(w, 0.5)", "there is no function 'minimun'.*minimum"),
        ("min(w) + q", "'q' is not known; the outcomes are 'w'"),
        ("w.value", "not of the language"),
        ("__import__('os').getcwd()", "there is no function"),
        ("(lambda: 1)()", "there is no function"),
        ("min(w) if 1 else 2", "not of the language"),
        ("'w'", "not of the language"),
        ("True", "not of the language"),
        ("max(w, axis=0)", "without names"),
        ("min(*w)", "without names"),
        ("[1, 2, 3] @ w", "has no meaning"),
        ("w[2]", "has no meaning"),
        ("w[0.5]", "an index is a whole number"),
        ("min([w, 1])", "a list holds numbers"),
        ("9.0 ** 9.0 ** 9.0 * min(w)", "has no meaning"),
        ("(" * 500 + "w[0]" + ")" * 500, "nested too deeply|is no formula"),
        ("-" * 5000 + "w[0]", "nested too deeply"),
        ("max(w)", r"max\(w\) is convex"),
    ],
)
def test_formulas(formula: str, words: str):
    with pytest.raises(RewardError, match=words):
        Expression(formula, 2)


def test_programs_are_told_what_to_give_in_their_place():
    with pytest.raises(RewardError, match="to minimise, give minus it"):
        from_cvxpy(cp.Minimize(cp.max(W)), W)
    with pytest.raises(RewardError, match=r"that of its objective, and subject_to=problem\.constraints"):
        from_cvxpy(cp.Problem(cp.Maximize(cp.min(W)), [W >= 0.1]), W)


@pytest.mark.parametrize("bounds", [[0, 0.5], [0.1, None], [0, np.array([1.0, 1.0, 0.9])]])
def test_bounds_of_the_variable_that_are_constraints_are_not_lost(bounds):
    w = cp.Variable(3, name="w", bounds=bounds)
    with pytest.raises(RewardError, match=r"variable: its bounds leave out averages .* subject_to, such as w <= 0.5"):
        from_cvxpy(cp.min(w), w)


@pytest.mark.parametrize("bounds", [[0, 1], [None, 1], [-1, np.array([1.0, 2.0, 3.0])]])
def test_bounds_that_hold_for_all_outcomes_are_harmless(bounds):
    w = cp.Variable(3, name="w", bounds=bounds)
    assert from_cvxpy(cp.min(w), w).maximise == "min(w)"


def test_numbers_that_will_not_do():
    with pytest.raises(RewardError, match="maximise: got 3"):
        Expression(3, 2)  # type: ignore[arg-type]
    with pytest.raises(RewardError, match="norm"):
        Expression("min(w)", 2, norm=3)
    with pytest.raises(RewardError, match="n_outcomes"):
        Expression("min(w)", 0)
    with pytest.raises(RewardError, match="lipschitz"):
        Expression("min(w)", 2, lipschitz=-1.0)


def test_constants_given_are_held_against_points():
    assert Expression("min(w)", 2, lipschitz=3.0).lipschitz == 3.0
    with pytest.raises(RewardError, match=r"lipschitz: got 0.5"):
        Expression("min(w)", 2, lipschitz=0.5)
    with pytest.raises(RewardError, match=r"smoothness: got 0.5"):
        Expression("-sum_squares(w)", 2, smoothness=0.5)
    with pytest.raises(RewardError, match="smoothness"):
        Expression("min(w)", 2, smoothness=10.0)
    with pytest.raises(RewardError, match="it must be finite"):
        Expression("log(min(w))", 2, lipschitz=100.0)
    # Intervals see the argument of the logarithm reach -0.4; it is 0.1 at least, since one of the two is 0.5.
    hidden = "log(minimum(w[0], 0.5) + minimum(1 - w[0], 0.5) - 0.4)"
    with pytest.raises(RewardError, match=r"not defined.* or give lipschitz="):
        Expression(hidden, 1)
    assert Expression(hidden, 1, lipschitz=20.0).lipschitz == 20.0
    with pytest.raises(RewardError, match="lipschitz: got 1, but"):
        Expression(hidden, 1, lipschitz=1.0)


def test_too_many_rows():
    with pytest.raises(RewardError, match="numbers at once"):
        Expression("-sum_squares(w)", 5000)


def test_what_is_not_compiled_runs_by_cvxpy():
    expression = cp.log_det(cp.diag(W + 1))
    with pytest.raises(RewardError, match="lipschitz"):
        from_cvxpy(expression, W, compiled=False)
    g = from_cvxpy(expression, W, compiled=False, lipschitz=np.sqrt(3.0), smoothness=1.0)
    assert isinstance(g, Custom)
    point = np.array([0.0, 0.5, 1.0])
    assert g.value(point) == pytest.approx(np.log(1.5 * 2.0), rel=1e-12)
    assert g.gradient(point) == pytest.approx(1.0 / (1.0 + point), rel=1e-12)
    assert float(g.concave_expression(cp.Constant(point)).value) == pytest.approx(np.log(3.0), rel=1e-9)
