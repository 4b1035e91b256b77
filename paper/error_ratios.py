r"""Lemmas 4.5, 4.7 and 4.8, and Proposition 4.2: the five terms, summed, against their bounds.

    club, heart  <=  Q ||1|| M(T)                      with certainty                                   (4.5)
    diamond      <=  (B.25), scale ~ L||1|| sqrt(SA T)  on E^v, but for an event of probability delta    (4.7)
    spade        <=  (B.30), scale ~ L||1|| D (M(T) + sqrt(Gamma SA T)),  on E^p, the same               (4.8)

`measured_sums`: the largest ratio of a measured running sum to the bound of `theory.sums`, over all T up to the end of
the run (bounds are compared at forty times, evenly on a log scale). The ratios are small: the constants are those of a
worst case. `same_bounds`: so the bounds themselves are held against the paper's formulas, written out in
`bound_formulas`. A bound that is ten times too small, or too large, differs from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from equipoise.theory.decomposition import decompose
from equipoise.theory.facts import Facts, Setting
from equipoise.theory.sums import Errors, errors
from paper.analysis_cases import Case, cases
from paper.bound_formulas import all_five
from paper.findings import Finding, Picture, Size

Rows = list[dict[str, object]]
_ROUNDING: Final = 1e-9  # a step: sums that are smaller are taken for zero
_DIGITS: Final = 1e-12  # of a formula of some twenty operations


def measured_sums(size: Size, terms: tuple[str, ...]) -> tuple[list[Finding], Picture]:
    """Hold the running sums of some terms against their bounds, in every world of `analysis_cases`."""
    findings: list[Finding] = []
    rows: Rows = []
    for case in cases(size.pick(2, 10)):
        times, ratios = _ratios(case, terms, size.pick(5_000, 200_000))
        for term in terms:
            worst = int(np.argmax(ratios[term]))
            what = f"{case.name}, {term}, T = {times[worst]}" if len(terms) > 1 else f"{case.name}, T = {times[worst]}"
            findings.append(Finding(what, float(ratios[term][worst]), 1.0, note="measured over bound"))
            if not case.name.startswith("garnet"):
                rows += [
                    {"world": case.name, "term": term, "t": int(t), "ratio": float(ratio)}
                    for t, ratio in zip(times, ratios[term], strict=True)
                ]
    return findings, _picture(rows)


def same_bounds(terms: Sequence[str]) -> list[Finding]:
    """How far the bounds of `theory.sums` are from the paper's formulas, in every world and at many T."""
    far = dict.fromkeys(terms, 0.0)
    for case in cases(2):
        facts, setting = Facts.of(case.model), Setting.of(case.agent())
        for T in (1, 2, 3, 10, 1_000, 10**6, 10**9):
            bounds, formulas = errors(facts, setting, T), all_five(facts, setting, T)
            for term in terms:
                bound = bounds.total if term == "total" else getattr(bounds, term)
                formula = sum(formulas) if term == "total" else getattr(formulas, term)
                far[term] = max(far[term], abs(bound - formula) / max(1.0, abs(formula)))
    return [
        Finding(f"the bound on {term} against its formula", x, _DIGITS, note="largest difference, relative")
        for term, x in far.items()
    ]


def _ratios(case: Case, terms: tuple[str, ...], steps: int) -> tuple[list[int], dict[str, list[float]]]:
    """The running sums over their bounds, at forty times; a term that is nothing has a ratio of 0."""
    agent = case.agent()
    recorded = decompose(case.model, agent, steps, seed=1)
    facts, setting = Facts.of(case.model), Setting.of(agent)
    times = np.unique(np.geomspace(1, steps, 40).astype(int)).tolist()
    bounds = [errors(facts, setting, T) for T in times]
    ratios: dict[str, list[float]] = {}
    for term in terms:
        sums = np.cumsum(recorded.left) if term == "left" else recorded.total[:, Errors._fields.index(term)]
        limits = [bound.total if term == "left" else getattr(bound, term) for bound in bounds]
        ratios[term] = [_ratio(float(sums[T - 1]), limit, T) for T, limit in zip(times, limits, strict=True)]
    return times, ratios


def _ratio(measured: float, limit: float, T: int) -> float:
    if abs(measured) <= _ROUNDING * T:
        return 0.0
    return measured / limit if limit else np.inf


def _picture(rows: Rows) -> Picture:
    return Picture(
        "Measured sums over their bounds",
        "At 1 a bound would be used up. Below 0 the term is a gain.",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "t", "type": "quantitative", "scale": {"type": "log"}, "title": "T"},
                "y": {"field": "ratio", "type": "quantitative", "title": "sum / bound"},
                "color": {"field": "world", "type": "nominal", "title": None},
                "strokeDash": {"field": "term", "type": "nominal", "title": "term"},
            },
        },
    )
