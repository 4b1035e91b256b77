"""What the paper says in passing: UCRL2's alternations, Q = 0 under TGD, TGD against lazy TMD."""

from __future__ import annotations

import pytest

from paper.checks import (
    gradient_against_mirror_descent,
    ucrl2_alternations,
    zero_threshold_gradient_descent,
)
from paper.findings import Size


@pytest.mark.parametrize(
    "module", [gradient_against_mirror_descent, ucrl2_alternations, zero_threshold_gradient_descent]
)
def test_quick(module):
    assert module.check(Size.QUICK).verdict == "holds"


def test_departures_need_a_learned_world():
    early, late = (ucrl2_alternations.walk(float("inf"), T) for T in (10**4, 10**6))
    assert late.departures - early.departures > late.episodes - early.episodes  # it is not learned by then
