"""Regret and violations of agents with constraints: writes the measured parts of docs/constraints.md.

    python -m benchmarks.constraints                              # the whole study: 10 seeds, 10^6 steps
    python -m benchmarks.constraints --steps 10000 --seeds 2 --out /tmp/constraints.md     # a try
    python -m benchmarks.constraints --part agents                # agents that need no price, 10 seeds, 10^5 steps

The study is studies/constraints.toml; its results are kept in out/constraints, so that it can be interrupted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.pages import put
from equipoise._files import write_bytes
from equipoise.rewards import Constrained, Constraint, Linear, ProportionalFairness, at_least, at_most
from equipoise.studies import open_results, read_study, run_study
from equipoise.studies.results import ProblemRecord
from equipoise.studies.spec import override

ROOT: Final = Path(__file__).parents[1]
STUDY: Final = ROOT / "studies" / "constraints.toml"
PAGE: Final = ROOT / "docs" / "constraints.md"
MARK: Final = "## Measured\n"
TIMES: Final = (10_000, 100_000, 1_000_000)
PENALTY_STEPS: Final = 100_000
PENALTY_SEEDS: Final = 5
AGENT_STEPS: Final = 100_000
AGENT_SEEDS: Final = 10
EFFORT: Final = 3  # more plans for a certificate


def multipliers(problems: tuple[ProblemRecord, ...]) -> str:
    """What each constraint costs at the optimum."""
    rows = [
        [record.name, name, f"{price:g}", f"{record.optimum.multipliers[name]:.3f}", f"{record.optimum.value:.4f}"]
        for record in problems
        if record.optimum is not None
        for name, price in zip(record.constraints, record.prices, strict=True)
    ]
    return table(["problem", "constraint", "price", "multiplier", "optimum"], rows, names=2)


def losses(frame: pl.DataFrame, problems: tuple[ProblemRecord, ...]) -> str:
    """Mean regret, and mean violation of each constraint, of each agent on each problem."""
    times = [t for t in TIMES if t in set(frame["t"].to_list())]
    rows: list[list[str]] = []
    for record in problems:
        part = frame.filter(pl.col("problem") == record.name)
        for agent in part["agent"].unique(maintain_order=True).to_list():
            own = part.filter(pl.col("agent") == agent)
            rows.append([record.name, agent, "regret", *(_mean(own, t, pl.col("regret")) for t in times)])
            for j, name in enumerate(record.constraints):
                entry = pl.col("violations").list.get(j)
                rows.append(["", "", name, *(_mean(own, t, entry) for t in times)])
    return table(["problem", "agent", "what", *(f"{t:,}" for t in times)], rows, names=3)


def _mean(rows: pl.DataFrame, t: int, what: pl.Expr) -> str:
    return _spread(rows.filter(pl.col("t") == t).select(what.alias("x"))["x"].to_numpy())


def _with_price(model: eq.Model, goal: Constrained) -> eq.TocUCRL2:
    """The paper's agent on the penalised reward, with regions that fit the data."""
    oracle = eq.oracles.choice.fitting_oracle(goal, inherit=True)
    planner = eq.planning.Planner(warm_start="visits")
    return eq.TocUCRL2(model.space, goal, oracle, confidence=eq.confidence.Adaptive(), planner=planner)


def penalties() -> str:
    """The shop at several prices and smoothings: what is lost, what is violated, what is certified, and how long."""
    model = eq.models.inventory()
    floors = [at_least("fill rate", 0.9, model), at_least("few orders", 0.75, model)]
    goal = Constrained(Linear([0.0, 1.0, 0.0]), floors, price=1.0)
    best = eq.solve(model, goal)
    rows: list[list[str]] = []
    for price in (0.6, 1.6, 8.0):
        for smoothing in (0.0, 0.002, 0.01, 0.05):
            made = goal.at_prices(price, smoothing)
            runs, seconds = [], 0.0
            for seed in range(PENALTY_SEEDS):
                agent = _with_price(model, made)
                began = time.process_time()
                runs.append(eq.simulate(model, agent, PENALTY_STEPS, seed=seed, progress=False))
                seconds += time.process_time() - began
            lost = np.mean([run.regret(best)[-1] for run in runs])
            lacking = [np.mean([run.violations[name][-1] for run in runs]) for name in made.names]
            proven = np.mean([run.certified[-1] for run in runs])
            left = max(made.violation_at_most(best.multipliers).values())
            numbers = [lost, *lacking, proven]
            rows.append(
                [
                    f"{price:g}, {smoothing:g}",
                    type(agent.oracle).__name__,
                    *(f"{number:.4f}" for number in numbers),
                    "no bound" if np.isinf(left) else f"{left:.4f}",
                    f"{seconds / PENALTY_SEEDS:.1f}",
                ]
            )
    head = ["price, smoothing", "oracle", "regret", *goal.names, "certified", "violation at the optimum, at most", "s"]
    return table(head, rows)


