"""What no guarantee covers is said wherever it is listed: from the agent to the results."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from equipoise.cli.run import _picture
from equipoise.studies import AgentSpec, Problem, make_plan
from equipoise.studies.reader import open_results
from equipoise.studies.store import Folder
from tests.studies.common import small

SCALED = {"kind": "Scaled", "confidence": "Bernstein", "factor": 0.1}
AGENTS = [
    AgentSpec(name="toc", kind="TocUCRL2"),
    AgentSpec(name="psrl", kind="TocUCRL2", confidence="PosteriorSampling"),
    AgentSpec(name="shrunk", kind="TocUCRL2", confidence=SCALED),
    AgentSpec(name="random", kind="StationaryAgent"),
]
SAID = {"toc": "", "psrl": "without a proof here", "shrunk": "not covered by the guarantee", "random": ""}


@pytest.fixture(scope="module")
def plan():
    return make_plan(small(agents=AGENTS), ready=False)


def test_the_plan_asks_every_agent(plan):
    assert {name: agent.caveat for (_, name), agent in plan.agents.items()} == SAID


def test_it_reaches_the_results(plan, tmp_path):
    Folder(tmp_path / "out").prepare(plan)
    found = open_results(tmp_path / "out").agents
    assert {agent.name: agent.caveat for agent in found} == SAID
    assert [agent.label for agent in found[:2]] == ["toc", "psrl — without a proof here"]


def test_one_for_some_problems_alone_is_said(tmp_path):
    agents = [AGENTS[0], AgentSpec(name="psrl", kind="TocUCRL2", confidence="PosteriorSampling", problems=["river"])]
    Folder(tmp_path / "out").prepare(make_plan(small(agents=agents), ready=False))
    assert open_results(tmp_path / "out").agents[1].caveat == SAID["psrl"]


def test_the_live_table_says_it(plan, tmp_path):
    running = {run.id: run for run in plan.runs if run.problem == "river" and run.seed == 0}
    (tmp_path / "partial").mkdir()
    for run in running:
        (tmp_path / "partial" / f"{run}.beat").write_text('{"t": 30, "speed": 2e6, "value": 0.1}')
    progress = SimpleNamespace(
        plan=plan, folder=Folder(tmp_path), running=running, total=4, before=0, done=0, failures=[], elsewhere=0,
        solving=0, left=4, seconds=1.0,
    )  # fmt: skip
    shown = io.StringIO()
    Console(width=150, file=shown).print(_picture(progress))
    lines = [" ".join(line.split()) for line in shown.getvalue().splitlines()]
    assert "river psrl — without a proof here 0 1% 2.0 M" in lines
    assert "river toc 0 1% 2.0 M" in lines
    assert not any(line.endswith("more") for line in lines)
    progress.running = {f"{i:024x}": next(iter(running.values())) for i in range(14)}
    Console(width=150, file=shown).print(_picture(progress))
    assert shown.getvalue().rstrip().endswith("and 2 more")


def test_no_theorem_covers_an_agent_with_a_caveat(plan):
    budget = Problem(name="b", world="pricing", reward={"kind": "Knapsack", "budget": 0.3})
    agents = [
        AgentSpec(name="proven", kind="KnapsackTocUCRL2", null_actions=0),
        AgentSpec(name="shrunk", kind="KnapsackTocUCRL2", null_actions=0, confidence=SCALED),
        AgentSpec(name="planner", kind="KnapsackAgent", null_actions=0),
    ]
    found = make_plan(small(problems=[budget], agents=agents), ready=False).agents
    assert {name: (agent.rate, agent.caveat) for (_, name), agent in found.items()} == {
        "proven": (-1 / 3, ""),
        "shrunk": (None, SAID["shrunk"]),
        "planner": (None, "no regret bound is proven"),
    }
    assert {name: agent.rate for (problem, name), agent in plan.agents.items() if problem == "star"} == {
        "toc": -1 / 2,
        "psrl": None,
        "shrunk": None,
        "random": None,
    }
