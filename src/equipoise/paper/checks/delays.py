r"""Lemma 4.5: what the delay of theta costs.

    club, heart  <=  Q ||1|| M(T),      with certainty

See `paper.error_ratios` for how sums are held against bounds.
"""

from __future__ import annotations

from typing import Final

from equipoise.paper.error_ratios import check_sums
from equipoise.paper.findings import Checked, Size, Statement

STATEMENT: Final = Statement(
    name="delays",
    number="Lemma 4.5",
    title="What the delay of θ costs",
    says="Σ♣ ≤ Q‖1‖M(T) and Σ♥ ≤ Q‖1‖M(T), with certainty",
)


def check(size: Size) -> Checked:
    """Club and heart."""
    return check_sums(STATEMENT, size, ("club", "heart"))
