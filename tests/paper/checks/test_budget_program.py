from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from equipoise.models import Model
from equipoise.offline import solve_knapsack
from paper.checks import budget_program as program
from paper.findings import Size


class Few:
    """A fifth of a quick check."""

    def pick(self, quick: int, full: int) -> int:
        return max(3, quick // 5)


def test_quick():
    checked = program.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    detour = checked.written
    assert [f.verdict for f in detour] == ["fails", "fails"]
    assert detour[0].measured == pytest.approx(24.0, abs=3.0)  # n; less what is lost when another resource runs out
    assert detour[1].measured == pytest.approx(18.0, abs=3.0)  # 101 stays of 24, and 401 units of travel at 6
    assert "stops when depleted" in detour[1].instance


def test_the_detour_by_hand():
    model, best = program.detour(), solve_knapsack(program.detour(), 0.05)
    assert model.diameter() == pytest.approx(4.0)
    assert best.value == pytest.approx(0.05 * 24 / 4)
    assert best.prices[-1] == pytest.approx(6.0)
    assert best.prices[:-1] == pytest.approx(0.0)
    assert program.slack(model, best) == pytest.approx(24.0)


def test_every_policy_on_the_detour_by_hand():
    # stay in A until it is left, then do nothing: n less what T steps leave out; to go back costs what it brings
    model, best = program.detour(), solve_knapsack(program.detour(), 0.05)
    assert program.best_at_prices(model, best, 1) == pytest.approx(1.0)
    assert program.best_at_prices(model, best, 50) == pytest.approx(24.0 * (1.0 - (23.0 / 24.0) ** 50))


def test_prices_of_the_wrong_size_are_seen(monkeypatch):
    def wrong(model, b, progress=None):
        best = solve_knapsack(model, b, progress=progress)
        return dataclasses.replace(best, prices=2.0 * best.prices)

    monkeypatch.setattr(program, "solve_knapsack", wrong)
    failing = [f.instance for f in program.check(Few()).corrected if f.verdict == "fails"]
    assert any("prices furthest" in name for name in failing)
    assert any("opt/b" in name for name in failing)


def test_departures_with_ample_units():
    # 100 trips of 4 units, so 101 stays in A, unless something else runs out
    departures = program.stay_and_return(program.detour(m=200), 0.05, 8000, 200)
    assert departures.max() == 101
    assert departures.mean() > 100.9


def test_the_best_policy_by_hand():
    # one state; a unit buys 1, and there are 3 units for 10 steps
    shop = Model.from_branches([[[(1.0, 0, [0.0, 0.0])], [(1.0, 0, [1.0, 1.0])]]])
    assert program.best_within(shop, 3, 10) == pytest.approx(3.0)
    # bought half of the time: 2 steps, 2 units, 1 on average; with 1 unit the chance of at least one sale
    shop = Model.from_branches([[[(1.0, 0, [0.0, 0.0])], [(0.5, 0, [1.0, 1.0]), (0.5, 0, [0.0, 0.0])]]])
    assert program.best_within(shop, 2, 2) == pytest.approx(1.0)
    assert program.best_within(shop, 1, 2) == pytest.approx(0.75)


def test_the_two_parts_of_ii():
    b = np.array([0.25, 0.5, 0.75])
    assert program._ratio_excess(b, np.array([0.25, 0.5, 0.5])) == 0.0
    assert program._ratio_excess(b, np.array([0.1, 0.5, 0.5])) == pytest.approx(0.15)
    assert program._bend(np.array([0.25, 0.5, 0.5])) == pytest.approx(0.125)
    # part (ii) without concavity: opt(b)/b falls, and opt bends upwards all the same
    b, convex = np.array([0.2, 0.4, 0.6]), np.array([0.2, 0.21, 0.3])
    assert program._ratio_excess(b, convex) <= 0.0
    assert program._bend(convex) < 0.0


def test_the_printed_slack_is_too_small(monkeypatch):
    monkeypatch.setattr(program, "slack", lambda model, best: 2.0 * model.diameter())
    assert program.check(Few()).verdict == "fails"


def test_an_optimum_that_is_no_longer_concave_is_seen(monkeypatch):
    def wrong(model, b, progress=None):
        best = solve_knapsack(model, b, progress=progress)
        return dataclasses.replace(best, value=best.value * b)

    monkeypatch.setattr(program, "solve_knapsack", wrong)
    checked = program.check(Few())
    assert checked.verdict == "fails"
    assert any(f.verdict == "fails" for f in checked.corrected if f.instance.startswith("(ii)"))


def test_the_best_policy_beyond_its_budget_is_seen(monkeypatch):
    right = program.best_within
    monkeypatch.setattr(program, "best_within", lambda model, units, T: right(model, 2 * units, T))
    assert program.check(Few()).verdict == "fails"
