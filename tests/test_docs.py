"""What the page on the paper names exists; the programs of the page on how the package is built run."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise.testing
from benchmarks import certificates, constraints, environments, mechanics
from benchmarks.layers import read_layers
from equipoise.rewards.expression.formula import FUNCTIONS
from equipoise.studies import read_study
from tests.adapters.optional import needed

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "paper.md").read_text()


def test_named_tests_exist():
    named = set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE))
    assert len(named) > 50
    for file, test in named:
        tree = ast.parse((ROOT / "tests" / file).read_text())
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert test in functions, f"{file}::{test}"


def test_named_code_exists():
    places = re.findall(r"`(\w[\w/]*\.py): ([\w, .]+)`", PAGE)
    assert len(places) > 50
    for file, names in places:
        path = ROOT / ("" if file.startswith(("paper/", "tests/")) else "src/equipoise") / file
        source = path.read_text()
        for name in names.split(","):
            assert re.search(rf"\b{re.escape(name.strip().split('.')[-1])}\b", source), f"{file}: {name}"


CERTIFICATES = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")


def test_the_page_on_certificates_is_its_programs():
    assert CERTIFICATES.startswith(certificates.PROSE)
    assert all(f"| {problem.name} |" in CERTIFICATES for problem in certificates.challenges())


def test_the_programs_of_the_page_on_certificates_say_what_they_say(tmp_path):
    assert_said(CERTIFICATES, tmp_path)


@pytest.mark.parametrize(
    "name", ["optimum", "gymnasium", "expressions", pytest.param("applications/department", marks=pytest.mark.slow)]
)
def test_the_programs_of_a_page_say_what_they_say(name, tmp_path):
    assert_said((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"), tmp_path)


def assert_said(page, tmp_path):
    """The programs of a page, one after the other in one, print what stands beside them."""
    programs = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    answers = re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "program.py").write_text("\n".join(programs))
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "".join(answers)


def test_the_programs_of_the_page_on_mechanics_run(tmp_path):
    page = (ROOT / "docs" / "mechanics.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "program.py").write_text("\n".join(programs))
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "after 10000 steps" in done.stdout


def test_the_page_on_mechanics_has_all_that_is_measured():
    page = (ROOT / "docs" / "mechanics.md").read_text(encoding="utf-8").partition(mechanics.MARK)[2]
    for problem in read_study(mechanics.STUDY).problems:
        assert page.count(f"| {problem.name} |") >= 5, problem.name  # a row for each agent, and one of ratios


@pytest.mark.slow
def test_the_programs_of_the_page_on_learners_say_what_they_say(tmp_path):
    needed("stable_baselines3")
    assert_said((ROOT / "docs" / "learners.md").read_text(encoding="utf-8"), tmp_path)


GYMNASIUM = (ROOT / "docs" / "gymnasium.md").read_text(encoding="utf-8")


def test_the_page_on_expressions_lists_the_words_of_formulas():
    page = (ROOT / "docs" / "expressions.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"The functions are (.*?)\. Nothing else", page, flags=re.DOTALL)
    assert tuple(re.findall(r"`(\w+)`", listed)) == FUNCTIONS


def test_the_table_of_environments_is_its_programs():
    """All of them are in it, and the rows of the smallest are made again."""
    assert environments.MARK + environments.TEXT in GYMNASIUM
    assert all(f"| `{case.name}`" in GYMNASIUM for case in environments.CASES)
    smallest = environments.CASES[0]
    for row in environments.solved(smallest, environments.explored(smallest)):
        assert f"| {' | '.join(row)} |\n" in GYMNASIUM


BUILT = (ROOT / "docs" / "architecture.md").read_text()


def test_programs_of_parts_of_ones_own_run(tmp_path):
    """One after the other in one program; those that have a contract hold themselves to it."""
    programs = re.findall(r"```python\n(.*?)```", BUILT, flags=re.DOTALL)
    assert len(programs) >= 4
    (tmp_path / "program.py").write_text("\n".join(programs))
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_table_of_layers_is_its_programs():
    """All layers in their order, with their descriptions; sizes are written again when they have moved by a tenth."""
    rows = [row.strip("| ").split(" | ") for row in BUILT.splitlines() if re.fullmatch(r"\| `\w+` \|.*\d+ \|", row)]
    layers = read_layers()
    assert [(f"`{one.name}`", one.description) for one in layers] == [(row[0], row[1]) for row in rows]
    for one, row in zip(layers, rows, strict=True):
        assert abs(int(row[3].replace(",", "")) - one.lines) <= one.lines / 10


def test_every_contract_is_named():
    contracts = {name for name in equipoise.testing.__all__ if name.startswith("check_")}
    assert contracts == {name for name in contracts if f"`{name}(" in BUILT}


def test_the_programs_of_the_page_on_constraints_say_what_they_say(tmp_path):
    page = (ROOT / "docs" / "constraints.md").read_text(encoding="utf-8")
    assert_said(page.partition(constraints.MARK)[0], tmp_path)


def test_the_page_on_constraints_has_all_problems_of_its_study():
    measured = (ROOT / "docs" / "constraints.md").read_text(encoding="utf-8").partition(constraints.MARK)[2]
    for problem in read_study(constraints.STUDY).problems:
        assert f"| {problem.title()} |" in measured
