"""Studies with parts written elsewhere: what is wrong is said before anything runs, or fails that run alone."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import polars as pl
import pytest

import equipoise as eq
from equipoise import _plugins
from equipoise.errors import StudyError
from equipoise.studies import make_plan, read_study, run_study
from equipoise.studies.reader import open_results
from equipoise.studies.store import Folder
from equipoise.studies.worker import Failed, perform
from tests.studies.common import data, equipoise, written
from tests.studies.test_cluster import cluster

__all__ = ["cluster"]

PARTS = """
import os
import sys

import numpy as np
import equipoise as eq
from equipoise.confidence.elementwise import Elementwise, interval_entry
from equipoise.oracles.base import Oracle, OracleKernel
from equipoise.oracles.frame import opened, oracle_entry


class Good(eq.Agent):
    def __init__(self, space, reward, seed=0):
        super().__init__(space, reward)
        self.seed = seed
        self.random = np.random.default_rng(seed)

    def choose(self, state):
        return int(self.random.integers(self.space.n_actions[state]))


class TooFar(Good):
    def choose(self, state):
        return 7 if self.t == 11 else super().choose(state)


class Float(Good):
    def choose(self, state):
        return float(super().choose(state))


class Raises(Good):
    def learn(self, state, action, outcomes, next_state):
        if self.t == 20:
            raise LookupError("no such thing")


class Exits(Good):
    def choose(self, state):
        raise SystemExit(0)


class ExitsInTime(Good):
    def choose(self, state):
        return sys.exit("enough") if self.t == 11 else super().choose(state)


class Interrupts(Good):
    def choose(self, state):
        raise KeyboardInterrupt


class Dies(Good):
    def choose(self, state):
        os._exit(0)


class Hangs(Good):
    def choose(self, state):
        while True:
            pass


@oracle_entry
def _lost(frame):
    step = opened(frame)
    if step.t == 30:
        step.theta[0] = np.nan


class Lost(Oracle):
    def check(self, reward):
        pass

    def initial_theta(self, reward):
        return np.zeros(reward.n_outcomes)

    def kernel(self, reward):
        return OracleKernel(_lost, np.zeros(1))


@interval_entry
def _nowhere(tau, delta, count, binary, n, total, squares, floats, bounds):
    bounds[0], bounds[1] = 0.0, 1.0
    if tau > 40:
        bounds[0] = np.nan


class Nowhere(Elementwise):
    guarantee = "none"
    interval = _nowhere


class Stars(Good):
    def __init__(self, space, reward, *rest):
        super().__init__(space, reward)


class NoBase(Good):
    def __init__(self, space, reward):
        self.random = None


class Undecided(eq.Agent):
    pass


class Breaks(Good):
    def __init__(self, space, reward):
        raise LookupError("no such thing")


class Short(Lost):
    def initial_theta(self, reward):
        return np.zeros(reward.n_outcomes + 1)


class Silent(Lost):
    def kernel(self, reward):
        raise LookupError("no such thing")


def world(size=2) -> eq.Model:
    return eq.models.bandit(size)


def number() -> eq.Model:
    return 3


def unsaid(size=2):
    return eq.models.bandit(size)


def breaks() -> "eq.Model":
    raise LookupError("no such thing")


text = "a text"
"""

STUDY = """
name = "own"
steps = 200
seeds = 2

