"""What is built does not change unnoticed: trajectories, files and ids of the version before this one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.studies import read_study
from equipoise.studies.plan import make_plan
from tests.agents.kinds import CASES as AGENTS
from tests.pins.cases import cases

HERE = Path(__file__).parent
CASES = cases()
DIGESTS = json.loads((HERE / "digests.json").read_text())


def test_every_pinned_run_has_its_digest() -> None:
    assert set(CASES) == set(DIGESTS)
    assert len(set(DIGESTS.values())) > 0.9 * len(DIGESTS)  # a digest that sees nothing would repeat


@pytest.mark.parametrize("name", CASES)
def test_trajectory(name: str) -> None:
    assert CASES[name]() == DIGESTS[name]


# -- what the version before this one has written ----------------------------------------------------------------

SAVED = HERE / "saved"
EXPECTED = json.loads((SAVED / "expected.json").read_text())


@pytest.mark.parametrize("file", EXPECTED)
def test_an_agent_of_the_last_version_goes_on_bit_for_bit(file: str) -> None:
    agent = eq.agents.Agent.load(SAVED / file)
    name = EXPECTED[file]["name"]
    model = AGENTS[name].model if name in AGENTS else eq.Model.load(SAVED / "model.npz")
    run = eq.simulate(model, agent, 100, 3, progress=False)
    assert {"name": name, "value": run.values[-1].hex(), "state": agent.state, "t": agent.t} == EXPECTED[file]


def test_results_of_the_last_version_are_read() -> None:
    frame = eq.load_results(HERE / "results")
    plan = make_plan(read_study(HERE / "study.toml"))
    assert set(frame["run"]) == {run.id for run in plan.runs}
    assert frame["regret"].is_finite().all()


def test_ids_are_what_they_were() -> None:
    plan = make_plan(read_study(HERE / "study.toml"))
    assert {f"{run.problem}, {run.agent}, {run.seed}": run.id for run in plan.runs} == json.loads(
        (HERE / "ids.json").read_text()
    )
