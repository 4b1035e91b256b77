"""The checks as a whole: named as they should be, run in processes, told in a table and on a page."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from equipoise.errors import ParameterError
from paper import checks
from paper.catalogue import CHECKS
from paper.findings import Checked, Finding, Size, Statement
from paper.page import REST, page, write_table
from paper.running import Outcome, run_check, run_checks
from paper.workers import each

ROOT = Path(__file__).parent.parent.parent
PLAIN = Statement("x", "Claim 0", "A <title>", "a ≤ b")
STATEMENT = Statement("x", "Claim 0", "A <title>", "a ≤ b", "a ≤ 2b", 99)
SHARPER = Statement("x", "Claim 0", "A <title>", "a ≤ 2b", "a ≤ b", 99, sharpened=True)


def found(numbers):
    """Findings against the bound 2; None is one that was not reached."""
    return tuple(
        Finding(f"{i}", 3.0, 2.0, reached=False) if x is None else Finding(f"{i}", x, 2.0)
        for i, x in enumerate(numbers)
    )


@pytest.mark.parametrize(
    ("written", "verdict", "tally"),
    [
        ([1], "holds", "1 holds"),
        ([1, 1, 3], "fails", "2 hold, 1 fails"),
        ([3, None], "fails", "1 fails, 1 not reached"),
        ([1, 1, None], "holds", "2 hold, 1 not reached"),
        ([None], "not reached", "1 not reached"),
        ([], "not reached", ""),
    ],
)
def test_verdicts_on_what_needs_no_correction(written, verdict, tally):
    checked = Checked(PLAIN, found(written))
    assert (checked.verdict, checked.tally) == (verdict, tally)


@pytest.mark.parametrize(
    ("written", "corrected", "false", "true"),
    [
        ([3], [0.5], "holds as corrected", "fails"),
        ([1, 3], [0.5], "holds as corrected", "fails"),
        ([1], [0.5], "fails", "holds"),  # a false statement that nothing refutes
        ([3], [0.5, 4], "fails", "fails"),  # its failure does not hide that of the correction
        ([1], [4], "fails", "fails"),
        ([3], [None], "not reached", "fails"),
        ([None], [0.5], "fails", "holds"),
    ],
)
def test_verdicts_on_two_versions(written, corrected, false, true):
    apart = [Finding(f"corrected {f.instance}", f.measured, f.bound, reached=f.reached) for f in found(corrected)]
    for statement, verdict in ((STATEMENT, false), (SHARPER, true)):
        assert Checked(statement, found(written), tuple(apart)).verdict == verdict
    assert Checked(STATEMENT, found(written), tuple(apart)).count("fails") == corrected.count(4)


def test_a_finding_has_one_version():
    with pytest.raises(ValueError, match="'0' is a finding of both versions"):
        Checked(STATEMENT, found([1]), found([1]))
    for statement, corrected in ((STATEMENT, ()), (PLAIN, found([0.5]))):
        with pytest.raises(ValueError, match="must come together"):
            Checked(statement, found([1]), corrected)


def test_every_file_is_a_check_of_its_name():
    files = {path.stem for path in Path(checks.__file__).parent.glob("*.py")} - {"__init__"}
    assert set(CHECKS) == {name.replace("_", "-") for name in files}
    assert all(check.__module__ == f"{checks.__name__}.{name.replace('-', '_')}" for name, check in CHECKS.items())


def test_some_checks_in_processes():
    told = []
    outcomes = run_checks(["delays", "tolerances"], Size.QUICK, jobs=2, told=lambda name, outcome: told.append(name))
    assert [outcome.verdict for outcome in outcomes] == ["holds", "holds as corrected"]
    assert sorted(told) == ["delays", "delays", "tolerances", "tolerances"]
    message = r"^'delay' is no check of the paper \(did you mean 'delays'\?\); there are benchmark, "
    with pytest.raises(ParameterError, match=message):
        run_checks(["delay"])


def test_a_process_that_dies_takes_nobody_along():
    answers = dict(each(os_exit_or_double, [1, 0, 2, 3], jobs=2))
    assert answers == {1: 2, 0: None, 2: 4, 3: 6}


def os_exit_or_double(number):
    if number == 0:
        os._exit(1)
    return 2 * number


def test_stopping_ends_the_processes_at_once():
    answers = each(time.sleep, [0.0, 600.0, 600.0], jobs=2)
    assert next(answers).argument == 0.0
    began = time.monotonic()
    answers.close()
    assert time.monotonic() - began < 2.0
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_interrupting_the_command(tmp_path):
    """Ctrl-C, as a terminal sends it to all processes: it is over at once, with what is done on a page."""
    page = tmp_path / "paper.html"
    command = [sys.executable, "-m", "paper", "growth", "alternations", "benchmark", "--jobs", "2"]
    with subprocess.Popen(
        [*command, "--out", str(page)], cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        for line in running.stderr:
            if line.startswith("growth"):
                break
        os.killpg(running.pid, signal.SIGINT)
        began = time.monotonic()
        rest = running.stderr.read()
        running.wait()
        assert time.monotonic() - began < 10.0  # two seconds on an idle machine; what was left takes minutes
    assert running.returncode == 130
    assert "interrupted: " in rest
    assert "Traceback" not in rest
    assert "Claim C.2" in page.read_text()


def test_a_check_that_breaks_is_an_outcome(monkeypatch):
    monkeypatch.setitem(CHECKS, "delays", lambda size: 1 / 0)
    outcome = run_check("delays", Size.QUICK)
    assert outcome.verdict == "error"
    assert "ZeroDivisionError" in outcome.error
    assert "ZeroDivisionError" in page([outcome], Size.QUICK)


def test_the_page_says_everything_and_escapes_it():
    findings = (Finding("on <b>", 3.0, 2.0, note="a & b"), Finding("far", 1.0, 2.0, error=0.25))
    checked = Checked(STATEMENT, findings, (Finding("on", 3.0, 4.0),))
    text = page([Outcome("x", checked, "", 1.0)], Size.FULL)
    assert "A &lt;title&gt;" in text
    assert "on &lt;b&gt;" in text
    assert "a &amp; b" in text
    assert "1\xa0±\xa00.25" in text
    assert "erratum 99" in text
    assert text.count("holds as corrected") >= 2


def test_the_table_keeps_what_is_not_its_own(tmp_path):
    outcome = Outcome("x", Checked(STATEMENT, found([3]), found([1, None])), "", 1.0)
    path = write_table([outcome], tmp_path / "checks.md", Size.FULL)
    path.write_text(path.read_text() + f"{REST}\nkept\n")
    before = path.read_text()
    assert write_table([outcome], path, Size.FULL).read_text() == before
    assert "| holds as corrected | 1 holds, 1 not reached |" in before
    assert "Statements: holds as corrected 1." in before
    assert before.endswith("kept\n")


def command(*arguments, cwd=None):
    line = [sys.executable, "-m", "paper", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_command(tmp_path):
    result = command("tolerances", "--quick", "--out", tmp_path / "paper.html")
    assert result.returncode == 0, result.stderr
    assert "Claim 4.6" in result.stdout
    assert "holds as corrected" in result.stdout
    assert (tmp_path / "paper.html").read_text().count("data-chart=") == 1
    assert command("--list").stdout.split() == list(CHECKS)
    wrong = command("theorem", cwd=tmp_path)
    assert wrong.returncode == 1
    assert "'theorem' is no check of the paper; there are" in wrong.stderr
    near = command("tolerance", cwd=tmp_path)
    assert "(did you mean 'tolerances'?)" in near.stderr


MINE = """
from paper.findings import Checked, Finding, Size, Statement

STATEMENT = Statement("halves", "Lemma 9.1", "Halves add up", "1/2 + 1/2 <= 1")


def check(size: Size) -> Checked:
    return Checked(STATEMENT, (Finding("two halves", measured=0.5 + 0.5, bound=1.0),))
"""


@pytest.mark.slow
def test_a_check_in_a_file_of_its_own(tmp_path):
    assert MINE.strip() in (ROOT / "paper" / "README.md").read_text()
    (tmp_path / "mine.py").write_text(MINE)
    result = command("mine.py", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Halves add up" in result.stdout
    assert "Halves add up" in (tmp_path / "paper.html").read_text()
    (tmp_path / "empty.py").write_text("")
    assert "empty.py is no check: it needs a `STATEMENT`" in command("empty.py", cwd=tmp_path).stderr
