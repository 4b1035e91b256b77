"""The explicit bounds of a study: the theory's numbers, where there are any, kept with the plan."""

from __future__ import annotations

import json
import math

import pytest

import equipoise as eq
from equipoise.models import travel_times
from equipoise.studies import AgentSpec, Problem, make_plan
from equipoise.studies import plan as planning
from equipoise.studies.plan import find_guarantee
from equipoise.studies.reader import open_results
from equipoise.studies.store import Folder, seal_json
from equipoise.theory.bounds import regret
from equipoise.theory.facts import Facts, Setting
from tests.studies.common import small

TOC = AgentSpec(name="toc", kind="TocUCRL2")


@pytest.fixture
def diameters(monkeypatch):
    """The worlds whose diameter was computed."""
    asked, compute = [], travel_times.diameter

    def counted(model, progress=None, limit=travel_times.WORK):
        asked.append(model)
        return compute(model, progress, limit=limit)

    monkeypatch.setattr(travel_times, "diameter", counted)
    return asked


def covered(plan) -> set[tuple[str, str]]:
    return {pair for pair, agent in plan.agents.items() if agent.guarantee is not None}


def test_the_results_hold_the_theorys_numbers(tmp_path):
    study = small(checkpoints=[7, 100], agents=[TOC, AgentSpec(name="wide", kind="TocUCRL2", threshold=3.0, delta=0.1)])
    Folder(tmp_path / "out").prepare(make_plan(study))
    found = open_results(tmp_path / "out").guarantees
    assert set(found) == {(problem, agent) for problem in ("star", "river") for agent in ("toc", "wide")}
    model, reward = study.problems[0].world, eq.rewards.Quadratic([0.4, 0.6])
    setting = Setting.of(eq.TocUCRL2(model.space, reward, threshold=3.0, delta=0.1))
    bounds = [regret(Facts.of(model), setting, t) for t in (7, 100, 3000)]
    wide = found["star", "wide"]
    assert wide.bounds == tuple((bound.steps, bound.value) for bound in bounds)
    assert wide.probability == bounds[0].probability == pytest.approx(0.7)
    assert wide.largest == pytest.approx(reward.lipschitz * math.sqrt(2))
    assert wide.limit == 10**18


def test_who_has_a_bound():
    agents = [
        TOC,
        AgentSpec(name="tgd", kind="TocUCRL2", oracle="TunedGradientDescent"),
        AgentSpec(name="inf", kind="TocUCRL2", threshold=math.inf),
        AgentSpec(name="zero", kind="TocUCRL2", threshold=0),
        AgentSpec(name="warm", kind="TocUCRL2", planner={"warm_start": True}),
        AgentSpec(name="improbable", kind="TocUCRL2", delta=0.4),
        AgentSpec(name="known", kind="TocUCRL2", confidence="Known", tolerance=0.1),
        AgentSpec(name="psrl", kind="TocUCRL2", confidence="PosteriorSampling"),
        AgentSpec(name="other", kind="ucrl2", weights=[1, 0]),
        AgentSpec(name="random", kind="StationaryAgent"),
    ]
    plan = make_plan(small(steps=10, problems=small().problems[:1], agents=agents))
    assert covered(plan) == {("star", "toc"), ("star", "tgd"), ("star", "warm")}
    assert covered(make_plan(plan.study, ready=False)) == set()


def test_no_bound_no_diameter(diameters):
    visits = Problem(name="v", world={"kind": "star", "visits": True}, reward="Entropy")  # no Lipschitz constant
    budget = Problem(name="b", world={"kind": "pricing"}, reward={"kind": "Knapsack", "budget": 0.3})
    knapsack = AgentSpec(kind="KnapsackAgent", null_actions=0, problems=["b"])
    star = small().problems[0]
    infinite = AgentSpec(name="inf", kind="TocUCRL2", threshold=math.inf, problems=["star"])
    agents = [knapsack, infinite, AgentSpec(kind="TocUCRL2", problems=["v"])]
    plan = make_plan(small(steps=10, problems=[visits, budget, star], agents=agents))
    assert len(plan.agents) == 3
    assert (covered(plan), diameters) == (set(), [])


