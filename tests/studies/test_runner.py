"""Studies run for real, in processes that are killed, starved of disk, and set against each other."""

from __future__ import annotations

import ctypes
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import FileError, StudyError
from equipoise.studies import AgentSpec, Problem, Study, open_results, run_study
from equipoise.studies.store import Folder
from tests.studies.common import LONG, SMALL, data, equipoise, small, start, written


@pytest.fixture
def copy(done, tmp_path) -> Path:
    return Path(shutil.copytree(done, tmp_path / "out"))


def test_results_are_what_simulate_gives(done):
    """A run of a study is the run that a user would have made by hand."""
    frame = eq.load_results(done)
    model, reward = eq.models.star(2, 2), eq.rewards.Quadratic([0.4, 0.6])
    best = eq.solve(model, reward)
    for seed in (0, 1):
        for name, agent in (
            ("toc", eq.TocUCRL2(model.space, reward)),
            ("random", eq.agents.baselines.StationaryAgent(model.space, reward, seed=seed)),
        ):
            run = eq.simulate(model, agent, 3000, seed=seed)
            rows = frame.filter((pl.col("problem") == "star") & (pl.col("agent") == name) & (pl.col("seed") == seed))
            assert rows["t"].to_list() == run.t.tolist()
            assert rows["outcomes"].to_list() == run.outcomes.tolist()
            assert rows["value"].to_list() == run.values.tolist()
            assert rows["regret"].to_numpy() == pytest.approx(run.regret(best), abs=1e-6)
            assert rows["episodes"][-1] == len(run.episodes)
            assert rows["certified"].fill_null(math.nan).to_numpy() == pytest.approx(run.certified, nan_ok=True, abs=0)


def test_the_table_is_tidy(done):
    frame = eq.load_results(done)
    assert frame.select("problem", "agent", "seed", "t").is_unique().all()
    assert frame["problem"].unique(maintain_order=True).to_list() == ["star", "river"]
    assert frame["agent"].unique(maintain_order=True).to_list() == ["toc", "random"]
    assert frame.drop("certified").null_count().sum_horizontal().item() == 0
    assert set(frame.filter(pl.col("certified").is_null())["agent"]) == {"random"}  # which proves nothing
    assert (frame["optimum"] - frame["value"] - frame["regret"]).abs().max() == 0
    assert (frame["steps"] == 3000).all()


def test_a_result_file_says_all_about_itself(done):
    results = open_results(done)
    run = results.frame["run"][0]
    about = Folder(done).read_result(run).about
    assert about["seed"] == 0
    assert about["seconds"] > 0
    assert about["versions"]["equipoise"] == eq.__version__
    assert 'kind = "star"' in about["spec"]
    assert "target = [" in about["spec"]


