"""Policies as files."""

from __future__ import annotations

import json

import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import FileError


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
