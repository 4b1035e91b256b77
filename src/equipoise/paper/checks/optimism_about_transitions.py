r"""Lemma 4.8: what learning the transitions costs.

    spade  <=  (B.30), scale ~ L||1|| D (M(T) + sqrt(Gamma SA T)),      on E^p, but for an event of probability delta

See `paper.error_ratios` for how sums are held against bounds.
"""

from __future__ import annotations

from typing import Final

from equipoise.paper.error_ratios import check_sums
from equipoise.paper.findings import Checked, Size, Statement

STATEMENT: Final = Statement(
    name="optimism-about-transitions",
    number="Lemma 4.8",
    title="What learning the transitions costs",
    says="Σ♠ = Õ(L‖1‖D·M(T)) + Õ(L‖1‖D√(ΓSAT) + L‖1‖DS²A), with the constants of (B.30)",
)


def check(size: Size) -> Checked:
    """Spade."""
    return check_sums(STATEMENT, size, ("spade",))
