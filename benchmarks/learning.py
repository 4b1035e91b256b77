"""How fast agents learn, against what grows: states, actions, successors, outcomes and time.

    python -m benchmarks.learning                    the tables of docs/performance.md, and its figure of slopes
    python -m benchmarks.learning --before FOLDER    beside another checkout of the project, in turns

All times are seconds of the processor, of one thread, after everything was compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import equipoise as eq
from benchmarks.pages import put
from benchmarks.slopes import Timing, slope_table, slopes, write_figure
from benchmarks.solving import most_memory

SEED = 1
BASE = {"n_states": 1000, "n_actions": 4, "n_successors": 5, "n_outcomes": 3}
GROWING = {
    "n_states": [100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
    "n_outcomes": [1, 3, 10, 30, 100, 300, 1000],
    "n_actions": [2, 4, 8, 16, 32],
    "n_successors": [2, 5, 10, 20, 50],
    "steps": [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000],
}
SYMBOLS = {"n_states": "S", "n_outcomes": "K", "n_actions": "A", "n_successors": "successors", "steps": "T"}
STEPS = 200_000
LONG = 60.0  # seconds: what takes longer is not tried at a larger size
FIGURE = "learning-slopes"
HEADLINES = ("garnet 1000", "garnet 10000", "entropy 900", "star", "riverswim 20")
LONGEST = "garnet 10000 100000000"


def problem(name: str) -> tuple[eq.Model, eq.rewards.Reward, int]:
    """A world, a reward and a number of steps, by name; a third word is the number of steps."""
    kind, size, steps, *_ = [*name.split(), "", ""]
    if kind == "star":
        return eq.models.star(3, 4), eq.rewards.Quadratic([1 / 3] * 3), 3_000_000
    if kind == "riverswim":
        return eq.models.riverswim(int(size)), eq.rewards.Linear([1.0]), 3_000_000
    world = eq.models.garnet(int(size), 4, 5, n_outcomes=3, seed=SEED)
    if kind == "entropy":
        return world.visits(), eq.rewards.Entropy(int(size)), 100_000
    return world, eq.rewards.Quadratic([0.5, 0.7, 0.9]), int(steps or 1_000_000)


def measure(model: eq.Model, reward: eq.rewards.Reward, steps: int) -> dict[str, float]:
    """One run of the agent to start with, after a short one that compiles."""
    eq.simulate(model, eq.recommended(model.space, reward), 50, seed=SEED, progress=False)
    agent = eq.recommended(model.space, reward)
    began = time.process_time()
    run = eq.simulate(model, agent, steps, seed=SEED, progress=False)
    seconds = time.process_time() - began
    sweeps = float(np.sum(run.episodes["sweeps"].to_numpy()))
    return {"seconds": seconds, "plans": float(run.episodes.height), "sweeps": sweeps, "value": float(run.values[-1])}


def measured_in(folder: Path, name: str) -> dict[str, float]:
    """The same in a process of its own, with the sources of that checkout."""
    code = "import sys, json; from benchmarks.learning import *; print(json.dumps(measure(*problem(sys.argv[1]))))"
    paths = os.pathsep.join([str(folder / "src"), str(Path.cwd())])
    surroundings = {**os.environ, "PYTHONPATH": paths, "EQUIPOISE_QUIET": "1"}
    answer = subprocess.run(
        [sys.executable, "-c", code, name], env=surroundings, check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


def compared(before: Path, rounds: int = 3) -> None:
    """Print the headlines beside another checkout: the best of some rounds in turns, and whether runs are the same."""
    for name in HEADLINES:
        sides = {"before": before, "now": Path.cwd()}
        runs: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side, folder in sides.items():
                runs[side].append(measured_in(folder, name))
        old, new = (min(run["seconds"] for run in runs[side]) for side in sides)
        same = runs["before"][0]["value"] == runs["now"][0]["value"]
        print(
            f"{name:>14}: {old:8.3f} s before, {new:8.3f} s now, {old / new:6.2f} times, same run: {same}", flush=True
        )


def table() -> list[str]:
    """The headlines as a table of the page."""
    lines = [
        "| world | steps | s | steps/s | plans | sweeps a plan | memory, GB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in (*HEADLINES, LONGEST):
        model, reward, steps = problem(name)
        found = measure(model, reward, steps)
        speed, sweeps = steps / found["seconds"], found["sweeps"] / found["plans"]
        cells = [f"{steps:,}", f"{found['seconds']:.3g}", f"{speed:,.0f}", f"{found['plans']:,.0f}", f"{sweeps:.1f}"]
        lines.append(f"| {' '.join(name.split()[:2])} | {' | '.join(cells)} | {most_memory():.2f} |")
    return lines


def growing() -> list[Timing]:
    """Seconds of a run as each size grows, the others as in `BASE`."""
    rows: list[Timing] = []
    for what, sizes in GROWING.items():
        for size in sizes:
            shape = {**BASE, "steps": STEPS, what: size}
            model = eq.models.garnet(
                shape["n_states"], shape["n_actions"], shape["n_successors"], n_outcomes=shape["n_outcomes"], seed=SEED
            )
            reward = eq.rewards.Quadratic(np.linspace(0.5, 0.9, model.n_outcomes))
            seconds = measure(model, reward, shape["steps"])["seconds"]
            rows.append(Timing(SYMBOLS[what], "a run", size, seconds))
            print(rows[-1], flush=True)
            if seconds > LONG:
                break
    return rows


def section() -> str:
    """What stands on the page."""
    shape = ", ".join(f"{name} = {value:,}" for name, value in BASE.items())
    headlines = table()  # first, as the memory is the most that the process ever held
    grown = growing()
    write_figure(slopes(grown), FIGURE)
    return "\n".join(
        [
            "`python -m benchmarks.learning` measures the numbers below: `eq.recommended`, seconds of the processor, "
            "and the most that the process ever held.",
            "",
            *headlines,
            "",
            f"**What grows**, from a random world with {shape}, over {STEPS:,} steps: seconds of a run; slopes are "
            "log-log, fitted to the larger half of the sizes.",
            "",
            slope_table(grown),
            "",
            f"![Seconds of a run against S, K, A, successors and T](images/{FIGURE}.svg)",
        ]
    )


def report() -> list[tuple[str, str, str]]:
    """Rows for `make bench`: how the time of a step grows with the states, which are all visited in turn."""
    rows = []
    base = None
    for name in ("garnet 1000", "garnet 10000"):
        model, reward, _ = problem(name)
        seconds = measure(model, reward, 200_000)["seconds"]
        base = base or seconds
        rows.append(
            (f"learning, {name}: steps/s, and time over S = 1,000", f"{2e5 / seconds:,.0f}, {seconds / base:.1f}", "")
        )
    return rows


def main() -> None:
    """Measure, and write the page or print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout of the project to compare with")
    before = parser.parse_args().before
    if before is not None:
        compared(before)
    else:
        put("learning", section())


if __name__ == "__main__":
    main()
