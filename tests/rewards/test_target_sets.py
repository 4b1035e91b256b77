"""Distances to convex sets, against programs in which the point of the set is a variable, and closed forms."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import cvxpy
import numpy as np
import pytest

import equipoise as eq
from equipoise import rewards as r
from equipoise.errors import RewardError
from equipoise.rewards.base import entry
from equipoise.rewards.norms import dual
from equipoise.testing import check_reward
from tests.rewards.members import assert_same_elsewhere

POINTS = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.9], [0.4, 0.8, 0.4], [0.9, 0.9, 0.1]])
ROWS, LIMITS = np.array([[1.0, -1.0, 0.5], [1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]), np.array([0.1, 1.5, -0.75])
CENTRE, RADIUS = np.array([0.5, 0.4, 0.6]), 0.3
LOW, HIGH = np.array([0.2, 0.5, 0.0]), np.array([0.3, 0.9, 0.4])
SOLVED = 2e-7  # of the solver


@entry
def _share(t, n, y, params, out):
    """The points that sum to 1 at most: all of the largest y, if that is positive."""
    best = 0
    for k in range(n):
        out[k] = 0.0
        if y[k] > y[best]:
            best = k
    if y[best] > 0.0:
        out[best] = params[0]


class Share(r.TargetSet):
    """z >= 0 and sum z <= total."""

    support = _share

    def __init__(self, n_outcomes: int, total: float = 1.0) -> None:
        self.n_outcomes, self.total = n_outcomes, total
        self.params = np.array([total])


def hull(z):
    share = cvxpy.Variable(len(POINTS), nonneg=True)
    return [share @ POINTS == z, cvxpy.sum(share) == 1.0]


SETS = {
    "hull": (r.TargetHull(POINTS), hull),
    "polytope": (r.TargetPolytope(ROWS, LIMITS), lambda z: [ROWS @ z <= LIMITS, z >= 0.0, z <= 1.0]),
    "ball": (r.TargetBall(CENTRE, RADIUS), lambda z: [cvxpy.norm(z - CENTRE, 2) <= RADIUS]),
    "box": (r.TargetBox(LOW, HIGH), lambda z: [z >= LOW, z <= HIGH]),
    "share": (Share(3, 0.75), lambda z: [z >= 0.0, cvxpy.sum(z) <= 0.75]),
}
NORMS = {
    "1": ({"norm": 1}, 1, np.ones(3)),
    "2": ({"norm": 2}, 2, np.ones(3)),
    "inf": ({"norm": math.inf}, "inf", np.ones(3)),
    "3": ({"p": 3.0}, 3, np.ones(3)),
    "1.5, weighted": ({"p": 1.5, "weights": [2.0, 0.5, 1.0]}, 1.5, np.array([2.0, 0.5, 1.0])),
    "2, weighted": ({"norm": 2, "weights": [2.0, 0.5, 1.0]}, 2, np.array([2.0, 0.5, 1.0])),
    "1, weighted": ({"norm": 1, "weights": [2.0, 0.5, 1.0]}, 1, np.array([2.0, 0.5, 1.0])),
}


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", SETS)
def test_value_and_conjugate_against_a_convex_solver(name: str, norm: str):
    target, within = SETS[name]
    arguments, p, weights = NORMS[norm]
    g = r.TargetDistance(target, **arguments)
    rng = np.random.default_rng(3)
    w, z, theta = cvxpy.Variable(3), cvxpy.Variable(3), cvxpy.Parameter(3)
    distance = cvxpy.norm(cvxpy.multiply(weights, w - z), p)
    point = cvxpy.Parameter(3)
    nearest = cvxpy.Problem(cvxpy.Minimize(distance), [*within(z), w == point])
    conjugate = cvxpy.Problem(cvxpy.Maximize(1.0 - distance + theta @ w), [*within(z), w >= 0.0, w <= 1.0])
    for _ in range(4):
        point.value = np.round(rng.uniform(-0.2, 1.2, 3).clip(0.0, 1.0), 3)
        nearest.solve(solver=cvxpy.CLARABEL)
        assert g.value(point.value) == pytest.approx(1.0 - nearest.value, abs=SOLVED)
    for radius in (0.3, 0.9, 2.0):
        direction = rng.normal(size=3)
        theta.value = radius * g.lipschitz * direction / np.linalg.norm(direction, dual(g.norm))
        conjugate.solve(solver=cvxpy.CLARABEL)
        bound = g.conjugate_bound(theta.value)
        assert g.conjugate(theta.value) == pytest.approx(conjugate.value, abs=SOLVED)
        assert bound >= conjugate.value - SOLVED
        if radius < 1.0 and norm in ("1", "2", "inf"):
            assert bound == pytest.approx(g.conjugate(theta.value), abs=1e-14)
    edge = theta.value / np.linalg.norm(theta.value / weights, {1: math.inf, "inf": 1.0}.get(p) or p / (p - 1.0))
    just_outside = (1.0 + 1e-7) * edge  # as a solver's theta is
    assert g.conjugate_bound(just_outside) == pytest.approx(g.conjugate(edge), abs=1e-6)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", SETS)
def test_the_tangent_is_above_whatever_was_found(name: str, norm: str):
    """With y = -gradient in the dual ball, 1 - y.u + sigma(y) bounds g at every u: sigma is worked out by hand here."""
    target, _ = SETS[name]
    arguments, p, weights = NORMS[norm]
    g = r.TargetDistance(target, **arguments)
    q = {1: math.inf, "inf": 1.0}.get(p) or p / (p - 1.0)
    for w in np.random.default_rng(1).random((30, 3)):
        y = -g.gradient(w)
        assert np.linalg.norm(y / weights, q) <= 1.0 + 1e-14
        assert g.value(w) >= 1.0 - y @ w + y @ target.support_point(y) - 1e-14
        assert g.value(w) == pytest.approx(1.0 - y @ w + y @ target.support_point(y), abs=1e-13)


def test_balls_and_segments_in_closed_form():
    w = np.array([1.0, 1.0, 0.0])
    ball = r.TargetDistance(r.TargetBall(CENTRE, RADIUS))
    assert ball.value(w) == pytest.approx(1.0 - (np.linalg.norm(w - CENTRE) - RADIUS), abs=1e-12)
    assert ball.gradient(w) == pytest.approx((CENTRE - w) / np.linalg.norm(w - CENTRE), abs=1e-6)
    assert ball.value(CENTRE + 0.1) == 1.0
    diagonal = [r.TargetDistance(r.TargetHull([[0.0, 0.0], [1.0, 1.0]]), norm) for norm in (1, 2, math.inf)]
    assert [g.value([0.75, 0.25]) for g in diagonal] == pytest.approx(
        [0.5, 1.0 - 0.5 * 0.5**0.5 * 1.0, 0.75], abs=1e-12
    )


def test_a_box_that_is_open_above_is_the_kpis():
    kpi, w = [0.5, 0.9], [0.1, 0.4]
    for norm in (1, 2, math.inf):
        one, other = r.TargetDistance(kpi, norm), r.TargetDistance(r.TargetBox(kpi, [1.0, 1.0]), norm)
        assert one.value(w) == other.value(w)
        assert one.gradient(w).tolist() == other.gradient(w).tolist()
        assert one.conjugate_argmax([-2.0, 0.5]).tolist() == other.conjugate_argmax([-2.0, 0.5]).tolist()


def test_the_vertices_of_a_polytope():
    """Against all choices of three planes, one after another; and an equation, which has no inside."""
    planes = [*zip(ROWS, LIMITS, strict=True), *((row, 1.0) for row in np.eye(3)), *((-row, 0.0) for row in np.eye(3))]
    found = set()
    for chosen in itertools.combinations(planes, 3):
        A, b = np.array([row for row, _ in chosen]), np.array([limit for _, limit in chosen])
        if abs(np.linalg.det(A)) > 1e-9:
            point = np.linalg.solve(A, b)
            if all(row @ point <= limit + 1e-9 for row, limit in planes):
                found.add(tuple(np.round(point, 6) + 0.0))
    vertices = r.TargetPolytope(ROWS, LIMITS).vertices
    assert {tuple(np.round(vertex, 6) + 0.0) for vertex in vertices} == found
    line = r.TargetPolytope([[1.0, 1.0], [-1.0, -1.0]], [1.0, -1.0])
    assert line.vertices.tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("weights", "norm", "p"), [([2.0, 0.5, 1.0], 2, 1.5), ([2.0, 0.5, 1.0], math.inf, 3.0), ([1.0, 1.0, 1.0], 2, 1.0),
                               ([1.0, 3.0, 1.0], 1, 2.0), ([0.5, 3.0, 1.0], math.inf, 1.0)]
)  # fmt: skip
def test_lipschitz_constant_is_the_largest_ratio(weights, norm, p):
    """Over many directions, and attained along one: x_k ~ d_k^(r/s) by Hoelder's inequality, or the heaviest alone."""
    d = np.array(weights)
    g = r.TargetDistance([0.5] * 3, norm, weights, p)
    x = np.random.default_rng(0).normal(size=(20_000, 3))
    ratios = np.linalg.norm(d * x, p, axis=1) / np.linalg.norm(x, norm, axis=1)
    exponent = 0.0 if norm == math.inf else (1.0 / (1.0 / p - 1.0 / norm) / norm if p < norm else math.inf)
    along = (d == d.max()).astype(float) if exponent == math.inf else d**exponent
    attained = np.linalg.norm(d * along, p) / np.linalg.norm(along, norm)
    assert ratios.max() <= g.lipschitz * (1.0 + 1e-12)
    assert attained == pytest.approx(g.lipschitz, rel=1e-12)


