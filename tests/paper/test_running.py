"""The checks as a whole: named as they should be, run in processes, told in a table and on a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.errors import ParameterError
from equipoise.paper import CHECKS, Checked, Finding, Outcome, Size, Statement, checks, run_check, run_checks
from equipoise.reports.writing.statements import page
from tests.cli.inside import inside
from tests.studies.common import equipoise

STATEMENT = Statement("x", "Claim 0", "A <title>", "a ≤ b", "a ≤ 2b", 99)


@pytest.mark.parametrize(
    ("written", "corrected", "verdict"),
    [
        ([1], [], "holds"),
        ([3], [], "fails"),
        ([1, 3], [1], "holds as corrected"),
        ([1], [1], "holds"),
        ([3], [3], "fails"),
        ([1], [3], "fails"),
        ([], [], "not reached"),
    ],
)
def test_verdicts(written, corrected, verdict):
    checked = Checked(STATEMENT, *(tuple(Finding("i", x, 2.0) for x in part) for part in (written, corrected)))
    assert checked.verdict == verdict


def test_what_is_not_reached_counts_for_nothing():
    far = Finding("i", 3.0, 2.0, reached=False)
    assert Checked(STATEMENT, (far,)).verdict == "not reached"
    assert Checked(STATEMENT, (far, Finding("i", 1.0, 2.0))).verdict == "holds"


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


@pytest.mark.slow
def test_the_command(tmp_path):
    result = equipoise("paper", "tolerances", "--quick", "--out", tmp_path / "paper.html")
    assert result.returncode == 0, result.stderr
    assert "Claim 4.6" in result.stdout
    assert "holds as corrected" in result.stdout
    assert (tmp_path / "paper.html").read_text().count("data-chart=") == 1
    names = inside("paper", "--list").stdout.split()
    assert names == list(CHECKS)
    wrong = inside("paper", "theorem", cwd=tmp_path)
    assert wrong.returncode == 1
    assert "'theorem' is no check of the paper; there are" in wrong.stderr
    near = inside("paper", "tolerance", cwd=tmp_path)
    assert "(did you mean 'tolerances'?)" in near.stderr
