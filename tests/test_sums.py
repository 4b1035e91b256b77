"""Results are the same for every version of Python: since 3.12 the built-in `sum` of floats rounds in another way."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from equipoise import mechanics, models, offline, rewards
from equipoise.adapters.gym_api import read_laws
from equipoise.oracles import TunedGradientDescent
from equipoise.rewards.composed import lipschitz_in
from equipoise.theory import printed, sums
from equipoise.theory.sums import Errors

TENTHS = [0.1] * 10


def sum_without_floats(numbers, start=0):
    numbers = list(numbers)
    assert not any(type(number) is float for number in (start, *numbers)), "floats are added by math.fsum"
    return sum(numbers, start)


@pytest.fixture(autouse=True)
def no_float_is_added_by_sum(monkeypatch):
    for name, module in list(sys.modules.items()):
        if name.startswith("equipoise.") and not hasattr(module, "sum"):
            monkeypatch.setattr(module, "sum", sum_without_floats, raising=False)


def test_constants_of_a_sum_of_rewards():
    g = rewards.Sum([rewards.Linear([1.0, 0.0])] * 9 + [rewards.Quadratic([0.5, 0.5])], TENTHS)
    assert g.lipschitz == math.fsum([0.1] * 9 + [0.1 * lipschitz_in(g.rewards[-1], 2.0)])
    assert g.smoothness == 0.1 * g.rewards[-1].smoothness
    corners = rewards.Sum([rewards.BottomSum(3, kappa=1)] * 10, TENTHS).vertices
    assert corners.scale.max() == 1.0  # ten times a tenth


def test_bounds_of_the_theory():
    assert Errors(*TENTHS[:5]).total == math.fsum(TENTHS[:5])
    g, oracle = rewards.Quadratic([0.5, 0.5]), TunedGradientDescent()
    assert min(bounds.episodes(g, oracle, 0.3, 7, 1000) for bounds in (sums, printed)) > 0.0
    # radius^2 / (2 T rate) + slope^2 / (2 T) * the sum of the rates, which is 1
    assert printed.gradient_descent(0.0, 2.0, TENTHS) == 2.0**2 * 1.0 / 20.0


def test_optima():
    model, goal = models.star(3), rewards.Quadratic([0.3, 0.3, 0.4])
    assert offline.solve(model, rewards.Constrained(goal, [rewards.at_most(0, 0.3, model)], 1.0)).status == "optimal"
    assert offline.best_stationary(model, goal).classes >= 1


def test_read_laws_and_usual_ones():
    assert mechanics.department().model().n_states > 0

    table = {0: {0: [(0.1, 0, 0.0, False)] * 9 + [(0.1, 1, 1.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    published = SimpleNamespace(P=table, initial_state_distrib=np.array([1.0, 0.0]))
    assert read_laws(published, [0]) is not None
