"""The applications over many seeds: regret at 10^4, 10^5 and 10^6 steps, the agent and its baselines.

    python -m benchmarks.applications --seeds 20

Mean regret and twice its standard error. The baselines know the model where they need it: "only k" is the optimal
policy for outcome k alone, "stationary" the best of a family of randomised stationary policies at the horizon.
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import equipoise as eq
from equipoise.agents.base import Agent
from equipoise.agents.baselines import RoundRobin, StationaryAgent

TIMES = [10**4, 10**5, 10**6]
EPSILONS = (0.3, 0.1, 0.03, 0.01)
BUDGETED = ("KnapsackAgent", "random until sold out", "round robin until sold out", "most reward until sold out")


class Problem(NamedTuple):
    """A world and what is wanted of it."""

    model: eq.Model
    reward: eq.rewards.Reward


def problems() -> dict[str, Callable[[], Problem]]:
    """By name, made when asked for."""

    def of(model: Callable[[], eq.Model], reward: Callable[[eq.Model], eq.rewards.Reward]) -> Callable[[], Problem]:
        def make() -> Problem:
            built = model()
            return Problem(built, reward(built))

        return make

    r, m = eq.rewards, eq.models
    return {
        "queue, KPIs": of(m.queue, lambda _: r.TargetSquared([0.6, 0.6])),
        "queue, KPIs in the 2-norm": of(m.queue, lambda _: r.TargetDistance([0.6, 0.6], 2)),
        "inventory, KPIs": of(m.inventory, lambda _: r.TargetSquared([0.95, 0.75, 0.8])),
        "scheduler, proportional": of(m.scheduler, lambda w: r.ProportionalFairness(w.n_outcomes, 0.05)),
        "scheduler, worst user": of(m.scheduler, lambda w: r.BottomSum(w.n_outcomes, 1)),
        "scheduler, Gini": of(m.scheduler, lambda w: r.GeneralisedGini([0.5**k for k in range(w.n_outcomes)])),
        "patrol, entropy": of(m.patrol, lambda w: r.Entropy(w.n_states)),
        "sites, balance": of(m.sites, lambda w: r.Quadratic([1 / w.n_outcomes] * w.n_outcomes)),
    }


def agents(problem: Problem) -> Iterator[tuple[str, Callable[[int], Agent]]]:
    """The agent first, then what ignores balance, then what knows the model."""
    model, g = problem
    space, K = model.space, model.n_outcomes
    yield "TOC-UCRL2", lambda _seed: eq.TocUCRL2(space, g)
    if math.isinf(g.norm):
        inherit = eq.oracles.Doubling(eq.oracles.SignedSimplex(), inherit=True)
        yield "TOC-UCRL2, counts inherited", lambda _seed: eq.TocUCRL2(space, g, inherit)
    yield "Q = infinity", lambda _seed: eq.TocUCRL2(space, g, threshold=math.inf)
    yield "random", lambda seed: StationaryAgent(space, g, seed=seed)
    yield "round robin", lambda _seed: RoundRobin(space, g)
    for k in range(K if K < 10 else 0):
        only = eq.solve(model, eq.rewards.Linear(np.eye(K)[k])).policy()
        yield f"only outcome {k}", lambda seed, only=only: StationaryAgent(space, g, only, seed)
    if K < 10:
        best = eq.best_stationary(model, g)
        for epsilon in EPSILONS:
            policy = best.policy(epsilon)
            yield f"stationary {epsilon}", lambda seed, policy=policy: StationaryAgent(space, g, policy, seed)


@functools.cache
def prepared(name: str) -> tuple[Problem, float, dict[str, Callable[[int], Agent]]]:
    """A problem, its optimum and its agents; once a process."""
    problem = problems()[name]()
    return problem, eq.solve(*problem).value, dict(agents(problem))


def one(job: tuple[str, str, int]) -> tuple[str, str, list[float]]:
    """The regret of one run at the three times."""
    name, kind, seed = job
    problem, optimum, makers = prepared(name)
    run = eq.simulate(problem.model, makers[kind](seed), TIMES[-1], seed=seed, checkpoints=TIMES, progress=False)
    return name, kind, run.regret(optimum).tolist()


def until_sold_out(model: eq.Model, kind: str, b: float, horizon: int, seed: int) -> float:
    """What a policy that ignores the budgets earns until one of them is gone, to a thousandth of the horizon."""
    reward = eq.rewards.Linear(np.eye(model.n_outcomes)[0])
    agents: dict[str, Callable[[], Agent]] = {
        "random until sold out": lambda: StationaryAgent(model.space, reward, seed=seed),
        "round robin until sold out": lambda: RoundRobin(model.space, reward),
        "most reward until sold out": lambda: StationaryAgent(
            model.space, reward, eq.solve(model, reward).policy(), seed
        ),
    }
    marks = np.unique(np.linspace(1, horizon, 1000).astype(int))
    run = eq.simulate(model, agents[kind](), horizon, seed=seed, checkpoints=marks, progress=False)
    totals = run.outcomes * run.t[:, None]
    within = np.all(totals[:, 1:] <= b * horizon, axis=1)
    return float(totals[within][-1, 0])


def budget(job: tuple[str, str, int]) -> tuple[str, str, list[float]]:
    """The regret per step of a knapsack agent at three horizons; fails if a budget is exceeded."""
    name, kind, seed = job
    model = getattr(eq.models, name.split(",")[0])()
    b = float(name.split("b = ")[1])
    best = eq.solve_knapsack(model, b)
    found = []
    for horizon in TIMES:
        if kind != "KnapsackAgent":
            found.append(best.value - until_sold_out(model, kind, b, horizon, seed) / horizon)
            continue
        agent = eq.KnapsackAgent(model.space, b, horizon, null_actions=0)
        eq.simulate(model, agent, horizon, seed=seed, progress=False)
        if np.any(agent.inventory < 0):
            raise AssertionError(f"budget exceeded: {agent!r}")
        found.append(agent.regret(best) / horizon)
    return name, kind, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="problems whose name holds this")
    arguments = parser.parse_args()
    work: list[tuple[Callable[..., tuple[str, str, list[float]]], tuple[str, str, int]]] = []
    for name in (name for name in problems() if arguments.only in name):
        work += [(one, (name, kind, seed)) for kind in prepared(name)[2] for seed in range(arguments.seeds)]
    for name in (name for name in ("pricing, b = 0.3", "bidding, b = 0.3") if arguments.only in name):
        work += [(budget, (name, kind, seed)) for kind in BUDGETED for seed in range(arguments.seeds)]
    results: dict[tuple[str, str], list[list[float]]] = {}
    with ProcessPoolExecutor(arguments.jobs) as pool, Progress() as bar:
        task = bar.add_task("running", total=len(work))
        for future in [pool.submit(function, job) for function, job in work]:
            name, kind, regret = future.result()
            results.setdefault((name, kind), []).append(regret)
            bar.advance(task)
    table = Table(title=f"regret, mean of {arguments.seeds} seeds ± 2 standard errors (budgets: per step)")
    for column in ("problem", "agent", "10^4", "10^5", "10^6"):
        table.add_column(column)
    for (name, kind), rows in results.items():
        mean = np.mean(rows, axis=0)
        error = 2 * np.std(rows, axis=0, ddof=1) / math.sqrt(len(rows)) if len(rows) > 1 else np.zeros(3)
        table.add_row(name, kind, *(f"{x:.5f} ± {e:.5f}" for x, e in zip(mean, error, strict=True)))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
