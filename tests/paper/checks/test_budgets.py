from __future__ import annotations

import pytest

from equipoise.agents.knapsack import KnapsackAgent
from equipoise.offline import solve_knapsack
from equipoise.paper import markets
from equipoise.paper.checks import budgets
from equipoise.paper.findings import Size


class Short:
    def pick(self, quick: int, full: int) -> int:
        return min(quick, 10**5)


@pytest.mark.slow
def test_quick():
    checked = budgets.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    printed, known = checked.written[0], checked.written[1]
    assert (printed.measured, printed.verdict) == (1.0, "fails")  # one unit too many
    assert known.instance.startswith("arms, known")
    assert known.measured == pytest.approx(-1 / 3, abs=0.01)
    assert all(f.measured <= 1e-6 for f in checked.corrected[:2])


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


def _late(T):  # the known arms need 10^7 steps for their rate, which no broken agent has to wait for
    return lambda model, b, last, seeds, known: T(model, b, min(last, 10**5), seeds, known)


def test_more_units_than_there_are_is_seen(monkeypatch):
    monkeypatch.setattr(budgets, "lost_per_step", _late(budgets.lost_per_step))
    monkeypatch.setattr(budgets, "rate", lambda name, found, *_, **__: budgets.Finding(name, -1.0, 0.0))
    assert budgets.check(Short()).verdict == "holds as corrected"
    monkeypatch.setattr(KnapsackAgent, "_units", property(lambda self: 1.1 * self.budget * self.horizon))
    assert budgets.check(Short()).verdict == "fails"


def test_an_agent_that_never_dares_is_seen(monkeypatch):
    monkeypatch.setattr(budgets, "lost_per_step", _late(budgets.lost_per_step))
    monkeypatch.setattr(KnapsackAgent, "stopped", property(lambda self: True))
    checked = budgets.check(Short())
    assert checked.verdict == "fails"
    assert checked.corrected[2].measured == pytest.approx(0.0, abs=1e-9)  # what is lost per step is opt, always
