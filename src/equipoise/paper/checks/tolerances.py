r"""Claim 4.6: what the planner's tolerance costs, summed over time.

    sum over t <= T of 1/sqrt(tau(m(t)))  <=  (sqrt(2) + 1) sqrt(T),     as written,
                                          <=  SA + (sqrt(2) + 1) sqrt(T)  in truth (erratum 19),

with certainty, for every T. An episode may take a step at each pair never seen before, however long it is; the proof
takes episodes to be no longer than the time before them. It needs the episodes' starts alone.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.garnet import garnet
from equipoise.models.model import Model
from equipoise.models.ring import ring
from equipoise.models.star import star
from equipoise.paper.findings import Checked, Finding, Picture, Size, Statement
from equipoise.rewards.base import Reward
from equipoise.rewards.linear import Linear
from equipoise.rewards.quadratic import Quadratic
from equipoise.simulation import simulate

STATEMENT: Final = Statement(
    name="tolerances",
    number="Claim 4.6",
    title="What the planner's tolerance costs",
    says="Σ 1/√τ(m(t)) ≤ (√2 + 1)√T, with certainty",
    correction="Σ 1/√τ(m(t)) ≤ SA + (√2 + 1)√T, with certainty",
    erratum=19,
)
_ROOT: Final = math.sqrt(2.0) + 1.0


def check(size: Size) -> Checked:
    """Compare the sum with both bounds at every T, on worlds where the first episode is long, and on others."""
    cases: list[tuple[str, Model, Reward]] = [
        (f"ring({n}), linear", ring(n), Linear([1.0])) for n in (6, 12, size.pick(40, 200))
    ]
    cases.append(("star(3, 4), quadratic", star(3, 4), Quadratic([1 / 3] * 3)))
    cases += [
        (f"garnet, seed {seed}", garnet(8, 3, 3, 2, seed=seed), Quadratic([0.5, 0.5]))
        for seed in range(size.pick(3, 20))
    ]
    written, corrected, rows = [], [], []
    for name, model, reward in cases:
        T = size.pick(20_000, 1_000_000)
        agent = TocUCRL2(model.space, reward)
        simulate(model, agent, T, seed=0, progress=False)
        total = tolerance_sums(agent.episode_starts, T)
        root = _ROOT * np.sqrt(np.arange(1, T + 1))
        worst = int(np.argmax(total / root))
        written.append(Finding(f"{name}, T = {worst + 1}", float(total[worst]), float(root[worst])))
        worst = int(np.argmax(total - root))
        corrected.append(Finding(f"{name}, T = {worst + 1}", float(total[worst]), float(root[worst] + model.n_pairs)))
        rows += [
            {"world": name.split(",")[0], "t": t, "ratio": float(total[t - 1] / root[t - 1])}
            for t in np.unique(np.geomspace(1, T, 60).astype(int)).tolist()
        ]
    return Checked(STATEMENT, tuple(written), tuple(corrected), (_picture(rows),))


def tolerance_sums(starts: NDArray[np.int64], steps: int) -> NDArray[np.float64]:
    """The sum of 1/sqrt(tau(m(t))) over the first T steps, for T = 1 ... steps.

    >>> tolerance_sums(np.array([1, 4]), 5).tolist()
    [1.0, 2.0, 3.0, 3.5, 4.0]
    """
    lengths = np.diff(np.append(starts, steps + 1))
    sums: NDArray[np.float64] = np.cumsum(np.repeat(1.0 / np.sqrt(starts), lengths))
    return sums


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "Sum of the tolerances over (√2 + 1)√T",
        "Above 1 the claim fails as written. The excess is over once every pair has been seen.",
        {
            "data": {"values": [row for row in rows if not str(row["world"]).startswith("garnet")]},
            "mark": "line",
            "encoding": {
                "x": {"field": "t", "type": "quantitative", "scale": {"type": "log"}, "title": "T"},
                "y": {"field": "ratio", "type": "quantitative", "title": "sum / bound"},
                "color": {"field": "world", "type": "nominal", "title": None},
            },
        },
    )
