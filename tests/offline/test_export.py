"""Policies as files."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import FileError
from equipoise.offline.export import write_policy


def test_three_kinds_of_files(tmp_path):
    model = eq.models.inventory()
    best = eq.solve(model, eq.rewards.TargetSquared([0.8] * model.n_outcomes))
    tables = [
        pl.read_csv(best.save_policy(tmp_path / "policy.csv")),
        pl.read_parquet(best.save_policy(tmp_path / "policy.parquet")),
        pl.DataFrame(json.loads(best.save_policy(tmp_path / "policy.json").read_text())["policy"]),
    ]
    for table in tables:
        assert table.columns == ["state", "action", "probability", "visited"]
        assert table["probability"].to_list() == pytest.approx(best.policy().tolist(), abs=1e-5)
        assert not table["probability"].is_between(0, 1e-7, closed="none").any()
        assert set(table["action"]) == set(best.frame()["action"])
        totals = table.group_by("state").agg(pl.col("probability").sum())["probability"]
        assert totals.to_list() == pytest.approx([1.0] * model.n_states)
    with pytest.raises(FileError, match="the ending says which"):
        best.save_policy(tmp_path / "policy.xlsx")


def test_why_one_policy_may_not_do(tmp_path):
    split = eq.solve(eq.models.star(3, 4), eq.rewards.Balance([1 / 3] * 3)).save_policy(tmp_path / "split.json")
    assert "one of 3 recurrent classes" in json.loads(split.read_text())["caution"]
    one = eq.solve(eq.models.riverswim(3), eq.rewards.Linear([1.0])).save_policy(tmp_path / "one.json")
    assert json.loads(one.read_text())["caution"] == ""


def test_prices():
    best = eq.solve(eq.models.bandit(2), eq.rewards.Linear([0.25, 0.75]))
    assert best.prices == pytest.approx({"arm 0": 0.25, "arm 1": 0.75})


def test_what_a_solver_leaves_of_other_actions_is_dropped_and_the_rest_adds_up_to_one(tmp_path):
    model = eq.models.bandit(3)
    table = pl.read_csv(write_policy(tmp_path / "p.csv", model, np.array([0.5 - 9e-7, 0.5, 9e-7]), np.full(3, 1 / 3)))
    total = 1.0 - 9e-7
    assert table["probability"].to_list() == pytest.approx([(0.5 - 9e-7) / total, 0.5 / total, 0.0], abs=1e-15)


def test_labels_are_written_as_they_are(tmp_path):
    model = eq.Model.from_arrays(
        [[[1.0], [1.0]]], [[[1.0], [0.0]]], labels=eq.Labels(states=["Zürich"], actions=["öffnen", "warten"])
    )
    best = eq.solve(model, eq.rewards.Linear([1.0]))
    assert '"öffnen"' in best.save_policy(tmp_path / "policy.json").read_text(encoding="utf-8")


def test_a_probability_of_more_than_a_millionth_is_written(tmp_path):
    model = eq.models.bandit(3)
    path = write_policy(tmp_path / "p.csv", model, np.array([1.0 - 2e-6, 1.5e-6, 5e-7]), np.full(3, 1 / 3))
    total = 1.0 - 5e-7
    expected = [(1.0 - 2e-6) / total, 1.5e-6 / total, 0.0]
    assert pl.read_csv(path)["probability"].to_list() == pytest.approx(expected, abs=1e-15)


def test_tables_and_texts_name_the_outcomes():
    means = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    names = list("abcdefg")
    for n, shown in ((3, "a=0.1, b=0.2, c=0.3, "), (7, "a=0.1, b=0.2, c=0.3, d=0.4, e=0.5, f=0.6, ..., ")):
        labels = eq.Labels(outcomes=names[:n])
        model = eq.Model.from_arrays([[[1.0]]], [[means[:n]]], noise="none", labels=labels)
        best = eq.solve(model, eq.rewards.Linear([1.0] * n))
        assert shown in repr(best)
        assert best.frame().columns[4:] == names[:n]
    plain = eq.Model.from_arrays([[[1.0]]], [[means[:2]]], noise="none")
    columns = eq.solve(plain, eq.rewards.Linear([1.0, 0.0])).frame().columns
    assert columns == ["state", "action", "occupancy", "probability", "outcome 0", "outcome 1"]
