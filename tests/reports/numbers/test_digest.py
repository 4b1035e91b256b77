"""From rows to what is shown: hand-made studies whose answers are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from equipoise._statistics import mean_interval
from equipoise.reports.numbers.curves import average_over_seeds, axis_floor, place_on_log_axis
from equipoise.reports.numbers.digest import digest
from tests.reports import synthetic
from tests.reports.synthetic import SCHEMA, optimum_of, problem, results


def study(rows, k=1, optimum=True, agents=("A", "B")):
    """Rows (agent, seed, t, regret, outcomes, episodes) as a study of one problem."""
    best = optimum_of(k)
    made = results([problem("p", k, best if optimum else None)], dict.fromkeys(agents, synthetic.Law(1, 0)), 1, 10)
    table = [
        ("p", agent, seed, f"{agent}{seed}", t, list(outcomes), 1.0 - regret, 1.0 if optimum else None,
         regret if optimum else None, None, episodes, episodes, 0, 0, 0, 7, 10, 2.0)
        for agent, seed, t, regret, outcomes, episodes in rows
    ]  # fmt: skip
    return replace(made, frame=pl.DataFrame(table, schema=SCHEMA, orient="row"), rates={})


def test_means_and_bands_are_over_the_seeds():
    rows = [
        ("A", seed, t, regret, [0.5], 1) for seed, t, regret in [(1, 1, 0.5), (1, 10, 0.1), (2, 1, 0.7), (2, 10, 0.3)]
    ]
    (found,) = digest(study(rows))
    frame = found.curves.frame
    assert frame["t"].to_list() == [1, 10]
    assert frame["mean"].to_list() == pytest.approx([0.6, 0.2])
    assert frame["n"].to_list() == [2, 2]
    assert frame["high"][1] == pytest.approx(mean_interval([0.1, 0.3]).high)
    assert frame["low"][1] == pytest.approx(mean_interval([0.1, 0.3]).low)
    assert found.agent("A").final == mean_interval([0.1, 0.3])
    assert found.absent == ("B",)


def test_agents_keep_the_order_of_the_study_and_the_best_is_the_lowest():
    rows = [(agent, seed, 10, regret, [0.5], 1) for agent, regret in (("B", 0.1), ("A", 0.2)) for seed in (1, 2)]
    (found,) = digest(study(rows))
    assert [agent.name for agent in found.agents] == ["A", "B"]
    assert found.curves.frame["agent"].to_list() == ["A", "B"]
    assert found.best == "B"


def test_without_an_optimum_the_best_has_the_highest_value():
    rows = [
        (agent, seed, 10, regret + 0.01 * seed, [0.5], 1)
        for agent, regret in (("A", 0.2), ("B", 0.1))
        for seed in range(6)
    ]
    (known,), (unknown,) = digest(study(rows)), digest(study(rows, optimum=False))
    assert unknown.measure == "value"
    assert unknown.curves.floor is None
    assert unknown.best == known.best == "B"
    assert [pair.lower for pair in unknown.comparisons] == [pair.lower for pair in known.comparisons]
    assert unknown.comparisons[0].difference.mean == pytest.approx(known.comparisons[0].difference.mean)


def test_agents_are_compared_where_all_of_them_are():
    rows = [("A", 1, t, 1 / t, [0.5], 1) for t in (1, 10, 100)] + [("B", 1, t, 0.5 / t, [0.5], 1) for t in (1, 10)]
    (found,) = digest(study(rows))
    assert found.end == 10
    assert found.agent("A").final.mean == pytest.approx(0.1)
    (apart,) = digest(study([("A", 1, 3, 0.1, [0.5], 1), ("B", 1, 4, 0.2, [0.5], 1)]))
    assert (apart.end, apart.best, apart.comparisons) == (None, None, ())
    assert [agent.t for agent in apart.agents] == [3, 4]


def test_values_that_are_not_finite_are_counted():
    rows = [("A", 1, 1, math.inf, [0.5], 1), ("A", 1, 10, 0.1, [0.5], 1), ("A", 2, 10, math.nan, [0.5], 1)]
    (found,) = digest(study(rows))
    assert found.not_finite == 2
    assert found.agent("A").final.n == 1


def test_the_slope_uses_the_last_two_decades():
    rows = [
        ("A", seed, t, 0.9 if t < 100 else 9 * t**-0.5, [0.5], 1) for seed in (1, 2) for t in (1, 10, 100, 1000, 10**4)
    ]
    (found,) = digest(study(rows))
    assert found.agent("A").slope.interval.mean == pytest.approx(-0.5)


def test_speed_and_triggers():
    (found,) = digest(study([("A", seed, 10, 0.1, [0.5], 3 * seed) for seed in (1, 2, 3)]))
    agent = found.agent("A")
    assert (agent.speed.median, agent.speed.slowest, agent.speed.fastest) == (5.0, 5.0, 5.0)
    assert agent.episodes == 6.0
    assert agent.triggers == (6.0, 0.0, 0.0, 0.0)
    assert agent.sweeps == 7.0


def test_agents_without_episodes_are_left_out_of_them():
    rows = [(agent, 1, 10, 0.1, [0.5], episodes) for agent, episodes in (("A", 5), ("B", 0))]
    (found,) = digest(study(rows))
    assert set(found.episodes.frame["agent"]) == {"A"}
    (none,) = digest(study([("A", 1, 10, 0.1, [0.5], 0)]))
    assert none.episodes is None


def test_of_many_outcomes_those_furthest_from_the_optimum_are_shown():
    best = np.array(optimum_of(9).outcomes)
    shift = np.array([0, 0.2, 0, 0.1, 0, 0.3, 0.05, 0.4, 0])
    (found,) = digest(study([("A", 1, 10, 0.1, best + shift, 1)], k=9))
    assert list(found.outcomes) == [1, 3, 5, 6, 7]
    assert found.distance.frame["mean"][0] == pytest.approx(np.linalg.norm(shift))
    (few,) = digest(study([("A", 1, 10, 0.1, [0.1] * 6, 1)], k=6))
    assert list(few.outcomes) == list(range(6))
    assert few.distance is None


def test_of_many_outcomes_without_an_optimum_those_on_which_agents_differ():
    rows = [("A", 1, 10, 0.1, [0.5] * 8, 1), ("B", 1, 10, 0.1, [0.5, 0.9, 0.4, 0.8, 0.5, 0.1, 0.5, 0.6], 1)]
    (found,) = digest(study(rows, k=8, optimum=False))
    assert list(found.outcomes) == [1, 2, 3, 5, 7]
    assert found.distance is None


def curves_of(runs, resolution=0.0):
    rows = [{"rank": 0, "agent": "A", "t": t, "x": x} for run in runs for t, x in enumerate(run, start=1)]
    return place_on_log_axis(average_over_seeds(pl.DataFrame(rows), pl.col("x")), resolution)


def test_what_is_drawn_on_a_log_axis_is_positive_and_nothing_is_dropped():
    curves = curves_of([[0.5, 0.1, -0.2, 0.0, 1e-12], [0.6, 0.2, 0.1, 0.0, 3e-12]], resolution=1e-9)
    assert curves.frame.height == 5
    for column in ("y", "y_low", "y_high"):
        assert (curves.frame[column] >= curves.floor).all()
    assert curves.floor > 0
    assert curves.frame["below"].to_list() == [False, False, True, True, True]
    assert curves.below == 3
    assert curves.frame["mean"].to_list() == pytest.approx([0.55, 0.15, -0.05, 0.0, 2e-12])


def test_bands_that_reach_below_zero_are_counted_as_cut():
    curves = curves_of([[0.5, 0.03], [0.51, 0.19]])
    assert curves.frame["low"][1] < 0 < curves.floor <= curves.frame["y_low"][1]
    assert curves.below == 0
    assert curves.cut == 1


def test_the_floor_does_not_follow_a_mean_that_crosses_zero():
    crossing = curves_of([[0.5, 0.1 + 2e-4, 0.08], [0.6, -0.1, 0.09]])
    assert crossing.floor > 0.01
    assert crossing.frame["below"].to_list() == [False, True, False]
    alone = curves_of([[0.5, 0.1, 0.0001]])  # one seed: nothing is known of its error, so all is shown
    assert alone.floor == pytest.approx(0.85 * 0.00005)
    assert alone.below == 0


@pytest.mark.parametrize("means", [[0.0], [-0.3, -0.2], [1e-13, -1.0]])
def test_a_floor_is_positive_whatever_the_means(means):
    columns = {"mean": means, "low": [None] * len(means), "error": [None] * len(means)}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64))
    assert axis_floor(frame, 0.0) > 0


def test_rows_may_come_in_any_order_and_as_categories():
    made = synthetic.results([problem("star", 3, optimum_of(3))], seeds=3, last=1000)
    shuffled = replace(
        made, frame=made.frame.sample(fraction=1.0, shuffle=True, seed=1).cast({"agent": pl.Categorical})
    )
    one, other = digest(made)[0], digest(shuffled)[0]
    assert one.curves.frame.equals(other.curves.frame)
    assert one.comparisons == other.comparisons
