r"""Lemmas 4.5, 4.7 and 4.8, and Proposition 4.2: the five terms, summed, against their bounds.

    club, heart  <=  Q ||1|| M(T)                      with certainty                                   (4.5)
    diamond      <=  (B.25), scale ~ L||1|| sqrt(SA T)  on E^v, but for an event of probability delta    (4.7)
    spade        <=  (B.30), scale ~ L||1|| D (M(T) + sqrt(Gamma SA T)),  on E^p, the same               (4.8)

with the constants of `theory.bounds`; each finding is the largest ratio of a measured running sum to its bound over all
T up to the end of the run (bounds are compared at forty times, evenly on a log scale). The ratios are small: the
constants are those of a worst case.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.paper.analysis_cases import Case, cases
from equipoise.paper.findings import Checked, Finding, Picture, Size, Statement
from equipoise.theory.decomposition import decompose
from equipoise.theory.facts import Facts, Setting
from equipoise.theory.sums import Errors, errors

_ROUNDING: Final = 1e-9  # a step: sums that are smaller are taken for zero


def check_sums(statement: Statement, size: Size, terms: tuple[str, ...]) -> Checked:
    """Hold the running sums of some terms against their bounds, in every world of `analysis_cases`.

    Parameters
    ----------
    statement : Statement
        What is checked.
    size : Size
        How many worlds, and for how many steps.
    terms : tuple of str
        Of "club", "heart", "diamond", "spade"; or "left", the whole sum, which is held against all bounds together.
    """
    findings, rows = [], []
    for case in cases(size.pick(2, 10)):
        for term in terms:
            times, ratios = _ratios(case, term, size.pick(5_000, 200_000))
            worst = int(np.argmax(ratios))
            what = f"{case.name}, {term}, T = {times[worst]}" if len(terms) > 1 else f"{case.name}, T = {times[worst]}"
            findings.append(Finding(what, float(ratios[worst]), 1.0, note="measured over bound"))
            if not case.name.startswith("garnet"):
                rows += [
                    {"world": case.name, "term": term, "t": int(t), "ratio": float(ratio)}
                    for t, ratio in zip(times, ratios, strict=True)
                ]
    return Checked(statement, tuple(findings), pictures=(_picture(rows),))


def _ratios(case: Case, term: str, steps: int) -> tuple[list[int], list[float]]:
    """The running sum over its bound, at forty times; a term that is nothing has a ratio of 0."""
    agent = case.agent()
    terms = decompose(case.model, agent, steps, seed=1)
    column = terms.left if term == "left" else terms.total[:, Errors._fields.index(term)]
    sums = np.cumsum(column) if term == "left" else column
    facts, setting = Facts.of(case.model), Setting.of(agent)
    times = np.unique(np.geomspace(1, steps, 40).astype(int)).tolist()
    ratios = []
    for T in times:
        bound = errors(facts, setting, T)
        limit = bound.total if term == "left" else getattr(bound, term)
        measured = float(sums[T - 1])
        ratios.append(0.0 if abs(measured) <= _ROUNDING * T else measured / limit if limit else np.inf)
    return times, ratios


def _picture(rows: list[dict[str, object]]) -> Picture:
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
