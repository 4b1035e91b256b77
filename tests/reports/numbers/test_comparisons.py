"""The paired test and the correction, against scipy, brute force, and what they promise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from equipoise.reports.numbers import comparisons
from equipoise.reports.numbers.comparisons import compare_all, holm, seeds_needed, sign_flip_test


@pytest.mark.parametrize("n", [2, 3, 7, 10])
def test_against_scipys_permutation_test(n):
    rng = np.random.default_rng(n)
    for shift in (0.0, 0.5, 2.0):
        one, other = rng.normal(shift, 1, n), rng.standard_t(2, n)
        scipy = stats.permutation_test(
            (one, other), lambda x, y, axis: np.mean(x - y, axis=axis), vectorized=True, permutation_type="samples",
            n_resamples=np.inf,
        )  # fmt: skip
        assert sign_flip_test(one - other) == pytest.approx(scipy.pvalue, abs=1e-12)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9))
def test_against_all_choices_of_signs_with_ties_and_zeros(d):
    sums = [
        abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in itertools.product((1, -1), repeat=len(d))
    ]
    assert sign_flip_test(d) == pytest.approx(sum(x >= abs(sum(d)) for x in sums) / 2 ** len(d))


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=30))
def test_the_smallest_p_is_reached_when_all_signs_agree(d):
    assert sign_flip_test(d) == sign_flip_test(np.negative(d)) == pytest.approx(2.0 ** (1 - len(d)), rel=1e-9)


def test_rounding_does_not_break_ties():
    assert sign_flip_test([0.1, 0.2, -0.3]) == 1.0  # the sum is 5.6e-17
    assert sign_flip_test([0.1, 0.2, 0.3]) == sign_flip_test([1, 2, 3]) == 0.25


def test_the_level_is_exact_for_any_symmetric_distribution():
    rng, trials, n = np.random.default_rng(11), 4000, 6
    p = np.array([sign_flip_test(rng.standard_cauchy(n)) for _ in range(trials)])
    for k in (1, 2, 8, 16):
        share = k / 2 ** (n - 1)
        assert abs(np.mean(p <= share + 1e-9) - share) <= 4 * math.sqrt(share * (1 - share) / trials)


def test_many_seeds_are_drawn_and_agree_with_the_count(monkeypatch):
    d = np.random.default_rng(5).normal(0.4, 1, 24)
    exact = sign_flip_test(d)
    monkeypatch.setattr(comparisons, "MOST_EXACT", 10)
    drawn = sign_flip_test(d)
    assert 0.01 < exact < 0.5
    assert drawn != exact
    assert abs(drawn - exact) <= 4 * math.sqrt(exact * (1 - exact) / comparisons.DRAWS)
    assert sign_flip_test(d) == drawn  # with a seed of its own
    assert sign_flip_test(np.ones(100)) == 1e-4  # never zero


def test_exact_for_as_many_seeds_as_promised():
    assert sign_flip_test(np.ones(32)) == 2.0**-31


def test_holm_by_hand():
    # sorted .005 .01 .03 .04: 4 x .005 = .02; 3 x .01 = .03; 2 x .03 = .06; 1 x .04 = .04, raised to .06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p):
    """A pair is rejected when every set of pairs that holds it is rejected by Bonferroni's test of that set."""
    for index, found in enumerate(holm(p)):
        sets = (s for size in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), size) if index in s)
        assert found == pytest.approx(max(min(1.0, len(s) * min(p[i] for i in s)) for s in sets))


def test_seeds_needed_is_the_first_number_that_can_be_significant():
    for pairs in (1, 2, 3, 10, 66):
        n = seeds_needed(pairs)
        assert pairs * 2.0 ** (1 - n) <= 0.05 < pairs * 2.0 ** (2 - n)


def test_pairs_are_of_the_same_seed():
    """Two agents with the same set of losses, in another order of seeds: the pairing decides."""
    a = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}
    (pair,) = compare_all({"A": a, "B": {2: 0.2, 1: 0.1, 4: 0.4, 3: 0.3}})
    assert pair.identical
    assert (pair.n, pair.lower, pair.ties, pair.p, pair.corrected) == (4, 0, 4, 1.0, 1.0)
    (pair,) = compare_all({"A": a, "B": {1: 0.25, 2: 0.3, 3: 0.45, 4: 0.1, 9: 77.0}})
    assert (pair.n, pair.lower) == (4, 3)
    assert pair.difference.mean == pytest.approx(np.mean([-0.15, -0.1, -0.15, 0.3]))
    assert pair.p == sign_flip_test([-0.15, -0.1, -0.15, 0.3])


def test_all_pairs_are_corrected_together():
    rng = np.random.default_rng(2)
    losses = {name: dict(enumerate(rng.normal(mean, 1, 12))) for name, mean in (("A", 0.0), ("B", 1.0), ("C", 1.2))}
    pairs = compare_all(losses)
    assert [(pair.first, pair.second) for pair in pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert [pair.corrected for pair in pairs] == holm([pair.p for pair in pairs])
    assert any(pair.corrected > pair.p for pair in pairs)


def test_where_there_is_nothing_to_test():
    (lone,) = compare_all({"A": {1: 0.1}, "B": {1: 0.2, 2: 0.2, 3: 0.3}})
    (apart,) = compare_all({"A": {1: 0.1}, "B": {2: 1.0}})
    (fixed,) = compare_all({"A": {1: 0.1, 2: 0.1, 3: 0.1}, "B": {1: 0.3, 2: 0.3, 3: 0.3}})
    assert (lone.n, lone.lower, lone.p, lone.corrected) == (1, 1, None, None)
    assert (apart.n, apart.difference, apart.p) == (0, None, None)
    assert fixed.without_chance
    assert fixed.p is None
    assert not fixed.significant


def test_pairs_without_a_test_do_not_count_in_the_correction():
    rng = np.random.default_rng(4)
    losses = {"A": dict(enumerate(rng.normal(size=8))), "B": dict(enumerate(rng.normal(2, 1, 8))), "C": {0: 1.0}}
    ab, ac, bc = compare_all(losses)
    assert ac.p is bc.p is None
    assert ab.corrected == ab.p


def test_flipped():
    (pair,) = compare_all({"A": {1: 1.0, 2: 2.0, 3: 3.0}, "B": {1: 2.0, 2: 2.0, 3: 1.0}})
    back = pair.flipped()
    assert (back.first, back.second, back.lower, back.ties) == ("B", "A", 1, 1)
    assert back.difference.mean == -pair.difference.mean
    assert back.flipped() == pair
