"""Intervals and slopes against closed forms, hand-worked cases, and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise._statistics import Interval, half_widths, log_slope, mean_interval
from equipoise.reports.numbers.curves import fit_slope, fit_window


def within(found: float, wanted: float, trials: int, slack: float = 0.0) -> bool:
    """Whether a share among so many trials agrees with a probability, to within four standard errors."""
    return abs(found - wanted) <= slack + 4 * math.sqrt(wanted * (1 - wanted) / trials)


def test_an_interval_by_hand():
    # mean 5, deviations -3 -1 1 3, s^2 = 20/3, t_{3, 0.975} = 3.182446
    x = mean_interval([2.0, 4.0, 6.0, 8.0])
    assert x.mean == 5.0
    assert x.half == pytest.approx(3.182446 * math.sqrt(20 / 3) / 2, rel=1e-6)
    assert (x.low, x.high) == (x.mean - x.half, x.mean + x.half)


def test_one_run_has_no_interval_and_none_has_no_mean():
    one = mean_interval([3.0])
    assert one == Interval(3.0, None, 1)
    assert one.low == one.high == 3.0
    assert not one.without_chance
    with pytest.raises(ValueError, match="empty"):
        mean_interval([])


def test_runs_that_agree_are_without_chance():
    assert mean_interval([0.1] * 7).without_chance  # rounding of the mean included
    assert mean_interval([0.0, 0.0]).without_chance
    assert not mean_interval([0.1, 0.1 + 1e-6]).without_chance


def test_half_widths_agree_with_one_at_a_time():
    rng = np.random.default_rng(1)
    samples = [rng.normal(size=n) for n in (2, 3, 20)]
    many = half_widths([x.std(ddof=1) for x in samples], [x.size for x in samples])
    assert many == pytest.approx([mean_interval(x).half for x in samples])


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_interval_covers_as_often_as_it_says(n):
    trials = 20_000
    x = np.random.default_rng(n).normal(3.0, 2.0, size=(trials, n))
    half = half_widths(x.std(axis=1, ddof=1), np.full(trials, n))
    assert within(np.mean(np.abs(x.mean(axis=1) - 3.0) <= half), 0.95, trials)


def test_the_window_is_two_decades():
    assert fit_window(10**6) == (10**4, 10**6)
    assert fit_window(30) == (1, 30)


@given(
    st.floats(-2, 2),
    st.floats(1e-6, 1e6),
    st.lists(st.integers(0, 40), min_size=3, max_size=40, unique=True),
)
def test_the_slope_of_a_power_is_its_exponent(exponent, scale, fifths):
    t = 10.0 ** (np.array(fifths) / 5)
    assert log_slope(t, scale * t**exponent) == pytest.approx(exponent, abs=1e-9)


def test_a_slope_of_minus_one_half_is_found():
    t = np.geomspace(100, 10**4, 21)
    found = fit_slope(t, [c * t**-0.5 for c in (1.0, 3.0, 0.2, 5.0)])
    assert found.interval.mean == pytest.approx(-0.5, abs=1e-12)
    assert found.interval.half == pytest.approx(0, abs=1e-9)
    assert found.interval.n == 4


def test_the_jackknife_by_hand():
    # Three runs and three points: slopes without one run, by least squares on x = -1, 0, 1 (decades).
    t = np.array([1.0, 10.0, 100.0])
    runs = np.array([[1.0, 0.5, 0.1], [2.0, 0.4, 0.2], [1.5, 0.6, 0.4]])
    slope = [
        math.log10(row[2] / row[0]) / 2 for row in (runs.mean(0), *(np.delete(runs, i, 0).mean(0) for i in range(3)))
    ]
    spread = sum((a - sum(slope[1:]) / 3) ** 2 for a in slope[1:])
    found = fit_slope(t, runs).interval
    assert found.mean == pytest.approx(slope[0])
    assert found.half == pytest.approx(4.302653 * math.sqrt(2 / 3 * spread), rel=1e-6)  # t_{2, 0.975}


def test_the_slopes_interval_covers_as_often_as_it_says():
    """Runs c_i t^-1/2 times a positive martingale with mean one: points within a run hang together."""
    rng, trials, n = np.random.default_rng(3), 1500, 20
    t = np.geomspace(10**4, 10**6, 21)
    hits = 0
    for _ in range(trials):
        wander = np.cumsum(rng.normal(0, 0.08, size=(n, t.size)), axis=1) - 0.08**2 / 2 * np.arange(1, t.size + 1)
        runs = rng.lognormal(0, 0.3, size=(n, 1)) * t**-0.5 * np.exp(wander)
        found = fit_slope(t, runs).interval
        hits += found.low <= -0.5 <= found.high
    assert within(hits / trials, 0.95, trials, slack=0.02)  # the jackknife is approximate


def test_the_residuals_of_one_fit_would_have_been_too_sure():
    """Why the jackknife: on the same runs, the textbook error of the line covers far too seldom."""
    rng, trials, n = np.random.default_rng(3), 400, 20
    t = np.geomspace(10**4, 10**6, 21)
    x = np.log(t) - np.log(t).mean()
    hits = 0
    for _ in range(trials):
        wander = np.cumsum(rng.normal(0, 0.08, size=(n, t.size)), axis=1) - 0.08**2 / 2 * np.arange(1, t.size + 1)
        y = np.log((t**-0.5 * np.exp(wander)).mean(axis=0))
        slope = log_slope(t, np.exp(y))
        error = math.sqrt(((y - y.mean() - slope * x) ** 2).sum() / (t.size - 2) / (x @ x))
        hits += abs(slope + 0.5) <= 2.093 * error
    assert hits / trials < 0.7


def test_negative_regrets_of_single_runs_do_no_harm():
    t = np.geomspace(100, 10**4, 21)
    runs = np.array([t**-0.5 * 2.5, t**-0.5 * 1.5, t**-0.5 * -1.0])
    assert fit_slope(t, runs).interval.mean == pytest.approx(-0.5)


def test_no_slope_and_why():
    t = np.array([1.0, 10.0, 100.0])
    assert fit_slope(t[:2], [[1.0, 0.5]]).reason == "too few checkpoints"
    assert fit_slope(t, [[1.0, 0.5, 0.0]]).reason == "regret reaches zero"
    assert fit_slope(t, [[1.0, 0.5, 0.1]], floor=0.2).reason == "regret reaches zero"
    assert fit_slope(t, [[1.0, 0.5, -0.1], [1.0, 0.5, 0.3]]).reason == "regret reaches zero"  # without the second
    assert fit_slope(t, [[1.0, 0.5, 0.1]]).interval.half is None
