"""How tight certificates are, what they cost, and how fast logs are taken in: writes docs/certificates.md.

    python -m benchmarks.certificates                    # to 10^6 steps, 5 seeds: a few minutes
    python -m benchmarks.certificates --long --seeds 3   # to 10^7 steps
    python -m benchmarks.certificates --steps 4 --seeds 1 --out /tmp/certificates.md   # a try

The problems are those of studies/leaderboard.toml, the agents TOC-UCRL2 with three kinds of regions, and all else as
the paper has it. At each of the times an agent is asked for its certificate, which costs a plan. True regret is the
optimum less what was achieved.
"""

from __future__ import annotations

import argparse
import copy
import multiprocessing
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from rich.progress import track

import equipoise as eq
from benchmarks.leaderboard import table
from equipoise._files import write_bytes
from equipoise.agents.certificate import Certificate
from equipoise.offline import solve, solve_knapsack
from equipoise.reports.numbers.format import count
from equipoise.rewards import Knapsack
from equipoise.studies import make_plan, read_study

STUDY: Final = Path(__file__).parents[1] / "studies" / "leaderboard.toml"
REGIONS: Final[Mapping[str, Callable[[], eq.confidence.Confidence]]] = {
    "Adaptive": eq.confidence.Adaptive,
    "EmpiricalBernstein": eq.confidence.EmpiricalBernstein,
    "Bernstein": eq.confidence.Bernstein,
}
BASE: Final = "Adaptive"
EFFORT_AT, EFFORT = 5, 20
COST_STEPS: Final = 10**6
LOG_STEPS: Final = 10**5  # of a run that is repeated to make a log
PARQUET_ROWS, LONG_ROWS, CSV_ROWS = 10**7, 10**8, 10**6
ROUNDING: Final = 1e-9
ROUNDS: Final = 11


@dataclass(frozen=True)
class Challenge:
    """A problem of the leaderboard, with its optimum as a function of the reward that is meant."""

    name: str
    model: eq.Model
    reward: eq.rewards.Reward

    def optimum(self, meant: eq.rewards.Reward) -> float:
        """The offline optimum."""
        if isinstance(meant, Knapsack):
            return solve_knapsack(self.model, meant.budget, progress=False).value
        return solve(self.model, meant, progress=False).value

    def agent(self, regions: eq.confidence.Confidence) -> eq.TocUCRL2:
        """As the leaderboard has it."""
        return eq.TocUCRL2(self.model.space, self.reward, confidence=regions)


@dataclass(frozen=True)
class Measured:
    """One certificate, and what is true."""

    problem: str
    regions: str
    decade: int
    certified: float
    true: float


@dataclass(frozen=True)
class Effort:
    """What more plans gained, in one run."""

    problem: str
    plain: float  # bound - optimum
    spent: float
    outcomes: float  # what the uncertainty about them adds to the bound
    transitions: float


def challenges() -> list[Challenge]:
    """All problems of the leaderboard."""
    plan = make_plan(read_study(STUDY), STUDY, ready=False)
    return [Challenge(problem.name, problem.model, problem.reward) for problem in plan.problems]


def tightness(problems: Sequence[Challenge], decades: Sequence[int], seeds: int) -> tuple[list[Measured], list[Effort]]:
    """Certified and true regret of all agents at all times, and what effort gains."""
    measured: list[Measured] = []
    efforts: list[Effort] = []
    cases = [(problem, name, seed) for problem in problems for name in REGIONS for seed in range(seeds)]
    optima: dict[str, float] = {}

    def optimum(problem: Challenge, certificate: Certificate) -> float:
        key = f"{problem.name}: {certificate.reward!r}"
        if key not in optima:
            optima[key] = problem.optimum(certificate.reward)
        return optima[key]

    for problem, name, seed in track(cases, "running", transient=True):
        agent = problem.agent(REGIONS[name]())
        for decade in decades:
            eq.simulate(problem.model, agent, 10**decade - (agent.t - 1), seed, progress=False)
            certificate = agent.certificate()
            best = optimum(problem, certificate)
            measured.append(
                Measured(problem.name, name, decade, certificate.regret_at_most, best - certificate.achieved)
            )
            if decade == EFFORT_AT and name == BASE:
                more = copy.deepcopy(agent).certificate(effort=EFFORT)
                efforts.append(_effort(problem.name, certificate, more, best))
    return measured, efforts


def _effort(problem: str, plain: Certificate, more: Certificate, best: float) -> Effort:
    from_transitions = pl.col("source") == "transitions"
    adds = [float(more.slack.filter(kind)["adds"].sum()) for kind in (~from_transitions, from_transitions)]
    return Effort(problem, plain.best_possible - best, more.best_possible - best, *adds)


