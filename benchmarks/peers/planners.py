"""Planning with the model known beside other packages: writes the table of docs/performance.md.

    python -m benchmarks.peers.planners          # some minutes; an environment of their own is made on the first run

What is compared: the largest average of the first outcome, a linear reward. `eq.solve` proves its answer to 1e-6 and
the seconds include that. mdpsolver plans for the average; QuantEcon's DiscreteDP for a discount of 1 - 10^-4, as it
has no averages; both to 1e-6 of an average, and what their policies earn is worked out here. Storm is the referee: its
long-run averages are computed by other people's code from a file, and so is the one with a constraint.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.pages import put
from benchmarks.peers.__main__ import ONE_THREAD, interpreter
from equipoise.offline.chains import policy_ends

REQUIREMENTS: Final = ("mdpsolver==0.10.2", "quantecon==0.11.4", "stormpy==2.0.0", "scipy")
FLOOR: Final = 0.6  # as in planning_race
STORM_UP_TO: Final = 10_000  # states: it is handed a world as a text file
LIMIT: Final = 100.0  # seconds for one peer on one world
HEAD: Final = (
    "world", "S", "solve, s", "mdpsolver, s", "its loss", "DiscreteDP, s", "its loss", "Storm, s", "off",
    "constrained: solve, s", "Storm, s", "off",
)  # fmt: skip


def worlds(largest: int) -> dict[str, eq.Model]:
    """Random ones, and some that mix slowly."""
    found = {f"random, {n:,}": eq.models.garnet(n, 4, 5, 3, seed=1) for n in (1000, 10_000, 100_000) if n <= largest}
    found["queue of two classes"] = eq.models.queue(room=30)
    found["grid of 30 x 30"] = eq.models.grid(30, 30, goals=[(0, 29), (29, 0), (29, 29)])
    found["riverswim(200)"] = eq.models.riverswim(200)
    return found


def asked(python: Path, peer: str, model: eq.Model, folder: Path) -> dict[str, Any] | str:
    """What a peer says of a world; or why not."""
    world, answer = folder / "world.npz", folder / "answer.npz"
    arrays = {name: getattr(model, name) for name in ("first_pair", "means", "start")}
    arrays |= {f"transition_{name}": getattr(model, f"transition_{name}") for name in ("first", "state", "probability")}
    np.savez(world, **arrays)
    command: list[str | Path] = [
        python,
        "-W",
        "ignore",
        Path(__file__).with_name("planning_race.py"),
        peer,
        world,
        answer,
    ]
    try:
        done = subprocess.run(
            command, env=dict(os.environ) | ONE_THREAD, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"> {LIMIT:.0f}"
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return "failed"
    said: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if answer.exists():
        with np.load(answer) as kept:
            said["policy"] = kept["policy"]
        answer.unlink()
    return said


def ours(model: eq.Model, reward: eq.rewards.Reward) -> tuple[float, eq.Benchmark]:
    """The best of three, and the answer, which must be proven."""
    seconds = []
    for _ in range(3):
        began = time.process_time()
        best = eq.solve(model, reward, progress=False)
        seconds.append(time.process_time() - began)
    if best.status != "optimal":
        raise SystemExit(f"{model}: {best.status}")
    return min(seconds), best


def loss(model: eq.Model, actions: np.ndarray[Any, np.dtype[np.int64]], best: eq.Benchmark) -> float:
    """What the policy of a peer earns less than the optimum, in the worst of its recurrent classes."""
    ends = policy_ends(model, model.first_pair[:-1] + actions)
    return best.value - min(float(model.means[:, 0] @ x) for _, x in ends)


def rows(python: Path, largest: int) -> Iterator[list[str]]:
    """One a world."""
    for name, model in worlds(largest).items():
        first = eq.rewards.Linear(np.eye(model.n_outcomes)[0])
        seconds, best = ours(model, first)
        row = [name, f"{model.n_states:,}", f"{seconds:.3g}"]
        with tempfile.TemporaryDirectory() as folder:
            for peer in ("mdpsolver", "quantecon"):
                said = asked(python, peer, model, Path(folder))
                row += (
                    [said, ""]
                    if isinstance(said, str)
                    else [f"{said['seconds']:.3g}", f"{max(0.0, loss(model, said['policy'], best)):.0e}"]
                )
            row += _refereed(python, model, best, Path(folder)) if model.n_states <= STORM_UP_TO else [""] * 5
        print(row, flush=True)
        yield row


def _refereed(python: Path, model: eq.Model, best: eq.Benchmark, folder: Path) -> list[str]:
    """Storm's value beside ours, and the same with a constraint."""
    cells = _judged(asked(python, "storm", model, folder), best)
    if model.n_outcomes == 1:
        return [*cells, "", "", ""]
    floor = eq.rewards.at_least(1, FLOOR, model)
    seconds, constrained = ours(model, eq.rewards.Constrained(best.reward, [floor], price=1.0))
    return [*cells, f"{seconds:.3g}", *_judged(asked(python, "storm with a floor", model, folder), constrained)]


def _judged(said: dict[str, Any] | str, best: eq.Benchmark) -> list[str]:
    """Its seconds, and by how much its value is another than ours."""
    return [said, ""] if isinstance(said, str) else [f"{said['seconds']:.3g}", f"{abs(said['value'] - best.value):.0e}"]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.planners", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--venv", type=Path, default=Path("out/planners/venv"), help="the peers' environment")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to make it with")
    parser.add_argument("--largest", type=float, default=1e5, help="states, at most")
    parser.add_argument("--out", type=Path, help="the page to write; docs/performance.md by default")
    chosen = parser.parse_args()
    python = interpreter(chosen.venv, chosen.python, REQUIREMENTS)
    ours(eq.models.garnet(60, 4, 5, 3), eq.rewards.Linear([1.0, 0.0, 0.0]))  # compiled before the clock starts
    put("planners", table(HEAD, list(rows(python, int(chosen.largest)))), out=chosen.out)


if __name__ == "__main__":
    main()
