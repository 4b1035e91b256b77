"""Every example runs at a small size, and leaves its picture; those to copy are short."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
TO_COPY = ["kpis", "fairness", "patrol", "budgets", "log", "department"]


@pytest.mark.parametrize("name", [*TO_COPY, "star"])
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


@pytest.mark.slow
def test_scalar_learners_run(tmp_path):
    """All that is installed: without the extra `deep`, the tabular learner alone."""
    options = ["--full", "--steps", "150", "--seeds", "1", "--jobs", "1", "--out", str(tmp_path)]
    command = [sys.executable, str(EXAMPLES / "scalar_learners.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "| star | tabular, 150 steps, 1 seeds | Q = L |" in done.stdout
    assert ("| picture | PPO, 150 steps" in done.stdout) == (find_spec("stable_baselines3") is not None)
    assert (tmp_path / "scalar_learners.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", [*TO_COPY, "star", "scalar_learners", "extension"])
def test_the_gallery_shows_it_with_a_picture(name):
    docs = EXAMPLES.parent / "docs"
    cards = (docs / "examples.md").read_text(encoding="utf-8").split(":::{grid-item-card}")
    (card,) = (card for card in cards if re.search(rf"`examples/{name}(\.py)?`", card))
    (picture,) = re.findall(r":img-bottom: (.+)", card)
    assert (docs / picture).read_bytes().startswith(b"\x89PNG")
    (page,) = re.findall(r":link: (.+)", card)
    assert (docs / f"{page}.md").exists()


def test_every_example_is_known():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*TO_COPY, "star", "scalar_learners"}
