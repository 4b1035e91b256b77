"""The frontier: corners found, nothing beyond the proven limit, closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import ModelError, ParameterError


def quarter(n):
    """One state, n + 1 actions whose outcomes lie on a quarter of the unit circle."""
    angle = np.linspace(0, np.pi / 2, n + 1)
    return eq.Model.from_arrays([[[1.0]] * (n + 1)], [[[np.cos(a), np.sin(a)] for a in angle]])


def test_the_corners_of_a_polygon_are_found():
    line = eq.frontier(quarter(8), tolerance=1e-7)
    points = line.frame().select("outcome_0", "outcome_1").to_numpy()
    for a in np.linspace(0, np.pi / 2, 9):
        assert np.abs(points - [np.cos(a), np.sin(a)]).sum(axis=1).min() < 1e-6
    assert line.gap <= 1e-7
    assert np.all(np.diff(points[:, 0]) <= 1e-9)


def test_both_sides_of_a_circle():
    """With many actions the frontier is the circle: what is reached is inside, the limit outside, and no farther
    than the gap."""
    line = eq.frontier(quarter(500), tolerance=1e-3)
    inner = line.frame().select("outcome_0", "outcome_1").to_numpy()
    outer = line.outer()
    assert np.all(np.linalg.norm(inner, axis=1) <= 1 + 1e-9)
    assert np.all(np.linalg.norm(outer, axis=1) >= 1 - 1e-4)
    assert line.gap <= 1e-3
    assert len(inner) < 40
    coarse = eq.frontier(quarter(500), points=4)
    assert len(coarse.supports) == 4
    assert coarse.gap > line.gap


def test_no_policy_is_beyond_it():
    model = eq.models.garnet(5, 2, 3, n_outcomes=2, seed=1)
    line = eq.frontier(model, tolerance=1e-4)
    for seed in range(20):
        policy = np.random.default_rng(seed).dirichlet([0.3, 0.3], 5).ravel()
        agent = eq.agents.baselines.StationaryAgent(model.space, eq.rewards.Linear([1.0, 0.0]), policy, seed)
        v = eq.simulate(model, agent, 20_000, seed, progress=False).outcomes[-1]
        assert all(s.direction @ v <= s.bound + 0.02 for s in line.supports)


def test_less_of_one_and_three_of_them():
    model = quarter(8)
    line = eq.frontier(model, less=[1])
    assert line.frame().select("outcome_0", "outcome_1").to_numpy()[0] == pytest.approx([1.0, 0.0], abs=1e-6)
    three = eq.frontier(eq.models.bandit(3), points=30)
    assert len(three.supports) == 28
    frame = three.frame()
    names = list(three.outcomes)
    assert frame.select(names).to_numpy().sum(axis=1) == pytest.approx(np.ones(28), abs=1e-6)
    assert three.gap < 1e-6
    assert three.chart().to_dict()["mark"]["type"] == "point"
    with pytest.raises(ParameterError, match="meet in faces"):
        three.outer()


def test_the_chart_has_both_lines():
    layers = eq.frontier(quarter(8)).chart().to_dict()["layer"]
    assert [layer["mark"]["type"] for layer in layers] == ["line", "point"]


def test_refusals():
    with pytest.raises(ParameterError, match="two or three of them are needed"):
        eq.frontier(eq.models.riverswim(3))
    with pytest.raises(ParameterError, match="two or three of them are needed"):
        eq.frontier(eq.models.bandit(3), [0, 0])
    with pytest.raises(ModelError, match=r"there is no 'arm 5'"):
        eq.frontier(eq.models.bandit(3), ["arm 5", "arm 0"])
    with pytest.raises(ParameterError, match="must be among the outcomes"):
        eq.frontier(eq.models.bandit(3), [0, 1], less=[2])
