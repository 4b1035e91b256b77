"""The race: learners of `statisticalrl-learners` on problems read from a file. Runs in the peers' own environment.

For each problem, learner and seed: the cumulative regret, t * gain - (rewards received so far), at the powers of ten
from 1000 on and at the last step, and the time. One run is sampled from one seed; the learner draws from numpy's global
generator, seeded the same. A run that raises, or takes longer than the limit, is written down as such with the
checkpoints that it reached. Runs that the results already hold are not done again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, Final, Protocol

import numpy as np
from statisticalrl_learners.Generic.Qlearning import Qlearning
from statisticalrl_learners.MDPs_discrete.IMED_RL import IMEDRL
from statisticalrl_learners.MDPs_discrete.KLUCRL import KLUCRL
from statisticalrl_learners.MDPs_discrete.MED_RL import MEDRL
from statisticalrl_learners.MDPs_discrete.PSRL import PSRL
from statisticalrl_learners.MDPs_discrete.UCRL2 import UCRL2, UCRL2_bis
from statisticalrl_learners.MDPs_discrete.UCRL2B import UCRL2B
from statisticalrl_learners.MDPs_discrete.UCRL3 import UCRL3, UCRL3_lazy

DELTA: Final = 0.05
PEER: Final = f"statisticalrl-learners {version('statisticalrl-learners')}"
BLOCK: Final = 4096  # steps whose uniform numbers are drawn at once


class Learner(Protocol):
    """What the package asks of a learner."""

    def reset(self, inistate: int) -> None:
        """Forget everything and begin in this state."""

    def play(self, state: int) -> int:
        """Choose an action."""

    def update(self, state: int, action: int, reward: float, observation: int) -> None:
        """Take in what came of it; `observation` is the next state."""


LEARNERS: Final[dict[str, Callable[[int, int], Learner]]] = {
    "UCRL3": lambda S, A: UCRL3(S, A, DELTA),
    "PSRL": lambda S, A: PSRL(S, A, DELTA),
    "UCRL2": lambda S, A: UCRL2(S, A, DELTA),
    "UCRL2B": lambda S, A: UCRL2B(S, A, DELTA),
    "KL-UCRL": lambda S, A: KLUCRL(S, A, DELTA),
    "IMED-RL": lambda S, A: IMEDRL(S, A),
    "MED-RL": lambda S, A: MEDRL(S, A),
    "UCRL2.2": lambda S, A: UCRL2_bis(S, A, DELTA),
    "UCRL3-lazy": lambda S, A: UCRL3_lazy(S, A, DELTA),
    "QLearning": lambda S, A: Qlearning(S, A),
}


@dataclass
class Record:
    """One run: `status` is done, limit or failed, and `error` what it failed with."""

    problem: str
    learner: str
    seed: int
    steps: int
    gain: float
    peer: str
    limit: float
    checkpoints: list[int] = field(default_factory=list)
    regret: list[float] = field(default_factory=list)
    steps_done: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    status: str = "done"
    error: str = ""

    def key(self) -> tuple[str, str, int, int, float, str]:
        """What tells one run from another."""
        return self.problem, self.learner, self.seed, self.steps, round(self.gain, 9), self.peer


class OverLimitError(Exception):
    """A run took too long."""


def over_limit(_signal: int, _frame: FrameType | None) -> None:
    raise OverLimitError


def milestones(steps: int) -> list[int]:
    return sorted({10**k for k in range(3, 19) if 10**k <= steps} | {steps})


def drive(record: Record, problem: dict[str, Any]) -> None:
    """Let the learner act for `record.steps` steps; what it comes to is written into the record on the way."""
    cumulative = np.cumsum(np.array(problem["transitions"]), axis=2)
    cumulative[:, :, -1] = 1.0
    rows: list[list[list[float]]] = cumulative.tolist()
    means: list[list[float]] = problem["rewards"]
    rng = np.random.default_rng(record.seed)
    np.random.seed(record.seed)  # noqa: NPY002 -- the learners draw from the global generator
    learner = LEARNERS[record.learner](cumulative.shape[0], cumulative.shape[1])
    ahead = milestones(record.steps)
    state, earned = int(problem["start"]), 0.0
    learner.reset(state)
    while record.steps_done < record.steps:
        for move, draw in rng.random((min(BLOCK, record.steps - record.steps_done), 2)).tolist():
            action = int(learner.play(state))
            reward = 1.0 if draw < means[state][action] else 0.0
            following = bisect_right(rows[state][action], move)
            learner.update(state, action, reward, following)
            state = following
            earned += reward
            record.steps_done += 1
            if record.steps_done == ahead[0]:
                record.checkpoints.append(ahead.pop(0))
                record.regret.append(record.steps_done * record.gain - earned)


def perform(record: Record, problem: dict[str, Any]) -> Record:
    """One run in a process of its own, ended by a timer when it is over the limit."""
    wall, cpu = time.perf_counter(), time.process_time()
    signal.signal(signal.SIGALRM, over_limit)
    try:
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            signal.setitimer(signal.ITIMER_REAL, record.limit, 1.0)
            try:
                drive(record, problem)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
    except OverLimitError:
        record.status = "limit"
    except Exception as error:  # whatever a peer raises is a result
        record.status, record.error = "failed", f"{type(error).__name__}: {error}"
    record.seconds, record.cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return record


def stored(path: Path) -> list[Record]:
    if not path.exists():
        return []
    try:
        return [Record(**run) for run in json.loads(path.read_text())["runs"]]
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path}: not the results of a race ({error}); move it away or choose another file") from None


def store(path: Path, records: Iterable[Record]) -> None:
    """Write the results whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps({"runs": [asdict(record) for record in records]}, indent=1))
    partial.replace(path)


