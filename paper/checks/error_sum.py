r"""Proposition 4.2: the errors of all steps together, against the sum of the bounds on their five parts.

The proposition is the sum of Lemmas 4.5, 4.7, 4.8 and Claim 4.6. What is found: that `theory.sums.errors` is, part by
part and in all, what the formulas of appendix B give (`bound_formulas`); that the measured sum is below it, and below
the sum of the five measured parts; and how much of the bound is used.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.theory.decomposition import decompose
from paper.analysis_cases import cases
from paper.error_ratios import measured_sums, same_bounds
from paper.findings import Checked, Finding, Size, Statement

STATEMENT: Final = Statement(
    name="error-sum",
    number="Proposition 4.2",
    title="All errors together",
    says="Σ(−θ_t)·(v* − V_t) = Õ((LD + Q)‖1‖M(T)) + Õ(L‖1‖D√(ΓSAT))",
)


def check(size: Size) -> Checked:
    """The left side itself, against the sum of all bounds."""
    findings, picture = measured_sums(size, ("left",))
    findings += same_bounds(("club", "diamond", "heart", "spade", "P", "total"))
    findings += [_summed(size)]
    return Checked(STATEMENT, tuple(findings), pictures=(picture,))


def _summed(size: Size) -> Finding:
    """Lemma 4.4 added up: the measured sum over the sum of the five measured parts, at its largest, on E^v and E^p."""
    worst, where = -np.inf, ""
    for case in cases(size.pick(2, 10)):
        recorded = decompose(case.model, case.agent(), size.pick(5_000, 50_000), seed=1)
        if recorded.held.all():
            ratio = np.cumsum(recorded.left) / recorded.total.sum(axis=1)
            if ratio.max() > worst:
                worst, where = float(ratio.max()), f"{case.name}, T = {int(np.argmax(ratio)) + 1}"
    return Finding(f"{where}, against the five parts", worst, 1.0, note="measured over measured, at its largest")
