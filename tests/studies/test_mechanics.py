"""Studies of systems whose mechanics are known: who is told what, what was learnt of the laws, and bad tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import StudyError
from equipoise.reports import write_tables
from equipoise.reports.numbers import digest
from equipoise.studies import (
    AgentSpec,
    Problem,
    Study,
    load_laws,
    make_plan,
    open_results,
    read_study,
    run_study,
    worker,
)
from equipoise.studies.record import decode_result
from equipoise.studies.worker import Failed, perform
from tests.cli.inside import inside
from tests.studies.common import equipoise, small, written

TRUTH = [0.5, 0.25, 0.15, 0.1]
SHOP = """
name = "shop"
steps = 400
seeds = 2

[[problems]]
name = "shop"
world = { mechanics = "inventory", capacity = 5, laws = { demand = [0.5, 0.25, 0.15, 0.1] } }
reward = { kind = "TargetSquared", kpi = [0.9, 0.5, 0.5] }

[[problems]]
name = "star"
world = { kind = "star", branches = 2, diameter = 2 }
reward = { kind = "Quadratic", target = [0.4, 0.6] }

[[agents]]
name = "told"
kind = "TocUCRL2"

[[agents]]
name = "table"
kind = "TocUCRL2"
told = "table"

[[agents]]
name = "random"
kind = "StationaryAgent"
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    """The shop, run; not to be changed."""
    folder = tmp_path_factory.mktemp("shop")
    run_study(read_study(written(folder, SHOP)), folder / "out", jobs=1)
    return folder / "out"


def shop(**changes) -> Study:
    """The study of the file, from objects."""
    goal = eq.rewards.TargetSquared([0.9, 0.5, 0.5])
    world = {"mechanics": "inventory", "capacity": 5, "laws": {"demand": TRUTH}}
    fields = {
        "name": "shop",
        "steps": 400,
        "seeds": 2,
        "problems": [Problem(name="shop", world=world, reward=goal)],
        "agents": [
            AgentSpec(name="told", kind="TocUCRL2"),
            AgentSpec(name="table", kind="TocUCRL2", told="table"),
            AgentSpec(name="random", kind="StationaryAgent"),
        ],
    }
    return Study(**(fields | changes))


def ids(study: Study) -> dict[tuple[str, str, int], str]:
    return {(run.problem, run.agent, run.seed): run.id for run in make_plan(study, ready=False).runs}


# -- who is told what ------------------------------------------------------------------------------------


def test_told_and_table_are_different_runs_of_one_world():
    found = ids(shop())
    assert len(set(found.values())) == len(found) == 6
    assert {run.model.laws is not None for run in make_plan(shop(), ready=False).runs} == {True}
    said = shop(agents=[AgentSpec(name="told", kind="TocUCRL2", told="mechanics")])
    assert ids(said)["shop", "told", 0] == found["shop", "told", 0]


def test_in_a_plain_world_what_is_told_makes_no_difference():
    plain = small(agents=[AgentSpec(name="toc", kind="TocUCRL2")])
    table = small(agents=[AgentSpec(name="toc", kind="TocUCRL2", told="table")])
    assert ids(plain) == ids(table)


def test_a_told_agent_runs_as_simulate_does_with_the_space_of_the_mechanics(done):
    system = eq.mechanics.inventory(capacity=5)
    goal = eq.rewards.TargetSquared([0.9, 0.5, 0.5])
    frame = eq.load_results(done).filter(problem="shop", t=400)
    model = system.model(demand=TRUTH)
    for name, space in (("told", system.space), ("table", model.space)):
        for seed in (0, 1):
            agent = eq.TocUCRL2(space, goal)
            eq.simulate(model, agent, 400, seed=seed)
            ((average,),) = frame.filter(agent=name, seed=seed).select("outcomes").rows()
            assert average == agent.average.tolist()


def test_usual_laws_need_not_be_said():
    usual, goal = eq.mechanics.inventory(capacity=5).usual["demand"], shop().problems[0].reward
    bare = {"mechanics": "inventory", "capacity": 5}
    said = bare | {"laws": {"demand": list(usual)}}
    one, other = (shop(problems=[Problem(name="shop", world=world, reward=goal)]) for world in (bare, said))
    assert ids(one) == ids(other) != ids(shop())


