r"""Proposition 4.2: the errors of all steps together, against the sum of the bounds on their five parts.

See `paper.error_ratios` for how sums are held against bounds.
"""

from __future__ import annotations

from typing import Final

from equipoise.paper.error_ratios import check_sums
from equipoise.paper.findings import Checked, Size, Statement

STATEMENT: Final = Statement(
    name="error-sum",
    number="Proposition 4.2",
    title="All errors together",
    says="Σ(−θ_t)·(v* − V_t) = Õ((LD + Q)‖1‖M(T)) + Õ(L‖1‖D√(ΓSAT))",
)


def check(size: Size) -> Checked:
    """The left side itself, against the sum of all bounds."""
    return check_sums(STATEMENT, size, ("left",))
