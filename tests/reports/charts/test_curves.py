"""Charts: guides and ticks."""

from __future__ import annotations

import pytest

from equipoise.reports.charts.curves import log_ticks
from equipoise.reports.numbers.bounds import rate_guides
from equipoise.reports.numbers.digest import digest
from tests.reports import synthetic
from tests.reports.synthetic import Law, optimum_of, problem, results


def test_a_guide_stays_above_curves_that_fall_more_slowly_than_their_bound():
    laws = {"slow": Law(1, -0.1), "fast": Law(0.5, -0.9), "other": Law(9, -0.1)}
    (found,) = digest(results([problem("p", 2, optimum_of(2))], laws, 5, rates={"slow": -0.5, "fast": -0.5}))
    (guide,) = rate_guides(found)
    covered = found.curves.frame.filter(agent="slow").filter(found.curves.frame.filter(agent="slow")["t"] >= 10**4)
    ratio = guide.y0 * (covered["t"] / guide.t0) ** guide.rate / covered["mean"]
    assert min(ratio) == pytest.approx(1.5)


def test_each_rate_has_one_guide_and_no_rate_has_none():
    (crowd,) = digest(synthetic.crowd())
    assert [guide.rate for guide in rate_guides(crowd)] == [-0.5, -1 / 3]
    (short,) = digest(synthetic.one_checkpoint())
    assert rate_guides(short) == ()
    (free,) = digest(results([problem("p", 2, optimum_of(2))], seeds=2, rates={}))
    assert rate_guides(free) == ()
    (unknown,) = digest(results([problem("p", 2, None)], seeds=2))
    assert rate_guides(unknown) == ()


@pytest.mark.parametrize(
    ("low", "high"), [(1, 10**6), (0.2, 0.6), (0.5, 0.51), (1e-9, 1.0), (1e-12, 1e12), (1.0, 1.0000001), (3, 60)]
)
def test_there_are_ticks_within_every_range_and_not_too_many(low, high):
    ticks = log_ticks(low, high)
    assert 1 <= len(ticks) <= 9
    assert all(low <= tick <= high for tick in ticks)
    assert ticks == sorted(ticks)
    assert len(ticks) >= 2 or high / low < 1.01


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 10_000, [1, 10, 100, 1000, 10_000]),
        (2, 30, [2, 5, 10, 20]),
        (4, 9, [4, 5, 6, 7, 8, 9]),
    ],
)
def test_ticks_are_decades_or_as_coarse_as_the_range_allows(low, high, ticks):
    assert log_ticks(low, high) == ticks