# -- what was learnt -------------------------------------------------------------------------------------


def test_the_laws_are_those_of_the_agents_themselves(done):
    laws = load_laws(done)
    assert laws.columns == [
        "problem", "agent", "seed", "law", "value", "visits", "estimate", "low", "high", "truth"
    ]  # fmt: skip
    assert laws.select("problem", "agent", "seed").unique().sort("seed").rows() == [
        ("shop", "told", 0),
        ("shop", "told", 1),
    ]
    system = eq.mechanics.inventory(capacity=5)
    for seed in (0, 1):
        agent = eq.TocUCRL2(system.space, eq.rewards.TargetSquared([0.9, 0.5, 0.5]))
        eq.simulate(system.model(demand=TRUTH), agent, 400, seed=seed)
        own, found = agent.laws(), laws.filter(seed=seed)
        assert own.select("law", "value", "visits", "estimate", "low", "high").rows() == (
            found.select("law", "value", "visits", "estimate", "low", "high").rows()
        )
        assert found["truth"].to_list() == pytest.approx(TRUTH)
        assert found["visits"].to_list() == [400] * 4
        assert found["estimate"].sum() == pytest.approx(1.0)
    assert open_results(done).laws.equals(laws)


def test_a_study_without_mechanics_has_no_laws(tmp_path):
    run_study(small(steps=50, seeds=1), tmp_path, jobs=1)
    laws = load_laws(tmp_path)
    assert laws.height == 0
    assert laws.schema["truth"] == pl.Float64


def test_what_was_never_seen_has_no_estimate(tmp_path):
    """One step of a queue: some services have not been seen; the intervals of these hold everything."""
    world = {"mechanics": "queue"}
    goal = eq.rewards.TargetSquared([0.9, 0.5])
    study = shop(steps=1, seeds=1, problems=[Problem(name="queue", world=world, reward=goal)])
    run_study(study, tmp_path, jobs=1)
    laws = load_laws(tmp_path)
    never = laws.filter(visits=0)
    assert never.height
    assert never["estimate"].null_count() == never.height
    assert set(never["low"]) == {0.0}
    assert set(never["high"]) == {1.0}
    assert laws.filter(pl.col("visits") > 0)["estimate"].null_count() == 0


def test_laws_that_are_all_given_leave_nothing_to_learn():
    system = eq.Mechanics(
        lambda s, a, toss: (s, [toss]), 0, ["toss"], ["heads"], {"toss": [0, 1]}, given={"toss": [0.5, 0.5]}
    )
    problem = Problem(name="coin", world=system.model(), reward=eq.rewards.Linear([1.0]))
    (task, *_) = make_plan(shop(problems=[problem], steps=20, seeds=1), ready=False).runs
    finished = perform(task, None, 10.0)
    assert isinstance(finished, bytes), finished.error
    assert decode_result(finished).about["laws"]["law"] == []


def test_a_run_that_is_broken_off_and_taken_up_again_has_the_same_laws(tmp_path, monkeypatch):
    (task, *_) = make_plan(shop(steps=20_000, seeds=1), ready=False).runs
    whole = decode_result(perform(task, None, 10.0))
    saves, save = [], worker._save

    def breaks_off(task, progress, folder):
        save(task, progress, folder)
        saves.append(progress.agent.t - 1)
        if len(saves) == 12:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(worker, "_save", breaks_off)
        patched.setattr(worker, "_SAVING_SHARE", 0.0)
        assert isinstance(perform(task, str(tmp_path), 1e-9), Failed)
    assert 10 < saves[-1] < 20_000
    again = decode_result(perform(task, str(tmp_path), 10.0))
    assert (whole.about["resumed"], again.about["resumed"]) == (0, 1)
    assert again.about["laws"] == whole.about["laws"]
    assert again.about["laws"]["visits"] == [20_000] * 4
    assert again.table.equals(whole.table)


def test_a_damaged_result_is_left_out_with_a_warning(done, tmp_path):
    folder = shutil.copytree(done, tmp_path / "out")
    before = load_laws(folder)
    run = next(run.id for run in make_plan(read_study(folder / "study.toml"), ready=False).runs if run.agent == "told")
    path = folder / "runs" / f"{run}.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.warns(RuntimeWarning, match=f"not read: .*{run}"):
        after = load_laws(folder)
    assert 0 < after.height < before.height


