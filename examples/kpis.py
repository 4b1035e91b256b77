"""A call centre with a service level promised to each class of callers: learn to keep the promises.

python examples/kpis.py --steps 1000000 --out out
"""

from __future__ import annotations

import argparse
from pathlib import Path

import altair as alt
import polars as pl

import equipoise as eq
from equipoise.agents.baselines import StationaryAgent

KPI = [0.6, 0.6]  # just out of reach: the best is to miss both by as little


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10**6)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    model = eq.models.queue()
    reward = eq.rewards.TargetSquared(KPI)  # 1 - the mean squared shortfall; smooth, so Frank-Wolfe
    best = eq.solve(model, reward)
    print("targets", KPI, "best within reach", best.outcomes.round(3), "value", round(best.value, 5))

    agents = {
        "TOC-UCRL2": eq.TocUCRL2(model.space, reward),  # Q = L = 2 / sqrt(K)
        "random": StationaryAgent(model.space, reward),
        "class 0 first": StationaryAgent(model.space, reward, eq.solve(model, eq.rewards.Linear([1, 0])).policy()),
    }
    curves = []
    for name, agent in agents.items():
        run = eq.simulate(model, agent, options.steps, seed=1)
        print(f"{name:15} service levels {run.outcomes[-1].round(3)}  regret {run.regret(best)[-1]:.5f}")
        curves += [
            {"agent": name, "t": int(t), "class": f"class {k}, target {KPI[k]}", "short": float(w[k]) - KPI[k]}
            for t, w in zip(run.t, run.outcomes, strict=True)
            for k in range(len(KPI))
        ]

    alt.Chart(pl.DataFrame(curves)).mark_line().encode(
        x=alt.X("t:Q", title="steps").scale(type="log"),
        y=alt.Y("short:Q", title="average level minus target"),
        color=alt.Color("agent:N", title=None, sort=None),
        column=alt.Column("class:N", title=None),
    ).properties(width=300, height=220).save(options.out / "kpis.png", ppi=110)  # fmt: skip


if __name__ == "__main__":
    main()