def test_the_diameter_is_computed_once_a_problem(diameters):
    agents = [TOC, AgentSpec(name="wide", kind="TocUCRL2", threshold=3.0)]
    plan = make_plan(small(steps=10, agents=agents))
    assert len(covered(plan)) == 4
    assert [id(model) for model in diameters] == [id(problem.model) for problem in plan.problems]


def test_large_worlds_are_spared(diameters, monkeypatch, tmp_path):
    monkeypatch.setattr(planning, "MOST_STATES", 4)
    large = Problem(name="star", world={"kind": "star", "branches": 2}, reward=eq.rewards.Quadratic([0.4, 0.6]))
    unbounded = AgentSpec(name="inf", kind="TocUCRL2", threshold=math.inf)
    plan = make_plan(small(steps=10, problems=[large, small().problems[1]], agents=[TOC, unbounded]))
    assert [problem.model.n_states for problem in plan.problems] == [5, 4]
    assert [model.n_states for model in diameters] == [4]
    Folder(tmp_path / "out").prepare(plan)
    found = open_results(tmp_path / "out").guarantees
    assert set(found) == {("star", "toc"), ("river", "toc"), ("river", "inf")}  # a linear reward's theta cannot move
    assert found["star", "toc"].bounds == ()
    assert [t for t, _ in found["river", "toc"].bounds] == list(plan.study.marks())


@pytest.mark.parametrize("oracle", [None, eq.oracles.TunedGradientDescent()])
def test_when_a_bound_begins_to_tell(oracle):
    model, reward = eq.models.star(2, 2), eq.rewards.Quadratic([0.4, 0.6])
    agent = eq.TocUCRL2(model.space, reward, oracle)
    found = find_guarantee(agent, model, [10])
    facts, setting = Facts.of(model), Setting.of(agent)
    before, after = (regret(facts, setting, found.telling + shift).value for shift in (-1, 0))
    assert after < found.largest <= before
    assert all(regret(facts, setting, found.telling * 10**k).value < after for k in range(1, 6))


def test_an_agent_made_for_some_steps_is_asked_for_no_more():
    model, reward = eq.models.star(2, 2), eq.rewards.Quadratic([0.4, 0.6])
    oracle = eq.oracles.TunedMirrorDescent(eq.oracles.EuclideanBall(), horizon=1000)
    found = find_guarantee(eq.TocUCRL2(model.space, reward, oracle), model, [1000])
    assert (found.limit, found.telling) == (1000, None)
    assert found.bounds[0][1] > found.largest


def test_a_manifest_without_guarantees_and_caveats_is_read(tmp_path):
    folder = Folder(tmp_path / "out")
    folder.prepare(make_plan(small(agents=[AgentSpec(name="psrl", kind="TocUCRL2", confidence="PosteriorSampling")])))
    path = tmp_path / "out" / "plan.json"
    content = json.loads(path.read_text())["content"]
    del content["guarantees"]
    for agent in content["agents"]:
        del agent["caveat"]
    path.write_bytes(seal_json(content))
    found = open_results(tmp_path / "out")
    assert found.missing == 4
    assert found.guarantees == {}
    assert [(agent.name, agent.caveat) for agent in found.agents] == [("psrl", "")]


def test_a_manifest_that_lacks_more_is_damaged(tmp_path):
    folder = Folder(tmp_path / "out")
    folder.prepare(make_plan(small(), ready=False))
    path = tmp_path / "out" / "plan.json"
    content = json.loads(path.read_text())["content"]
    del content["runs"]
    path.write_bytes(seal_json(content))
    with pytest.raises(eq.errors.FileError, match=r"damaged.*runs"):
        open_results(tmp_path / "out")