def test_a_set_of_ones_own_keeps_the_contract(tmp_path: Path):
    g = r.TargetDistance(Share(3, 0.75))
    check_reward(g)
    assert_same_elsewhere(r.TargetDistance(r.TargetHull(POINTS)), [0.5, 1.0, 0.25], tmp_path)


def test_an_agent_reaches_a_ball_and_is_kept(tmp_path: Path):
    """The optimum by columns is the agent's limit; the certificate is above it; a file goes on bit for bit."""
    model = eq.models.bandit(3)  # any mixture of the unit vectors: the nearest to the ball is on the simplex
    g = r.TargetDistance(r.TargetBall([0.2, 0.3, 0.2], 0.15))
    best = eq.solve(model, g)
    closed = 1.0 - (0.3 / math.sqrt(3.0) - 0.15)  # the plane sum w = 1 is .3 / sqrt 3 from the centre
    assert best.value == pytest.approx(closed, abs=1e-6)
    agent = eq.TocUCRL2(model.space, g)
    run = eq.simulate(model, agent, 20_000, seed=1, progress=False)
    assert run.regret(closed)[-1] < 0.02
    assert agent.certificate().best_possible >= closed - 1e-12
    assert agent.certificate().best_possible < closed + 0.1
    agent.save(tmp_path / "agent.npz")
    twin = eq.TocUCRL2.load(tmp_path / "agent.npz")
    assert repr(twin.reward) == repr(g)
    for one in (agent, twin):
        eq.simulate(model, one, 500, seed=2, progress=False)
    assert twin.theta.tobytes() == agent.theta.tobytes()


