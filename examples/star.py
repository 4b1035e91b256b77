"""Why the threshold matters: the paper's star, where the agent must stay long on each of three loops in turn.

It prints the regret at powers of ten and draws the curves.

python examples/star.py --steps 1000000 --out out
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

import equipoise as eq
from equipoise.agents.baselines import StationaryAgent

K = 3


def reward() -> eq.rewards.Custom:
    """g(w) = sum_k w_k - (w_k - 1/K)^2 / 2: earn much, and evenly."""
    import cvxpy

    return eq.rewards.Custom(
        n_outcomes=K,
        value=lambda w: (w - 0.5 * (w - 1 / K) ** 2).sum(),
        gradient=lambda w: 1 + 1 / K - w,
        conjugate_argmax=lambda theta: np.minimum(1.0, np.maximum(0.0, theta + 1 + 1 / K)),
        norm=2,
        lipschitz=math.sqrt(K) * (1 + 1 / K),
        smoothness=1.0,
        expression=lambda w: cvxpy.sum(w) - cvxpy.sum_squares(w - 1 / K) / 2,
    )


def runs(model: eq.Model, g: eq.rewards.Reward, most: int) -> list[tuple[str, str, eq.Run]]:
    """Each way to act: learning the world, knowing it, or following one stationary policy."""
    known = eq.confidence.Known(model)
    ways = [
        ("learning", "Q = 0", 0.0, most // 10),
        ("learning", "Q = L", None, most),
        ("learning", "Q = ∞", math.inf, most),
        ("model known", "Q = 0", 0.0, min(most, 1000)),  # an exact plan at every step
        ("model known", "Q = L", None, most),
        ("model known", "Q = ∞", math.inf, most),
    ]
    done: list[tuple[str, str, eq.Run]] = []
    for group, name, threshold, steps in track(ways, description="running the agents"):
        if group == "learning":
            agent = eq.TocUCRL2(model.space, g, threshold=threshold)
        else:
            exactly = eq.planning.Planner(leaps=True)
            agent = eq.TocUCRL2(model.space, g, None, threshold, confidence=known, tolerance=1e-9, planner=exactly)
        done.append((group, name, eq.simulate(model, agent, steps, seed=7)))
    stationary = eq.best_stationary(model, g)
    mixed = [
        eq.simulate(model, StationaryAgent(model.space, g, stationary.policy(epsilon), seed=7), most, seed=7)
        for epsilon in track((0.3, 0.1, 0.03, 0.01, 0.003, 0.001), description="trying stationary policies")
    ]
    done.append(("model known", "best stationary", max(mixed, key=lambda run: run.values[-1])))
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10**6)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    options = parser.parse_args()
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    console = Console()

    model = eq.models.star(branches=K, diameter=4)
    g = reward()
    best = eq.solve(model, g)
    console.print(f"{model}, diameter {model.diameter():g}")
    console.print(f"offline optimum {best.value:.6f}, certified within {abs(best.gap):.1e} ({best.status})")

    table = Table(title="regret: optimum minus g(average outcomes)")
    powers = [10**i for i in range(1, 7)]
    for column in ("", "", *(f"10^{i}" for i in range(1, 7))):
        table.add_column(column, justify="right")
    curves = []
    for group, name, run in runs(model, g, options.steps):
        regret = dict(zip(run.t.tolist(), (best.value - run.values).tolist(), strict=True))
        table.add_row(group, name, *(f"{regret[t]:.4f}" if t in regret else "" for t in powers))
        curves += [{"group": group, "agent": name, "t": t, "regret": r} for t, r in regret.items() if r > 0]
    console.print(table)

    chart = (
        alt.Chart(pl.DataFrame(curves))
        .mark_line()
        .encode(
            x=alt.X("t:Q", title="steps").scale(type="log"),
            y=alt.Y("regret:Q", title="regret").scale(type="log"),
            color=alt.Color("agent:N", title=None, sort=["Q = 0", "Q = L", "Q = ∞", "best stationary"]),
            column=alt.Column("group:N", title=None, sort=["learning", "model known"]),
        )
        .properties(width=420, height=320, title="The star: three loops, four steps apart")
    )
    chart.save(out / "star.png", ppi=110)
    console.print(f"regret curves: {out / 'star.png'}")


if __name__ == "__main__":
    main()