[[problems]]
name = "arms"
world = { kind = "mine:world", size = 2 }
reward = { kind = "Quadratic", target = [0.4, 0.6] }
"""

# The agent, its table, and what is said of its runs.
FAILING = {
    "too far": ('kind = "mine:TooFar"', "TooFar.choose returned 7 at time 11 in state 0; an action from 0 to 1"),
    "float": ('kind = "mine:Float"', ".0 at time 1 in state 0; an action from 0 to 1 is needed"),
    "raises": ('kind = "mine:Raises"', "Raises.learn raised LookupError at time 20 in state 0: no such thing"),
    "lost": ('kind = "TocUCRL2"\noracle = "mine:Lost"\nthreshold = 0.0', "theta is [nan, 0.0] by Lost()"),
    "exits": ('kind = "mine:Exits"', "SystemExit: 0"),
    "exits later": ('kind = "mine:ExitsInTime"', "SystemExit: enough"),
    "interrupts": ('kind = "mine:Interrupts"', "KeyboardInterrupt"),
    "nowhere": ('kind = "TocUCRL2"\nconfidence = "mine:Nowhere"', "Nowhere() gave bounds that are not finite numbers"),
}


def agent(name: str, table: str) -> str:
    return f'\n[[agents]]\nname = "{name}"\n{table}\n'


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "mine.py").write_text(PARTS)
    return tmp_path


def test_a_run_that_fails_is_recorded_and_the_others_go_on(folder):
    text = (
        STUDY
        + agent("good", 'kind = "mine:Good"')
        + "".join(agent(name, table) for name, (table, _) in FAILING.items())
    )
    result = equipoise("run", written(folder, text), "--out", "out", "--with", "mine", "--jobs", 2, cwd=folder)
    assert result.returncode == 3, result.stderr
    assert "Traceback" not in result.stderr
    results = open_results(folder / "out")
    failures = {(failure.agent, failure.seed): failure.error for failure in results.failures}
    assert set(failures) == {(name, seed) for name in FAILING for seed in (0, 1)}
    for name, (_, message) in FAILING.items():
        for seed in (0, 1):
            assert message in failures[name, seed]
            assert f"failed: arms, {name}, seed {seed}: " in result.stderr
    assert results.frame["agent"].unique().to_list() == ["good"]
    last = results.frame.filter(pl.col("t") == 200)
    assert last["seed"].sort().to_list() == [0, 1]
    sys.path.insert(0, str(folder))
    try:  # and they are what `simulate` gives
        from mine import Good  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("mine", None)
    model = eq.models.bandit(2)
    reward = eq.rewards.Quadratic([0.4, 0.6])
    for seed in (0, 1):
        run = eq.simulate(model, Good(model.space, reward, seed), 200, seed=seed, progress=False)
        assert last.filter(pl.col("seed") == seed)["outcomes"][0].to_list() == run.outcomes[-1].tolist()


@pytest.mark.slow
def test_runs_that_hang_or_end_their_process_are_recorded_and_the_others_go_on(folder):
    hang, die = agent("hangs", 'kind = "mine:Hangs"'), agent("dies", 'kind = "mine:Dies"')
    path = written(folder, STUDY.replace("seeds = 2", "seeds = 1\ntime_limit = 600") + hang + agent("good", GOOD) + die)
    result = equipoise("run", path, "--out", "out", "--with", "mine", "--jobs", 2, "--time-limit", 40, cwd=folder)
    assert result.returncode == 3, result.stderr
    results = open_results(folder / "out")
    failures = {failure.agent: failure.error for failure in results.failures}
    assert failures == {
        "hangs": "it was ended after 40 s, the time limit of the study",
        "dies": "its process died, 3 times",
    }
    assert results.frame["agent"].unique().to_list() == ["good"]
    assert results.missing == 0
    path = written(folder, STUDY.replace("seeds = 2", "seeds = 1") + die)  # all else is done, and it fails alone
    result = equipoise("run", path, "--out", "out", "--with", "mine", cwd=folder)
    assert (result.returncode, "dies, seed 0: its process died, 3 times" in result.stderr) == (3, True)


def test_a_time_limit_and_a_cluster(folder, allowed):
    eq.allow("mine")
    study = read_study(written(folder, STUDY.replace("seeds = 2", "seeds = 1\ntime_limit = 5") + agent("one", GOOD)))
    with pytest.raises(StudyError, match="time_limit: a run on a cluster cannot be ended from here"):
        run_study(study, folder / "out", cluster="tcp://127.0.0.1:1")
    assert not (folder / "out").exists()


EDITED = """
import helper
import equipoise as eq


class Tiny(eq.Agent):
    def choose(self, state):
        import later
        return helper.ACTION * later.ONE
