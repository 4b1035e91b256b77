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


def octant(n):
    """One state, actions whose outcomes lie on an eighth of the unit sphere."""
    grid = [np.array([i, j, n - i - j]) for i in range(n + 1) for j in range(n + 1 - i)]
    return eq.Model.from_arrays([[[1.0]] * len(grid)], [[(v / np.linalg.norm(v)).tolist() for v in grid]])


def test_both_sides_of_a_sphere():
    """What is reached is inside, the corners of the proven limit outside, and the gap is the farthest between."""
    model, gaps = octant(30), []
    for points in (10, 28, 66):
        surface = eq.frontier(model, points=points)
        inner = surface.frame().select(surface.outcomes).to_numpy()
        assert np.all(np.linalg.norm(inner, axis=1) <= 1 + 1e-9)
        corners = surface.outer()
        assert np.all(np.linalg.norm(corners, axis=1) >= 1 - 0.01)
        for support in surface.supports:
            assert np.all(corners @ support.direction <= support.bound + 1e-6)
        gaps.append(surface.gap)
        assert surface.gap >= np.linalg.norm(corners, axis=1).max() - 1 - 1e-6
    assert gaps[0] > gaps[1] > gaps[2] > 1e-3


def test_a_third_outcome_that_is_always_zero():
    flat = eq.Model.from_arrays([[[1.0]] * 3], [[[1.0, 0.0, 0.0], [0.8, 0.8, 0.0], [0.0, 1.0, 0.0]]])
    surface = eq.frontier(flat, points=66)
    assert np.abs(surface.outer()[:, 2]).max() < 1e-5
    assert np.linalg.norm(surface.outer() - [0.8, 0.8, 0.0], axis=1).min() < 0.05
    assert surface.gap < 0.1


def test_less_of_one_of_three():
    """The corners of the limit of (a, b, -c) are those of (a, b, c) mirrored."""
    plain = eq.frontier(octant(3), points=28)
    mirrored = eq.Model.from_arrays([[[1.0]] * 10], [(octant(3).means * [1, 1, -1] + [0, 0, 1]).tolist()])
    other = eq.frontier(mirrored, points=28, less=[2])
    back = other.outer() * [1, 1, -1] + [0, 0, 1]
    assert np.sort(back, axis=0) == pytest.approx(np.sort(plain.outer(), axis=0), abs=1e-6)
    assert other.gap == pytest.approx(plain.gap, abs=1e-6)


def test_the_chart_has_both_lines():
    layers = eq.frontier(quarter(8)).chart().to_dict()["layer"]
    assert [layer["mark"]["type"] for layer in layers] == ["line", "point"]
    coarse = eq.frontier(eq.models.inventory(), outcomes=[0, 1], points=5)
    chart = coarse.chart().to_dict()
    along = chart["layer"][0]["encoding"]["order"]["field"]
    rows = chart["datasets"][chart["layer"][0]["data"]["name"]]
    drawn = [(row["x"], row["y"]) for row in sorted(rows, key=lambda row: row[along]) if row["what"] != "reached"]
    assert drawn[1:-1] == [tuple(corner) for corner in coarse.outer().tolist()]  # one after the other
    three = eq.frontier(octant(3), points=10)
    chart = three.chart().to_dict()
    (rows,) = chart["datasets"].values()
    assert [row["what"] for row in rows] == ["reached"] * 10 + ["proven limit"] * len(three.outer())
    assert chart["encoding"]["color"]["title"] == "outcome_2"


def test_names_that_mean_something_to_a_chart():
    names = ["cost.per day", "share: Q"]
    model = eq.Model.from_arrays([[[1.0]] * 2], [[[1.0, 0.0], [0.0, 1.0]]], labels=eq.Labels(outcomes=names))
    chart = eq.frontier(model).chart().to_dict()
    line = chart["layer"][0]["encoding"]
    assert [line["x"]["title"], line["y"]["title"]] == names
    for rows in chart["datasets"].values():
        assert all(row[line["x"]["field"]] is not None and row[line["y"]["field"]] is not None for row in rows)


def test_what_is_dominated_is_no_trade_off():
    """Two actions are best for outcome 0; only one of them is worth anything else."""
    for outcomes in ([[1.0, 0.0], [1.0, 0.6], [0.0, 1.0]], [[1.0, 0.6], [1.0, 0.0], [0.0, 1.0]]):
        line = eq.frontier(eq.Model.from_arrays([[[1.0]] * 3], [outcomes]))
        points = line.frame().select("outcome_0", "outcome_1").to_numpy()
        assert points[0] == pytest.approx([1.0, 0.6], abs=1e-6)
        assert points[-1] == pytest.approx([0.0, 1.0], abs=1e-6)
    shop = eq.frontier(eq.models.inventory(), outcomes=[0, 1]).frame().select("fill rate", "low holding").to_numpy()
    assert not any((shop >= v).all(axis=1)[(shop > v + 1e-6).any(axis=1)].any() for v in shop)


def test_as_fine_as_it_gets():
    """With nothing left to find out it comes to an end, however small the tolerance."""
    line = eq.frontier(eq.models.bandit(2), tolerance=1e-300, points=40)
    assert line.gap < 1e-9
    line = eq.frontier(eq.models.garnet(5, 2, 3, n_outcomes=2, seed=1), tolerance=1e-300, points=100)
    assert line.gap < 1e-6


def test_refusals():
    with pytest.raises(ParameterError, match="two or three of them are needed"):
        eq.frontier(eq.models.riverswim(3))
    with pytest.raises(ParameterError, match="two or three of them are needed"):
        eq.frontier(eq.models.bandit(3), [0, 0])
    with pytest.raises(ModelError, match=r"there is no 'arm 5'"):
        eq.frontier(eq.models.bandit(3), ["arm 5", "arm 0"])
    with pytest.raises(ParameterError, match=r"there is no 'outcome_2' \(did you mean"):
        eq.frontier(quarter(2), ["outcome_0", "outcome_2"])
    for tolerance in (0.0, -1.0, float("nan")):
        with pytest.raises(ParameterError, match="tolerance: got"):
            eq.frontier(quarter(2), tolerance=tolerance)
    with pytest.raises(ParameterError, match="must be among the outcomes"):
        eq.frontier(eq.models.bandit(3), [0, 1], less=[2])
