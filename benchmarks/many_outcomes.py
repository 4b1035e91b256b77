"""What many outcomes cost that are unknown and nearly all zero: kept in arrays, and by what was seen.

    python -m benchmarks.many_outcomes        a table of docs/performance.md

A random world with 10,000 states, 4 actions and 5 successors, of whose outcomes each pair has two: that of a shop with
many articles, or a map with many places. Both agents take the same steps. Each runs in a process of its own, as the
memory is the most that the process ever held; times are seconds of the processor, one thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Final

import numpy as np
from scipy.sparse import csr_array

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.pages import put
from benchmarks.solving import most_memory

STATES: Final = 10_000
STEPS: Final = 100_000
SIZES: Final = (100, 1000, 10_000)
IN_ARRAYS: Final = 1000  # with more outcomes than that, arrays take more than 8 GB
WAYS: Final = ("arrays", "seen")


def problem(n_outcomes: int, n_states: int = STATES) -> tuple[eq.Model, eq.rewards.Reward]:
    """The world, and targets a little above what a policy that does not care reaches."""
    base, rng = eq.models.garnet(n_states, 4, 5, n_outcomes=1, seed=1), np.random.default_rng(1)
    pairs = np.repeat(np.arange(base.n_pairs), 2)
    places = (pairs, rng.integers(0, n_outcomes, pairs.size))
    means = csr_array((rng.uniform(0.2, 0.5, pairs.size), places), shape=(base.n_pairs, n_outcomes))
    world = eq.Model.from_sparse(base.first_pair, base.transitions(), means, noise="none")
    return world, eq.rewards.TargetSquared(np.full(n_outcomes, min(1.0, 1.0 / n_outcomes)))


def space_for(model: eq.Model, way: str) -> eq.Space:
    """What an agent is told, so that it keeps outcomes in that way."""
    return eq.Space(model.n_actions, model.n_outcomes, model.start, sparse_outcomes=way == "seen")


def measure(n_outcomes: int, way: str, steps: int = STEPS, n_states: int = STATES) -> dict[str, float]:
    """A run, after a short one that compiles."""
    model, reward = problem(n_outcomes, n_states)
    space = space_for(model, way)
    eq.simulate(model, eq.recommended(space, reward), 50, seed=1, progress=False)
    agent = eq.recommended(space, reward)
    began = time.process_time()
    run = eq.simulate(model, agent, steps, seed=1, progress=False)
    seconds = time.process_time() - began
    return {"seconds": seconds, "memory": most_memory(), "value": float(run.values[-1])}


def apart(n_outcomes: int, way: str) -> dict[str, float]:
    """The same in a process of its own."""
    code = (
        "import sys, json; from benchmarks.many_outcomes import measure; "
        "print(json.dumps(measure(int(sys.argv[1]), sys.argv[2])))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, str(n_outcomes), way], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


def rows() -> list[list[str]]:
    """One for each number of outcomes; what would take more than 8 GB is not tried."""
    found = []
    for n_outcomes in SIZES:
        ways = {way: apart(n_outcomes, way) for way in WAYS if way == "seen" or n_outcomes <= IN_ARRAYS}
        if len({run["value"] for run in ways.values()}) != 1:
            raise SystemExit(f"{n_outcomes} outcomes: the two agents did not take the same steps")
        cells = [f"{n_outcomes:,}"]
        for way in WAYS:
            cells += [f"{ways[way]['seconds']:.3g}", f"{ways[way]['memory']:.2f}"] if way in ways else ["", ""]
        print(cells, flush=True)
        found.append(cells)
    return found


def report() -> list[tuple[str, str, str]]:
    """A row for `make bench`."""
    arrays, seen = (measure(300, way, 20_000, 3000)["seconds"] for way in WAYS)
    return [("K = 300, nearly all zero and unknown: arrays over what was seen", f"{arrays / seen:.1f}", ">= 3")]


def main() -> None:
    """Measure, and write the page."""
    head = ["K", "in arrays, s", "memory, GB", "by what was seen, s", "memory, GB"]
    put("many outcomes", table(head, rows()))


if __name__ == "__main__":
    main()