"""


@pytest.mark.parametrize("edited", ["mine", "helper", "later"])
def test_a_part_that_was_edited_is_run_again(edited, tmp_path):
    """Also if only a module that it imports was: runs of two programs never stand in one table."""
    files = {"mine": EDITED, "helper": "ACTION = 0", "later": "ONE = 1", "unused": "x = 0"}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    study = """
name = "edited"
steps = 20
seeds = 1
problems = [{ world = { kind = "bandit", arms = 2 }, reward = { kind = "Linear", weights = [0.0, 1.0] } }]
agents = [{ name = "tiny", kind = "mine:Tiny" }, { kind = "RoundRobin" }]
"""
    run = ("run", written(tmp_path, study), "--out", "out", "--with", "mine", "--jobs", 1)
    assert equipoise(*run, cwd=tmp_path).returncode == 0
    before = eq.load_results(tmp_path / "out").filter(pl.col("agent") == "tiny")
    change = {"mine": ("helper.ACTION", "1 - helper.ACTION"), "helper": ("0", "1"), "later": ("ONE = 1", "ONE = 1 + 0")}
    (tmp_path / f"{edited}.py").write_text(files[edited].replace(*change[edited]))
    (tmp_path / "unused.py").write_text("x = 1")
    again = equipoise(*run, "--seeds", 2, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "done again: the source of mine has changed: all runs with parts of it" in again.stderr
    assert "4 of 4 runs done (1 of them before)" in again.stdout  # that of this package's agent
    after = eq.load_results(tmp_path / "out").filter(pl.col("agent") == "tiny")
    assert not set(before["run"]) & set(after["run"])
    assert set(before["value"]) == {0.0}
    assert set(after["value"]) == ({0.0} if edited == "later" else {1.0})
    about = Folder(tmp_path / "out").read_result(after["run"][0]).about
    assert list(about["sources"]) == ["mine"]
    third = equipoise(*run, "--seeds", 2, cwd=tmp_path)
    assert "4 of 4 runs done (4 of them before)" in third.stdout
    assert "done again" not in third.stderr


def test_a_worker_with_other_code_than_the_plan_runs_nothing(allowed):
    eq.allow("mine")
    plan = make_plan(read_study(written(allowed, STUDY + agent("one", GOOD))), ready=False)
    (task, *_) = plan.runs
    other = dataclasses.replace(task, sources=dict.fromkeys(task.sources, "0" * 16))
    answer = perform(other, None, 10.0)
    assert isinstance(answer, Failed)
    assert "the source of mine, or of a module that it imports, is not what it was" in answer.error


@pytest.mark.slow
def test_the_same_on_a_cluster(cluster, folder):
    address, *_ = cluster  # its workers are started in the same folder
    text = STUDY + agent("good", 'kind = "mine:Good"') + agent("far", FAILING["too far"][0])
    path = written(folder, text)
    near = equipoise("run", path, "--out", "near", "--with", "mine", cwd=folder)
    far = equipoise("run", path, "--out", "far", "--with", "mine", "--cluster", address, cwd=folder)
    assert (near.returncode, far.returncode) == (3, 3), far.stderr
    assert FAILING["too far"][1] in far.stderr
    assert data(folder / "near").equals(data(folder / "far"))


@pytest.fixture
def allowed(folder, monkeypatch):
    """The module is allowed within the test, and forgotten afterwards."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(_plugins, "_allowed", set())
    yield folder
    for name in ("mine", "breaking", "package", "package.breaking", "package.needy"):
        sys.modules.pop(name, None)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(StudyError) as raised:
        make_plan(read_study(written(folder, text)), ready=False)
    return str(raised.value)


