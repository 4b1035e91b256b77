"""The compiled interval of one mean against the dense one, from n = 1 to 10^9 and for every kind of sample."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

import equipoise as eq
from equipoise.confidence.adaptive import _top
from tests.confidence.common import ANY, BINARY, interval
from tests.reference import regions as dense

BERNSTEIN, ADAPTIVE = eq.confidence.EmpiricalBernstein(), eq.confidence.Adaptive()
RULES = {"empirical Bernstein": BERNSTEIN, "adaptive": ADAPTIVE, "paper": eq.confidence.Bernstein()}
ROUNDING = 1e-9  # n = 10^9 costs logs of 10^10 their last digits: 1e-6 of log(1/level), on a radius below 1e-3


@st.composite
def samples(draw, binary: bool = False) -> tuple[float, float, float]:
    """n, total, squares, as n numbers in [0, 1] can have them; all 0, all 1, and rounding at both ends among them."""
    n = draw(st.sampled_from([1, 2, 3, 10, 10**9]) | st.floats(0, 9).map(lambda x: round(10**x)))
    if binary:
        total = draw(st.sampled_from([0, 1, n - 1, n]) | st.integers(0, n) | st.integers(0, min(n, 30)))
        return float(n), float(total), float(total)
    share = st.floats(0, 1, allow_subnormal=False).map(lambda x: x * n)
    edges = st.sampled_from([0.0, 1e-300, 1e-12, n * (1 - 2**-53), float(n), math.nextafter(n, math.inf)])
    total = draw(share | edges | st.integers(0, n).map(float))
    fewest = total * (total / n)
    squares = fewest + draw(st.sampled_from([0.0, 1.0]) | st.floats(0, 1)) * max(0.0, total - fewest)
    return float(n), total, squares


levels = st.sampled_from([1e-6, 0.05, 0.9]) | st.floats(1e-6, 0.9)
counts = st.sampled_from([1.0, 2.0, 1e10]) | st.integers(1, 10**6).map(float)


@settings(max_examples=400, deadline=None)
@given(sample=samples(), delta=levels, count=counts, binary=st.sampled_from([ANY, BINARY]))
def test_empirical_bernstein(sample, delta, count, binary):
    found = interval(BERNSTEIN, *sample, delta=delta, count=count, binary=binary)
    assert found == pytest.approx(dense.empirical_bernstein(*sample, delta / (2 * count)), rel=0, abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(sample=samples(), delta=levels, count=counts)
@example(sample=(1e9, 5e8, 5e8), delta=1e-6, count=1.0)
@example(sample=(1e9, 1e9 - 1, 1e9 - 1), delta=0.9, count=1.0)
def test_adaptive_outcomes(sample, delta, count):
    found = interval(ADAPTIVE, *sample, delta=delta, count=count)
    assert found == pytest.approx(dense.adaptive_outcome(*sample, delta / (4 * count)), rel=0, abs=ROUNDING)


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 10**9])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.25, 0.5, 0.9, 1.0])
def test_the_largest_likelihood_is_that_of_the_mean(n, share):
    """Its logarithm is -n times the entropy; from its distance to the level follows where Newton's search begins."""
    k = round(share * n)
    assert _top(float(n), float(k), float(n - k)) == pytest.approx(-n * entropy([k, n - k]), rel=1e-9, abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(sample=samples() | samples(binary=True), delta=levels, count=counts)
@example(sample=(1e9, 1.0, 1.0), delta=1e-6, count=1.0)
@example(sample=(1e9, 5e8, 5e8), delta=0.9, count=1e10)
@example(sample=(1e9, 0.0, 0.0), delta=0.9, count=1.0)
@example(sample=(1.0, 1e-12, 1e-24), delta=1e-6, count=1e10)
def test_the_likelihood_set(sample, delta, count):
    """Never inside the exact one, and no wider."""
    level = delta / (4 * count)
    lower, upper = interval(ADAPTIVE, *sample, delta=delta, count=count, binary=BINARY)
    low, high = dense.likelihood(sample[0], sample[1], level)
    assert lower <= low + ROUNDING
    assert upper >= high - ROUNDING
    assert (lower, upper) == pytest.approx((low, high), rel=0, abs=ROUNDING)


@settings(max_examples=300, deadline=None)
@given(k=st.integers(0, 60), n=st.integers(1, 10**6), delta=levels)
def test_small_probabilities_are_bounded_to_the_last_digits(k, n, delta):
    """What is rare has a bound of its own size: the relative error is small too, not only the absolute one."""
    k = min(k, n)
    lower, upper = interval(ADAPTIVE, n, k, k, delta=delta, binary=BINARY)
    low, high = dense.likelihood(n, k, delta / 4)
    assert lower == pytest.approx(low, rel=1e-6, abs=1e-12)
    assert upper == pytest.approx(high, rel=1e-6, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(sample=samples(binary=True), delta=levels)
def test_at_the_bounds_the_evidence_is_the_level(sample, delta):
    """At an end of the set the mixture exceeds the likelihood by 1/level: the definition, with no root to find."""
    n, k, _ = sample
    for end, bound in zip((0.0, 1.0), interval(ADAPTIVE, *sample, delta=delta, binary=BINARY), strict=True):
        if bound != end and 1e-300 < bound < 1 - 1e-6:
            slack = 1e-6 + 4e-12 * n + 1e-12 * n / (1 - bound)
            assert float(dense.log_evidence(n, k, bound)) == pytest.approx(math.log(4 / delta), abs=slack)


@settings(max_examples=400, deadline=None)
@given(
    sample=samples() | samples(binary=True), name=st.sampled_from(sorted(RULES)), delta=levels, count=counts,
    binary=st.sampled_from([ANY, BINARY]),
)  # fmt: skip
def test_what_every_interval_is(sample, name, delta, count, binary):
    """Within [0, 1], with the mean inside, and no wider for a larger delta."""
    n, total, _ = sample
    lower, upper = interval(RULES[name], *sample, delta=delta, count=count, binary=binary)
    assert 0 <= lower <= upper <= 1
    assert lower <= min(1.0, total / n) <= upper
    for larger in (min(0.99, 1.5 * delta), 0.99):
        low, high = interval(RULES[name], *sample, delta=larger, count=count, binary=binary)
        assert lower <= low + 1e-12
        assert upper >= high - 1e-12


@pytest.mark.parametrize("rule", [BERNSTEIN, ADAPTIVE], ids=repr)
def test_a_mirror_image(rule):
    """1 - X has the mirrored interval."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 1000):
        x = rng.choice([0.0, 0.25, 0.5, 1.0], size=n)
        one = interval(rule, n, x.sum(), (x**2).sum(), delta=0.1)
        other = interval(rule, n, (1 - x).sum(), ((1 - x) ** 2).sum(), delta=0.1)
        assert other == pytest.approx((1 - one[1], 1 - one[0]), abs=1e-12)


def test_by_hand():
    """One toss: p >= d B(3/2, 1/2) / pi = d/2 if it was a one, 1 - p >= d/2 if a zero; with d = delta/4."""
    assert interval(ADAPTIVE, 1, 1, 1, delta=0.8, binary=BINARY) == pytest.approx((0.1, 1.0))
    assert interval(ADAPTIVE, 1, 0, 0, delta=0.8, binary=BINARY) == pytest.approx((0.0, 0.9))
    # 100 zeros at delta = .6: d = .3, six parts of .05, and 1 - .05^(1/100)
    assert interval(BERNSTEIN, 100, 0, 0, delta=0.6) == pytest.approx((0.0, -math.expm1(math.log(0.05) / 100)))
    # 100 ones, for a count of 2: d = .15, parts of .025
    assert interval(BERNSTEIN, 100, 100, 100, delta=0.6, count=2)[0] == pytest.approx(0.025**0.01)


@pytest.mark.parametrize("n", [10**4, 10**6])
def test_what_is_certain_is_learnt_at_the_rate_of_one_over_n(n):
    """An outcome that is always .25 has a radius of a constant times log / n; the paper's has sqrt(log / n)."""
    for rule in (BERNSTEIN, ADAPTIVE):
        lower, upper = interval(rule, n, 0.25 * n, 0.0625 * n, delta=0.05)
        again = interval(rule, 100 * n, 25 * n, 6.25 * n, delta=0.05)
        assert (upper - lower) / (again[1] - again[0]) > 100 / 1.5
    wide, again = (interval(RULES["paper"], m, 0.25 * m, 0.0625 * m, delta=0.05) for m in (n, 100 * n))
    assert (wide[1] - wide[0]) / (again[1] - again[0]) < 10 * 1.5


def test_epochs():
    """The epoch of every n, close to its boundaries too, is the last j with 1.1^j <= n, in exact arithmetic."""
    from fractions import Fraction

    eta, power = Fraction(11, 10), Fraction(1)
    for j in range(1, 200):
        power *= eta
        edge = math.ceil(power)
        for n, epoch in ((edge - 1, j - 1), (edge, j)):
            if eta ** (epoch + 1) <= n or eta**epoch > n:
                continue
            expected = math.log((epoch + 1) * (epoch + 2) / 0.01)
            assert float(dense.log_of_epoch(n, 0.01)) == pytest.approx(expected, rel=1e-14)
            # a total of n/2 with no spread: the radius is Bernstein's from n = 400 or so on, and gives the log away
            found = interval(BERNSTEIN, n, n / 2, n / 4, delta=0.12)
            wide = math.sqrt((1 + 1 / n) * math.log(math.sqrt(n + 1) / 0.01) / (2 * n)) + 2.0**-53 * n / 2
            x, hidden = math.sqrt(1.1 * expected / n), 2.0**-53 * 2 * (n + 1)
            radius = math.sqrt(2) * (x / math.sqrt(2) + math.sqrt(hidden + wide**2 + x**2 / 2)) * x + expected / (3 * n)
            radius += 2.0**-53 * n / 2  # rounding
            assert found[1] - 0.5 == pytest.approx(min(radius, wide, 0.5), rel=1e-9)


@pytest.mark.parametrize("total", [5e-324, 1e-310])
@pytest.mark.parametrize("n", [1, 2, 10**6])
def test_a_total_so_small_that_the_mean_underflows(n, total):
    """It is next to a total of zero, and its upper bound next to that one: no region of one point."""
    assert interval(ADAPTIVE, n, total, 0.0, delta=0.05, binary=BINARY)[1] == pytest.approx(
        dense.likelihood(n, 0.0, 0.05 / 4)[1], rel=1e-6
    )
