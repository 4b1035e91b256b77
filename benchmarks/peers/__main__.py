"""Race scalar learners of another package on our problems, and print a table of regret and speed.

The package lives in a virtual environment of its own, which is made on the first run. Results are kept as they come:
the same command again does only the runs that are missing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import t as student

from benchmarks.peers import problems

PACKAGE: Final = "statisticalrl-learners"
VERSION: Final = "2.2507"
REQUIREMENTS: Final = (f"{PACKAGE}=={VERSION}",)
PINNED: Final = "It pins numpy 1.24, which has wheels for Python 3.11 and earlier."
INSTALLED: Final = """
import sys
from importlib.metadata import version
for one in sys.argv[1:]:
    name, _, wanted = one.partition("==")
    assert version(name) == (wanted or version(name))
"""
WIDTH: Final = 140  # of the table, at least
ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def interpreter(venv: Path, python: str, requirements: Sequence[str], hint: str = "") -> Path:
    """The Python of the peers' environment, which is made if need be."""
    ours = venv / "bin" / "python"
    asked: list[str | Path] = [ours, "-c", INSTALLED, *requirements]
    if ours.exists() and subprocess.run(asked, capture_output=True, check=False).returncode == 0:
        return ours
    try:
        subprocess.run([python, "-m", "venv", venv], check=True)
        subprocess.run([ours, "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"{venv}: could not install {', '.join(requirements)} ({error}). {hint} Name another interpreter with "
            "--python, or an environment that has the packages with --venv."
        ) from None
    return ours


def spread(values: Sequence[float]) -> str:
    """The mean and the half-width of its 95% interval, which one value does not have."""
    mean = f"{np.mean(values):,.0f}"
    if len(values) < 2:
        return mean
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{mean} ± {half:,.0f}"


def row(runs: Sequence[dict[str, Any]], checkpoints: Sequence[int]) -> list[str]:
    """The cells of one problem and learner; a checkpoint counts the runs that reached it."""
    cells = []
    for checkpoint in checkpoints:
        reached = [dict(zip(run["checkpoints"], run["regret"], strict=True)).get(checkpoint) for run in runs]
        regrets = [regret for regret in reached if regret is not None]
        few = f" ({len(regrets)} of {len(runs)})" if len(regrets) < len(runs) else ""
        cells.append(spread(regrets) + few if regrets else "-")
    seconds = sum(run["cpu_seconds"] for run in runs)
    steps = sum(run["steps_done"] for run in runs)
    status = {": ".join(filter(None, (run["status"], run["error"].split(":")[0]))) for run in runs} - {"done"}
    return [
        *cells, str(len(runs)), f"{seconds / len(runs):,.1f}", f"{steps / seconds:,.0f}" if steps else "-",
        "; ".join(sorted(status)),
    ]  # fmt: skip


def table(runs: Sequence[dict[str, Any]], steps: int) -> Table:
    """All results of that many steps."""
    order = list(problems.PROBLEMS)
    runs = sorted(
        (run for run in runs if run["steps"] == steps and run["problem"] in order),
        key=lambda run: (order.index(run["problem"]), run["learner"], run["seed"]),
    )
    checkpoints = sorted({checkpoint for run in runs for checkpoint in run["checkpoints"]})
    shown = Table(title=f"{PACKAGE} {VERSION}: regret (mean ± half-width of the 95% interval)")
    for column in ("problem", "learner"):
        shown.add_column(column, no_wrap=True)
    for column in (*(f"t = {checkpoint:,}" for checkpoint in checkpoints), "runs", "CPU s a run", "steps/s"):
        shown.add_column(column, justify="right", no_wrap=True)
    shown.add_column("not done")
    for problem, learner in dict.fromkeys((run["problem"], run["learner"]) for run in runs):
        same = [run for run in runs if (run["problem"], run["learner"]) == (problem, learner)]
        shown.add_row(problem, learner, *row(same, checkpoints))
    return shown


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=Path("out/peers.json"), help="where the results are kept")
    parser.add_argument("--venv", type=Path, default=Path("out/peers/venv"), help="the peers' environment")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to make it with")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=10, help="how many, from 0 on")
    parser.add_argument("--learners", nargs="+", help="all by default; a wrong name lists them")
    names = list(problems.PROBLEMS)
    parser.add_argument("--problems", nargs="+", choices=names, default=names)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one run")
    return parser.parse_args()


def main() -> None:
    options = parsed()
    python = interpreter(options.venv, options.python, REQUIREMENTS, PINNED)
    file = options.venv.parent / "problems.json"
    problems.write(file, options.problems)
    command = [python, "-W", "ignore", Path(__file__).with_name("race.py"), file, options.out]
    for name in ("steps", "seeds", "jobs", "limit"):
        command += [f"--{name}", str(getattr(options, name))]
    if options.learners:
        command += ["--learners", *options.learners]
    code = subprocess.run(command, env=dict(os.environ) | ONE_THREAD, check=False).returncode
    if code:
        raise SystemExit(code)
    console = Console()
    console.width = max(console.width, WIDTH)
    console.print(table(json.loads(options.out.read_text())["runs"], options.steps))


if __name__ == "__main__":
    main()