def costs(problems: Sequence[Challenge]) -> list[tuple[str, float, float]]:
    """Seconds of the processor for a run with certificates and for the same without, in turns: medians."""
    rows = []
    for problem in track(problems, "timing", transient=True):

        def run(problem: Challenge = problem, proving: bool = True) -> object:
            regions = eq.confidence.Adaptive()
            if not proving:
                regions.caveat = "said not to be proven, so that no plan looks for a bound"
            return eq.simulate(problem.model, problem.agent(regions), COST_STEPS, 1, progress=False)

        seconds: list[tuple[float, float]] = []
        for _ in range(ROUNDS + 1):
            began = time.process_time()
            run()
            middle = time.process_time()
            run(proving=False)
            seconds.append((middle - began, time.process_time() - middle))
        with_proof, without = np.median(seconds[1:], axis=0)  # the first compiles
        rows.append((problem.name, float(with_proof), float(without)))
    return rows


@dataclass(frozen=True)
class Absorbed:
    """How a log was taken in: seconds, and by how many megabytes the memory of the process grew."""

    rows: int
    seconds: float
    megabytes: float


def absorption() -> tuple[Absorbed, Absorbed, Absorbed]:
    """A Parquet file, one of ten times the length, and a CSV file; each in a process of its own."""
    model, reward = eq.models.riverswim(6), eq.rewards.Linear([1.0])
    acting = eq.agents.baselines.StationaryAgent(model.space, reward)
    log = eq.simulate(model, acting, LOG_STEPS, trace=True, progress=False).trace
    assert log is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        for rows, name in ((PARQUET_ROWS, "log.parquet"), (LONG_ROWS, "long.parquet")):
            pl.concat([log.lazy()] * (rows // LOG_STEPS)).sink_parquet(path / name)
        pl.concat([log.lazy()] * (CSV_ROWS // LOG_STEPS)).sink_csv(path / "log.csv")
        names = ("log.parquet", "long.parquet", "log.csv")
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            first, second, third = pool.map(_absorb, [path / name for name in names], chunksize=1)
    return first, second, third


def _absorb(file: Path) -> Absorbed:
    model, reward = eq.models.riverswim(6), eq.rewards.Linear([1.0])
    row = {"state": [0], "action": [0], "pay": [0.0], "next_state": [0]}
    eq.recommended(model.space, reward).absorb(pl.DataFrame(row))  # compiles
    agent, before, began = eq.recommended(model.space, reward), _most_memory(), time.perf_counter()
    rows = agent.absorb(file)
    return Absorbed(rows, time.perf_counter() - began, _most_memory() - before)


def _most_memory() -> float:
    """The most that this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


# -- the page ----------------------------------------------------------------------------------------

PROSE: Final = """# Certificates

How much is still lost? An agent with proven confidence regions answers from what it saw alone.

```python
import equipoise as eq

model = eq.models.scheduler()  # a base station that serves one of three users a slot
reward = eq.rewards.ProportionalFairness(3, 0.05)
agent = eq.recommended(model.space, reward)
run = eq.simulate(model, agent, 100_000)
certificate = agent.certificate()  # print(certificate) says it in a sentence
lost = certificate.regret_at_most
print(f"achieved {certificate.achieved:.4f}, lost at most {lost:.4f}")
for row in certificate.slack.head(3).iter_rows(named=True):
    where = f"{row['state']}, {row['action']}: {row['source']}"
    print(f"{where}, {row['visits']:,} visits, adds {row['adds']:.4f}")
```

```text
achieved 0.5603, lost at most 0.0163
(0, 1, 1), serve user 1: transitions, 1,839 visits, adds 0.0013
(0, 0, 0), serve user 0: transitions, 6,502 visits, adds 0.0011
(1, 1, 0), serve user 1: transitions, 15,556 visits, adds 0.0011
```

A certificate bounds what *any* policy could reach in the long run (`best_possible`), and so what is lost at most by
what was achieved (`regret_at_most`). It uses neither the world nor its optimum, so it is there for a real system too.
`slack` lists the pairs and outcomes whose uncertainty holds the bound up, most first: where more data would help.
`prices` says what a little more of each outcome is worth. `run.certified` has `regret_at_most` at every checkpoint,
from the agent's own plans alone.

## Why it holds

For every θ and every policy, g(w) ≤ g\\*(θ) + (−θ)·w at the average outcomes w, where g\\*(θ) is the largest value of
g(w) + θ·w on the box. The largest long-run average of (−θ)·w in the true model is φ(θ). So the optimum is at most
g\\*(θ) + φ(θ): weak duality. The planner computes an optimistic gain for its θ, which is at least φ(θ) wherever the
region holds the truth. So every plan bounds the optimum by g\\*(θ) + gain; the least of all these bounds is kept, and
saved with the agent. `certificate(effort=20)` spends 20 plans more, each for a θ at which the bound may be lower. A
plan that runs out of sweeps (`Planner(limit=...)`) proves a bound too, and `loose` says how much of it may be the
planner's doing.

## What it says, and what not

- With probability 1 − δ all certificates of one agent hold, those of all times at once: one may look as often as one
  likes, and stop when one likes what one sees (`simulate(..., until=eq.Certified(regret=0.01))`).
- It is about the long-run optimum. The average of few steps may beat it by luck; then the certified regret may be
  below zero, and no less true.
- It says nothing about how far the agent's present policy is from the best, but about what was achieved so far on
  average.
- Under `Doubling` the mega-episodes share δ: the level is that of all of them together.
- Of a reward that changes with time (`Entropy` without a `mu`) the limit is meant, as in `solve` and in the values of a
  run. The θ of every step on the way bounds it.
- Regions that are not proven to hold the truth (`PosteriorSampling`, `Scaled`) prove nothing: `certificate()` says
  so, and studies leave the column `certified` empty. So do agents without regions, and those that maximise another
  reward than the problem's.
- With `Known` there is nothing to learn, and the certificate is certain.

## Logs

Regions hold whatever the policy was that made the visits. So a log of what anybody did proves something too: how good
any policy could be, and how far from that the log is.

```python
old = eq.agents.baselines.RoundRobin(model.space, reward)  # serves the users in turn
log = eq.simulate(model, old, 20_000, seed=1, trace=True).trace
proven = eq.certify(model.space, reward, log)
print(f"{proven.achieved:.4f} in {proven.t:,} steps", end="; ")
print(f"no policy reaches more than {proven.best_possible:.4f}")
agent = eq.recommended(model.space, reward)
rows = agent.absorb(log)
bound = agent.certificate(effort=20).best_possible
print(f"{rows:,} rows taken in; bound {bound:.3f}")
```

```text
0.4614 in 20,000 steps; no policy reaches more than 0.6175
20,000 rows taken in; bound 0.617
```

A log is a polars or pandas frame, or the path of a Parquet or CSV file, which is read piece by piece: one row a step,
with the columns `state`, `action`, one for each outcome, and `next_state`; labels or numbers. Without Python:

```bash
equipoise certify log.csv --reward '{kind = "TargetSquared", kpi = [0.9, 0.8]}'
```

- A row that cannot have happened (a label that is not there, an action that the state does not have, an outcome
  outside of [0, 1], an empty cell) is refused with its number, counted from 1 without the header. All such rows are
  counted, the first few named, and nothing is taken in.
- Leave out no rows because of what came of them, and give every row once. The regions are about visits as they come;
  a log that was filtered by its outcomes, or taken in twice, proves nothing. An agent has counted its own steps
  already. `absorb` refuses a log with the same rows as one before, in any order, unless you say that it is another
  one: `agent.absorb(log, again=True)`. It cannot notice logs that overlap in part.
- The order of the rows does not matter: only sums of outcomes are rounded in that order.
- Rows count as visits, and as time for regions that grow with it. The agent's average, θ, its threshold and its time
  stay its own.
- A gap in a real system (an outage, an intervention by hand) is no row: `agent.resume(state)` says where the system is
  now, and what happened in between is not counted.
- `eq.Model.estimate(log)` is the model of relative frequencies, which `eq.solve` takes. It has the states and actions
  that were tried, and no others: nothing is assumed of what was never tried. A log that enters a state in which nothing
  was done, as its last row may, is refused by the name of that state, since what follows there is unknown;
  `eq.confidence.intervals(space, log)` says how far from the truth each of its numbers may be.

`examples/log.py` has the whole way: the log of a base station's old rule, what it proves, and an agent that takes over
with the log and without. With it, more is proven from the first step on.

![What is lost at most, proven by an agent with the log of the old rule and by one without](images/log.png)

## In studies

`load_results` has the column `certified`. `equipoise.studies.steps_until_certified(frame, 0.01)` has for each run the
first checkpoint at which at most so much was certified to be lost, and the one from which on that stayed so. Reports
draw certified beside measured regret, and compare agents by the latter; see [Studies](studies.md).
"""


def short(x: float) -> str:
    """To two digits; nothing but rounding is zero."""
    return "0" if abs(x) < ROUNDING else f"{x:.2g}"


def tight_table(measured: Sequence[Measured], regions: str, decades: Sequence[int]) -> str:
    """Of one kind of regions: certified / true, problem by problem."""
    found: dict[tuple[str, int], list[Measured]] = {}
    for one in measured:
        if one.regions == regions:
            found.setdefault((one.problem, one.decade), []).append(one)

    def cell(problem: str, decade: int) -> str:
        runs = found.get((problem, decade), [])
        if not runs:
            return ""
        return " / ".join(short(float(np.mean(x))) for x in ([r.certified for r in runs], [r.true for r in runs]))

    names = dict.fromkeys(problem for problem, _ in found)
    rows = [[problem, *(cell(problem, decade) for decade in decades)] for problem in names]
    return table(["problem", *(f"{10**decade:,}" for decade in decades)], rows)


def effort_table(efforts: Sequence[Effort]) -> str:
    """Problem by problem, means over seeds."""
    rows = []
    for problem in dict.fromkeys(one.problem for one in efforts):
        runs = [one for one in efforts if one.problem == problem]
        plain, spent, outcomes, transitions = (
            float(np.mean([getattr(run, name) for run in runs]))
            for name in ("plain", "spent", "outcomes", "transitions")
        )
        total = outcomes + transitions
        shares = [f"{part / total:.0%}" if total > ROUNDING else "–" for part in (outcomes, transitions)]
        rows.append([problem, short(plain), short(spent), *shares])
    return table(["problem", "effort 0", f"effort {EFFORT}", "from outcomes", "from transitions"], rows)


def cost_table(rows: Sequence[tuple[str, float, float]]) -> str:
    """Problem by problem."""
    return table(
        ["problem", "with, s", "without, s", "ratio"],
        [[name, f"{one:.3f}", f"{other:.3f}", f"{one / other:.3f}"] for name, one, other in rows],
    )


def page(decades: Sequence[int], seeds: int) -> str:
    """All of it."""
    problems = challenges()
    measured, efforts = tightness(problems, decades, seeds)
    timed = costs(problems)
    parquet, long, comma = absorption()
    wrong = [one for one in measured if one.certified < one.true - ROUNDING]
    ratio = sum(one for _, one, _ in timed) / sum(other for _, _, other in timed)
    regions = "\n".join(f"### `{name}`\n\n{tight_table(measured, name, decades)}" for name in REGIONS)
    return f"""{PROSE}
## How tight it is

Certified / true regret after so many steps, means over {count(seeds, "seed")}, δ = 0.05: the problems of the
[leaderboard](leaderboard.md), TOC-UCRL2 with three kinds of regions, all else the paper's. `Bernstein` are the
paper's regions. Each certificate is that of `agent.certificate()`, which costs one plan. Of {len(measured):,}
certificates {len(wrong)} were below the truth. `make certificates` measures all numbers of this page
(Equipoise {eq.__version__}).

{regions}
## What effort gains

The bound on the optimum less the optimum after {10**EFFORT_AT:,} steps with `{BASE}` regions: by the agent's own plans
and one more (effort 0), and with {EFFORT} plans more. Then which part of what uncertainty adds to the bound is about
outcomes, and which about transitions (`Certificate.slack`); – where nothing is uncertain that the plan leads to. A
linear reward has one θ, so effort gains nothing there.

{effort_table(efforts)}
## What it costs

Seconds of the processor for {COST_STEPS:,} steps with `{BASE}` regions, with certificates at every checkpoint and
without, in turns in one process: medians of {ROUNDS}. All problems together: {ratio:.3f} times as long.

{cost_table(timed)}
## Logs, measured

Taking in a log of RiverSwim-6: {parquet.rows:,} rows of a Parquet file in {parquet.seconds:.1f} s, {long.rows:,} in
{long.seconds:.1f} s, {comma.rows:,} rows of a CSV file in {comma.seconds:.1f} s. The process grew by
{parquet.megabytes:.0f} MB for the first and by {long.megabytes:.0f} MB for the second: a file is read piece by piece,
however long it is. Measured with Python {platform.python_version()} on a machine of {os.cpu_count()} cores.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="to 10^7 steps")
    parser.add_argument("--steps", type=int, metavar="DECADES", help="to 10^DECADES steps instead of 10^6")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("docs/certificates.md"))
    options = parser.parse_args()
    last = options.steps or (7 if options.long else 6)
    began = time.perf_counter()
    write_bytes(options.out, page(range(3, last + 1), options.seeds).encode())
    print(f"{options.out}: {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
