"""The transcription of the mechanics agent: its maxima against linear programs, and what it says is seen, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.linear import best_in_ball, best_in_box
from tests.reference.mechanics import Bounds, Mechanics


def test_maxima_against_linear_programs():
    rng = np.random.default_rng(3)
    for _ in range(150):
        size = int(rng.integers(1, 6))
        point = rng.dirichlet(np.full(size, 0.5))
        unseen = rng.random(size) < 0.4
        x = np.round(rng.normal(size=size), int(rng.integers(0, 4)))
        lo = np.where(unseen, 0.0, np.maximum(0, point - rng.random(size) * rng.choice([0, 0.2, 1])))
        hi = np.minimum(1, point + rng.random(size) * rng.choice([0, 0.2, 1]))
        together = min(1.0, float(point[unseen].sum() + rng.choice([0, 0.1, 1]) * rng.random()))
        box = Bounds(lo, hi, unseen, together, point, 0.0)
        assert box.maximum(x) == pytest.approx(best_in_box(x, lo, hi, unseen, together), abs=1e-8)
        radius = float(rng.uniform(0.01, 2))
        ball = Bounds(point, point, unseen, 1.0, point, radius)
        assert ball.maximum(x) == pytest.approx(best_in_ball(x, point, radius), abs=1e-8)
    nothing = Bounds(np.zeros(3), np.zeros(3), np.ones(3, bool), 1.0, np.zeros(3), 2.0)
    assert nothing.maximum(np.array([0.5, 3.0, -1.0])) == 3.0


def sales(stock, order, demand):
    sold = min(stock, demand)
    return min(3, stock - sold + order), [sold / 3]


def test_lost_sales_are_hazards():
    """With stock d, demands of d and more look the same: the units are "at least d"."""
    told = Mechanics(sales, 3, lambda stock: [0, 1], 1, {"demand": range(5)}, hidden=["demand"])
    assert sorted(sorted(unit[2]) for unit in told.units) == [[0, 1, 2, 3, 4], [1, 2, 3, 4], [2, 3, 4], [3, 4]]
    for pair, (s, _) in enumerate(told.pairs):
        stock = told.states[s]
        for demand in range(5):
            found = [(min(unit[2]), number) for unit, number in told.seen(pair, (demand,))]
            assert found == [(d, int(demand > d)) for d in range(min(stock, demand + 1))]
    assert told.n_values == 2


def test_what_is_seen_is_seen():
    told = Mechanics(sales, 3, lambda stock: [0, 1], 1, {"demand": range(5)})
    assert [unit[2] for unit in told.units] == [frozenset(range(5))]
    assert all(told.seen(pair, (2,)) == [(told.units[0], 2)] for pair in range(len(told.pairs)))
    assert told.n_values == 5
