"""The program as its users meet it: words on stdout, errors on stderr, codes that mean something."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pty
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.agents import vocabulary
from equipoise.cli.codes import Code
from equipoise.studies import make_plan, open_results, read_study
from tests.cli.inside import inside
from tests.studies.common import LONG, SMALL, equipoise, written

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize("command", [[], ["run"], ["report"], ["export"], ["solve"], ["describe"], ["list"]])
def test_every_help_says_what_it_is_for(command):
    result = inside(*command, "--help")
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) > 15
    assert "Usage" in result.stdout


def test_the_codes_that_the_help_names_are_those_of_the_program():
    said = " ".join(inside("--help").stdout.split())
    assert {int(code) for code in re.findall(r"\b(\d+) if", said)} == {2, *map(int, Code)}


def test_version():
    assert equipoise("--version").stdout == f"equipoise {eq.__version__}\n"


def test_solve_prints_optimum_certificate_and_prices():
    result = inside("solve", "--world", "star", "--reward", '{kind = "BottomSum", kappa = 1}')
    assert result.returncode == 0
    assert "status   optimal" in result.stdout
    assert "0.333333333" in result.stdout
    assert "worth of a little more" in result.stdout
    for k in range(3):  # a third of the time on each loop, by their labels
        assert re.search(rf"^ *loop {k} +0\.333333 ", result.stdout, re.MULTILINE)
        assert re.search(rf"^ *end {k} +loop +0\.333333 +1\.0000", result.stdout, re.MULTILINE)


def test_solve_as_json_is_what_python_gives():
    said = '{kind = "TargetSquared", kpi = [0.6, 0.6]}'
    data = json.loads(inside("solve", "--world", "queue", "--reward", said, "--json").stdout)
    best = eq.solve(eq.models.queue(), eq.rewards.TargetSquared([0.6, 0.6]))
    assert data["status"] == "optimal"
    assert data["value"] == pytest.approx(best.value, abs=1e-6)
    assert data["dual_value"] - data["value"] == pytest.approx(data["gap"])
    assert data["prices"] == [-theta for theta in data["theta"]]
    assert len(data["occupancy"]) == eq.models.queue().n_pairs
    assert data["outcome_names"] == ["service level of class 0", "service level of class 1"]
    assert (data["states"][4], data["actions"][4]) == ("(0, 1)", "serve class 1")  # pair 4: three actions a state


FLOOR = (
    '{kind = "Constrained", price = 2, reward = {kind = "Linear", weights = [1, 0]}, constraints = ['
    '{kind = "at_least", outcome = 1, level = 0.25, name = "floor"}'
)


def test_solve_prints_what_constraints_cost():
    problem = ("solve", "--world", "{kind = 'bandit', arms = 2}", "--reward", f"{FLOOR}]}}")
    result = inside(*problem)
    assert result.returncode == 0
    assert "optimum  0.75" in result.stdout
    assert re.search(r"^ *floor +1 +\d", result.stdout, re.MULTILINE)
    data = json.loads(
        inside("solve", "--world", "{kind = 'bandit', arms = 2}", "--reward", f"{FLOOR}]}}", "--json").stdout
    )
    assert data["multipliers"] == {"floor": pytest.approx(1.0)}
    assert data["violations"]["floor"] < 1e-6


def test_solve_names_constraints_in_conflict():
    wishes = f'{FLOOR}, {{kind = "at_least", outcome = 0, level = 0.8, name = "more"}}]}}'
    result = inside("solve", "--world", "{kind = 'bandit', arms = 2}", "--reward", wishes)
    assert result.returncode == 3
    assert "status   infeasible" in result.stdout
    assert "'floor' and 'more' cannot be met together: one of them is missed by 0.025 at least" in result.stdout
    assert "nan" not in result.stdout
    data = json.loads(inside("solve", "--world", "{kind = 'bandit', arms = 2}", "--reward", wishes, "--json").stdout)
    assert data["value"] is None
    assert data["conflict"]["constraints"] == ["floor", "more"]
    assert data["conflict"]["each_alone"] == pytest.approx({"floor": 0.05, "more": 0.05}, abs=1e-6)


def test_prices_are_what_a_little_more_is_worth():
    """The optimum is concave in the budget: the price lies between what the last unit brought and the next would."""
    budget, step = 0.3, 1e-3
    less, here, more = (
        json.loads(
            inside("solve", "--world", "pricing", "--reward", f'{{kind = "Knapsack", budget = {b}}}', "--json").stdout
        )
        for b in (budget - step, budget, budget + step)
    )
    price = -here["prices"][1]
    assert (more["value"] - here["value"]) / step - 1e-6 <= price <= (here["value"] - less["value"]) / step + 1e-6
    assert here["prices"][0] == 1.0


def test_describe_tells_the_structure():
    data = json.loads(inside("describe", "--world", '{kind = "star", branches = 3, diameter = 4}', "--json").stdout)
    assert data == {
        "states": 7, "pairs": 15, "actions": data["actions"], "outcomes": 3, "start": 0, "noise": "none",
        "communicating": True, "diameter": 4.0, "gamma": 1, "start label": "centre",
        "state labels": "centre; branch 0, step 1; end 0; branch 1, step 1; end 1; branch 2, step 1; end 2",
        "action labels": "to end 0; to end 1; to end 2; outwards; inwards; loop",
        "outcome labels": "loop 0; loop 1; loop 2",
    }  # fmt: skip
    text = inside("describe", STUDIES / "fairness.toml", "--problem", "Gini").stdout
    for word in ("diameter", "gamma", "lipschitz", "norm", "oracle", "Doubling"):
        assert word in text


def test_a_problem_of_a_study():
    result = inside("solve", STUDIES / "kpis.toml", "--problem", "inventory", "--json")
    assert json.loads(result.stdout)["status"] == "optimal"
    which = inside("solve", STUDIES / "kpis.toml")
    assert which.returncode == 1
    assert "say which problem with --problem; it has 'queue'" in which.stderr
    none = inside("solve", STUDIES / "kpis.toml", "--problem", "quque")
    assert "there is no 'quque' (did you mean 'queue'?)" in none.stderr


def test_a_list_is_a_table_for_people():
    text = inside("list", "oracles").stdout
    assert text.splitlines()[0].strip() == "oracles"
    assert "{" not in text.splitlines()[1]


def test_one_format_for_tables_and_one_for_figures(tmp_path):
    for format_ in ("csv", "latex"):
        result = inside("report", PINS, "--out", tmp_path / "r.html", "--tables", tmp_path / "t", "--format", format_)
        assert result.returncode == 0, result.stderr
    several = inside("report", PINS, "--tables", tmp_path / "t", "--format", "csv", "--format", "latex")
    assert "--format: got csv and latex; one for the tables is needed" in several.stderr


@pytest.mark.parametrize(("missing", "failures"), [(2, 0), (0, 1), (0, 0)])
def test_an_export_says_what_is_not_in_it(missing, failures, tmp_path, monkeypatch):
    results = open_results(PINS)
    changed = replace(results, missing=missing, failures=results.failures + ("failed",) * failures)
    monkeypatch.setattr("equipoise.cli.export.open_results", lambda _: changed)
    result = inside("export", PINS, tmp_path / "r.csv")
    left = missing + failures
    assert result.stderr == (f"without a result: {left} runs\n" if left else "")


def test_a_run_without_a_cluster_leaves_log_entries_alone(tmp_path):
    (tmp_path / "s.toml").write_text(
        'name = "s"\nsteps = 10\nseeds = 1\nagents = [{ kind = "RoundRobin" }]\n'
        'problems = [{ world = "riverswim", reward = { kind = "Linear", weights = [1] } }]\n'
    )
    assert inside("run", tmp_path / "s.toml", "--out", tmp_path / "out").returncode == 0
    assert logging.root.manager.disable == logging.NOTSET


def test_interrupts_are_heard_once_the_program_runs():
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # as while the package is imported
    try:
        assert inside("--version").returncode == 0
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_list_has_every_public_name_and_parameter():
    data = json.loads(inside("list", "--json").stdout)
    assert set(data["worlds"]) == set(vocabulary.worlds())
    others = {"Reward", "Custom", "Constraint", "at_least", "at_most", "exact_price", "from_cvxpy", "Goals"}
    sets = {"TargetBall", "TargetBox", "TargetHull", "TargetPolytope"}
    assert set(data["rewards"]) == set(eq.rewards.__all__) - others - sets - {"TargetSet"}
    assert set(data["target-sets"]) == sets
    assert set(data["planners"]) == {"Planner"}
    assert set(data["constraints"]) == {"Constraint", "at_least", "at_most"}
    descents = {"TunedGradientDescent", "TunedMirrorDescent", "Doubling"}
    assert {"FrankWolfe", "FrankWolfeUntil", "DoublingFrankWolfe", "StartingAt", *descents} == set(data["oracles"])
    assert {
        "TocUCRL2",
        "KnapsackAgent",
        "KnapsackTocUCRL2",
        "MixtureUCRL2",
        "Optimum",
        "PosteriorProgram",
        "StationaryAgent",
        "RoundRobin",
        "Rule",
        "FrankWolfeUCB",
        "ucrl2",
        "recommended",
    } == set(data["agents"])
    assert data["worlds"]["star"]["parameters"] == {"branches": "3", "diameter": "4"}
    assert data["rewards"]["BottomSum"]["parameters"] == {"n_outcomes": "the world's", "kappa": "needed"}
    assert all(about["summary"] for shelf in data.values() for about in shelf.values())
    assert "riverswim" in inside("list", "worlds").stdout


WRONG = {
    "no file": (["run", "absent.toml", "--out", "out"], 1, "absent.toml: cannot be read (No such file or directory)"),
    "no folder": (["report", "absent"], 1, "absent: it holds no study"),
    "problem of nothing": (
        ["solve", "--world", "star", "--problem", "x"],
        1,
        "--problem: it names a problem of a study",
    ),
    "no world": (["solve", "--reward", "Entropy"], 1, "--world: it is missing; or give a study"),
    "no such world": (["describe", "--world", "sta"], 1, "--world.kind: got 'sta' (did you mean 'star'?)"),
    "no table": (["describe", "--world", "{kind}"], 1, "--world: it is no TOML: Expected '=' after a key"),
    "no such shelf": (["list", "world"], 1, "got 'world'; one of worlds, mechanics, rewards"),
    "no command": (["rum"], 2, "rum"),
    "no such format": (["report", "x", "--figures", "f", "--format", "bmp"], 2, "bmp"),
    "format of what": (
        ["report", "x", "--format", "latex"],
        1,
        "--format latex: it is one of tables; say where",
    ),
    "two formats": (["report", "x", "--figures", "f", "--format", "svg", "--format", "pdf"], 1, "got svg and pdf; one"),
    "no such width": (["report", "x", "--figures", "f", "--width", "3"], 1, "width: got 3; a whole number from 100"),
    "section not allowed": (["report", "x", "--section", "os:system"], 1, "only if you allow it: --with os"),
    "export of nothing": (["export", "absent", "r.csv"], 1, "absent: it holds no study"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_a_line_and_a_code(name, tmp_path):
    arguments, code, message = WRONG[name]
    result = inside(*arguments, cwd=tmp_path)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_a_wrong_study_runs_nothing(tmp_path):
    path = written(tmp_path, SMALL.replace('"Linear"', '"Linaer"'))
    result = inside("run", path, "--out", tmp_path / "out")
    assert result.returncode == 1
    assert f"{path}: problems[1].reward.kind: got 'Linaer' (did you mean 'Linear'?)" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_fewer_steps_and_seeds_for_the_asking(tmp_path):
    out = tmp_path / "out"
    result = equipoise("run", STUDIES / "budgets.toml", "--out", out, "--steps", 500, "--seeds", 1)
    assert result.returncode == 0, result.stderr
    assert "10 of 10 runs done" in result.stdout
    frame = eq.load_results(out)
    assert set(frame["steps"]) == {500}


@pytest.mark.slow
def test_the_live_display(tmp_path):
    """On a terminal: what runs, how fast, and with what regret."""
    text = LONG.replace("30_000_000", "60_000_000").replace('world = "r', 'name = "p [/b]"\nworld = "r')
    path = written(tmp_path, text)
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "equipoise", "run", str(path), "--out", str(tmp_path / "out")]
    environment = os.environ | {"COLUMNS": "150", "LINES": "40", "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave, env=environment)
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 65536):
            shown += part
    except OSError:  # how a terminal ends
        pass
    os.close(master)
    assert process.wait(60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "steps/s" in text
    assert re.search(r"p \[/b\] +(TocUCRL2|StationaryAgent) +\d +\d+% +[\d.]+ [Mk] +[\d.e-]+", text)
    assert re.search(r"\d of 4 runs done.*, 2 running.* left", text)


shipped = pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)


@shipped
def test_every_shipped_study_is_understood(path):
    """Every part of it is made, which is where a wrong one is refused."""
    study = read_study(path)
    assert study.name == path.stem
    assert make_plan(study, path, ready=False).runs


@pytest.mark.slow
@shipped
def test_every_shipped_study_can_be_run(path, tmp_path):
    result = equipoise("run", path, "--out", tmp_path / "out", "--steps", 300, "--seeds", 1)
    assert result.returncode == 0, result.stderr


PINS = Path(__file__).parents[1] / "pins" / "results"
SECTION = """
from equipoise.reports import Column, Section, Table, Text

