"""Garnet worlds: communicating for every seed, of the shape asked for, and fit for large sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.errors import ModelError
from equipoise.models import garnet
from equipoise.models.standard import _subsets


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**40))
def test_shape_and_communication(S, A, m, K, seed):
    m = min(m, S)
    model = garnet(S, A, m, K, seed=seed)
    assert model.is_communicating()
    assert np.array_equal(np.diff(model.transition_first), np.full(S * A, m))  # distinct successors
    assert model.n_actions == (A,) * S
    assert model.means.shape == (S * A, K)


def test_one_successor_and_one_action_is_a_cycle():
    model = garnet(30, 1, 1, 1, seed=4)
    assert model.diameter() == 30.0


def test_seeds():
    assert garnet(10, 2, 3, 2, seed=1) == garnet(10, 2, 3, 2, seed=1)
    assert garnet(10, 2, 3, 2, seed=1) != garnet(10, 2, 3, 2, seed=2)


@pytest.mark.parametrize("m", [2, 4])  # Floyd's algorithm; random keys
def test_subsets_are_uniform(m):
    """Each of the C(5, m) subsets within 5 standard deviations of its mean count, at a fixed seed."""
    n, count = 5, 20_000
    drawn = np.sort(_subsets(np.random.default_rng(0), count, n, m), axis=1)
    _, frequencies = np.unique(drawn, axis=0, return_counts=True)
    total = {2: 10, 4: 5}[m]
    assert frequencies.size == total
    p = 1 / total
    assert np.abs(frequencies - count * p).max() <= 5 * np.sqrt(count * p * (1 - p))


def test_probabilities_are_uniform_on_the_simplex():
    """A coordinate of Dirichlet(1, ..., 1) with m parts has mean 1/m and P(x > 1/2) = 2^-(m-1)."""
    model = garnet(20_000, 1, 3, 1, seed=9)
    x = model.transition_probability[model.transition_first[:-1]]
    n, p = x.size, 0.25
    assert abs((x > 0.5).sum() - n * p) <= 5 * np.sqrt(n * p * (1 - p))


def test_large():
    model = garnet(100_000, 4, 5, 2)
    assert model.n_pairs == 400_000
    assert model.transition_probability.size == 2_000_000
    assert model.is_communicating()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 1, 1), "n_states: got 0"),
        ((2, 0, 1, 1), "n_actions: got 0"),
        ((2, 1, 3, 1), "n_successors: got 3; there are only 2 states"),
        ((2, 1, 0, 1), "n_successors: got 0"),
        ((2, 1, 1, 0), "n_outcomes: got 0"),
        ((2, 1, 1, 1, -1), "seed: got -1"),
        ((2, 1, 1, 1, 0, "x"), "noise: got 'x'"),
        ((2.5, 1, 1, 1), "n_states: got 2.5"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ModelError, match=message):
        garnet(*arguments)
