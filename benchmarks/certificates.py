"""How tight certificates are, what they cost, and how fast logs are taken in: writes docs/certificates.md.

    python -m benchmarks.certificates                    # to 10^6 steps, 5 seeds: a few minutes
    python -m benchmarks.certificates --long --seeds 3   # to 10^7 steps
    python -m benchmarks.certificates --steps 4 --seeds 1 --out /tmp/certificates.md   # a try

The problems are those of studies/leaderboard.toml, the agents TOC-UCRL2 with three kinds of regions, and all else as
the paper has it. At each of the times an agent is asked for its certificate, which costs a plan. True regret is the
optimum less what was achieved; of a reward that changes with time, of the reward in force.
"""

from __future__ import annotations

import argparse
import copy
import os
import platform
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
from equipoise.reports.numbers.written import count
from equipoise.rewards import Knapsack
from equipoise.studies import make_plan, read_study

STUDY: Final = Path(__file__).parents[1] / "studies" / "leaderboard.toml"
REGIONS: Final[Mapping[str, Callable[[], eq.confidence.Confidence]]] = {
    "Adaptive": eq.confidence.Adaptive,
    "EmpiricalBernstein": eq.confidence.EmpiricalBernstein,
    "Bernstein": eq.confidence.Bernstein,
}
BASE: Final = "Adaptive"
SHORTER: Final = {"patrol": 6}  # decades: its reward moves theta at every step, so it plans often
EFFORT_AT, EFFORT = 5, 20
COST_STEPS: Final = 10**6
LOG_STEPS: Final = 10**5  # of a run that is repeated to make a log
PARQUET_ROWS, CSV_ROWS = 10**7, 10**6
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
            if decade > SHORTER.get(problem.name, decade):
                break
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
        if problem.reward.kernels.lipschitz is not None:  # it changes with time: its plans prove nothing
            continue

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


def absorption() -> tuple[float, float]:
    """Seconds to take in a Parquet file, and a CSV file."""
    model, reward = eq.models.riverswim(6), eq.rewards.Linear([1.0])
    acting = eq.agents.baselines.StationaryAgent(model.space, reward)
    log = eq.simulate(model, acting, LOG_STEPS, trace=True, progress=False).trace
    assert log is not None
    eq.recommended(model.space, reward).absorb(log)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "log.parquet", Path(folder) / "log.csv"
        pl.concat([log] * (PARQUET_ROWS // LOG_STEPS)).write_parquet(files[0])
        pl.concat([log] * (CSV_ROWS // LOG_STEPS)).write_csv(files[1])
        seconds = []
        for file in files:
            agent = eq.recommended(model.space, reward)
            began = time.perf_counter()
            agent.absorb(file)
            seconds.append(time.perf_counter() - began)
    return seconds[0], seconds[1]


# -- the page ----------------------------------------------------------------------------------------

PROSE: Final = """# Certificates

How much is still lost? An agent with proven confidence regions answers from what it saw alone.

```python
import equipoise as eq

model = eq.models.star(branches=3, diameter=4)
agent = eq.recommended(model.space, eq.rewards.Quadratic([1 / 3] * 3))
run = eq.simulate(model, agent, 10_000)
print(agent.certificate())  # ... no policy reaches more than ...; at most ... is lost
run.certified  # the same at every checkpoint
```

A certificate bounds what *any* policy could reach in the long run (`best_possible`), and so what is lost at most by
what was achieved (`regret_at_most`). It uses neither the world nor its optimum, so it is there for a real system too.
`slack` lists the pairs and outcomes whose uncertainty holds the bound up, most first: where more data would help.

## Why it holds

For every θ and every policy, g(w) ≤ g\\*(θ) + (−θ)·w at the average outcomes w, where g\\*(θ) is the largest value of
g(w) + θ·w on the box. The largest long-run average of (−θ)·w in the true model is φ(θ). So the optimum is at most
g\\*(θ) + φ(θ): weak duality. The planner computes an optimistic gain for its θ, which is at least φ(θ) wherever the
region holds the truth. So every plan bounds the optimum by g\\*(θ) + gain; the least of all these bounds is kept, and
saved with the agent. `certificate(effort=20)` spends 20 plans more, each for a θ at which the bound may be lower.

## What it says, and what not

- With probability 1 − δ all certificates of one agent hold, those of all times at once: one may look as often as one
  likes, and stop when one likes what one sees (`simulate(..., until=eq.Certified(regret=0.01))`).
- It is about the long-run optimum. The average of few steps may beat it by luck; then the certified regret may be
  below zero, and no less true.
- It says nothing about how far the agent's present policy is from the best, but about what was achieved so far on
  average.
- Under `Doubling` the mega-episodes share δ: the level is that of all of them together.
- Of a reward that changes with time the one in force is meant, and only the present plan counts. Studies record none
  then.
- Regions that are not proven to hold the truth (`PosteriorSampling`, `Scaled`) prove nothing: `certificate()` says
  so, and studies leave the column `certified` empty. So do agents without regions, and those that maximise another
  reward than the problem's.
- With `Known` there is nothing to learn, and the certificate is certain.

## Logs

Regions hold whatever the policy was that made the visits. `agent.absorb(log)` counts the rows of a log as visits, and
the certificate that follows uses them. `eq.certify(space, reward, log)` certifies a log alone: `achieved` is then the
value of what was done.

`examples/log.py` has the whole way: the log of a base station's old rule, what it proves, and an agent that takes over
with the log and without. With it, more is proven from the first step on.

![What is lost at most, proven by an agent with the log of the old rule and by one without](images/log.png)

## In studies

`load_results` has the column `certified`. `equipoise.studies.steps_until_certified(frame, 0.01)` has for each run the
first checkpoint at which at most so much was certified to be lost, and the one from which on that stayed so. Reports
draw certified beside measured regret, and compare agents by these steps; see [Studies](studies.md).
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
    parquet, comma = absorption()
    wrong = [one for one in measured if one.certified < one.true - ROUNDING]
    ratio = sum(one for _, one, _ in timed) / sum(other for _, _, other in timed)
    regions = "\n".join(f"### `{name}`\n\n{tight_table(measured, name, decades)}" for name in REGIONS)
    shorter = ", ".join(f"{name} to {10**last:,}" for name, last in SHORTER.items() if last < decades[-1])
    more = f" ({shorter} steps)" if shorter else ""
    return f"""{PROSE}
## How tight it is

Certified / true regret after so many steps, means over {count(seeds, "seed")}, δ = 0.05: the problems of the
[leaderboard](leaderboard.md), TOC-UCRL2 with three kinds of regions, all else the paper's{more}. `Bernstein` are the
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

Taking in a log of RiverSwim-6: {PARQUET_ROWS:,} rows of a Parquet file in {parquet:.1f} s, {CSV_ROWS:,} rows of a CSV
file in {comma:.1f} s. Measured with Python {platform.python_version()} on a machine of {os.cpu_count()} cores.
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
