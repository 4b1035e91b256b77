"""The options of the planner, for an agent that learns: what they save, and what they cost in regret.

    python -m benchmarks.planner_options        the table of docs/performance.md; about a minute

The recommended agent with each planner; seconds of the processor and regret, means over seeds. The stars come twice:
with goals that can be met all at once, and with goals that cannot, where theta moves for ever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import numpy as np

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.pages import put
from equipoise.planning import Planner

SEEDS: Final = 8
PLANNERS: Final = {
    "plain": Planner(),
    "warm": Planner(warm_start=True),
    "warm after visits": Planner(warm_start="visits"),
    "leaps": Planner(leaps=True),
    "both": Planner(warm_start=True, leaps=True),
}


def problems() -> dict[str, tuple[eq.Model, eq.rewards.Reward, int]]:
    """Worlds that mix fast and slowly, each with a reward and a number of steps."""
    goals = [(0, 14), (14, 0), (14, 14)]
    three = eq.rewards.Quadratic([0.5, 0.7, 0.9])
    return {
        "star(3, 4)": (eq.models.star(3, 4), eq.rewards.Quadratic([1 / 3] * 3), 1_000_000),
        "star(3, 4), goals out of reach": (eq.models.star(3, 4), eq.rewards.Quadratic([4 / 3] * 3), 1_000_000),
        "star(4, 6), goals out of reach": (eq.models.star(4, 6), eq.rewards.Quadratic([5 / 4] * 4), 1_000_000),
        "riverswim(20)": (eq.models.riverswim(20), eq.rewards.Linear([1.0]), 1_000_000),
        "riverswim(100)": (eq.models.riverswim(100), eq.rewards.Linear([1.0]), 1_000_000),
        "grid of 15 x 15": (eq.models.grid(15, 15, goals=goals), three, 300_000),
        "queue of two classes": (eq.models.queue(room=10), eq.rewards.Quadratic([0.5, 0.9]), 300_000),
        "random, 1,000 states": (eq.models.garnet(1000, 4, 5, n_outcomes=3, seed=1), three, 300_000),
    }


def measured(
    model: eq.Model, reward: eq.rewards.Reward, steps: int, planner: Planner, seed: int
) -> tuple[float, float]:
    """Seconds and the value reached."""
    agent = eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Adaptive(), planner=planner)
    began = time.process_time()
    run = eq.simulate(model, agent, steps, seed=seed, progress=False)
    return time.process_time() - began, float(run.values[-1])


def rows() -> Iterator[list[str]]:
    """One a problem: for each planner seconds, and regret with its standard error."""
    for name, (model, reward, steps) in problems().items():
        best = eq.solve(model, reward, progress=False).value
        cells = [name, f"{steps:,}"]
        for planner in PLANNERS.values():
            measured(model, reward, 100, planner, 0)
            runs = [measured(model, reward, steps, planner, seed) for seed in range(SEEDS)]
            seconds, regret = np.array(runs).T
            regret = best - regret
            error = regret.std(ddof=1) / np.sqrt(SEEDS)
            cells += [f"{seconds.mean():.3g}", f"{1e3 * regret.mean():.3g} ± {1e3 * error:.1g}"]
        print(cells, flush=True)
        yield cells


def main() -> None:
    """Measure, and write the page."""
    head = ["world", "steps", *(f"{name}{what}" for name in PLANNERS for what in (", s", ": regret, 10⁻³"))]
    put("options", table(head, list(rows())))


if __name__ == "__main__":
    main()
