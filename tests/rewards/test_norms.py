"""The three norms, compiled and not, against their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from equipoise.rewards.norms import distance, dual, length, ones, stretch

NORMS = (1.0, 2.0, math.inf)
X, Y = np.array([3.0, -1.0, 0.5, 0.0]), np.array([1.0, 2.0, 0.5, -6.0])


@pytest.mark.parametrize(("norm", "expected"), [(1.0, 2.0 + 3.0 + 0.0 + 6.0), (2.0, 7.0), (math.inf, 6.0)])
def test_the_distance_of_two_vectors(norm, expected):
    """The gaps are 2, 3, 0 and 6, and the sum of their squares is 49."""
    assert distance(X, Y, norm) == distance(Y, X, norm) == length(X - Y, norm) == expected
    assert distance(X, X, norm) == 0.0


@pytest.mark.parametrize("norm", NORMS)
def test_a_vector_of_ones(norm):
    for size in (1, 2, 9):
        assert ones(size, norm) == distance(np.ones(size), np.zeros(size), norm)


@pytest.mark.parametrize("norm", NORMS)
def test_hoelder_holds_with_the_dual_norm_and_is_attained(norm):
    rng = np.random.default_rng(0)
    theta = np.array([3.0, 0.0, -4.0])
    reached = {1.0: np.array([0.0, 0.0, -1.0]), 2.0: theta / 5.0, math.inf: np.sign(theta)}[norm]
    assert length(reached, norm) == 1.0
    assert theta @ reached == pytest.approx(length(theta, dual(norm)), rel=1e-15)
    for w in rng.normal(size=(200, 3)):
        assert theta @ w <= length(theta, dual(norm)) * length(w, norm) * (1.0 + 1e-12)


@pytest.mark.parametrize(("norm", "other"), list(itertools.product(NORMS, NORMS)))
def test_how_much_longer_a_vector_can_be_in_another_norm(norm, other):
    """A vector of ones or a unit vector is stretched most."""
    factor = stretch(norm, other, 5)
    ratios = [length(x, norm) / length(x, other) for x in (np.ones(5), np.eye(5)[0])]
    assert factor == pytest.approx(max(ratios), rel=1e-15)
    for x in np.random.default_rng(1).normal(size=(200, 5)):
        assert length(x, norm) <= factor * length(x, other) * (1.0 + 1e-12)