GOOD = 'kind = "mine:Good"'
WRONG = {
    "nothing of that name": ('kind = "mine:Goood"', "agents[0]: mine has no 'Goood' (did you mean 'Good'?)"),
    "no class": ('kind = "mine:text"', "agents[0]: mine:text is of type str; a class derived from Agent is needed"),
    "another kind": (
        'kind = "mine:Lost"',
        "mine:Lost is a class of another kind; a class derived from Agent is needed",
    ),
    "a world as an agent": (
        'kind = "mine:world"',
        "mine:world is another function; a class derived from Agent is needed",
    ),
    "an agent as an oracle": ('kind = "TocUCRL2"\noracle = "mine:Good"', "oracle"),
    "a function as an oracle": (
        'kind = "TocUCRL2"\noracle = "mine:number"',
        "mine:number is another function; a class derived from Oracle is needed",
    ),
    "stars": ('kind = "mine:Stars"', "Stars: it takes *rest; a part names every parameter that it has"),
    "no such parameter": ('kind = "mine:Good"\nsede = 3', "has no parameter 'sede' (did you mean 'seed'?)"),
    "a method is missing": ('kind = "mine:Undecided"', "Undecided: it lacks choose"),
    "the base is forgotten": ('kind = "mine:NoBase"', "its constructor must call super().__init__(space, reward)"),
    "the constructor raises": ('kind = "mine:Breaks"', "mine:Breaks raised LookupError: no such thing"),
    "a wrong shape": (
        'kind = "TocUCRL2"\noracle = "mine:Short"',
        "the first theta of Short() is [0.0, 0.0, 0.0]; 2 numbers",
    ),
    "a method raises": ('kind = "TocUCRL2"\noracle = "mine:Silent"', "Silent.kernel raised LookupError: no such thing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_part_is_said_before_anything_runs(name, allowed):
    eq.allow("mine")
    table, message = WRONG[name]
    text = refusal(allowed, STUDY + agent("one", table))
    assert message in text
    assert "agents[0]" in text


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("mine:number", "gives a int; a Model is needed"),
        ("mine:breaks", "mine:breaks raised LookupError: no such thing"),
        ("mine:unsaid", "mine:unsaid is another function; a function annotated to return it, `-> Model`, is needed"),
        ("mine:Good", "mine:Good is a class of another kind; a function annotated to return it"),
    ],
)
def test_a_wrong_world(kind, message, allowed):
    eq.allow("mine")
    assert message in refusal(allowed, STUDY.replace("mine:world", kind).replace(", size = 2", "") + agent("one", GOOD))


def test_a_file_alone_imports_nothing(allowed):
    text = refusal(allowed, STUDY + agent("one", GOOD))
    assert "'mine:world' is not of this package, and its module is imported only if you allow it: --with mine" in text
    assert "equipoise.allow('mine')" in text
    assert "mine" not in sys.modules


def test_modules_that_cannot_be_imported(allowed):
    (allowed / "breaking.py").write_text("1 / 0")
    package = allowed / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "breaking.py").write_text("1 / 0")
    (package / "needy.py").write_text("import not_installed_anywhere")
    for module, message in {
        "absent": "absent: there is no module of that name",
        "breaking": "breaking: importing it raised ZeroDivisionError: division by zero",
        "package.needy": r"package.needy: it cannot be imported \(No module named 'not_installed_anywhere'\)",
        "package.absent": "package.absent: there is no module of that name",
        "no module": "the name of a module is needed",
    }.items():
        with pytest.raises(eq.errors.ParameterError, match=message):
            eq.allow(module)
    eq.allow("package", "mine")
    for module, message in {
        "package.breaking": "agents[0]: package.breaking: importing it raised ZeroDivisionError: division by zero",
        "package.needy": "agents[0]: package.needy: it cannot be imported (No module named 'not_installed_anywhere')",
        "package.absent": "agents[0]: package.absent: there is no module of that name",
    }.items():
        assert message in refusal(allowed, STUDY + agent("one", f'kind = "{module}:Part"'))


def test_the_program_says_how_to_allow_a_module(folder):
    path = written(folder, STUDY + agent("one", GOOD))
    for arguments in (("run", path, "--out", "out"), ("solve", path)):
        result = equipoise(*arguments, cwd=folder)
        assert result.returncode == 1
        assert "only if you allow it: --with mine on the command line" in result.stderr
        assert "Traceback" not in result.stderr
    assert not (folder / "out").exists()
