from __future__ import annotations

import numpy as np
import pytest

from equipoise.models import ring
from paper.checks import dual_span
from paper.findings import Size


def test_it_holds_and_is_tight():
    checked = dual_span.check(Size.QUICK)
    assert checked.verdict == "holds"
    spans = {f.instance: f.measured for f in checked.written}
    assert spans["path(6), linear: θ optimal, φ = 0"] == pytest.approx(5.0)  # (L + 0) D
    assert spans["path(12), linear: θ optimal, φ = 0"] == pytest.approx(11.0)
    assert spans["path(12), linear: share of the bound that is used"] == pytest.approx(1.0)


def test_the_largest_span_by_hand():
    # on a ring there is one gamma at the least phi; each unit more of phi may be gained on every step but one
    scores = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    assert dual_span.largest_span(ring(5), scores, 0.2) == pytest.approx(0.8)
    assert dual_span.largest_span(ring(5), scores, 1.2) == pytest.approx(4.8)
    with pytest.raises(dual_span.SolverError, match="infeasible"):
        dual_span.largest_span(ring(5), scores, 0.19)


def test_half_the_diameter_is_seen(monkeypatch):
    bound = dual_span.span_bound
    monkeypatch.setattr(dual_span, "span_bound", lambda reward, phi, D: bound(reward, phi, D / 2))
    assert dual_span.check(Size.QUICK).verdict == "fails"


def test_a_bound_without_phi_is_seen(monkeypatch):
    bound = dual_span.span_bound
    monkeypatch.setattr(dual_span, "span_bound", lambda reward, phi, D: bound(reward, 0.0, D))
    assert dual_span.check(Size.QUICK).verdict == "fails"


def test_points_that_are_not_feasible_are_seen(monkeypatch):
    largest = dual_span.largest_span
    monkeypatch.setattr(dual_span, "largest_span", lambda model, scores, phi: largest(model, scores, phi + 0.1))
    assert dual_span.check(Size.QUICK).verdict == "fails"
