"""What planning mixtures is worth, as tables of docs/mixtures.md: regret of several agents on six problems.

    python -m benchmarks.mixtures                       # 10 seeds, 10^5 steps; writes the page
    python -m benchmarks.mixtures --seeds 2 --page ""   # prints the tables alone
    python -m benchmarks.mixtures --budgets             # the table of docs/applications/budgets.md

An entry is the mean over seeds and, after ±, the standard error of the mean. Every agent sees the same world of the
same seed. The agents of a row that know the model learn nothing; the others are given the table's size alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

import equipoise as eq
from benchmarks.pages import put

PAGE: Final = Path(__file__).parents[1] / "docs" / "mixtures.md"
BUDGETS_PAGE: Final = PAGE.parent / "applications" / "budgets.md"
BUDGET: Final = 0.3
HORIZONS: Final = (10_000, 100_000)
MARKS: Final = (100, 1_000, 10_000, 100_000, 1_000_000)
Make = Callable[[eq.Model, eq.rewards.Reward, int], eq.Agent]


class Problem(NamedTuple):
    """A model and a goal."""

    name: str
    model: eq.Model
    reward: eq.rewards.Reward


def problems() -> list[Problem]:
    """Those of the tables."""
    least = eq.rewards.BottomSum(3, 1)
    return [
        Problem("pricing, budget", eq.models.pricing(), eq.rewards.Knapsack(n_outcomes=2, budget=0.3)),
        Problem("bidding, budgets", eq.models.bidding(), eq.rewards.Knapsack(n_outcomes=3, budget=0.3)),
        Problem("scheduler, worst user", eq.models.scheduler(), least),
        Problem("sites, worst site", eq.models.sites(), least),
        Problem("star 3x4, Balance", eq.models.star(3, 4), eq.rewards.Balance([1 / 3] * 3)),
        Problem("star 3x4, Quadratic", eq.models.star(3, 4), eq.rewards.Quadratic([4 / 3] * 3)),
    ]


def _toc_known(model: eq.Model, reward: eq.rewards.Reward, seed: int) -> eq.Agent:  # noqa: ARG001
    return eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Known(model))


def _mixture_known(model: eq.Model, reward: eq.rewards.Reward, seed: int) -> eq.Agent:  # noqa: ARG001
    return eq.MixtureUCRL2(model.space, reward, eq.confidence.Known(model))


def _toc(model: eq.Model, reward: eq.rewards.Reward, seed: int) -> eq.Agent:  # noqa: ARG001
    return eq.TocUCRL2(
        model.space, reward, confidence=eq.confidence.Adaptive(), planner=eq.planning.Planner(warm_start="visits")
    )


def _mixture(model: eq.Model, reward: eq.rewards.Reward, seed: int) -> eq.Agent:  # noqa: ARG001
    return eq.MixtureUCRL2(model.space, reward, eq.confidence.Adaptive())


def _toc_drawn(model: eq.Model, reward: eq.rewards.Reward, seed: int) -> eq.Agent:
    return eq.TocUCRL2(model.space, reward, confidence=eq.confidence.PosteriorSampling(seed=seed))


def _mixture_drawn(model: eq.Model, reward: eq.rewards.Reward, seed: int) -> eq.Agent:
    return eq.MixtureUCRL2(model.space, reward, eq.confidence.PosteriorSampling(seed=seed))


def _program(model: eq.Model, reward: eq.rewards.Reward, seed: int) -> eq.Agent:
    return eq.agents.baselines.PosteriorProgram(model.space, reward, seed=seed)


AGENTS: Final[dict[str, tuple[str, Make]]] = {
    "known: TocUCRL2": ("known", _toc_known),
    "known: MixtureUCRL2": ("known", _mixture_known),
    "proven: TocUCRL2": ("proven", _toc),
    "proven: MixtureUCRL2": ("proven", _mixture),
    "posterior: TocUCRL2": ("posterior", _toc_drawn),
    "posterior: MixtureUCRL2": ("posterior", _mixture_drawn),
    "posterior: PosteriorProgram": ("posterior", _program),
}


def measure(steps: int, seeds: int, chosen: list[str]) -> tuple[list[str], list[str]]:
    """The rows of both tables: regret at the end, and on the way."""
    marks = [mark for mark in MARKS if mark < steps] + [steps]
    last: list[str] = []
    way: list[str] = []
    for problem in problems():
        best, cells = eq.solve(problem.model, problem.reward), []
        for title in chosen:
            runs, began = [], time.perf_counter()
            for seed in range(seeds):
                agent = AGENTS[title][1](problem.model, problem.reward, seed)
                run = eq.simulate(problem.model, agent, steps, seed=seed, checkpoints=marks, progress=False)
                runs.append(run.regret(best))
            seconds = (time.perf_counter() - began) / seeds
            regret = np.array(runs)
            error = regret[:, -1].std(ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0
            cells.append(f"{regret[:, -1].mean():.4f} ± {error:.4f}")
            numbers = " | ".join(f"{x:.4f}" for x in regret.mean(axis=0))
            way.append(f"| {problem.name} | {title} | {numbers} | {seconds:.2f} |")
            print(way[-1], file=sys.stderr, flush=True)
        last.append(f"| {problem.name} | {' | '.join(cells)} |")
    return last, way


Budgeted = eq.agents.KnapsackTocUCRL2 | eq.KnapsackAgent


def _budgeted(title: str, model: eq.Model, horizon: int, seed: int) -> Budgeted:
    known, drawn = eq.confidence.Known(model), eq.confidence.PosteriorSampling(seed=seed)
    given = (model.space, BUDGET, horizon, 0)
    paper, ours = eq.agents.KnapsackTocUCRL2, eq.KnapsackAgent
    makers: dict[str, Callable[[], Budgeted]] = {
        "`KnapsackTocUCRL2`": lambda: paper(*given),
        "`KnapsackTocUCRL2`, `Adaptive`": lambda: paper(*given, confidence=eq.confidence.Adaptive()),
        "`KnapsackTocUCRL2`, `Known`": lambda: paper(*given, confidence=known, tolerance=1e-9),
        "`KnapsackAgent`": lambda: ours(*given),
        "`KnapsackAgent`, `PosteriorSampling`": lambda: ours(*given, confidence=drawn),
        "`KnapsackAgent`, `Known`": lambda: ours(*given, confidence=known),
    }
    return makers[title]()


BUDGETED: Final = (
    "`KnapsackTocUCRL2`", "`KnapsackTocUCRL2`, `Adaptive`", "`KnapsackTocUCRL2`, `Known`", "`KnapsackAgent`",
    "`KnapsackAgent`, `PosteriorSampling`", "`KnapsackAgent`, `Known`",
)  # fmt: skip


def measure_budgets(seeds: int) -> str:
    """The table of agents within budgets: regret per step, and the part of the horizon in which nothing was left."""
    columns = " | ".join(f"T = {horizon:,} | idle, %" for horizon in HORIZONS)
    rows = [f"| problem | agent | {columns} |", f"| --- | --- |{' ---: |' * (2 * len(HORIZONS))}"]
    for name, model in (("pricing", eq.models.pricing()), ("bidding", eq.models.bidding())):
        best = eq.solve_knapsack(model, BUDGET, progress=False)
        for title in BUDGETED:
            cells = []
            for horizon in HORIZONS:
                regrets, idle = [], []
                for seed in range(seeds):
                    agent = _budgeted(title, model, horizon, seed)
                    eq.simulate(model, agent, horizon, seed=seed, checkpoints=[horizon], progress=False)
                    assert agent.inventory.min() >= 0.0
                    regrets.append(agent.regret(best) / horizon)
                    idle.append(100.0 * (1.0 - (agent.stopping_time or 0) / horizon))
                error = np.std(regrets, ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0
                cells.append(f"{np.mean(regrets):.4f} ± {error:.4f} | {np.mean(idle):.2f}")
            rows.append(f"| {name} | {title} | {' | '.join(cells)} |")
            print(rows[-1], file=sys.stderr, flush=True)
    return f"Regret per step with b = {BUDGET}, {seeds} seeds (mean ± standard error):\n\n" + "\n".join(rows)


def measure_certificates(steps: int, seeds: int) -> str:
    """The table of what agents earn and prove, by the regions that they act on; all prove with `Adaptive`."""
    adaptive = eq.confidence.Adaptive()
    rows = ["| problem | acts on | regret | certified bound less optimum |", "| --- | --- | ---: | ---: |"]
    for problem in problems()[1:3]:
        best = eq.solve(problem.model, problem.reward)
        for title in ("`Adaptive()`", "`Scaled(Adaptive(), 0.5)`", "`PosteriorSampling()`"):
            regret, slack = [], []
            for seed in range(seeds):
                regions: dict[str, eq.confidence.Confidence] = {
                    "`Adaptive()`": adaptive,
                    "`Scaled(Adaptive(), 0.5)`": eq.confidence.Scaled(adaptive, 0.5),
                    "`PosteriorSampling()`": eq.confidence.PosteriorSampling(seed=seed),
                }
                agent = eq.MixtureUCRL2(problem.model.space, problem.reward, regions[title])
                run = eq.simulate(problem.model, agent, steps, seed=seed, checkpoints=[steps], progress=False)
                regret.append(run.regret(best)[-1])
                slack.append(agent.certificate(effort=20).best_possible - best.value)
            rows.append(f"| {problem.name} | {title} | {np.mean(regret):.4f} | {np.mean(slack):.3f} |")
            print(rows[-1], file=sys.stderr, flush=True)
    return f"After {steps:,} steps, means over {seeds} seeds:\n\n" + "\n".join(rows)


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--agents", nargs="*", default=list(AGENTS), choices=list(AGENTS))
    parser.add_argument("--page", default=str(PAGE), help="where to write the tables; empty: print them alone")
    parser.add_argument("--part", default="mixtures", help="which part of the page they replace")
    parser.add_argument("--budgets", action="store_true", help="only the agents with budgets, on the page about them")
    parser.add_argument("--certificates", action="store_true", help="only what agents earn and prove")
    given = parser.parse_args()
    if given.certificates:
        text = measure_certificates(given.steps, given.seeds)
        print(text)
        if given.page:
            put("certificates", text, Path(given.page))
        return
    if given.budgets:
        text = measure_budgets(given.seeds)
        print(text)
        if given.page:
            put("re-solving", text, BUDGETS_PAGE)
        return
    last, way = measure(given.steps, given.seeds, given.agents)
    marks = [mark for mark in MARKS if mark < given.steps] + [given.steps]
    text = "\n".join(
        [
            f"Regret after {given.steps:,} steps, {given.seeds} seeds (mean ± standard error):",
            "",
            f"| problem | {' | '.join(given.agents)} |",
            f"| --- |{' ---: |' * len(given.agents)}",
            *last,
            "",
            "The same on the way, with the seconds of a run:",
            "",
            f"| problem | agent | {' | '.join(f'{mark:,}' for mark in marks)} | seconds |",
            f"| --- | --- |{' ---: |' * (len(marks) + 1)}",
            *way,
        ]
    )
    print(text)
    if given.page:
        put(given.part, text, Path(given.page))


if __name__ == "__main__":
    main()
