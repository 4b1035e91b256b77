"""Theorems 3.4, 5.1 and 5.2."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from equipoise.models import bandit, star
from equipoise.offline.benchmark import solve
from equipoise.oracles import Doubling, SignedSimplex
from equipoise.rewards import Balance, BottomSum, Linear, Quadratic
from equipoise.simulation import log_spaced
from paper import families, rates
from paper.checks import rate_frank_wolfe, rate_gradient_descent, rate_mirror_descent
from paper.findings import Size
from paper.rates import Curve, Instance, known_bound, rate

T = log_spaced(1, 10**6)


def law(power: float, plateau: float = math.inf, seeds: int = 1) -> Curve:
    return Curve(T, np.tile(1.0 / (1.0 / plateau + T**power), (seeds, 1)))


def test_slopes_of_power_laws():
    found = rate("x", law(0.5), 0.5)
    assert found.measured == pytest.approx(-0.5)
    assert found.bound == pytest.approx(-0.5 * (1 - 10**-1.5))  # at 10^4 it is 10^-2, at 10 it was 10^-0.5
    assert found.verdict == "holds"
    assert rate("x", law(0.25), 0.5).verdict == "fails"
    assert rate("x", law(1.0), 0.5).verdict == "holds"


def test_a_plateau_does_not_count_unless_the_model_is_known():
    late = law(0.5, plateau=1e-3)  # at 10^4 still a tenth of the way
    assert rate("x", late, 0.5).verdict == "not reached"
    assert rate("x", late, 0.5, known=True).verdict == "fails"
    assert rate("x", law(0.5, plateau=0.1), 0.5).verdict == "holds"


def test_the_logarithm_has_its_own_slope():
    found = rate("x", law(0.5), 0.5, inside=900.0)
    slack = 0.5 * math.log(math.log(9e8) / math.log(9e6)) / math.log(100)
    assert found.bound == pytest.approx((slack - 0.5) * (1 - 10**-1.5))


def test_points_without_regret_are_left_out():
    curve = law(0.5)
    curve.regret[0, T > 3 * 10**5] = -1.0
    assert rate("x", curve, 0.5).measured == pytest.approx(-0.5)


def test_the_interval_is_students():
    values = np.array([1.0, 2.0, 4.0])
    low, high = stats.t.interval(0.999, 2, values.mean(), stats.sem(values))
    assert rates.half_width(values) == pytest.approx((high - low) / 2)
    assert rates.half_width(values[:1]) == 0.0


def test_constants_by_hand():
    one = math.sqrt(2)
    smooth = Instance("", star(2, 4), Quadratic([0.75] * 2), 100, known=True)
    L = 0.75 * one
    C = math.sqrt(L / (2 * one))
    M = 1 + (10 - 1) / (C * (math.sqrt(2) - 1))
    expected = 0.5 * 2 * (1 + math.log(100)) + (2 * L * one + (L * one + 1e-6) * 4) * M
    assert known_bound(smooth, L, 100) == pytest.approx(expected / 100 + 1e-6)
    worst = Instance("", bandit(2), BottomSum(2, 1), 6, known=True, oracle=Doubling(SignedSimplex()))
    radius = math.sqrt(math.log(2))
    total = 0.0
    for taken, horizon in ((2, 2), (4, 4)):
        M = 1 + math.sqrt(radius) * taken / math.cbrt(horizon)
        total += radius * (horizon ** (2 / 3) + taken / horizon ** (2 / 3)) + (2 + 1 + 1e-6) * M
    assert known_bound(worst, 1.0, 6) == pytest.approx(total / 6 + 1e-6)


MODULES = (rate_frank_wolfe, rate_gradient_descent, rate_mirror_descent)
each = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.STATEMENT.number)


def test_exploring_first_by_hand():
    # bandit(2), K = 2, S = 1: log(12 * 2 * 2 * 10^8 / 0.05); n least with sqrt(2 log/n) + 3 log/n <= 1/2; D = 1
    instance = Instance("", bandit(2), Quadratic([0.5] * 2), 10**4)
    log = math.log(12 * 2 * 2 * 10**8 / 0.05)
    n = next(n for n in range(1, 10**4) if math.sqrt(2 * log / n) + 3 * log / n <= 0.5)
    assert rates.exploring(instance, 10**4) == pytest.approx(math.sqrt(0.5) * math.sqrt(2) * 2 * n / 10**4)


def test_a_small_instance_must_be_learned(monkeypatch):
    instance = Instance("", bandit(2), Quadratic([0.5] * 2), 10**6, small=True)
    monkeypatch.setattr(rates, "curve", lambda instance: law(0.5, plateau=0.1))
    assert {f.verdict for f in rates.learned(instance, law(0.5, plateau=0.1), 0.5)} == {"holds"}
    never = Curve(T, np.full((1, T.size), 0.1))
    assert {f.verdict for f in rates.learned(instance, never, 0.5)} == {"fails"}


@each
def test_quick(module):
    checked = module.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert {f.verdict for f in checked.written} == {"holds", "not reached"}
    assert len(checked.pictures) == 2
    attained = [f for f in checked.written if f.instance.endswith(("attained", "no steeper"))]
    assert len(attained) >= 4


@pytest.mark.parametrize(("threshold", "steps"), [(math.inf, 10**5), (1e-4, 10**3)], ids=["seldom", "often"])
def test_an_agent_that_alternates_too_seldom_or_too_often_is_seen(threshold, steps, monkeypatch):
    right = Instance.agent
    monkeypatch.setattr(rates, "SHARES", np.array([0.1, 1.0]))
    monkeypatch.setattr(Instance, "agent", lambda self, _threshold=None: right(self, threshold))
    known = Instance("star, known", star(2, 4), Quadratic([0.75] * 2), steps, known=True)
    statement = rate_frank_wolfe.STATEMENT
    assert rates.check_rate(statement, 0.5, [known], [], 100).verdict == "fails"


def test_a_power_that_is_exceeded_or_not_attained_is_seen():
    x = [1.0, 2.0, 4.0]
    assert [f.verdict for f in families.powers("x", x, [1.0, 2.0, 4.0], 1.0, attained=True)] == ["holds", "holds"]
    assert [f.verdict for f in families.powers("x", x, [1.0, 2.0, 4.0], 0.5, attained=True)] == ["fails", "holds"]
    assert [f.verdict for f in families.powers("x", x, [1.0, 1.0, 1.0], 0.5, attained=True)] == ["holds", "fails"]


def test_worlds_of_the_families():
    model, optimum = families.fan(4, 0.5)
    assert (model.max_successors, model.n_pairs, model.diameter()) == (4, 69, 5.0)
    assert families.fan(32, 0.5).model.diameter() == 5.0
    assert solve(model, Linear([1.0]), progress=False).value == pytest.approx(optimum, abs=1e-6)
    model, optimum = families.slow_return(8, 0.5)
    assert model.diameter() >= 8
    assert solve(model, Linear([1.0]), progress=False).value == pytest.approx(optimum, abs=1e-6)
    assert families.halves(4, 4).diameter() == 4.0


def test_balance_on_the_star_has_optimum_one():
    # first order in the time spent travelling: what makes the rate exact
    instance = Instance("", star(2, 4), Balance([0.5] * 2), 1000, known=True)
    found = rates.curve(instance)
    assert 0.05 < found.regret[0, -1] < 0.3
