"""A patrol that should spend its time evenly over all cells of a building with walls, on slippery ground.

python examples/patrol.py --steps 1000000 --out out
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

    model = eq.models.patrol()  # outcomes are indicators of the cell, known in advance: only the moves are learnt
    reward = eq.rewards.Entropy(model.n_states)  # mu(t) = 1 / (S^(2/3) t^(1/3)): no horizon needed
    best = eq.solve(model, reward)
    agent = eq.TocUCRL2(model.space, reward)
    times = sorted({options.steps // 100, options.steps // 10, options.steps})
    run = eq.simulate(model, agent, options.steps, seed=1, checkpoints=times)
    for t, value in zip(run.t, run.values, strict=True):
        print(f"{t:>8} steps: entropy {value:.5f} of the most possible, {best.value:.5f}")

    cells = []
    maps = [(f"{t:,} steps", w) for t, w in zip(run.t.tolist(), run.outcomes, strict=True)] + [
        ("optimum", best.outcomes)
    ]
    for name, visits in maps:
        for state, share in enumerate(visits.tolist()):
            cell = model.labels.state(state)
            assert isinstance(cell, tuple)  # (row, column)
            cells.append({"when": name, "row": cell[0], "column": cell[1], "share": share})
    alt.Chart(pl.DataFrame(cells)).mark_rect().encode(
        x=alt.X("column:O", axis=None),
        y=alt.Y("row:O", axis=None),
        color=alt.Color("share:Q", title="share of time").scale(scheme="viridis", domainMax=0.03, clamp=True),
        column=alt.Column("when:N", title=None, sort=[name for name, _ in maps]),
    ).properties(width=180, height=180).save(options.out / "patrol.png", ppi=110)  # fmt: skip


if __name__ == "__main__":
    main()
