"""The optimum as a table, by the labels of the world."""

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.models import Labels, Model
from equipoise.offline.export import occupancy_frame

P = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]]]
V = [[[1.0, 0.25], [0.0, 0.0]], [[0.0, 1.0]]]
X = np.array([0.5, 0.25, 0.25])


def frame(labels):
    return occupancy_frame(Model.from_arrays(P, V, noise="none", labels=labels), X)


def test_one_row_a_pair_by_label():
    table = frame(Labels(["home", "away"], [["rest", "go"], ["back"]], ["sleep", "sights"]))
    assert table.columns == ["state", "action", "occupancy", "probability", "sleep", "sights"]
    assert table.rows() == [
        ("home", "rest", 0.5, 2 / 3, 1.0, 0.25),
        ("home", "go", 0.25, 1 / 3, 0.0, 0.0),
        ("away", "back", 0.25, 1.0, 0.0, 1.0),
    ]


def test_numbers_where_there_are_no_labels():
    table = frame(None)
    assert table.columns == ["state", "action", "occupancy", "probability", "outcome 0", "outcome 1"]
    assert table.select("state", "action").rows() == [(0, 0), (0, 1), (1, 0)]
    assert table.schema["state"] == pl.Int64


def test_labels_of_any_kind_stay_apart():
    assert frame(Labels(states=["1", 1]))["state"].to_list() == ["'1'", "'1'", "1"]
    assert frame(Labels(states=[(1, 2), "x"]))["state"].to_list() == ["(1, 2)", "(1, 2)", "x"]
    assert frame(Labels(outcomes=["occupancy", "sights"])).columns[-2:] == ['outcome 0 ("occupancy")', "sights"]


def test_both_benchmarks_have_it():
    model = eq.models.pricing()
    best = eq.solve_knapsack(model, 0.3)
    table = best.frame()
    assert table["occupancy"].to_numpy() @ table["revenue"].to_numpy() == pytest.approx(best.value)
    assert set(table["state"]) == {"regime 0", "regime 1", "regime 2"}
    assert "revenue=" in repr(best)
    balanced = eq.solve(eq.models.bandit(2), eq.rewards.Quadratic([0.25, 0.75]))
    assert "arm 0=0.25, arm 1=0.75, " in repr(balanced)
    assert balanced.frame()["probability"].to_list() == pytest.approx([0.25, 0.75], abs=1e-4)
