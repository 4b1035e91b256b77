"""Constraints in a study: its file, what runs record, exports, and what is said where they cannot be met."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.reports import write_tables
from equipoise.reports.numbers.digest import digest
from equipoise.reports.pages.report import render_report
from equipoise.studies import AgentSpec, Study, load_results, open_results, read_study, run_study
from tests.reports.pages.test_page import Reader
from tests.studies.common import written

STUDY = """
name = "floors"
steps = 2000
seeds = 2
checkpoints = [100, 2000]

[[problems]]
name = "star"
world = { kind = "star", branches = 2, diameter = 2 }

[problems.reward]
kind = "Constrained"
reward = { kind = "Linear", weights = [1.0, 0.5] }
price = 2.0
constraints = [
    { kind = "at_least", outcome = "loop 1", level = 0.25, name = "rest" },
    { kind = "Constraint", function = { kind = "BottomSum", kappa = 1 }, at_least = 0.1 },
]

[[problems]]
name = "too much"
world = { kind = "bandit", arms = 2 }
reward = { kind = "Constrained", reward = { kind = "Linear", weights = [1, 0] }, price = 1, constraints = [
    { kind = "at_least", outcome = 0, level = 0.7, name = "a" },
    { kind = "at_least", outcome = 1, level = 0.7, name = "b" } ] }

[[problems]]
name = "free"
world = { kind = "star", branches = 2, diameter = 2 }
reward = { kind = "Linear", weights = [1.0, 0.5] }

[[agents]]
name = "toc"
kind = "recommended"

[[agents]]
name = "in turn"
kind = "RoundRobin"
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("floors")
    run_study(read_study(written(folder, STUDY)), folder / "out", jobs=1)
    return folder / "out"


def test_a_study_survives_its_own_file(done):
    study = read_study(done / "study.toml")
    assert study.problems[0].reward["constraints"][1]["function"] == {"kind": "BottomSum", "kappa": 1}


def test_values_are_those_of_the_reward_and_violations_stand_apart(done):
    frame = load_results(done)
    rows = frame.filter(problem="star")
    outcomes = np.array(rows["outcomes"].to_list())
    assert rows["value"].to_list() == pytest.approx((outcomes @ [1.0, 0.5]).tolist())
    expected = np.column_stack([np.maximum(0, 0.25 - outcomes[:, 1]), np.maximum(0, 0.1 - outcomes.min(axis=1))])
    assert np.array(rows["violations"].to_list()) == pytest.approx(expected)
    assert rows["optimum"].unique().to_list() == [pytest.approx(0.75 + 0.125, abs=1e-6)]
    assert (rows["regret"] - (rows["optimum"] - rows["value"])).abs().max() == 0
    proven = rows.filter(pl.col("certified").is_not_null())
    assert proven.height > 0
    assert (proven["certified"] >= proven["regret"] - 1e-9).all()
    assert frame.filter(problem="free")["violations"].null_count() == frame.filter(problem="free").height
    assert frame.filter(problem="free")["regret"].null_count() == 0


def test_what_cannot_be_met_has_no_regret_and_says_why(done):
    frame = load_results(done).filter(problem="too much")
    assert frame["regret"].null_count() == frame.height
    record = open_results(done).problems[1]
    assert record.optimum.status.startswith("infeasible: 'a' and 'b' cannot be met together")
    assert record.constraints == ["a", "b"]
    assert record.prices == [1.0, 1.0]
    assert open_results(done).problems[0].optimum.multipliers == pytest.approx({"rest": 0.5, "constraint 1": 0.0})


def test_a_flat_table_has_a_column_for_each(done, tmp_path):
    flat = load_results(done, flat=True)
    assert flat.columns[-4:] == ["violation of rest", "violation of constraint 1", "violation of a", "violation of b"]
    assert flat.filter(problem="star")["violation of a"].null_count() == flat.filter(problem="star").height
    eq.studies.export_results(open_results(done), tmp_path / "flat.csv")
    assert (tmp_path / "flat.csv").read_text().splitlines()[0].endswith("violation of a,violation of b")


def test_a_report_tells_regret_and_violations_apart(done, tmp_path):
    results = open_results(done)
    reader = Reader(render_report(results))
    headings = [text for tag, text in reader.texts if tag == "h3"]
    assert headings.count("Violation of each constraint") == 2
    text = reader.text()
    assert "priced regret" in text
    assert "'a' and 'b' cannot be met together" in text
    labels = [div.get("aria-label", "") for div in reader.all("div")]
    assert sum(label.startswith("Violation of rest against steps on star") for label in labels) == 1
    tables = [path.read_text() for path in write_tables(results, tmp_path) if "violations" in path.name]
    assert len(tables) == 2
    assert sum("\nrest," in table for table in tables) == 1


@pytest.mark.slow
def test_an_agent_that_violates_is_not_the_best(tmp_path):
    """Regret alone would crown the one that ignores the constraint: its regret is negative."""
    study = read_study(written(tmp_path, STUDY))
    model = eq.models.star(branches=2, diameter=2)
    careless = eq.solve(model, eq.rewards.Linear([1.0, 0.5])).policy().tolist()
    agents = [AgentSpec(name="careless", kind="StationaryAgent", policy=careless), study.agents[0]]
    free = Study(name="free", steps=20000, seeds=2, problems=[study.problems[0]], agents=agents)
    run_study(free, tmp_path / "out", jobs=1)
    (found,) = digest(open_results(tmp_path / "out"))
    assert found.agent("careless").final.mean < -0.1
    assert found.agent("careless").priced.mean > 0.1
    assert found.best == "toc"
    assert found.judged == "priced regret"
    assert found.violations.met["careless"][0] == 0
