"""Every example runs at a small size, and leaves its picture; those to copy are short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
TO_COPY = ["kpis", "fairness", "patrol", "budgets", "log", "department"]


@pytest.mark.parametrize("name", TO_COPY)
def test_runs(name, tmp_path):
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--steps", "2000", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    picture = (tmp_path / f"{name}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")


@pytest.mark.parametrize("name", TO_COPY)
def test_short_enough_to_copy(name):
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= 60


def test_every_example_is_known():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*TO_COPY, "star"}
