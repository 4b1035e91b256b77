"""What studies record of certificates, and the steps until one is good enough."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise._files import read_npz, write_npz
from equipoise.errors import ParameterError, StudyError
from equipoise.studies import AgentSpec, Problem, Study, make_plan, open_results, read_study, steps_until_certified
from equipoise.studies.record import decode_result
from equipoise.studies.spec import override
from equipoise.studies.store import make_manifest
from equipoise.studies.worker import perform
from tests.studies.common import SMALL, equipoise, small, written

PINNED = Path(__file__).parents[1] / "pins" / "results"


def runs(**certified: list[float | None]) -> pl.DataFrame:
    """A table with runs at t = 1, 10, 100, ... that have certified so much."""
    rows = [
        ("p", "A", seed, name, 10**i, x) for seed, (name, xs) in enumerate(certified.items()) for i, x in enumerate(xs)
    ]
    return pl.DataFrame(rows, schema=["problem", "agent", "seed", "run", "t", "certified"], orient="row")


def test_steps_until_certified_by_hand():
    frame = runs(
        falling=[0.9, 0.05, 0.01, 0.001],
        back=[0.9, 0.01, 0.02, 0.01],
        never=[0.9, 0.5, 0.2, 0.1],
        late=[None, float("nan"), None, 0.005],
        nothing=[None, None, None, None],
        lost=[0.001, 0.001, 0.001, 0.5],
    )
    found = steps_until_certified(frame, 0.01)
    assert found["run"].to_list() == ["falling", "back", "never", "late", "nothing", "lost"]
    assert found["proves"].to_list() == [True, True, True, True, False, True]
    assert found["first"].to_list() == [100, 10, None, 1000, None, 1]
    assert found["since"].to_list() == [100, 1000, None, 1000, None, None]


def test_the_order_of_the_rows_is_of_no_account():
    frame = runs(a=[0.9, 0.01, 0.02, 0.01], b=[0.9, 0.05, 0.01, 0.001])
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    assert steps_until_certified(shuffled, 0.01).sort("run").equals(steps_until_certified(frame, 0.01))


@pytest.mark.parametrize("within", [0.0, -1.0, float("nan"), float("inf"), "little"])
def test_what_cannot_be_certified_is_refused(within):
    with pytest.raises(ParameterError, match="certified within: got"):
        steps_until_certified(runs(a=[0.1]), within)


def test_results_of_runs_that_prove_nothing_have_no_certificates():
    made = open_results(PINNED)
    silent = [agent.name for agent in made.agents if agent.certainty is None]
    frame = eq.load_results(PINNED).filter(pl.col("agent").is_in(silent))
    assert frame["certified"].dtype == pl.Float64
    assert frame["certified"].null_count() == frame.height > 0
    assert not steps_until_certified(frame, 1.0)["proves"].any()
    assert made.certified_within == 0.01


def tasks(*agents, **changes):
    problem = Problem(name="p", world=eq.models.star(2, 2), reward=eq.rewards.Quadratic([0.4, 0.6]))
    return make_plan(Study(name="s", steps=2000, seeds=1, problems=[problem], agents=list(agents), **changes)).runs


def test_another_reward_certifies_nothing_about_this_one():
    """The bound of an agent that maximises a weighted sum is on the optimum of that sum."""
    own, other = tasks(AgentSpec(kind="TocUCRL2"), AgentSpec(kind="ucrl2", weights=[1.0, 0.0]))
    own, other = (decode_result(perform(task, None, 10.0)).table["certified"] for task in (own, other))
    assert own.null_count() == 0
    assert other.null_count() == len(other) > 0


def test_a_run_that_is_taken_up_again_keeps_what_was_certified(tmp_path):
    (task,) = tasks(AgentSpec(kind="TocUCRL2"))
    whole = perform(task, None, 10.0)
    perform(task, str(tmp_path), 1e-9)  # saves again and again, and leaves the last save
    saved = tmp_path / f"{task.id}.records"
    header, arrays = read_npz(saved, "records", 1)
    assert 0 < arrays["ceilings"].size == len(arrays["rows"])
    again = perform(task, str(tmp_path), 10.0)
    assert isinstance(again, bytes)
    one, other = decode_result(whole), decode_result(again)
    assert (one.about["resumed"], other.about["resumed"]) == (0, 1)
    assert one.table.equals(other.table)
    # what was saved without its ceilings is of no use
    kept = {name: header[name] for name in ("id", "agent", "sha256", "seconds", "resumed")}
    write_npz(saved, {"rows": arrays["rows"]}, kept, "records", 1)
    anew = decode_result(perform(task, str(tmp_path), 10.0))
    assert anew.about["resumed"] == 0
    assert anew.table.equals(one.table)


def test_what_is_certified_is_above_what_is_lost():
    model, reward = eq.models.star(2, 2), eq.rewards.Quadratic([0.4, 0.6])
    (task,) = tasks(AgentSpec(kind="TocUCRL2", confidence="Adaptive"))
    table = decode_result(perform(task, None, 10.0)).table
    lost = eq.solve(model, reward).value - table["value"].to_numpy()
    assert np.all(table["certified"].to_numpy() > lost - 1e-9)
    assert np.all(np.diff((table["certified"] + table["value"]).to_numpy()) <= 1e-15)  # the bound only comes down


# -- the amount --------------------------------------------------------------------------------------


def test_the_amount_is_read_written_and_no_part_of_a_run(tmp_path):
    text = SMALL.replace("seeds = 2", "seeds = 2\ncertified_within = 0.25")
    study = read_study(written(tmp_path, text))
    assert study.certified_within == 0.25
    assert read_study(written(tmp_path, study.toml())) == study
    assert override(study, seeds=1).certified_within == 0.25
    plain = read_study(written(tmp_path, SMALL))
    assert plain.certified_within == 0.01
    assert "certified_within" not in plain.toml()
    ids = [[run.id for run in make_plan(one, ready=False).runs] for one in (study, plain)]
    assert ids[0] == ids[1]
    assert make_manifest(make_plan(study, ready=False)).certified_within == 0.25


@pytest.mark.parametrize("amount", ["'little'", "0.0", "-1", "nan", "inf"])
def test_an_amount_that_is_none_is_named(tmp_path, amount):
    text = SMALL.replace("seeds = 2", f"seeds = 2\ncertified_within = {amount}")
    with pytest.raises(StudyError, match=r"certified_within: got .*; a number above 0 is needed"):
        read_study(written(tmp_path, text))


def test_the_probability_is_that_of_the_agents_certificates():
    agents = [
        AgentSpec(name="paper", kind="TocUCRL2", delta=0.1),
        AgentSpec(name="known", kind="TocUCRL2", confidence="Known"),
        AgentSpec(name="posterior", kind="TocUCRL2", confidence="PosteriorSampling"),
        AgentSpec(name="turns", kind="RoundRobin"),
    ]
    plan = make_plan(small(agents=agents), ready=False)
    found = {agent.name: agent.certainty for agent in make_manifest(plan).agents}
    assert found == {"paper": 0.9, "known": 1.0, "posterior": None, "turns": None}
    model, reward = eq.models.star(2, 2), eq.rewards.Quadratic([0.4, 0.6])
    assert eq.TocUCRL2(model.space, reward, delta=0.1).certificate().probability == found["paper"]


@pytest.mark.slow
def test_the_amount_is_kept_in_the_folder(done):
    assert open_results(done).certified_within == 0.01
    plan = json.loads((done / "plan.json").read_text())["content"]
    assert plan["certified_within"] == 0.01
    assert [agent["certainty"] for agent in plan["agents"]] == [0.95, None]


@pytest.mark.slow
def test_a_report_takes_another_amount(done, tmp_path):
    page = tmp_path / "report.html"
    result = equipoise("report", done, "--out", page, "--certified-within", "0.75")
    assert result.returncode == 0, result.stderr
    assert "at most 0.75 is certified to be lost" in page.read_text(encoding="utf-8")
    wrong = equipoise("report", done, "--out", tmp_path / "none.html", "--certified-within", "0")
    assert wrong.returncode == 1
    assert "certified within: got 0.0; a number above 0 is needed" in wrong.stderr
    assert not (tmp_path / "none.html").exists()
