"""The order of the states is that of a stable sort, whatever the numbers and whatever the order was before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise._runtime.compiler import kernel
from equipoise.planning.order import _radix_sort, put_in_order, sort_scratch


@kernel
def in_order(u, order, scratch):
    put_in_order(u, order, scratch)


def stable(u, order):
    return order[np.argsort(-(u[order] + 0.0), kind="stable")]


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 5e-324, -5e-324])


@settings(max_examples=200, deadline=None)
@given(numbers=st.lists(NUMBERS, min_size=1, max_size=60), seed=st.integers(0, 2**32))
def test_any_numbers(numbers, seed):
    u = np.array(numbers)
    order = np.random.default_rng(seed).permutation(u.size)
    expected = stable(u, order)
    for sort in (in_order, lambda *args: _radix_sort(*args, 0)):
        found = order.copy()
        sort(u, found, sort_scratch(u.size))
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("digits", [0, 1, 15])
def test_many_numbers_with_ties(digits):
    rng = np.random.default_rng(digits)
    u = rng.random(20_000).round(digits) * rng.choice([1.0, 1e-9, 1e9], 20_000)
    order = np.arange(u.size)
    scratch = sort_scratch(u.size)
    in_order(u, order, scratch)
    assert np.array_equal(order, stable(u, np.arange(u.size)))
    moved = u + rng.normal(size=u.size)
    expected = stable(moved, order)
    in_order(moved, order, scratch)  # the scratch was used before
    assert np.array_equal(order, expected)


@pytest.mark.parametrize("step", [1e-16, 1e-13, 1e-9])
def test_numbers_that_differ_in_the_last_digits_only(step):
    """The upper digits do not tell them apart, and an insertion sort gives up."""
    rng = np.random.default_rng(1)
    u = 1.0 + step * rng.integers(0, 1000, 5000)
    order = rng.permutation(u.size)
    expected = stable(u, order)
    in_order(u, order, sort_scratch(u.size))
    assert np.array_equal(order, expected)
