r"""Lemma 4.1: the regions hold the truth, always, with probability at least 1 - delta/2 each.

    P[v(s,a) in H^v_m(s,a) for all m, s, a] >= 1 - delta/2,     and the same for p.

Many short runs at a large delta, where failures could be seen if there were any; each run is looked at in every episode
(`theory.coverage`). A frequency of failures k out of n is set against delta/2 with the lower end of its Clopper-Pearson
interval at 99.9 %. How loose the regions are is the slack: the share of the radius that was never needed, in any
episode of any run.
"""

from __future__ import annotations

from typing import Final

from scipy.stats import beta

from equipoise.models.garnet import garnet
from equipoise.models.model import Model
from equipoise.paper.analysis_cases import Case
from equipoise.paper.findings import LEVEL, Checked, Finding, Picture, Size, Statement
from equipoise.rewards.linear import Linear
from equipoise.theory.events import coverage

STATEMENT: Final = Statement(
    name="coverage",
    number="Lemma 4.1",
    title="The regions hold the truth",
    says="P[E^v] ≥ 1 − δ/2 and P[E^p] ≥ 1 − δ/2",
)
_DELTA: Final = 0.5


def check(size: Size) -> Checked:
    """Count the runs in which a region missed the truth."""
    runs, steps = size.pick(100, 2000), size.pick(1000, 10_000)
    findings, rows = [], []
    for case in _hard():
        records = [coverage(case.model, case.agent(_DELTA), steps, seed) for seed in range(runs)]
        for event, missed in (
            ("E^v", sum(not run.v_held for run in records)),
            ("E^p", sum(not run.p_held for run in records)),
        ):
            note = f"{missed} of {runs} runs of {steps} steps"
            frequency = missed / runs
            error = frequency - lower_end(missed, runs)
            findings.append(Finding(f"{case.name}: not {event}", frequency, _DELTA / 2, error=error, note=note))
        for event in ("v", "p"):
            used = sorted(1.0 - getattr(run, f"{event}_slack") for run in records)
            rows += [
                {"world": case.name, "region": event, "share": share, "runs": (i + 1) / runs}
                for i, share in enumerate(used)
                if i % max(1, runs // 50) == 0
            ]
    return Checked(STATEMENT, tuple(findings), pictures=(_picture(rows),))


def _hard() -> list[Case]:
    """Worlds that are hard for regions: rare transitions, outcomes that are rarely seen, noise as wide as can be."""
    rare = Model.from_branches(
        [
            [[(0.98, 0, [0.0]), (0.02, 1, [1.0])], [(1.0, 1, [0.5])]],
            [[(0.5, 0, [1.0]), (0.5, 1, [0.0])]],
        ]
    )
    return [
        Case("rare branches", rare, Linear([1.0])),
        Case("garnet(4, 2, 3)", garnet(4, 2, 3, 2, seed=1), Linear([1.0, 0.5])),
        Case("fair coins", Model.from_arrays([[[1.0], [1.0]]], [[[0.5], [0.5]]]), Linear([1.0])),
    ]


def lower_end(count: int, runs: int) -> float:
    """The lower end of the Clopper-Pearson interval for a frequency."""
    return 0.0 if count == 0 else float(beta.ppf((1.0 - LEVEL) / 2.0, count, runs - count + 1))


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "How much of the radius is ever needed",
        "The share of runs in which no estimate was further from the truth than that share of its radius, in any"
        " episode. Beyond 1 the truth would be missed.",
        {
            "data": {"values": rows},
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {
                "x": {"field": "share", "type": "quantitative", "title": "largest share of a radius used in a run"},
                "y": {"field": "runs", "type": "quantitative", "title": "share of runs"},
                "color": {"field": "world", "type": "nominal", "title": None},
                "strokeDash": {"field": "region", "type": "nominal", "title": "region"},
            },
        },
    )