def problems() -> dict[str, tuple[eq.Model, Constrained]]:
    """Those of the study, and bike sharing, for which half a kilometre per slot is a sixth of the longest distance."""
    shop, cell, city = eq.models.inventory(), eq.models.scheduler(), eq.models.bike_sharing()
    floors = [at_least("fill rate", 0.9, shop), at_least("few orders", 0.75, shop)]
    users = [at_least(f"rate of user {k}", 0.15, cell) for k in range(3)]
    fair = [Constraint(ProportionalFairness(3, eps=0.05), 0.54, "proportional fairness")]
    limit = [at_most("transport", 0.5 / 3, city, "transport at most 0.5 km")]
    return {
        "shop": (shop, Constrained(Linear([0.0, 1.0, 0.0]), floors, 1.6)),
        "floors": (cell, Constrained(Linear([1.0, 1.0, 1.0]), users, 2.0)),
        "fair": (cell, Constrained(Linear([1.0, 1.0, 1.0]), fair, 3.2)),
        "bikes": (city, Constrained(Linear([0.5, 0.5, 0.0]), limit)),
    }


Make = Callable[[eq.Model, Constrained, int], eq.Agent]


def _toc(model: eq.Model, goal: Constrained, seed: int) -> eq.Agent:  # noqa: ARG001
    return _with_price(model, goal)


def _sampling(model: eq.Model, goal: Constrained, seed: int) -> eq.Agent:
    return eq.TocUCRL2(model.space, goal, confidence=eq.confidence.PosteriorSampling(seed=seed))


def _mixture(model: eq.Model, goal: Constrained, seed: int) -> eq.Agent:  # noqa: ARG001
    return eq.MixtureUCRL2(model.space, goal)


def _mixture_drawn(model: eq.Model, goal: Constrained, seed: int) -> eq.Agent:
    return eq.MixtureUCRL2(model.space, goal, eq.confidence.PosteriorSampling(seed=seed))


AGENTS: Final[dict[str, Make]] = {
    "TocUCRL2, Adaptive": _toc,
    "TocUCRL2, sampling": _sampling,
    "MixtureUCRL2": _mixture,
    "MixtureUCRL2, PosteriorSampling": _mixture_drawn,
}


def agents(steps: int, seeds: int) -> str:
    """Agents that need no price next to those that do: regret, the largest violation, and what is proven."""
    rows: list[list[str]] = []
    for title, (model, goal) in problems().items():
        best = eq.solve(model, goal)
        multipliers = np.array([best.multipliers[name] for name in goal.names])
        trivial = goal.objective.conjugate_bound(np.zeros(model.n_outcomes))
        print(f"{title}: optimum {best.value:.4f}, largest value of the reward {trivial:.4f}", file=sys.stderr)
        for name, make in AGENTS.items():
            lost, missed, proven = [], [], []
            for seed in range(seeds):
                agent = make(model, goal, seed)
                run = eq.simulate(model, agent, steps, seed=seed, checkpoints=[steps], progress=False)
                lost.append(run.regret(best)[-1])
                missed.append([one.violation for one in run.constraints])
                if agent.proves:
                    proven.append(agent.certificate(effort=EFFORT).best_possible)
            worth = np.array(lost) + np.array(missed) @ multipliers
            certificate = f"{np.mean(proven):.4f}" if proven else ""
            each = ", ".join(f"{x:.4f}" for x in np.mean(missed, axis=0))
            cells = [_spread(np.array(lost)), each, f"{np.max(missed):.4f}", _spread(worth), certificate]
            rows.append([f"{title}, {best.value:.4f}", name, *cells])
            print(rows[-1], file=sys.stderr, flush=True)
    head = [
        "problem, optimum",
        "agent",
        "regret",
        "violations",
        "largest",
        "regret + λ violations",
        "certified optimum",
    ]
    text = table(head, rows, names=2)
    return f"After {steps:,} steps, {seeds} seeds (means ± two standard errors):\n\n{text}"


def _spread(values: np.ndarray) -> str:
    error = 2.0 * values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else 0.0
    return f"{values.mean():.4f} ± {error:.4f}"


def measured(folder: Path, steps: int, seeds: int) -> str:
    """The measured part of the page."""
    results = open_results(folder)
    return "\n".join(
        [
            MARK,
            f"`make constraints` measures all numbers below. The study `studies/constraints.toml` has {seeds} seeds "
            f"and {steps:,} steps; entries are means ± two standard errors. Its optima:\n",
            multipliers(results.problems),
            "\nRegret, and the violation of each constraint:\n",
            losses(results.frame, results.problems),
            f"\n**Price and smoothing**, on the shop: means over {PENALTY_SEEDS} seeds after {PENALTY_STEPS:,} steps, "
            "and the process time of a run in seconds. The multipliers are those of the table above: a price of 0.6 is "
            "below one of them, and buys a violation.\n",
            penalties(),
            "",
        ]
    )


def main() -> None:
    """Run the study, or the agents that need no price, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constraints", description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, help="in the place of the study's")
    parser.add_argument("--seeds", type=int, help="in the place of the study's")
    parser.add_argument("--jobs", type=int, help="processes; all cores by default")
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "constraints", help="where results are kept")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    parser.add_argument("--part", choices=["study", "agents"], default="study", help="which part of the page")
    chosen = parser.parse_args()
    if chosen.part == "agents":
        text = agents(chosen.steps or AGENT_STEPS, chosen.seeds or AGENT_SEEDS)
        print(text)
        put("agents", text, PAGE, chosen.out)
        return
    study = override(read_study(STUDY), chosen.steps, chosen.seeds)
    run_study(study, chosen.folder, jobs=chosen.jobs)
    prose = PAGE.read_text(encoding="utf-8").partition(MARK)[0].rstrip() + "\n\n"
    text = prose + measured(chosen.folder, study.steps, len(study.seeds))
    write_bytes(chosen.out, text.encode())


if __name__ == "__main__":
    main()
