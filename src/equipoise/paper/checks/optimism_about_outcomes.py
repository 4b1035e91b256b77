r"""Lemma 4.7: what learning the outcomes costs.

    diamond  <=  (B.25), scale ~ L||1|| sqrt(SA T),      on E^v, but for an event of probability delta

See `paper.error_ratios` for how sums are held against bounds.
"""

from __future__ import annotations

from typing import Final

from equipoise.paper.error_ratios import check_sums
from equipoise.paper.findings import Checked, Size, Statement

STATEMENT: Final = Statement(
    name="optimism-about-outcomes",
    number="Lemma 4.7",
    title="What learning the outcomes costs",
    says="Σ♦ = Õ(L‖1‖√(SAT) + L‖1‖SA), with the constants of (B.25)",
)


def check(size: Size) -> Checked:
    """Diamond."""
    return check_sums(STATEMENT, size, ("diamond",))