def settled(record: Record, limit: float) -> bool:
    """Whether another try would say nothing new."""
    return record.status == "done" or (record.status == "limit" and record.limit >= limit)


def told(record: Record) -> str:
    what = f"{record.problem} {record.learner} seed {record.seed}: {record.status}"
    last = f", regret {record.regret[-1]:.1f} at {record.checkpoints[-1]}" if record.regret else ""
    return f"{what}{last}, {record.steps_done} steps in {record.seconds:.1f} s {record.error}".rstrip()


def race(problems: Sequence[dict[str, Any]], options: argparse.Namespace) -> None:
    """Do the runs that are missing and keep every result as it comes; seeds in turn, so that a cut race is balanced."""
    records = {record.key(): record for record in stored(options.out)}
    missing: list[tuple[Record, dict[str, Any]]] = []
    for seed in range(options.seeds):
        for problem in problems:
            for learner in options.learners:
                new = Record(problem["name"], learner, seed, options.steps, problem["gain"], PEER, options.limit)
                old = records.get(new.key())
                if old is None or not settled(old, options.limit):
                    missing.append((new, problem))
    with ProcessPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(perform, record, problem): record for record, problem in missing}
        for number, future in enumerate(as_completed(futures), 1):
            record = futures[future]
            try:
                record = future.result()
            except Exception as error:  # its process died
                record.status, record.error = "failed", f"{type(error).__name__}: {error}"
            records[record.key()] = record
            store(options.out, records.values())
            print(f"{number}/{len(missing)} {told(record)}", file=sys.stderr, flush=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Race learners on the problems of a file.")
    parser.add_argument("file", type=Path, help="the problems, as benchmarks/peers/problems.py writes them")
    parser.add_argument("out", type=Path, help="where the results are kept")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=10, help="how many, from 0 on")
    parser.add_argument("--learners", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--problems", nargs="+", help="names in the file; all by default")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one run")
    options = parser.parse_args()
    for name in ("steps", "seeds", "jobs", "limit"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name}: got {getattr(options, name)}; more than 0 is needed")
    return options


def main() -> None:
    options = parsed()
    problems = {problem["name"]: problem for problem in json.loads(options.file.read_text())}
    names = options.problems or list(problems)
    for name in names:
        if name not in problems:
            raise SystemExit(f"--problems: {name} is not in {options.file}; it has {', '.join(problems)}")
    race([problems[name] for name in names], options)


if __name__ == "__main__":
    main()
