from __future__ import annotations

import math

import numpy as np
import pytest

from equipoise.agents.knapsack import KnapsackTocUCRL2
from equipoise.offline import solve_knapsack
from paper import markets
from paper.checks import budgets
from paper.findings import Size


class Short:
    def pick(self, quick: int, full: int) -> int:
        return min(quick, 10**5)


def test_quick():
    checked = budgets.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    (printed,) = checked.written
    assert (printed.measured, printed.verdict) == (1.0, "fails")  # one unit too many
    known = [f for f in checked.corrected if "known, T" in f.instance and f.relation == "<="]
    assert [f.measured for f in known] == pytest.approx([1.0, 1.0], abs=0.02)  # the closed form


def test_what_is_lost_by_hand():
    # one resource of price 1: log(2/b - 1) / sqrt(log 2)
    assert budgets.lag(np.ones(1), 0.25) == pytest.approx(math.log(7.0) / math.sqrt(math.log(2.0)))
    # a resource that is not scarce has a price too, in the logarithm
    assert budgets.lag(np.array([1.0, 0.0]), 0.25) == pytest.approx(math.log(7.0) / math.sqrt(math.log(3.0)))


def test_towns_and_raffle_by_hand():
    assert markets.towns().diameter() == pytest.approx(2.0)
    assert solve_knapsack(markets.towns(), 0.25).prices == pytest.approx([1.0, 1.0])
    assert solve_knapsack(markets.raffle(5), 0.1).value == pytest.approx(0.2)
    assert solve_knapsack(markets.stall(np.eye(3)), 0.2).value == pytest.approx(0.6)


@pytest.mark.parametrize("b", [0.1, 0.25, 0.5])
def test_arms_earn_one_for_each_unit(b):
    assert solve_knapsack(markets.arms(), b).value == pytest.approx(b)


def test_random_markets_are_as_the_paper_has_them():
    for seed in range(20):
        model = markets.random_market(4, 3, seed)
        assert model.is_communicating()
        assert not model.means[model.first_pair[:-1]].any()
        assert model.known_mask.nonzero()[0].tolist() == model.first_pair[:-1].tolist()
        assert set(model.rows[:, 1:].ravel()) <= {0.0, 1.0}
        paying = model.rows[model.rows[:, 0] > 0]
        assert (paying[:, 1:].sum(axis=1) >= 1).all()


@pytest.fixture
def short(monkeypatch):
    """Runs of ten thousand steps, of which only the budgets are looked at."""
    right = budgets.lost_per_step
    monkeypatch.setattr(budgets, "lost_per_step", lambda model, b, last, *rest: right(model, b, 10**4, *rest))
    monkeypatch.setattr(budgets, "_families", lambda T: [])


def test_more_units_than_there_are_is_seen(monkeypatch, short):
    def beyond():
        return [f.verdict for f in budgets.check(Short()).corrected if "beyond" in f.instance]

    assert beyond() == ["holds", "holds"]
    monkeypatch.setattr(KnapsackTocUCRL2, "_units", property(lambda self: 1.1 * self.budget * self.horizon))
    assert "fails" in beyond()


def test_an_agent_that_never_dares_is_seen(monkeypatch, short):
    monkeypatch.setattr(KnapsackTocUCRL2, "stopped", property(lambda self: True))
    checked = budgets.check(Short())
    assert checked.verdict == "fails"
    slopes = [f for f in checked.corrected if f.instance.endswith("slope")]
    assert [f.measured for f in slopes] == pytest.approx([0.0] * 4, abs=1e-9)  # what is lost per step is opt, always
