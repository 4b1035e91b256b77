"""A run's id is a hash of what determines it, and of nothing else."""

from __future__ import annotations

import pytest

import equipoise as eq
from equipoise.studies import AgentSpec, Problem, make_plan
from equipoise.studies.plan import model_hash
from tests.studies.common import small


def ids(study) -> dict[tuple[str, str, int], str]:
    return {(run.problem, run.agent, run.seed): run.id for run in make_plan(study, ready=False).runs}


def test_the_plan_is_the_product():
    found = ids(small(seeds=3))
    assert len(found) == len(set(found.values())) == 2 * 2 * 3


def test_more_seeds_keep_what_is_done():
    few, many = ids(small(seeds=20)), ids(small(seeds=50))
    assert few.items() <= many.items()
    assert len(many) - len(few) == 30 * 4


def test_another_agent_changes_its_own_runs_alone():
    other = [AgentSpec(name="toc", kind="TocUCRL2", threshold=3.0), AgentSpec(name="random", kind="StationaryAgent")]
    before, after = ids(small()), ids(small(agents=other))
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {key for key in before if key[1] == "toc"}


def test_names_and_defaults_determine_nothing():
    problem = Problem(
        name="called otherwise",
        world={"kind": "star", "branches": 2, "diameter": 2},
        reward={"kind": "Quadratic", "target": [0.4, 0.6]},
    )
    spelt_out = AgentSpec(
        name="other", kind="TocUCRL2", delta=0.05, oracle="FrankWolfe", confidence="Bernstein", planner={}
    )
    plain = small(problems=[small().problems[0]], agents=[AgentSpec(kind="TocUCRL2")])
    other = small(name="x", problems=[problem], agents=[spelt_out])
    assert list(ids(plain).values()) == list(ids(other).values())


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": 3001},
        {"checkpoints": [10]},
        {"checkpoints": 5},
        {"problems": [Problem(name="star", world=eq.models.star(2, 4), reward=eq.rewards.Quadratic([0.4, 0.6]))]},
        {"problems": [Problem(name="star", world=eq.models.star(2, 2), reward=eq.rewards.Quadratic([0.4, 0.5]))]},
        {"agents": [AgentSpec(name="toc", kind="TocUCRL2", planner={"warm_start": True})]},
        {"agents": [AgentSpec(name="toc", kind="TocUCRL2", confidence="Known", tolerance=0.1)]},
        {"agents": [AgentSpec(name="toc", kind="ucrl2", weights=[1.0, 0.0])], "problems": small().problems[:1]},
    ],
)
def test_whatever_matters_changes_the_id(changes):
    before, after = ids(small()), ids(small(**changes))
    assert not set(before.values()) & {value for key, value in after.items() if key[:2] == ("star", "toc")}


def test_a_version_of_its_own(monkeypatch):
    before = ids(small())
    monkeypatch.setattr("equipoise.studies.plan.VERSION", "0.0.0")
    assert not set(before.values()) & set(ids(small()).values())


def test_every_number_of_a_world_is_in_its_hash():
    worlds = [
        eq.models.garnet(4, 2, 2, 1, seed=0),
        eq.models.garnet(4, 2, 2, 1, seed=1),
        eq.models.star(),
        eq.models.hub(),
    ]
    worlds.append(eq.models.star().visits())
    worlds.append(eq.models.garnet(4, 2, 2, 1, seed=0, noise="none"))
    assert len({model_hash(world) for world in worlds}) == len(worlds)


def test_which_theorem_covers_what():
    agents = [
        AgentSpec(name="fw", kind="TocUCRL2"),
        AgentSpec(name="tgd", kind="TocUCRL2", oracle="TunedGradientDescent"),
        AgentSpec(name="inf", kind="TocUCRL2", threshold=float("inf")),
        AgentSpec(name="zero", kind="TocUCRL2", threshold=0),
        AgentSpec(name="other", kind="ucrl2", weights=[1, 0]),
        AgentSpec(name="random", kind="StationaryAgent"),
    ]
    plan = make_plan(small(problems=small().problems[:1], agents=agents), ready=False)
    rates = {agent.name: agent.rate for agent in plan.agents.values()}
    assert rates == {"fw": -1 / 2, "tgd": -1 / 3, "inf": None, "zero": None, "other": None, "random": None}
    visits = Problem(name="v", world={"kind": "star", "visits": True}, reward="Entropy")
    anytime = make_plan(small(problems=[visits], agents=agents[:1]), ready=False)
    assert anytime.agents["v", "fw"].rate == -1 / 3


def test_policies_by_name():
    only = {"kind": "solve", "reward": {"kind": "Linear", "weights": [1.0, 0.0]}}
    mixed = {"kind": "best_stationary", "epsilon": 0.1}
    agents = [
        AgentSpec(name="only", kind="StationaryAgent", policy=only),
        AgentSpec(name="mixed", kind="StationaryAgent", policy=mixed),
    ]
    plan = make_plan(small(problems=small().problems[:1], agents=agents))
    model, reward = plan.problems[0].model, plan.problems[0].reward
    found = {run.agent: run.make_agent(reward).probabilities.tolist() for run in plan.runs}
    assert found["only"] == eq.solve(model, eq.rewards.Linear([1.0, 0.0])).policy().tolist()
    assert found["mixed"] == eq.best_stationary(model, reward).policy(0.1).tolist()
    unready = make_plan(plan.study, ready=False)
    assert [run.id for run in unready.runs] == [run.id for run in plan.runs]
