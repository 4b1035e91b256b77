"""Which laws and values are shown, of which run, and how often intervals hold the truth."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from equipoise.reports.numbers.digest import digest
from equipoise.reports.numbers.laws import MOST_LAWS, MOST_VALUES, summarise_laws
from tests.reports import synthetic
from tests.reports.synthetic import law_rows


@pytest.fixture(scope="module")
def made():
    return synthetic.learnt()


def of(made, *parts):
    return summarise_laws(replace(made, laws=pl.concat(parts)), "shop")


def test_only_problems_with_laws_have_them(made):
    shop, star = digest(made)
    assert star.laws is None
    assert [law.name for law in shop.laws.laws] == ["demand", "lead <b>time</b>", "idle"]
    assert [agent.agent for agent in shop.laws.agents] == ["wide", "narrow"]  # the order of the study
    assert (shop.laws.seed, shop.laws.left, shop.laws.absent) == (0, 0, ())
    assert all(problem.laws is None for problem in digest(synthetic.certified()))


def test_the_numbers_are_those_of_the_table(made):
    found = summarise_laws(made, "shop")
    same = ["agent", "law", "value", "visits", "estimate", "low", "high", "truth"]
    assert found.rows.select(same).sort(same).rows() == made.laws.filter(seed=0).select(same).sort(same).rows()
    demand = found.laws[0]
    assert demand.values == ("0", "1", "2", "3")
    assert demand.visits == (1000, 1000)
    assert demand.rows.filter(agent="wide")["seen"].to_list() == [510, 240, 160, 90]


def test_intervals_that_hold_the_truth_are_counted_in_the_run_and_over_runs(made):
    wide, narrow = summarise_laws(made, "shop").agents
    assert (wide.values, wide.held, wide.whole, wide.runs) == (6, 6, 2, 2)
    assert wide.furthest == pytest.approx(0.01)
    assert (narrow.held, narrow.whole, narrow.runs) == (6, 1, 2)  # off by 0.01: not within 0.005 with seed 1
    late = summarise_laws(replace(made, laws=made.laws.filter(seed=1)), "shop").agents[1]
    assert (late.held, late.values, late.whole, late.runs) == (2, 6, 0, 1)  # the law that was never seen
    assert not late.points


def test_a_truth_at_the_end_of_an_interval_is_within(made):
    rows = law_rows("wide", 0, {"coin": (100, [0.5, 0.5])}, 0.01)
    (agent,) = of(made, rows).agents
    assert agent.held == 2


def test_regions_that_are_points(made):
    (agent,) = of(made, law_rows("wide", 0, {"coin": (100, [0.5, 0.5])}, 0.0)).agents
    assert agent.points
    assert (agent.held, agent.whole) == (0, 0)


def test_nothing_seen(made):
    (agent,) = of(made, law_rows("wide", 0, {"coin": (0, [0.5, 0.5])}, 0.1)).agents
    assert agent.furthest is None
    assert agent.held == 2


def test_the_run_is_that_of_the_first_shared_seed(made):
    laws = {"coin": (100, [0.5, 0.5])}
    shared = of(made, *(law_rows("wide", seed, laws, 0.1) for seed in (2, 5)), law_rows("narrow", 5, laws, 0.1))
    assert (shared.seed, shared.absent) == (5, ())
    apart = of(made, law_rows("wide", 7, laws, 0.1), law_rows("narrow", 3, laws, 0.1))
    assert (apart.seed, apart.absent) == (3, ("wide",))
    assert [agent.agent for agent in apart.agents] == ["narrow"]


def test_of_many_laws_those_that_were_seen_least(made):
    visits = {f"law {i:02d}": (1000 - 10 * i, [0.5, 0.5]) for i in range(15)}
    visits["law 03"] = (5, [0.5, 0.5])
    visits["idle"] = (0, [None, None])  # nothing is to be known of it
    found = of(made, law_rows("wide", 0, visits, 0.1))
    assert (len(found.laws), found.left) == (MOST_LAWS, 4)
    assert [law.name for law in found.laws] == ["law 03", *(f"law {i:02d}" for i in range(4, 15))]
    assert found.rows["law"].n_unique() == 16  # which the table has
    less = law_rows("narrow", 0, visits | {"law 00": (1, [0.5, 0.5])}, 0.1)
    both = of(made, law_rows("wide", 0, visits, 0.1), less)
    assert both.laws[0].name == "law 00"  # seen least by one of them


def test_of_many_values_those_with_the_widest_intervals(made):
    rows = law_rows("wide", 0, {"demand": (10_000, [0.05] * 20)}, 0.001)
    narrow = [1, 2, 3, 5, 8, 13, 19, 0]
    rows = rows.with_columns(
        high=pl.when(pl.col("value").is_in([str(i) for i in narrow])).then("high").otherwise(pl.col("high") + 0.1)
    )
    (law,) = of(made, rows).laws
    assert law.values == tuple(str(i) for i in range(20) if i not in narrow)
    assert (len(law.values), law.left) == (MOST_VALUES, 8)


def test_values_that_are_written_alike_are_told_apart(made):
    rows = law_rows("wide", 0, {"x": (100, [0.5, 0.25, 0.25])}, 0.1).with_columns(value=pl.Series(["1", "1", "2"]))
    (law,) = of(made, rows).laws
    assert law.values == ("1 (value 0)", "1 (value 1)", "2")