def test_a_report_has_the_numbers_of_the_table(done, tmp_path):
    found = digest(open_results(done))[0].laws
    laws = load_laws(done).filter(seed=0)
    same = ["agent", "law", "value", "visits", "estimate", "low", "high", "truth"]
    assert found.rows.select(same).rows() == laws.select(same).rows()
    assert found.rows["seen"].sum() == 400
    assert digest(open_results(done))[1].laws is None  # the star
    files = {path.name: path for path in write_tables(done, tmp_path)}
    assert "star-laws.csv" not in files
    written_out = pl.read_csv(files["shop-laws.csv"])
    assert written_out.columns == ["law", "value", "agent", "seen", "estimate", "interval", "truth"]
    assert written_out["estimate"].to_list() == pytest.approx(laws["estimate"].to_list(), rel=5e-3)
    assert written_out["truth"].to_list() == pytest.approx(TRUTH, rel=5e-3)


# -- saved worlds ----------------------------------------------------------------------------------------


def test_a_saved_world_and_one_from_objects_are_the_same_study(done, tmp_path):
    model = eq.mechanics.inventory(capacity=5).model(demand=TRUTH)
    model.save(tmp_path / "shop.npz")
    goal = eq.rewards.TargetSquared([0.9, 0.5, 0.5])
    own = shop(problems=[Problem(name="shop", world=model, reward=goal)])
    file = shop(problems=[Problem(name="shop", world={"file": str(tmp_path / "shop.npz")}, reward=goal)])
    assert ids(own) == ids(file) == ids(shop())
    run_study(own, tmp_path / "out", jobs=1)
    assert load_laws(tmp_path / "out").equals(load_laws(done))
    kept = tmp_path / "out" / "study.toml"  # which names the world that was kept beside it
    again = make_plan(read_study(kept), kept, ready=False)
    assert {run.id for run in again.runs} == set(ids(own).values())


# -- bad tables ------------------------------------------------------------------------------------------

