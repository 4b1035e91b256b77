"""A study as a file and as objects: the same thing; and what is said of one that is wrong."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.errors import StudyError
from equipoise.studies import AgentSpec, Problem, Study, make_plan, read_study
from equipoise.studies.vocabulary import find_policy
from tests.studies.common import SMALL, small, written


def test_reads_what_it_writes(tmp_path):
    study = read_study(written(tmp_path, SMALL))
    assert study.steps == 3000
    assert study.seeds == (0, 1)
    assert [agent.title() for agent in study.agents] == ["toc", "random"]
    again = read_study(written(tmp_path, study.toml()))
    assert again == study


def test_objects_give_the_same_runs_as_the_file(tmp_path):
    from_file = make_plan(read_study(written(tmp_path, SMALL)), ready=False)
    from_objects = make_plan(small(), ready=False)
    assert [run.id for run in from_file.runs] == [run.id for run in from_objects.runs]
    assert [task.id for task in from_file.optima] == [task.id for task in from_objects.optima]


def test_every_component_can_be_an_object_or_a_table(tmp_path):
    objects = AgentSpec(
        name="a",
        kind="TocUCRL2",
        oracle=eq.oracles.Doubling(eq.oracles.SignedSimplex(), inherit=True),
        threshold=math.inf,
        confidence=eq.confidence.Bernstein(),
        planner=eq.planning.Planner(warm_start=True),
    )
    problem = Problem(name="p", world=eq.models.star(2, 2), reward=eq.rewards.BottomSum(2, 1))
    from_objects = Study(name="s", steps=10, seeds=1, problems=[problem], agents=[objects])
    text = """
        name = "s"
        steps = 10
        seeds = 1
        [[problems]]
        name = "p"
        world = { kind = "star", branches = 2, diameter = 2 }
        reward = { kind = "BottomSum", kappa = 1 }
        [[agents]]
        name = "a"
        kind = "TocUCRL2"
        threshold = inf
        oracle = { kind = "Doubling", mirror_map = "SignedSimplex", inherit = true }
        confidence = "Bernstein"
        planner = { warm_start = true }
    """
    from_file = read_study(written(tmp_path, text))
    (a,), (b,) = make_plan(from_objects, ready=False).runs, make_plan(from_file, ready=False).runs
    assert a.id == b.id
    agent = a.make_agent(eq.rewards.BottomSum(2, 1))
    assert agent.oracle.inherit
    assert agent.threshold == math.inf
    assert agent.planner.warm_start


def test_regions_and_schedules_from_objects_and_from_a_file_are_the_same(tmp_path):
    confidence = eq.confidence.Scaled(eq.confidence.L1("laplace"), 0.5)
    threshold, tolerance = eq.agents.Power(0.25, scale=2.0), eq.agents.Power(-1.0)
    objects = AgentSpec(name="a", kind="TocUCRL2", confidence=confidence, threshold=threshold, tolerance=tolerance)
    problem = Problem(name="p", world=eq.models.star(2, 2), reward=eq.rewards.Quadratic([0.5, 0.5]))
    from_objects = Study(name="s", steps=10, seeds=1, problems=[problem], agents=[objects])
    text = """
        name = "s"
        steps = 10
        seeds = 1
        [[problems]]
        name = "p"
        world = { kind = "star", branches = 2, diameter = 2 }
        reward = { kind = "Quadratic", target = [0.5, 0.5] }
        [[agents]]
        name = "a"
        kind = "TocUCRL2"
        confidence = { kind = "Scaled", factor = 0.5, confidence = { kind = "L1", form = "laplace" } }
        threshold = { kind = "Power", exponent = 0.25, scale = 2.0 }
        tolerance = { kind = "Power", exponent = -1.0 }
    """
    from_file = read_study(written(tmp_path, text))
    (a,), (b,) = make_plan(from_objects, ready=False).runs, make_plan(from_file, ready=False).runs
    assert a.id == b.id
    agent = b.make_agent(eq.rewards.Quadratic([0.5, 0.5]))
    assert repr(agent.confidence) == repr(confidence)
    assert (agent.threshold, agent.tolerance) == (threshold, tolerance)


def test_a_schedule_that_is_none_is_refused(tmp_path):
    agent = AgentSpec(name="a", kind="TocUCRL2", threshold="Spam")
    problem = Problem(name="p", world="star", reward={"kind": "BottomSum", "kappa": 1})
    with pytest.raises(StudyError, match=r"agents\[0\].threshold.kind: got 'Spam' .*one of Power, Span is needed"):
        make_plan(Study(name="s", steps=10, seeds=1, problems=[problem], agents=[agent]), ready=False)


def test_a_confidence_that_draws_has_the_seed_of_the_run():
    agents = [
        AgentSpec(name="p", kind="TocUCRL2", confidence="PosteriorSampling"),
        AgentSpec(name="r", kind="recommended", guarantee=False),
    ]
    problem = Problem(name="p", world="riverswim", reward={"kind": "Linear", "weights": [1]})
    plan = make_plan(Study(name="s", steps=10, seeds=[3, 8], problems=[problem], agents=agents), ready=False)
    made = [run.make_agent(eq.rewards.Linear([1.0])) for run in plan.runs]
    assert [agent.confidence.seed for agent in made] == [3, 3, 8, 8]
    assert len({run.id for run in plan.runs}) == 2  # both are the same agent


@pytest.mark.parametrize(
    ("unsaid", "said"),
    [
        ({"confidence": "PosteriorSampling"}, {"confidence": {"kind": "PosteriorSampling", "seed": 0}}),
        (
            {"confidence": {"kind": "Scaled", "factor": 0.5, "confidence": "PosteriorSampling"}},
            {"confidence": {"kind": "Scaled", "factor": 0.5, "confidence": {"kind": "PosteriorSampling", "seed": 0}}},
        ),
    ],
)
def test_a_seed_that_is_said_is_not_that_of_the_run(unsaid, said):
    problem = Problem(name="p", world="riverswim", reward={"kind": "Linear", "weights": [1]})
    agents = [AgentSpec(name="unsaid", kind="TocUCRL2", **unsaid), AgentSpec(name="said", kind="TocUCRL2", **said)]
    plan = make_plan(Study(name="s", steps=10, seeds=[0, 1], problems=[problem], agents=agents), ready=False)
    assert len({run.id for run in plan.runs}) == 4
    made = [run.make_agent(eq.rewards.Linear([1.0])).confidence for run in plan.runs]
    inner = [getattr(confidence, "confidence", confidence) for confidence in made]
    assert [confidence.seed for confidence in inner] == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("tolerance", "covered"),
    [
        ({}, True),
        ({"tolerance": 1e-2}, True),  # 1/sqrt(10^4)
        ({"tolerance": 1.1e-2}, False),
        ({"tolerance": eq.agents.Power(-1.0)}, True),
        ({"tolerance": eq.agents.Power(-0.4)}, False),
        ({"tolerance": eq.agents.Power(-0.5, scale=2.0)}, False),
    ],
)
def test_no_theorem_covers_plans_that_are_coarser_than_the_papers(tolerance, covered):
    problem = Problem(name="p", world="star", reward={"kind": "Quadratic", "target": [0.3, 0.3, 0.3]})
    agent = AgentSpec(name="a", kind="TocUCRL2", **tolerance)
    plan = make_plan(Study(name="s", steps=10**4, seeds=1, problems=[problem], agents=[agent]), ready=False)
    assert plan.agents["p", "a"].rate == (-0.5 if covered else None)


def test_what_the_problem_decides_is_filled_in():
    problems = [
        Problem(name="v", world={"kind": "ring", "length": 3, "visits": True}, reward="Entropy"),
        Problem(name="k", world="pricing", reward={"kind": "Knapsack", "budget": 0.3}),
        Problem(name="g", world="star", reward={"kind": "BottomSum", "kappa": 1}),
    ]
    agents = [
        AgentSpec(name="known", kind="TocUCRL2", confidence="Known", tolerance=1e-3, problems=["v"]),
        AgentSpec(name="budget", kind="KnapsackAgent", null_actions=0, problems=["k"]),
        AgentSpec(
            name="tmd",
            kind="TocUCRL2",
            oracle={"kind": "TunedMirrorDescent", "mirror_map": "SignedSimplex"},
            problems=["g"],
        ),
        AgentSpec(name="random", kind="StationaryAgent"),
    ]
    plan = make_plan(Study(name="filled", steps=500, seeds=[7], problems=problems, agents=agents))
    made = {run.agent: run.make_agent(plan.problems[i].reward) for i, name in enumerate("vkg") for run in plan.runs
            if run.problem == name}  # fmt: skip
    assert plan.problems[0].model.n_outcomes == plan.problems[0].reward.n_outcomes == 3
    assert made["known"].confidence.model == plan.problems[0].model
    assert (made["budget"].horizon, made["budget"].budget) == (500, 0.3)
    assert made["tmd"].oracle.horizon == 500
    assert made["random"].arguments()["seed"] == 7
    assert len(plan.runs) == 6


def test_worlds_from_files(tmp_path):
    model = eq.models.garnet(5, 2, 2, 2, seed=3)
    (tmp_path / "worlds").mkdir()
    model.save(tmp_path / "worlds" / "mine.npz")
    problem = Problem(world={"file": "worlds/mine.npz"}, reward=eq.rewards.Quadratic([0.5, 0.5]))
    study = Study(name="s", steps=10, seeds=1, problems=[problem], agents=[AgentSpec(kind="RoundRobin")])
    assert make_plan(study, tmp_path / "study.toml", ready=False).problems[0].model == model
    with pytest.raises(StudyError, match=r"problems\[0\]\.world\.file: .*mine\.npz: there is no such file"):
        make_plan(study, tmp_path / "elsewhere" / "study.toml", ready=False)


WRONG = {
    "no steps": ("steps = 3000", "", "steps: it is missing"),
    "steps in words": ("steps = 3000", 'steps = "many"', "steps: got 'many'; a whole number is needed"),
    "no step": ("steps = 3000", "steps = 0", "steps: got 0; a whole number >= 1 is needed"),
    "half a step": ("steps = 3000", "steps = 2.5", "steps: got 2.5; a whole number is needed"),
    "seeds": ("seeds = 2", "seeds = -1", "seeds: got -1; a number of seeds from 1 to 1000000, or a list"),
    "seeds twice": ("seeds = 2", "seeds = [1, 1]", "seeds: got [1, 1]; at least one seed is needed, and none twice"),
    "marks": ("seeds = 2", "seeds = 2\ncheckpoints = [5, 5]", "checkpoints: got [5, 5]; times that increase"),
    "late marks": (
        "seeds = 2",
        "seeds = 2\ncheckpoints = [9999]",
        "checkpoints: the last is at 9999; the runs have 3000",
    ),
    "unknown field": ("steps = 3000", "steps = 3000\nstep = 2", "step: got 2; there is no such field"),
    "unknown world": (
        '"star", b',
        '"stra", b',
        "problems[0].world.kind: got 'stra' (did you mean 'star'?); one of bandit",
    ),
    "unknown parameter": (
        "diameter",
        "size",
        "problems[0].world.size: star has no parameter 'size'; it takes branches, diameter",
    ),
    "wrong parameter": ("branches = 2", "branches = 0", "problems[0].world: star: branches: got 0; a whole number"),
    "unknown reward": ('"Linear"', '"Cubic"', "problems[1].reward.kind: got 'Cubic'; one of Affine, Balance"),
    "wrong size": ("[1]", "[1, 2]", "problems[1].reward: it takes 2 outcomes; the world has 1"),
    "missing target": (", target = [0.4, 0.6]", "", "problems[0].reward: Quadratic needs the parameter 'target'"),
    "unknown agent": ('"TocUCRL2"', '"TocUCRL3"', "agents[0].kind: got 'TocUCRL3' (did you mean 'TocUCRL2'?); one of"),
    "agent's number": ('kind = "TocUCRL2"', 'kind = "TocUCRL2"\ndelta = 2', "agents[0]: TocUCRL2: delta: got 2"),
    "oracle": (
        'kind = "TocUCRL2"',
        'kind = "TocUCRL2"\noracle = "FW"',
        "agents[0].oracle.kind: got 'FW'; one of Doubling",
    ),
    "misfit": (
        'kind = "TocUCRL2"',
        'kind = "KnapsackAgent"\nnull_actions = 0',
        "agents[0]: a KnapsackAgent is for a Knapsack reward",
    ),
    "one state": ('kind = "TocUCRL2"', 'kind = "FrankWolfeUCB"', "agents[0]: FrankWolfeUCB: space: it has"),
    "no kind": ('kind = "TocUCRL2"', "", "agents[0].kind: it is missing"),
    "same names": ('name = "random"', 'name = "toc"', "agents: two are called 'toc'; give them names"),
    "no such problem": (
        'kind = "TocUCRL2"',
        'kind = "TocUCRL2"\nproblems = ["sta"]',
        "agents[0].problems: 'sta' is none of star, river",
    ),
    "no problem at all": (
        'kind = "TocUCRL2"',
        'kind = "TocUCRL2"\nproblems = []',
        "agents[0].problems: it is empty; leave it out, for all of them",
    ),
    "no TOML": ("steps = 3000", "steps 3000", "it is no TOML"),
    "no such file": (
        '{ kind = "riverswim", n = 4 }',
        '{ file = "nowhere.npz" }',
        "nowhere.npz: there is no such file",
    ),
    "a kind that is a list": (
        '"star", b',
        "[], b",
        "problems[0].world.kind: got []; one of bandit",
    ),
    "a world that is a number": (
        '{ kind = "riverswim", n = 4 }',
        "3",
        "problems[1].world: got 3; a name, or a table with its kind and parameters, is needed",
    ),
    "a huge world": (
        '{ kind = "riverswim", n = 4 }',
        '{ kind = "garnet", n_states = 1000000000000, n_actions = 2, n_successors = 2 }',
        "problems[1].world: garnet: n_states: got 1000000000000; a whole number <= 1000000000",
    ),
    "policy": (
        'kind = "StationaryAgent"',
        'kind = "StationaryAgent"\npolicy = { kind = "best" }',
        "agents[1].policy.kind: got 'best'; one of best_stationary, solve",
    ),
    "policy's reward": (
        'kind = "StationaryAgent"',
        'kind = "StationaryAgent"\npolicy = { kind = "solve", reward = { kind = "Linear", weights = [1, 2, 3] } }',
        "agents[1].policy.reward: it takes 3 outcomes; the world has 2",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_names_file_field_value_and_what_would_do(name, tmp_path):
    old, new, message = WRONG[name]
    assert old in SMALL
    path = written(tmp_path, SMALL.replace(old, new, 1))
    with pytest.raises(StudyError) as raised:
        make_plan(read_study(path), path)
    assert f"{path}: " in str(raised.value)
    assert message in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_errors_of_reading_name_the_file(tmp_path):
    path = written(tmp_path, SMALL.replace("steps = 3000", 'steps = "many"').replace("seeds = 2", "seeds = []"))
    with pytest.raises(StudyError) as raised:
        read_study(path)
    lines = str(raised.value).splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"{path}: ") for line in lines)
    with pytest.raises(StudyError, match="cannot be read"):
        read_study(tmp_path / "absent.toml")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match="UTF-8"):
        read_study(path)


def test_a_world_that_does_not_communicate_is_refused():
    stuck = eq.Model.from_arrays([[[1, 0]], [[0, 1]]], [[[0.0]], [[1.0]]])
    problem = Problem(world=stuck, reward=eq.rewards.Linear([1.0]))
    with pytest.raises(StudyError, match=r"problems\[0\]\.world: .*communicating"):
        make_plan(small(problems=[problem], agents=[AgentSpec(kind="RoundRobin")]))


def test_values_of_other_types_are_data_or_errors():
    agent = AgentSpec(kind=eq.KnapsackAgent, null_actions=[np.int64(0), np.int64(1)], budget=np.float64(0.5))
    assert agent.table() == {"kind": "KnapsackAgent", "null_actions": [0, 1], "budget": 0.5}
    with pytest.raises(StudyError, match="a number, a text, a list of them, or a component is needed"):
        AgentSpec(kind="TocUCRL2", threshold=object())
    assert small(seeds=np.arange(3)).seeds == (0, 1, 2)
    with pytest.raises(StudyError, match="seeds: got b'12'"):
        small(seeds=b"12")


def test_objects_that_cannot_be_written():
    with pytest.raises(StudyError, match="problems"):
        small(problems=[])
    with pytest.raises(StudyError, match="give its file here"):
        small().toml()
    with pytest.raises(StudyError, match='"Known" for the problem'):
        AgentSpec(kind="TocUCRL2", confidence=eq.confidence.Known(eq.models.star()))
    custom = eq.rewards.Custom(1, lambda w: w[0], lambda w: np.ones(1), norm=2, lipschitz=1, smoothness=0)
    with pytest.raises(StudyError, match="made of functions"):
        Problem(world="riverswim", reward=custom)


@given(
    steps=st.integers(1, 10**9),
    seeds=st.one_of(st.integers(1, 30), st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=5, unique=True)),
    threshold=st.floats(0, allow_nan=False),
    target=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    names=st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20),
                   min_size=2, max_size=2, unique=True),
)  # fmt: skip
@settings(max_examples=50, deadline=None)
def test_any_study_survives_the_round_trip(tmp_path_factory, steps, seeds, threshold, target, names):
    study = Study(
        name=names[0],
        steps=steps,
        seeds=seeds,
        problems=[Problem(name=names[0], world="star", reward=eq.rewards.Quadratic(target))],
        agents=[
            AgentSpec(name=names[0], kind="TocUCRL2", threshold=threshold),
            AgentSpec(name=names[1], kind="TocUCRL2", delta=0.5),
        ],
    )
    again = read_study(written(tmp_path_factory.mktemp("toml"), study.toml()))
    assert again == study
    assert again.marks()[-1] == steps


@pytest.mark.parametrize("kind", ["solve", "best_stationary"])
def test_a_policy_whose_program_was_not_solved_is_refused(monkeypatch, kind):
    model, reward = eq.models.bandit(2), eq.rewards.Linear([0.0, 1.0])
    answer = dataclasses.replace(eq.solve(model, reward), status="inaccurate")
    monkeypatch.setattr("equipoise.studies.vocabulary.solve", lambda *_: answer)
    with pytest.raises(StudyError, match=r"policy: its program was not solved: Benchmark\(inaccurate"):
        find_policy({"kind": kind}, model, reward, "policy")
