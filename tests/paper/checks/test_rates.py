"""Theorems 3.4, 5.1 and 5.2."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from equipoise.models import bandit, star
from equipoise.oracles import Doubling, SignedSimplex
from equipoise.paper import rates
from equipoise.paper.checks import rate_frank_wolfe, rate_gradient_descent, rate_mirror_descent
from equipoise.paper.findings import Size
from equipoise.paper.rates import Curve, Instance, known_bound, rate
from equipoise.rewards import Balance, BottomSum, Quadratic
from equipoise.simulation import log_spaced

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
    M = 3 + L / (2 * one) + math.sqrt(32 * one * 100 / L)
    expected = 0.5 * 2 * (1 + math.log(100)) + (2 * L * one + (L * one + 1e-6) * 4) * M
    assert known_bound(smooth, L, 100) == pytest.approx(expected / 100 + 1e-6, rel=0.2)  # M may be one or two less
    worst = Instance("", bandit(2), BottomSum(2, 1), 6, known=True, oracle=Doubling(SignedSimplex()))
    radius = math.sqrt(math.log(2))
    total = 0.0
    for taken, horizon in ((2, 2), (4, 4)):
        M = 1 + math.sqrt(radius) * taken / math.cbrt(horizon)
        total += radius * (horizon ** (2 / 3) + taken / horizon ** (2 / 3)) + (2 + 1 + 1e-6) * M
    assert known_bound(worst, 1.0, 6) == pytest.approx(total / 6 + 1e-6)


class Short:
    """At most so many steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def pick(self, quick: int, full: int) -> int:
        return min(quick, self.steps)


@pytest.fixture
def known_only(monkeypatch):
    right = rates.curve

    def curve(instance):
        return right(instance) if instance.known else law(2.0)

    monkeypatch.setattr(rates, "curve", curve)


MODULES = (rate_frank_wolfe, rate_gradient_descent, rate_mirror_descent)
each = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.STATEMENT.number)


def test_quick():
    checked = rate_frank_wolfe.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert {f.verdict for f in checked.written} == {"holds", "not reached"}
    assert len(checked.pictures) == 2


@each
def test_the_exponent_is_attained_if_the_model_is_known(module, known_only):
    checked = module.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert checked.written[0].instance.startswith("star, known")
    assert checked.written[0].measured == pytest.approx(-module.RATE, abs=0.02)  # exactly, in the limit


@pytest.mark.slow
@each
@pytest.mark.parametrize(("threshold", "steps"), [(math.inf, 10**5), (1e-4, 10**3)], ids=["seldom", "often"])
def test_an_agent_that_alternates_too_seldom_or_too_often_is_seen(module, threshold, steps, known_only, monkeypatch):
    right = Instance.agent
    monkeypatch.setattr(rates, "SHARES", np.array([0.1, 1.0]))
    monkeypatch.setattr(Instance, "agent", lambda self, _threshold=None: right(self, threshold))
    assert module.check(Short(steps)).verdict == "fails"


@pytest.mark.slow
@each
def test_a_better_rate_than_the_theorems_is_refused(module, known_only, monkeypatch):
    monkeypatch.setattr(module, "RATE", 2 * module.RATE)
    assert module.check(Short(10**4)).verdict == "fails"


def test_balance_on_the_star_has_optimum_one():
    # first order in the time spent travelling: what makes the rate exact
    instance = Instance("", star(2, 4), Balance([0.5] * 2), 1000, known=True)
    found = rates.curve(instance)
    assert 0.05 < found.regret[0, -1] < 0.3