def test_running_again_runs_nothing(copy, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*.parquet")}
    result = equipoise("run", written(tmp_path, SMALL), "--out", copy)
    assert result.returncode == 0
    assert "8 of 8 runs done (8 of them before)" in result.stdout
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*.parquet")} == before


@pytest.mark.slow
def test_more_seeds_and_another_agent_run_what_is_new(copy, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*.parquet")}
    more = SMALL.replace("seeds = 2", "seeds = 3") + '\n[[agents]]\nname = "round"\nkind = "RoundRobin"\n'
    result = equipoise("run", written(tmp_path, more), "--out", copy)
    assert "18 of 18 runs done (8 of them before)" in result.stdout
    after = {path: path.stat().st_mtime_ns for path in copy.rglob("*.parquet")}
    assert before.items() <= after.items()
    assert len(after) == 18
    fewer = equipoise("run", written(tmp_path, SMALL), "--out", copy)
    assert "8 of 8 runs done (8 of them before)" in fewer.stdout
    assert eq.load_results(copy)["run"].n_unique() == 8  # those of the study, not all that lie there


@pytest.mark.slow
def test_a_study_from_objects_goes_on_with_the_results_of_a_file(copy):
    progress = run_study(small(), copy, jobs=1)
    assert (progress.before, progress.done) == (8, 0)
    assert len(list((copy / "worlds").glob("*.npz"))) == 2
    again = equipoise("run", copy / "study.toml", "--out", copy)  # the folder's own study is a study file
    assert "8 of 8 runs done (8 of them before)" in again.stdout, again.stderr


@pytest.mark.slow
def test_another_study_needs_another_folder(copy, tmp_path):
    result = equipoise("run", written(tmp_path, SMALL.replace('"small"', '"other"')), "--out", copy)
    assert result.returncode == 1
    assert "it holds the study 'small', this is 'other'; choose another folder" in result.stderr


def test_a_failed_run_is_recorded_and_stops_no_other(tmp_path):
    """With so few sweeps allowed, the first plans succeed and a later one does not."""
    agent = '\n[[agents]]\nname = "hasty"\nkind = "TocUCRL2"\nplanner = { limit = 4 }\n'
    path = written(tmp_path, SMALL + agent)
    result = equipoise("run", path, "--out", tmp_path / "out")
    assert result.returncode == 3
    assert "failed: river, hasty, seed 0: " in result.stderr
    results = open_results(tmp_path / "out")
    failed = {(failure.problem, failure.agent, failure.seed) for failure in results.failures}
    assert ("river", "hasty", 0) in failed
    assert "Traceback" not in result.stderr
    assert "sweeps" in results.failures[0].error
    assert results.frame["run"].n_unique() + len(failed) == 12
    assert results.frame.filter(pl.col("agent") != "hasty")["run"].n_unique() == 8
    again = equipoise("run", path, "--out", tmp_path / "out")  # it is tried again, and fails again
    assert again.returncode == 3


@pytest.mark.slow
def test_an_optimum_is_solved_once(copy, monkeypatch):
    stamps = {path: path.stat().st_mtime_ns for path in (copy / "optima").iterdir()}
    assert len(stamps) == 2
    more = small(seeds=3)
    run_study(more, copy, jobs=1)
    assert {path: path.stat().st_mtime_ns for path in (copy / "optima").iterdir()} == stamps


# -- kill ------------------------------------------------------------------------------------------------


def children_of(pid: int) -> set[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return {int(word) for word in found.split()}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(workers: set[int]) -> bool:
    deadline = time.monotonic() + 10
    while any(alive(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(alive(worker) for worker in workers)


@pytest.mark.slow
def test_the_program_killed_at_random_moments_and_resumed(long, tmp_path):
    """kill -9 three times: the same results to the last bit, and nothing is left behind."""
    path, out = written(tmp_path, LONG), tmp_path / "out"
    for _ in range(3):
        process = start("run", path, "--out", out, "--every", "0.05")
        time.sleep(random.uniform(1.0, 3.5))
        workers = children_of(process.pid)
        process.kill()
        process.communicate(timeout=60)
        assert gone(workers)
    result = equipoise("run", path, "--out", out)
    assert result.returncode == 0, result.stderr
    assert data(out).equals(data(long))
    assert list((out / "partial").iterdir()) == []


@pytest.mark.slow
def test_workers_killed_at_random_moments(long, tmp_path):
    """Whatever was running is done again."""
    path, out = written(tmp_path, LONG), tmp_path / "out"
    process = start("run", path, "--out", out, "--every", "0.05")
    killed = 0
    while process.poll() is None and killed < 2:
        time.sleep(random.uniform(0.1, 1.0))
        at_work = [worker for worker in children_of(process.pid) if list(out.glob("partial/*.beat"))]
        if at_work:
            os.kill(random.choice(at_work), signal.SIGKILL)
            killed += 1
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert killed
    assert data(out).equals(data(long))


@pytest.mark.slow
def test_a_run_that_kills_its_workers_is_a_failed_one(tmp_path, monkeypatch):
    """It is tried three times, alone from the second on, and the others are done."""
    killer = Path(__file__).with_name("killer.py")
    shutil.copy(killer, tmp_path / "sitecustomize.py")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    result = equipoise("run", written(tmp_path, SMALL), "--out", tmp_path / "out", env=environment)
    assert result.returncode == 3, result.stderr
    results = open_results(tmp_path / "out")
    assert [(failure.problem, failure.agent, failure.seed) for failure in results.failures] == [("river", "toc", 1)]
    assert "its process died, 3 times" in results.failures[0].error
    assert results.frame["run"].n_unique() == 7


@pytest.mark.slow
def test_a_run_goes_on_from_where_it_was_saved(tmp_path):
    """Killed once it has been saved, it takes the rest of its steps and no more."""
    text = LONG.replace("30_000_000", "60_000_000").replace("seeds = 2", "seeds = 1")
    path, out = written(tmp_path, text), tmp_path / "out"
    process = start("run", path, "--out", out, "--jobs", "1", "--every", "0.05")
    deadline = time.monotonic() + 120
    while not list(out.glob("partial/*.records")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    saved = list(out.glob("partial/*.records"))
    assert saved
    assert equipoise("run", path, "--out", out).returncode == 0
    assert Folder(out).read_result(saved[0].stem).about["resumed"] == 1


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on(long, tmp_path):
    path, out = written(tmp_path, LONG), tmp_path / "out"
    process = start("run", path, "--out", out, "--every", "3600")
    deadline = time.monotonic() + 120
    while not list(out.glob("partial/*.beat")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    text, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "run the same command again to go on" in text
    assert "Traceback" not in err
    assert list(out.glob("partial/*.records"))  # though the next save was an hour away
    assert equipoise("run", path, "--out", out).returncode == 0
    assert data(out).equals(data(long))


@pytest.mark.slow
def test_two_programs_share_one_folder(long, tmp_path):
    path, out = written(tmp_path, LONG), tmp_path / "out"
    both = [start("run", path, "--out", out, "--jobs", "1") for _ in range(2)]
    said = [process.communicate(timeout=240) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert data(out).equals(data(long))
    before = [int(text.split("(")[1].split()[0]) if "(" in text else 0 for text, _ in said]
    assert sum(before) == 4  # every run was done by one of them and found done by the other
    assert list((out / "partial").iterdir()) == []


# -- disk ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_corrupted_result_is_reported_and_done_again(copy, done, tmp_path):
    victim = sorted((copy / "runs").glob("*.parquet"))[3]
    content = bytearray(victim.read_bytes())
    content[len(content) // 3] ^= 0xFF
    victim.write_bytes(content)
    cut = sorted((copy / "runs").glob("*.parquet"))[5]
    cut.write_bytes(cut.read_bytes()[:100])
    optimum = sorted((copy / "optima").glob("*.json"))[0]
    optimum.write_text(optimum.read_text().replace('"value": ', '"value": 1'))
    results = open_results(copy)
    assert len(results.damaged) == 3
    assert results.frame["run"].n_unique() == 6
    with pytest.warns(RuntimeWarning, match="not read"):
        eq.load_results(copy)
    result = equipoise("run", written(tmp_path, SMALL), "--out", copy)
    assert result.returncode == 0
    assert result.stderr.count("done again: ") == 3
    assert str(victim) in result.stderr
    assert data(copy).equals(data(done))


def test_a_result_under_a_wrong_name_is_not_read(copy):
    first, second = sorted((copy / "runs").glob("*.parquet"))[:2]
    shutil.copy(first, second)
    assert f"it holds the run {first.stem}" in open_results(copy).damaged[0]


@pytest.mark.slow
def test_a_damaged_save_costs_time_and_nothing_else(long, tmp_path):
    path, out = written(tmp_path, LONG), tmp_path / "out"
    process = start("run", path, "--out", out, "--every", "0.05")
    deadline = time.monotonic() + 120
    while not list(out.glob("partial/*.records")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    for saved in out.glob("partial/*.agent-*"):
        saved.write_bytes(saved.read_bytes()[:-50])
    assert equipoise("run", path, "--out", out).returncode == 0
    assert data(out).equals(data(long))


def bound_by_permissions() -> None:
    """For a child process: root too must heed the permissions of files (CAP_DAC_OVERRIDE is dropped)."""
    if os.getuid() == 0:
        assert ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) == 0  # PR_CAPBSET_DROP


@pytest.mark.slow
def test_a_read_only_folder(copy, tmp_path):
    before = data(copy)
    for part in (copy, *copy.rglob("*")):
        part.chmod(0o555 if part.is_dir() else 0o444)
    path = written(tmp_path, SMALL.replace("seeds = 2", "seeds = 3"))
    result = equipoise("run", path, "--out", copy, preexec_fn=bound_by_permissions)
    for part in (copy, *copy.rglob("*")):
        part.chmod(0o755)
    assert result.returncode == 1
    assert "cannot be written (Permission denied)" in result.stderr, result.stderr
    assert "Traceback" not in result.stderr
    assert data(copy).equals(before)


@pytest.mark.slow
def test_a_full_disk(copy, done, tmp_path):
    """Files may not grow beyond a size that leaves room for the study and not for a result: as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2500, 2500))

    before = data(copy)
    path = written(tmp_path, SMALL.replace("seeds = 2", "seeds = 3"))
    result = equipoise("run", path, "--out", copy, preexec_fn=limit)
    assert result.returncode == 1
    assert "cannot be written (File too large)" in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(copy.rglob("*.part"))
    kept = open_results(copy)
    assert not kept.damaged
    assert kept.frame.filter(pl.col("seed") < 2).drop("seconds").equals(before)
    assert equipoise("run", path, "--out", copy).returncode == 0


@pytest.mark.slow
def test_saved_progress_of_another_run_is_not_taken_up(long, tmp_path):
    """The agent of one seed under the name of another: seen, and done from the beginning."""
    path, out = written(tmp_path, LONG), tmp_path / "out"
    process = start("run", path, "--out", out, "--every", "0.05")
    deadline = time.monotonic() + 120
    while len(list(out.glob("partial/*.records"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=30)
    first, second = sorted(path.stem for path in out.glob("partial/*.records"))[:2]
    for mine in out.glob(f"partial/{first}.agent-*"):
        for other in out.glob(f"partial/{second}.agent-*"):
            shutil.copy(mine, other)
    assert equipoise("run", path, "--out", out).returncode == 0
    assert data(out).equals(data(long))


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be made"):
        run_study(small(), tmp_path / "file" / "out")


@pytest.mark.slow
def test_a_complete_folder_need_not_be_writeable(copy, tmp_path):
    for part in (copy, *copy.rglob("*")):
        part.chmod(0o555 if part.is_dir() else 0o444)
    result = equipoise("run", written(tmp_path, SMALL), "--out", copy, preexec_fn=bound_by_permissions)
    for part in (copy, *copy.rglob("*")):
        part.chmod(0o755)
    assert result.returncode == 0, result.stderr


def test_results_can_be_read_by_a_later_version(copy, monkeypatch):
    before = data(copy)
    monkeypatch.setattr("equipoise.studies.plan.VERSION", "9.9.9")
    monkeypatch.setattr("equipoise.studies.store.VERSION", "9.9.9")
    assert data(copy).equals(before)
    assert open_results(copy).versions == (eq.__version__,)


@pytest.mark.slow
def test_a_world_from_a_file_is_kept_with_the_results(tmp_path):
    """Run, read, run again from the folder's own study; mended when damaged."""
    eq.models.star(2, 2).save(tmp_path / "mine.npz")
    problem = Problem(world={"file": "mine.npz", "visits": True}, reward="Entropy")
    study = Study(name="s", steps=100, seeds=1, problems=[problem], agents=[AgentSpec(kind="RoundRobin")])
    out = tmp_path / "out"
    assert run_study(study, out, jobs=1, origin=tmp_path / "study.toml").done == 1
    assert eq.load_results(out)["problem"][0] == "mine.npz, Entropy"
    again = equipoise("run", out / "study.toml", "--out", out)
    assert "1 of 1 runs done (1 of them before)" in again.stdout, again.stderr
    (kept,) = (out / "worlds").iterdir()
    kept.write_bytes(kept.read_bytes()[:-9])
    assert len(run_study(study, out, jobs=1, origin=tmp_path / "study.toml").repeated) == 1
    assert eq.Model.load(kept) == eq.models.star(2, 2).visits()


@pytest.mark.slow
def test_long_automatic_names(tmp_path):
    planner = eq.planning.Planner(warm_start=True, limit=500_000)
    agent = AgentSpec(kind=eq.TocUCRL2, oracle="FrankWolfe", confidence="Bernstein", planner=planner, tolerance=0.125)
    study = small(agents=[agent], problems=small().problems[:1], seeds=1)
    assert run_study(study, tmp_path / "out", jobs=1).done == 1
    assert run_study(study, tmp_path / "out", jobs=1).before == 1
    (name,) = eq.load_results(tmp_path / "out")["agent"].unique()
    assert len(name) <= 100


@pytest.mark.slow
def test_one_run_under_two_names_is_run_once(tmp_path):
    agents = [AgentSpec(name=name, kind="RoundRobin") for name in ("one", "other")]
    progress = run_study(small(agents=agents, problems=small().problems[:1], seeds=1), tmp_path / "out", jobs=1)
    assert (progress.total, progress.done) == (1, 1)
    frame = eq.load_results(tmp_path / "out")
    assert set(frame["agent"]) == {"one", "other"}
    assert frame["run"].n_unique() == 1


def test_an_optimum_that_is_not_certified_is_said(copy):
    import dataclasses

    folder = Folder(copy)
    (path, *_) = sorted((copy / "optima").iterdir())
    folder.write_optimum(path.stem, dataclasses.replace(folder.read_optimum(path.stem), status="gap too wide"))
    progress = run_study(small(), copy, jobs=1)
    assert len(progress.unsolved) == 1
    assert "gap too wide" in progress.unsolved[0]
    assert eq.load_results(copy)["regret"].null_count() > 0


@pytest.mark.slow
def test_without_the_guard_there_is_an_error_not_a_hang(tmp_path):
    program = "from tests.studies.common import small\nfrom equipoise.studies import run_study\n"
    (tmp_path / "program.py").write_text(program + "run_study(small(), 'out', jobs=1)\n")
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip
    assert result.returncode == 1
    assert 'if __name__ == "__main__":' in result.stderr


def test_no_study_no_results(tmp_path):
    with pytest.raises(FileError, match="it holds no study"):
        eq.load_results(tmp_path)


def test_a_study_of_which_nothing_has_been_run(tmp_path):
    from equipoise.studies import make_plan

    Folder(tmp_path / "out").prepare(make_plan(small()))
    with pytest.warns(RuntimeWarning, match="8 of 8 runs have not been run yet"):
        assert eq.load_results(tmp_path / "out").is_empty()
    results = open_results(tmp_path / "out")
    assert results.missing == 8
    assert results.frame.is_empty()
    assert results.frame.schema["outcomes"] == pl.List(pl.Float64)


def test_an_empty_table_has_the_columns_of_a_full_one(done, tmp_path):
    from equipoise.studies.results import make_result_frame

    assert make_result_frame().schema == eq.load_results(done).schema


@pytest.mark.slow
def test_budgets_and_policies_in_one_study(tmp_path):
    study = Study(
        name="budgets",
        steps=2000,
        seeds=2,
        problems=[Problem(name="pricing", world="pricing", reward={"kind": "Knapsack", "budget": 0.3})],
        agents=[
            AgentSpec(name="knapsack", kind="KnapsackAgent", null_actions=0),
            AgentSpec(name="greedy", kind="StationaryAgent", policy={"kind": "solve"}),
        ],
    )
    progress = run_study(study, tmp_path / "out", jobs=1)
    assert not progress.failures
    frame = eq.load_results(tmp_path / "out")
    best = eq.solve_knapsack(eq.models.pricing(), 0.3)
    assert frame["optimum"][0] == pytest.approx(best.value, abs=1e-6)
    last = frame.filter((pl.col("agent") == "knapsack") & (pl.col("t") == 2000))
    assert all(max(outcomes[1:]) <= 0.3 for outcomes in last["outcomes"])


def test_wrong_numbers_for_the_runner(tmp_path):
    with pytest.raises(eq.EquipoiseError, match="jobs: got 0"):
        run_study(small(), tmp_path / "a", jobs=0)
    with pytest.raises(eq.EquipoiseError, match="every: got 0"):
        run_study(small(), tmp_path / "a", every=0)
    with pytest.raises(eq.EquipoiseError, match="study: got str"):
        run_study("study.toml", tmp_path / "a")
    with pytest.raises(eq.EquipoiseError, match="folder: got None"):
        run_study(small(), None)
    with pytest.raises(eq.EquipoiseError, match="cannot be made"):
        run_study(small(), "a\0b")
    with pytest.raises(StudyError, match="cluster: no scheduler answers"):
        run_study(small(), tmp_path / "a", cluster="not an address")
