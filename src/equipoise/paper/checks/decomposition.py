r"""Lemma 4.4: what a step loses splits into five parts, at every step at which the regions hold the truth.

    (-theta_t).(v* - V_t)  <=  club + diamond + heart + spade + P.

`theory.decompose` records every step of a run. The finding is the largest excess of the left side over the right,
which must not be above what rounding and the residual of the benchmark may add (`Decomposition.allowance`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.paper.analysis_cases import cases
from equipoise.paper.findings import Checked, Finding, Picture, Size, Statement
from equipoise.theory.decomposition import Decomposition, decompose

STATEMENT: Final = Statement(
    name="decomposition",
    number="Lemma 4.4",
    title="What a step loses has five parts",
    says="(−θ_t)·(v* − V_t) ≤ ♣ + ♦ + ♥ + ♠ + ¶ whenever E^v and E^p hold",
)


def check(size: Size) -> Checked:
    """Look at every step of runs in unlike worlds."""
    findings, rows = [], []
    for case in cases(size.pick(2, 30)):
        terms = decompose(case.model, case.agent(), size.pick(5_000, 200_000), seed=1)
        held = terms.held
        excess = (-terms.gap - terms.allowance)[held]
        note = f"{held.sum():,} of {held.size:,} steps with both events"
        findings.append(Finding(case.name, float(excess.max()), 0.0, note=note))
        if not case.name.startswith("garnet"):
            rows += _points(case.name, terms)
    return Checked(STATEMENT, tuple(findings), pictures=(_picture(rows),))


def _points(name: str, terms: Decomposition) -> list[dict[str, object]]:
    """Running sums over t, of both sides, at a few times."""
    times = np.unique(np.geomspace(1, terms.t.size, 40).astype(int))
    left, right = np.cumsum(terms.left), np.cumsum(terms.right)
    return [
        {"world": name, "t": int(t), "side": side, "mean": float(total[t - 1] / t)}
        for t in times
        for side, total in (("left", left), ("right", right))
    ]


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "Both sides of the lemma, averaged over time",
        "Left: what was lost against the benchmark. Right: the five terms. Between: what the analysis gives away.",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "t", "type": "quantitative", "scale": {"type": "log"}, "title": "t"},
                "y": {"field": "mean", "type": "quantitative", "title": "mean over the first t steps"},
                "color": {"field": "world", "type": "nominal", "title": None},
                "strokeDash": {"field": "side", "type": "nominal", "title": "side"},
            },
        },
    )