class Far(Share):
    """It leaves the box."""

    def __init__(self) -> None:
        super().__init__(3, 1.5)


class Plain(Share):
    support = print


class Sizeless(Share):
    def __init__(self) -> None:
        super().__init__(3)
        self.n_outcomes = 2.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: r.TargetDistance(Far()), r"Far: its support point for y = .*entry 0 must lie in"),
        (lambda: r.TargetDistance(Plain(3)), "Plain.support: got .*declare it with @entry"),
        (lambda: r.TargetDistance(Sizeless()), "Sizeless.n_outcomes: got 2.5"),
        (lambda: r.TargetBox([0.5], [0.4]), r"high\[0\]: got 0.4; it must not be below low\[0\], 0.5"),
        (lambda: r.TargetBall([0.5, 0.2], 0.3), r"centre\[1\] = 0.2 leaves 0.2"),
        (lambda: r.TargetHull([[0.5, 1.5]]), r"points\[0\]\[1\]: got 1.5"),
        (lambda: r.TargetHull([]), "points: .* a non-empty matrix is needed"),
        (lambda: r.TargetHull([[0.5], [0.5, 0.5]]), "points: got .*; a matrix of numbers is needed"),
        (lambda: r.TargetPolytope([[1.0, 1.0]], [-0.1]), "no point of"),
        (lambda: r.TargetPolytope([[0.0, 0.0]], [-0.1]), "has no solution"),
        (lambda: r.TargetPolytope(np.ones((40, 10)), np.ones(40)), "possible vertices"),
        (lambda: r.TargetPolytope([[1.0, math.nan]], [0.1]), r"matrix\[0\]\[1\]: got nan"),
        (lambda: r.TargetDistance([0.5], p=0.5), "p: got 0.5"),
        (lambda: r.TargetDistance([0.5], p=1000.0), "p: got 1000"),
        (lambda: r.TargetDistance([0.5, 0.5], weights=[1.0, 0.0]), r"weights\[1\]: got 0"),
        (lambda: r.TargetDistance([0.5, 0.5], weights=[1.0]), "weights: got 1 entries; 2"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(RewardError, match=message):
        make()