def seeds(results):
    rows = ((str(results.frame["seed"].n_unique()),),)
    return Section("Seeds", (Text("Counted."), Table("count", "Seeds", (Column("seeds", "number"),), rows)))

def broken(results):
    return results.frame["no such column"]
"""


@pytest.mark.slow
def test_a_report_with_tables_figures_and_a_section_of_ones_own(tmp_path):
    (tmp_path / "mine.py").write_text(SECTION)
    result = equipoise(
        "report", str(PINS), "--out", "r.html", "--tables", "tables", "--figures", "figures", "--format", "latex",
        "--format", "pdf", "--width", "300", "--font", "Times, DejaVu Serif", "--section", "mine:seeds",
        "--with", "mine", cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    written = [tmp_path / line for line in result.stdout.splitlines()]
    assert all(path.exists() for path in written)
    assert (tmp_path / "tables" / "seeds-count.tex").read_text().splitlines()[5] == "2 \\\\"
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".pdf"}
    assert "Counted." in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_section_that_breaks_is_named_and_the_page_stays(tmp_path):
    (tmp_path / "mine.py").write_text(SECTION)
    (tmp_path / "r.html").write_text("old")
    arguments = ("--out", "r.html", "--section", "mine:broken", "--with", "mine")
    result = equipoise("report", str(PINS), *arguments, cwd=tmp_path)
    assert result.returncode == 1
    assert "section mine:broken: it raised ColumnNotFoundError" in result.stderr
    assert "Traceback" not in result.stderr
    assert (tmp_path / "r.html").read_text() == "old"


def test_results_are_exported(tmp_path):
    result = equipoise("export", str(PINS), "r.csv", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "r.csv\n", "")
    header, *rows = (tmp_path / "r.csv").read_text().splitlines()
    assert header.startswith("problem,agent,seed,run,t,loop 0,")
    assert len(rows) == eq.load_results(PINS).height


@pytest.mark.slow
def test_ctrl_c_at_any_moment_of_the_first_seconds_is_no_traceback(tmp_path):
    """To the whole group of processes, as a terminal sends it; also while the package is being imported."""
    (tmp_path / "s.toml").write_text(
        'name = "s"\nsteps = 300_000_000\nseeds = 4\nagents = [{ kind = "RoundRobin" }]\n'
        'problems = [{ world = "riverswim", reward = { kind = "Linear", weights = [1] } }]\n'
    )
    for tenths in range(1, 40, 3):
        command = [sys.executable, "-m", "equipoise", "run", "s.toml", "--out", f"out{tenths}", "--jobs", "2"]
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(tenths / 10)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert "Traceback" not in err, (tenths, err)
        assert process.returncode in (130, -signal.SIGINT), (tenths, err)
