"""CVXPY's constraints as constraints on the average outcomes."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import RewardError
from equipoise.rewards import Constrained, Expression, Linear, from_cvxpy

W = cp.Variable(3, name="w")


def constrained(*subject_to: cp.Constraint) -> Constrained:
    goal = from_cvxpy(cp.sum(W), W, list(subject_to), price=4.0)
    assert isinstance(goal, Constrained)
    return goal


@pytest.mark.parametrize(
    ("constraint", "names"),
    [
        (W[0] >= 0.25, ["w[0] >= 0.25"]),
        (W[1:] <= 0.5, ["w[1] <= 0.5", "w[2] <= 0.5"]),
        (W[0] - W[1] >= 0.1, ["[1.0, -1.0, 0.0] @ w >= 0.1"]),
        (cp.sum(W) == 1, ["sum(w) <= 1", "sum(w) >= 1"]),
        (cp.norm(W - 0.5) <= 0.25, ["pnorm(w - 0.5, 2.0) <= 0.25"]),
        (cp.SOC(W[0] + 0.1, W[1:]), ["w[0] - pnorm(w[[1, 2]], 2.0) >= -0.1"]),
        (cp.min(W) >= cp.max(W) - 0.2, ["min(w) - max(w) >= -0.2"]),
        (cp.NonNeg(W - 0.25), ["w[0] >= 0.25", "w[1] >= 0.25", "w[2] >= 0.25"]),
    ],
)
def test_names_and_truth(constraint: cp.Constraint, names: list[str]):
    goal = constrained(constraint)
    assert sorted(goal.names) == sorted(names)
    for point in np.random.default_rng(2).random((200, 3)):
        W.value = point
        met = float(np.max(goal.violations(point))) <= 1e-9
        assert met == bool(np.max(constraint.violation()) <= 1e-9)


def test_matters_of_course_are_left_out():
    plain = from_cvxpy(cp.min(W), W, [W >= 0, W <= 1, cp.sum(W) <= 3, cp.min(W) >= -1])
    assert isinstance(plain, Expression)


def test_affine_ones_are_linear():
    goal = constrained(W[0] >= 0.25, cp.sum_squares(W) <= 1)
    assert isinstance(goal.constraints[0].function, Linear)
    assert isinstance(goal.constraints[1].function, Expression)
    assert goal.constraints[1].function.value([1.0, 1.0, 0.0]) == -2.0


def test_the_same_twice_is_one():
    assert constrained(W[0] >= 0.25, cp.NonNeg(W[0] - 0.25)).names == ("w[0] >= 0.25",)


@pytest.mark.parametrize(
    ("subject_to", "words"),
    [
        ([cp.norm(W) >= 1], r"subject_to\[0\]: 1.0 <= [Pp]norm\(w, 2\) is not convex"),
        ([cp.norm(W) == 1], r"subject_to\[0\]: .* is not convex"),
        ([W >= 0, W[0] >= 1.5], r"subject_to\[1\]: w\[0\] >= 1.5 holds for no outcomes"),
        ([cp.PSD(cp.diag(W))], "PSD is not converted"),
        ([W[0] >= cp.Variable(name="z")], "another variable in it, z"),
        ([cp.sum(cp.log(W)) >= -3], r"subject_to\[0\]: log\(w\): .*infinitely steep"),
        ([True], r"subject_to\[0\]: got True"),
        (W[0] >= 1, "subject_to: got"),
    ],
)
def test_refusals(subject_to: object, words: str):
    with pytest.raises(RewardError, match=words):
        from_cvxpy(cp.sum(W), W, subject_to)


def test_no_price_is_needed():
    assert from_cvxpy(cp.sum(W), W, [W[0] >= 0.5]).is_same_problem(from_cvxpy(cp.sum(W), W, [W[0] >= 0.5], price=4.0))


def test_the_constrained_optimum_is_that_of_cvxpy():
    """On a world where every distribution over three arms is possible, the program is one over the simplex."""
    model = eq.models.bandit(3)
    target = np.array([0.7, 0.2, 0.1])
    subject_to = [W[1] >= 0.25, cp.norm(W - 1 / 3) <= 0.3]
    goal = from_cvxpy(1 - cp.sum_squares(W - target), W, subject_to, price=10.0)
    best = eq.solve(model, goal)
    program = cp.Problem(cp.Maximize(1 - cp.sum_squares(W - target)), [*subject_to, W >= 0, cp.sum(W) == 1])
    program.solve(solver=cp.CLARABEL)
    assert best.value == pytest.approx(program.value, abs=1e-6)
    assert best.outcomes == pytest.approx(W.value, abs=1e-4)
    assert max(goal.violations(best.outcomes)) <= 1e-6
    assert best.multipliers["w[1] >= 0.25"] == pytest.approx(float(subject_to[0].dual_value), abs=1e-4)
