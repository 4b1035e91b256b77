"""Small studies, and the program as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl

import equipoise as eq
from equipoise.studies import AgentSpec, Problem, Study

SMALL = """
name = "small"
steps = 3000
seeds = 2

[[problems]]
name = "star"
world = { kind = "star", branches = 2, diameter = 2 }
reward = { kind = "Quadratic", target = [0.4, 0.6] }

[[problems]]
name = "river"
world = { kind = "riverswim", n = 4 }
reward = { kind = "Linear", weights = [1] }

[[agents]]
name = "toc"
kind = "TocUCRL2"

[[agents]]
name = "random"
kind = "StationaryAgent"
"""

# Runs of a second or so, which leave a few checkpoints.
LONG = """
name = "long"
steps = 30_000_000
seeds = 2

[[problems]]
world = "riverswim"
reward = { kind = "Linear", weights = [1] }

[[agents]]
kind = "TocUCRL2"

[[agents]]
kind = "StationaryAgent"
"""


def small(**changes) -> Study:
    """The small study from objects; other fields for the asking."""
    fields = {
        "name": "small",
        "steps": 3000,
        "seeds": 2,
        "problems": [
            Problem(name="star", world=eq.models.star(2, 2), reward=eq.rewards.Quadratic([0.4, 0.6])),
            Problem(name="river", world=eq.models.riverswim(4), reward=eq.rewards.Linear([1.0])),
        ],
        "agents": [AgentSpec(name="toc", kind="TocUCRL2"), AgentSpec(name="random", kind="StationaryAgent")],
    }
    return Study(**(fields | changes))


def start(*arguments: object, **options) -> subprocess.Popen[str]:
    """`equipoise` in a process group of its own."""
    command = [sys.executable, "-m", "equipoise", *(str(argument) for argument in arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )


def equipoise(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    """`equipoise`, to its end."""
    process = start(*arguments, **options)
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def data(folder: Path) -> pl.DataFrame:
    """All that must not depend on how a study was run."""
    return eq.load_results(folder).drop("seconds")


def written(folder: Path, text: str) -> Path:
    """A study file."""
    path = folder / "study-file.toml"
    path.write_text(text)
    return path
