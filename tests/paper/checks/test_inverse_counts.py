from __future__ import annotations

import math

import numpy as np
import pytest

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence import Known
from equipoise.models import garnet, star
from equipoise.rewards import Linear, Quadratic
from paper.checks import inverse_counts
from paper.findings import Size


@pytest.mark.slow
def test_quick():
    checked = inverse_counts.check(Size.QUICK)
    assert checked.verdict == "holds"
    one = next(f for f in checked.written if "√" in f.instance and "one pair" in f.instance)
    # at T = 2^j episodes have doubled exactly: 1 + (sqrt T - 1)(sqrt 2 + 1)
    assert one.instance.endswith("T = 4096")
    assert one.measured == pytest.approx(1 + 63 * (math.sqrt(2) + 1))


def test_counts_on_one_pair():
    T, counts = inverse_counts.counts_by_hand(garnet(1, 1, 1, 1), Linear([1.0]), 10)
    assert T.tolist() == list(range(1, 11))
    assert counts.tolist() == [1, 1, 2, 2, 4, 4, 4, 4, 8, 8]


def test_both_ways_agree():
    model, reward = star(3, 4), Quadratic([1 / 3] * 3)
    _, counts = inverse_counts.counts_by_hand(model, reward, 3000)
    _, ends, roots, inverses = inverse_counts.sums_at_ends(model, reward, 3000)
    assert ends[-1] == 3000
    np.testing.assert_allclose(roots, np.cumsum(1 / np.sqrt(counts))[ends - 1])
    np.testing.assert_allclose(inverses, np.cumsum(1 / counts)[ends - 1])


def _no_visits_rule(model, reward):
    return TocUCRL2(model.space, reward, confidence=Known(model), tolerance=1e-3)


def test_without_the_visits_rule_it_fails(monkeypatch):
    monkeypatch.setattr(inverse_counts, "_agent", _no_visits_rule)
    model, reward = garnet(1, 1, 1, 1), Linear([1.0])
    T, counts = inverse_counts.counts_by_hand(model, reward, 100)
    found = inverse_counts._closest(
        "", "", [inverse_counts._Sums(1, T, np.cumsum(1 / np.sqrt(counts)), np.cumsum(1 / counts))]
    )
    assert [f.verdict for f in found] == ["fails", "fails"]  # one episode for ever: both sums are T
    assert found[0].measured == 100.0


@pytest.mark.slow
@pytest.mark.parametrize("root", [2.0, 2.4])
def test_no_smaller_constant_would_do(monkeypatch, root):
    monkeypatch.setattr(inverse_counts, "_ROOT", root)
    assert inverse_counts.check(Size.QUICK).verdict == "fails"
