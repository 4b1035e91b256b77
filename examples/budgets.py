"""Selling a perishable stock over a season whose demand changes: earn much, never oversell.

python examples/budgets.py --steps 1000000 --out out
"""

from __future__ import annotations

import argparse
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

import equipoise as eq

BUDGET = 0.3  # units in stock for each step of the season


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10**6)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    model = eq.models.pricing()  # outcome 0: revenue; outcome 1: units sold; action 0: closed
    best = eq.solve_knapsack(model, BUDGET)
    print(f"a unit of stock is worth {best.prices.round(3)}; the best revenue per step is {best.value:.4f}")

    curves = []
    horizons = sorted({options.steps // 100, options.steps // 10, options.steps})
    for horizon in horizons:
        agent = eq.KnapsackAgent(model.space, BUDGET, horizon, null_actions=0)
        run = eq.simulate(
            model, agent, horizon, seed=1, checkpoints=np.unique(np.linspace(1, horizon, 100).astype(int))
        )
        print(
            f"{horizon:>8} steps: regret per step {agent.regret(best) / horizon:.4f}, left {agent.inventory.round(1)}"
        )
        curves += [
            {"season": f"{horizon:,} steps", "part": t / horizon, "what": what, "value": float(value)}
            for t, w in zip(run.t.tolist(), run.outcomes, strict=True)
            for what, value in (
                ("revenue / optimum", w[0] * t / (horizon * best.value)),
                ("stock left", 1 - w[1] * t / (horizon * BUDGET)),
            )
        ]
    alt.Chart(pl.DataFrame(curves)).mark_line().encode(
        x=alt.X("part:Q", title="part of the season"),
        y=alt.Y("value:Q", title=None).scale(domain=[0, 1]),
        color=alt.Color("what:N", title=None),
        column=alt.Column("season:N", title=None, sort=[f"{T:,} steps" for T in horizons]),
    ).properties(width=220, height=200).save(options.out / "budgets.png", ppi=110)  # fmt: skip


if __name__ == "__main__":
    main()
