"""What is built does not change unnoticed: trajectories, files and ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.studies import read_study
from equipoise.studies.plan import make_plan
from tests.pins.cases import cases, saved, through_a_file

HERE = Path(__file__).parent
CASES = cases()
DIGESTS = json.loads((HERE / "digests.json").read_text())


def test_every_pinned_run_has_its_digest() -> None:
    assert set(CASES) == set(DIGESTS)
    assert len(set(DIGESTS.values())) > 0.9 * len(DIGESTS)  # a digest that sees nothing would repeat


@pytest.mark.parametrize("name", CASES)
def test_trajectory(name: str) -> None:
    assert CASES[name]() == DIGESTS[name]


# -- files of the present format ---------------------------------------------------------------------------------

SAVED = HERE / "saved"
EXPECTED = json.loads((SAVED / "expected.json").read_text())
MAKERS = saved()


def test_every_kind_of_agent_has_a_golden_file() -> None:
    assert {entry["name"] for entry in EXPECTED.values()} == set(MAKERS)
    assert {path.name for path in SAVED.glob("*.npz")} == set(EXPECTED)


@pytest.mark.parametrize("file", EXPECTED)
def test_an_agent_continues_from_its_golden_file(file: str) -> None:
    model, _ = MAKERS[EXPECTED[file]["name"]]()
    assert through_a_file(SAVED / file, model) == EXPECTED[file]["digest"]


def test_golden_results_are_read() -> None:
    frame = eq.load_results(HERE / "results")
    plan = make_plan(read_study(HERE / "study.toml"))
    assert set(frame["run"]) == {run.id for run in plan.runs}
    assert frame["regret"].is_finite().all()


def test_ids_are_what_they_were() -> None:
    plan = make_plan(read_study(HERE / "study.toml"))
    assert {f"{run.problem}, {run.agent}, {run.seed}": run.id for run in plan.runs} == json.loads(
        (HERE / "ids.json").read_text()
    )
