"""A base station that serves one user a slot on fading channels, and what fair may mean.

python examples/fairness.py --steps 1000000 --out out
"""

from __future__ import annotations

import argparse
from pathlib import Path

import altair as alt
import polars as pl

import equipoise as eq


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10**6)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    model = eq.models.scheduler()
    K = model.n_outcomes
    simplex = eq.oracles.Doubling(eq.oracles.SignedSimplex(), inherit=True)  # multiplicative weights, anytime
    goals = {  # each with the oracle that fits; None: the default for a smooth reward, Frank-Wolfe
        "most in total": (eq.rewards.Linear([1.0] * K), None),
        "proportional": (eq.rewards.ProportionalFairness(K, 0.05), None),
        "Gini": (eq.rewards.GeneralisedGini([1.0, 0.5, 0.25]), simplex),
        "worst user": (eq.rewards.BottomSum(K, 1), simplex),
    }
    bars = []
    for name, (reward, oracle) in goals.items():
        best = eq.solve(model, reward)
        run = eq.simulate(model, eq.TocUCRL2(model.space, reward, oracle), options.steps, seed=1)
        print(f"{name:14} rates {run.outcomes[-1].round(3)}  optimum {best.outcomes.round(3)}  "
              f"regret {run.regret(best)[-1]:.5f}")  # fmt: skip
        for who, rates in (("learnt", run.outcomes[-1]), ("optimum", best.outcomes)):
            bars += [{"goal": name, "who": who, "user": f"user {k}", "rate": float(rates[k])} for k in range(K)]

    alt.Chart(pl.DataFrame(bars)).mark_bar().encode(
        x=alt.X("user:N", title=None),
        y=alt.Y("rate:Q", title="average rate"),
        xOffset=alt.XOffset("who:N", sort=["learnt", "optimum"]),
        color=alt.Color("who:N", title=None, sort=["learnt", "optimum"]),
        column=alt.Column("goal:N", title=None, sort=list(goals)),
    ).properties(width=150, height=220).save(options.out / "fairness.png", ppi=110)  # fmt: skip


if __name__ == "__main__":
    main()
