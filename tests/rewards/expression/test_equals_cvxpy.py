"""Random concave expressions: the compiled reward is CVXPY's expression, and all that is claimed of it holds."""

from __future__ import annotations

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.errors import RewardError
from equipoise.rewards import Expression, from_cvxpy
from equipoise.rewards.expression.compiler import compile_program
from equipoise.rewards.expression.formula import format_program
from equipoise.rewards.norms import dual, length
from tests.rewards.expression.random_expressions import concave

NORMS = (1.0, 2.0, math.inf)


def values(expression: cp.Expression, variable: cp.Variable, points: np.ndarray) -> np.ndarray:
    """What CVXPY says."""
    found = []
    for point in points:
        variable.value = point
        found.append(float(expression.value))
    return np.array(found)


def places(K: int, seed: int) -> np.ndarray:
    """Vertices, points with ties, and points inside."""
    rng = np.random.default_rng(seed)
    vertices = np.array(list(itertools.product((0.0, 1.0), repeat=K)))
    ties = rng.integers(0, 5, (6, K)) / 4.0
    return np.concatenate((vertices, ties, rng.random((8, K))))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 3), st.sampled_from(NORMS), st.integers(0, 99))
def test_a_random_expression(data: st.DataObject, K: int, norm: float, seed: int):
    check(data, K, norm, seed)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(st.data(), st.integers(1, 4), st.sampled_from(NORMS), st.integers(0, 99))
def test_many_random_expressions(data: st.DataObject, K: int, norm: float, seed: int):
    check(data, K, norm, seed)


def check(data: st.DataObject, K: int, norm: float, seed: int) -> None:
    w = cp.Variable(K)
    expression = data.draw(concave(K))(w)
    assert expression.is_concave()
    points = places(K, seed)
    there = values(expression, w, points)
    if np.ptp(there) < 1e-12:  # a constant, but for rounding
        return
    g = from_cvxpy(expression, w, norm=norm)
    scale = max(1.0, float(np.abs(there).max()), g.lipschitz)

    own = np.array([g.value(point) for point in points])
    assert own == pytest.approx(there, rel=1e-9, abs=1e-9)

    slopes = np.array([g.gradient(point) for point in points])
    tangents = there[:, None] + slopes @ points.T - np.sum(slopes * points, axis=1)[:, None]
    assert np.all(there[None, :] <= tangents + 1e-9 * scale)

    lengths = [length(slope, dual(norm)) for slope in slopes]
    assert max(lengths) <= g.lipschitz * (1.0 + 1e-12)
    for i, j in itertools.combinations(range(len(points)), 2):
        far = length(points[i] - points[j], norm)
        assert abs(there[i] - there[j]) <= g.lipschitz * far + 1e-9 * scale
        if g.smoothness is not None:
            turn = length(slopes[i] - slopes[j], dual(norm))
            assert turn <= g.smoothness * far + 1e-9 * scale
    for i in range(len(points) - 1):
        assert g.value(0.5 * (points[i] + points[i + 1])) >= 0.5 * (own[i] + own[i + 1]) - 1e-9 * scale

    # The formula says all of it: it is concave by the rules, and read again it gives the same formula.
    assert isinstance(g, Expression)
    z = cp.Variable(K)
    again = g.concave_expression(z)
    assert again.is_concave()
    assert values(again, z, points) == pytest.approx(there, rel=1e-9, abs=1e-9)
    assert format_program(compile_program(again, z)) == g.maximise
    assert np.array_equal(Expression(g.maximise, K, norm).params, g.params)


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(2, 3), st.integers(0, 99))
def test_constants_hold_on_other_boxes(data: st.DataObject, K: int, seed: int):
    w = cp.Variable(K)
    try:
        g = from_cvxpy(data.draw(concave(K, 1))(w), w)
    except RewardError:
        return
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.random((2, K)), axis=0)
    bound = g.lipschitz_on(low, high)
    assert bound is not None
    assert bound <= g.lipschitz
    for point in low + rng.random((40, K)) * (high - low):
        assert length(g.gradient(point), 2.0) <= bound * (1.0 + 1e-12)
