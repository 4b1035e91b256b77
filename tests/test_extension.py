"""The example of a package with parts of one's own: installed, run, saved, loaded and reported as a stranger would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "extension"
PARTS = ("worlds", "rewards", "oracles", "confidences", "agents", "sections")


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """The example, built as a package and installed into a folder of its own, from a copy of its sources alone."""
    folder = tmp_path_factory.mktemp("extension")
    source, target = folder / "source", folder / "installed"
    for path in (EXAMPLE / "pyproject.toml", EXAMPLE / "README.md", *(EXAMPLE / "src").rglob("*.py")):
        copy = source / path.relative_to(EXAMPLE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command = [*pip, "--disable-pip-version-check", "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in (target / "equipoise_extension").glob("*.py")} == {"__init__", *PARTS}
    paths = os.pathsep.join([str(ROOT / "src"), str(target)])
    return dict(os.environ) | {"PYTHONPATH": paths}


def program(environment: dict[str, str], folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *(str(argument) for argument in arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


SAVING = """
import numpy as np
import equipoise as eq
from equipoise_extension.agents import Curious
from equipoise_extension.confidences import Hoeffding
from equipoise_extension.oracles import AdaptiveDescent
from equipoise_extension.rewards import DiminishingReturns
from equipoise_extension.worlds import workshop

model, reward = workshop(), DiminishingReturns([0.5, 1.0])
agents = {
    "curious": lambda: Curious(model.space, reward, 0.2, seed=3),
    "adaptive": lambda: eq.TocUCRL2(model.space, reward, AdaptiveDescent(), confidence=Hoeffding()),
}
for name, make in agents.items():
    whole, parts = make(), make()
    eq.simulate(model, whole, 3000, seed=1, progress=False)
    eq.simulate(model, parts, 1000, seed=1, progress=False)
    parts.save(f"{name}.npz")
    np.save(f"{name}.npy", whole.average)
"""

LOADING = """
import sys
import numpy as np
import equipoise as eq

for name in ("curious", "adaptive"):
    try:
        eq.Agent.load(f"{name}.npz")
    except eq.errors.FileError as error:
        assert "equipoise.allow('equipoise_extension.rewards') in Python" in str(error), error
assert "equipoise_extension" not in sys.modules
eq.allow("equipoise_extension")
from equipoise_extension.worlds import workshop

for name in ("curious", "adaptive"):
    agent = eq.Agent.load(f"{name}.npz")
    assert agent.t == 1001
    eq.simulate(workshop(), agent, 2000, seed=1, progress=False)
    assert agent.average.tobytes() == np.load(f"{name}.npy").tobytes(), name
"""


@pytest.mark.slow
def test_agents_are_saved_and_loaded_in_another_process(environment, tmp_path):
    for text in (SAVING, LOADING):
        done = program(environment, tmp_path, "-c", text)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_study_is_run_solved_and_reported(environment, tmp_path):
    study = EXAMPLE / "study.toml"
    allowed = ("--with", "equipoise_extension")
    run = ("-m", "equipoise", "run", study, "--out", "out", "--steps", 2000, "--seeds", 2, "--jobs", 2)

    refused = program(environment, tmp_path, *run)
    assert refused.returncode == 1
    assert "only if you allow it: --with equipoise_extension.worlds on the command line" in refused.stderr

    done = program(environment, tmp_path, *run, *allowed)
    assert done.returncode == 0, done.stderr
    assert "6 of 6 runs done" in done.stdout
    frame = eq.load_results(tmp_path / "out")
    assert set(frame["agent"]) == {"curious", "adaptive", "TOC-UCRL2"}
    assert frame["regret"].is_not_null().all()

    section = ("--section", "equipoise_extension.sections:luck", "--tables", "tables")
    reported = program(environment, tmp_path, "-m", "equipoise", "report", "out", *section, *allowed)
    assert reported.returncode == 0, reported.stderr
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "nothing is proven of it" in page
    assert "no bound is known for its oracle" in page
    rows = (tmp_path / "tables" / "luck-luck.csv").read_text().splitlines()
    assert rows[0] == "agent,problem,worst,best"
    assert len(rows) == 4

    world = ("--world", '{kind = "equipoise_extension.worlds:workshop", levels = 4, wear = 0.3}')
    reward = ("--reward", '{kind = "equipoise_extension.rewards:DiminishingReturns", worth = [0.5, 1.0]}')
    solved = program(environment, tmp_path, "-m", "equipoise", "solve", *world, *reward, *allowed, "--json")
    assert solved.returncode == 0, solved.stderr
    best = json.loads(solved.stdout)
    assert best["status"] == "optimal"
    assert best["outcome_names"] == ["made", "good"]
    assert frame["optimum"].unique().to_list() == pytest.approx([best["value"]], abs=1e-6)
    made, good = best["outcomes"]
    assert best["value"] == pytest.approx(0.5 * made / (made + 0.5) + good / (good + 0.5), abs=1e-6)


@pytest.mark.slow
def test_every_part_keeps_its_contract(environment, tmp_path):
    done = program(environment, tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE / "tests")
    assert done.returncode == 0, done.stdout
    assert "100%" in done.stdout


def test_the_readme_names_every_file_and_the_commands_of_the_test():
    text = (EXAMPLE / "README.md").read_text()
    assert all(f"`{part}.py`" in text for part in PARTS)
    assert "equipoise run study.toml --with equipoise_extension --out out" in text
    assert "--section equipoise_extension.sections:luck" in text