WRONG = {
    "unknown mechanics": (
        '"inventory"',
        '"inventary"',
        "problems[0].world.mechanics: got 'inventary' (did you mean 'inventory'?); one of battery, bidding",
    ),
    "a number": ('"inventory"', "3", "problems[0].world.mechanics: got 3; one of battery"),
    "a table by that name": ('"inventory"', '"star"', "problems[0].world.mechanics: got 'star'; one of battery"),
    "two kinds": (
        '"inventory"',
        '"inventory", kind = "star"',
        "problems[0].world: it has a kind and mechanics; one of them is needed",
    ),
    "mechanics as a kind": (
        '{ kind = "star", branches = 2, diameter = 2 }',
        '"department"',
        "problems[1].world.kind: 'department' is a system whose mechanics are known; write { mechanics =",
    ),
    "a file as a kind": (
        '{ kind = "star", branches = 2, diameter = 2 }',
        '"mine.npz"',
        "problems[1].world.kind: 'mine.npz' is the name of a file; write { file = \"mine.npz\" }",
    ),
    "unknown parameter": (
        "capacity = 5",
        "capcity = 5",
        "problems[0].world.capcity: inventory has no parameter 'capcity' (did you mean 'capacity'?)",
    ),
    "unknown law": (
        "demand = [",
        "demnd = [",
        "problems[0].world.laws: model: there is no noise 'demnd' (did you mean 'demand'?); the noises are demand",
    ),
    "no distribution": (
        "0.15, 0.1]",
        "0.15, 0.2]",
        "problems[0].world.laws: model, demand: the probabilities sum to 1.1; they must sum to 1",
    ),
    "too few": ("0.15, 0.1]", "0.25]", "problems[0].world.laws: model, demand: "),
    "laws that are no table": (
        "laws = { demand = [0.5, 0.25, 0.15, 0.1] }",
        "laws = [0.5, 0.5]",
        "problems[0].world.laws: got [0.5, 0.5]; a table of noises is needed",
    ),
    "told what": ('told = "table"', 'told = "foo"', "agents[1].told: got 'foo'; 'mechanics' or 'table' is needed"),
    "told a number": ('told = "table"', "told = 3", "agents[1].told: got 3; 'mechanics' or 'table' is needed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_table_is_refused_before_anything_runs(name, tmp_path):
    old, new, message = WRONG[name]
    assert old in SHOP
    path = written(tmp_path, SHOP.replace(old, new, 1))
    with pytest.raises(StudyError) as raised:
        make_plan(read_study(path), path)
    assert f"{path}: " in str(raised.value)
    assert message in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


# -- mechanics of one's own ------------------------------------------------------------------------------

MINE = """
import equipoise as eq


def step(place, walk, slip):
    return (place + (walk and not slip)) % 3, [float(place == 0)]


def ring(often: float = 0.25) -> eq.Mechanics:
    noises = {"slip": [False, True]}
    return eq.Mechanics(step, 0, [False, True], ["home"], noises, usual={"slip": [1.0 - often, often]})


def table() -> eq.Model:
    return eq.models.star()
"""
OWN = SHOP.replace('mechanics = "inventory", capacity = 5', 'mechanics = "mine:ring", often = 0.5').replace(
    ", laws = { demand = [0.5, 0.25, 0.15, 0.1] }", ""
).replace('kind = "TargetSquared", kpi = [0.9, 0.5, 0.5]', 'kind = "Linear", weights = [1]')  # fmt: skip


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def test_mechanics_written_elsewhere_run_if_they_are_allowed(folder):
    result = equipoise("run", written(folder, OWN), "--out", "out", "--with", "mine", "--jobs", 1, cwd=folder)
    assert result.returncode == 0, result.stderr
    laws = load_laws(folder / "out")
    assert laws["law"].unique().to_list() == ["slip"]
    assert laws.filter(seed=0)["value"].to_list() == ["False", "True"]
    assert laws["truth"].to_list() == [0.5] * 4


def test_mechanics_written_elsewhere_are_refused_without_leave(folder):
    result = equipoise("run", written(folder, OWN), "--out", "out", "--jobs", 1, cwd=folder)
    assert result.returncode == 1
    assert "'mine:ring' is not of this package, and its module is imported only if you allow it" in result.stderr
    assert "--with mine" in result.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("mine:table", "Mechanics"),
        ("mine:absent", "mine has no 'absent'"),
        ("mine:step", "mine:step is another function; a function annotated to return it, `-> Mechanics`, is needed"),
    ],
)
def test_something_else_written_elsewhere_is_refused(folder, kind, message):
    path = written(folder, OWN.replace("mine:ring", kind).replace(", often = 0.5", ""))
    result = equipoise("run", path, "--out", "out", "--with", "mine", "--jobs", 1, cwd=folder)
    assert result.returncode == 1, result.stderr
    assert "problems[0].world" in result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr


# -- the command line ------------------------------------------------------------------------------------


def test_the_list_has_all_systems_and_their_parameters():
    data = json.loads(inside("list", "mechanics", "--json").stdout)
    assert set(data) == {"mechanics"}
    assert set(data["mechanics"]) == set(eq.mechanics.__all__)
    assert data["mechanics"]["inventory"]["parameters"]["capacity"] == "10"
    assert "seed" not in str(data["mechanics"]["inventory"]["parameters"])


def test_a_world_of_known_mechanics_is_described_with_its_laws():
    world = '{mechanics = "inventory", laws = {demand = [0.5, 0.25, 0.25, 0.0]}}'
    data = json.loads(inside("describe", "--world", world, "--json").stdout)
    assert data["states"] == 11
    assert data["laws"] == {"demand": {"0": 0.5, "1": 0.25, "2": 0.25, "3": 0.0}}
    assert "0: 0.5; 1: 0.25; 2: 0.25; 3: 0" in inside("describe", "--world", world).stdout
    plain = json.loads(inside("describe", "--world", "star", "--json").stdout)
    assert "laws" not in plain


def test_the_optimum_of_known_mechanics_is_that_of_the_table():
    goal = ("--reward", '{kind = "TargetSquared", kpi = [0.95, 0.75, 0.8]}', "--json")
    known = json.loads(inside("solve", "--world", '{mechanics = "inventory"}', *goal).stdout)
    table = json.loads(inside("solve", "--world", "inventory", *goal).stdout)
    assert known["value"] == pytest.approx(table["value"], abs=1e-7)
