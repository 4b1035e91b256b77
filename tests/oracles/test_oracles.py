"""Oracles: what they need of a reward, what they start from, and steps in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise import oracles as o
from equipoise.oracles.frame import project_ball
from equipoise.oracles.mirror_maps import entropic_point
from equipoise.rewards import norms

KPI = [0.7, 0.5, 0.6]
SMOOTH = eq.rewards.Quadratic(KPI)
KINKED = eq.rewards.Balance(KPI)
ONE = eq.rewards.TargetDistance(KPI, 1)
FAIR = eq.rewards.BottomSum(3, 2)
BUDGET = eq.rewards.Knapsack(3, 0.5)


@pytest.mark.parametrize(
    ("oracle", "reward", "needs", "fits"),
    [
        (o.FrankWolfe(), KINKED, "FrankWolfe needs a smooth reward", "TunedGradientDescent()"),
        (o.FrankWolfe(), FAIR, "FrankWolfe needs a smooth reward", "SignedSimplex()"),
        (o.TunedGradientDescent(), FAIR, "Lipschitz in the 2-norm", "SignedSimplex()"),
        (o.TunedGradientDescent(), eq.rewards.Entropy(3), "Lipschitz in the 2-norm", "FrankWolfe()"),
        (o.TunedMirrorDescent(o.EuclideanBall(), 10), ONE, "EuclideanBall.* Lipschitz in the 2.0-norm", "Box()"),
        (o.TunedMirrorDescent(o.Box(), 10), FAIR, "Box.* Lipschitz in the 1.0-norm", "SignedSimplex()"),
        (o.TunedMirrorDescent(o.SignedSimplex(), 10), BUDGET, "constant 1-norm", "SlackSimplex()"),
        (o.TunedMirrorDescent(o.SlackSimplex(), 10), KINKED, "inf-norm", "TunedGradientDescent()"),
        (o.Doubling(o.CrossPolytope()), SMOOTH, "inf-norm", "FrankWolfe()"),
    ],
    ids=lambda x: repr(x)[:30],
)
def test_a_mismatch_says_what_would_fit(oracle, reward, needs, fits):
    model = eq.models.garnet(3, 2, 2, 3, seed=0)
    with pytest.raises(eq.errors.OracleError, match=needs) as caught:
        eq.TocUCRL2(model.space, reward, oracle)
    assert fits in str(caught.value).split("; use ")[1]


def test_what_is_recommended_is_accepted():
    for reward in (SMOOTH, KINKED, ONE, FAIR, BUDGET, eq.rewards.TargetDistance(KPI, math.inf), eq.rewards.Entropy(3)):
        o.fitting_oracle(reward).check(reward)


@pytest.mark.parametrize("horizon", [0, -1, 2.5, True])
def test_bad_horizons(horizon):
    with pytest.raises(eq.errors.OracleError, match="horizon"):
        o.TunedMirrorDescent(o.Box(), horizon)


def test_a_mirror_map_is_needed():
    with pytest.raises(eq.errors.OracleError, match="mirror_map: got 'F_2'"):
        o.TunedMirrorDescent("F_2", 10)


def test_first_gradients():
    assert o.FrankWolfe().initial_theta(SMOOTH).tolist() == [-0.7, -0.5, -0.6]
    assert o.TunedGradientDescent().initial_theta(KINKED).tolist() == [0, 0, 0]
    np.testing.assert_allclose(o.SignedSimplex().initial_theta(FAIR), [-2 / 3] * 3)
    np.testing.assert_allclose(o.SlackSimplex().initial_theta(BUDGET), [-1, 4 / 3, 4 / 3])
    np.testing.assert_allclose(o.CrossPolytope().initial_theta(FAIR), [0, 0, 0])


def test_learning_rates():
    """eta = L' / (||1_K|| T^{2/3}), with each map's L'."""
    T = 1000
    assert o.EuclideanBall().eta(KINKED, T) == pytest.approx(KINKED.lipschitz / math.sqrt(2) / math.sqrt(3) / 100)
    assert o.Box().eta(ONE, T) == pytest.approx(math.sqrt(3 / 2) / 3 / 100)
    assert o.SignedSimplex().eta(FAIR, T) == pytest.approx(2 * math.sqrt(math.log(3)) / 100)
    assert o.SlackSimplex().eta(BUDGET, T) == pytest.approx(4 * math.sqrt(math.log(3)) / 100)
    assert o.CrossPolytope().eta(FAIR, T) == pytest.approx(2 * math.sqrt(math.log(6)) / 100)


MAPS = [
    (o.SignedSimplex(), FAIR),
    (o.SlackSimplex(), FAIR),
    (o.SlackSimplex(), BUDGET),
    (o.SlackSimplex(), eq.rewards.TargetDistance(KPI, math.inf)),
    (o.CrossPolytope(), FAIR),
    (o.CrossPolytope(), eq.rewards.TargetDistance(KPI, math.inf)),
]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), which=st.sampled_from(range(len(MAPS))))
def test_entropic_step_is_the_maximiser_over_the_simplex(seed, which):
    """-theta.(eta Z) - M^2 sum lambda log lambda, over the weights of the vertices, has no better point nearby."""
    mirror, reward = MAPS[which]
    rng = np.random.default_rng(seed)
    slope = rng.normal(size=3) * 30
    eta = 0.1
    vertices = mirror.vertices(reward)
    J, M = vertices.scale.size, np.abs(vertices.scale).max()
    theta, weights = np.zeros(3), np.zeros(7)
    entropic_point(mirror.params(reward, eta), slope, weights, theta)

    def point(lam):
        found = -vertices.base.copy()
        np.subtract.at(found, vertices.coordinate, lam * vertices.scale)
        return found

    def objective(lam):
        return -point(lam) @ (eta * slope) - M**2 * np.sum(lam * np.log(np.maximum(lam, 1e-300)))

    lam = weights[:J] / weights[:J].sum()
    np.testing.assert_allclose(point(lam), theta, atol=1e-12)
    for _ in range(20):
        other = 0.99 * lam + 0.01 * rng.dirichlet(np.ones(J))
        assert objective(other) <= objective(lam) + 1e-10
    # minus theta is a point of the simplex that holds the supergradients, so in the dual ball
    assert norms.length(theta, 1.0) <= reward.lipschitz * (1 + 1e-12)


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=5), st.floats(0.1, 5))
def test_projection_on_the_ball(values, radius):
    theta = np.array(values)
    before = theta.copy()
    project_ball(theta, radius)
    assert np.linalg.norm(theta) <= radius * (1 + 1e-12)
    size = np.linalg.norm(before)
    expected = before if size <= radius else before * radius / size
    np.testing.assert_allclose(theta, expected, rtol=1e-12, atol=1e-300)


def test_theta_stays_in_the_dual_ball():
    model = eq.models.garnet(4, 2, 2, 3, seed=5)
    for reward in (SMOOTH, KINKED, ONE, FAIR, BUDGET):
        agent = eq.TocUCRL2(model.space, reward)
        world = model.world(0)
        for _ in range(400):
            agent.observe(*world.step(agent.act(world.state)))
            assert norms.length(agent.theta, norms.dual(reward.norm)) <= reward.lipschitz * (1 + 1e-12)


def test_descent_finds_the_supergradient_of_a_constant_outcome():
    """On one state with one action the average is the outcome, and theta tends to minus a supergradient there."""
    outcome = [0.2, 0.9, 0.3]
    model = eq.Model.from_arrays([[[1.0]]], [[outcome]], noise="none")
    horizon = 200_000
    for reward, oracle in (
        (KINKED, o.TunedGradientDescent()),
        (eq.rewards.TargetDistance(KPI, 2), o.TunedMirrorDescent(o.EuclideanBall(), horizon)),
        (ONE, o.TunedMirrorDescent(o.Box(), horizon)),
        (eq.rewards.TargetDistance(KPI, math.inf), o.TunedMirrorDescent(o.SlackSimplex(), horizon)),
    ):
        agent = eq.TocUCRL2(model.space, reward, oracle, threshold=math.inf)
        eq.simulate(model, agent, horizon)
        # Fenchel-Young: g*(theta) - theta.w >= g(w), with equality at minus a supergradient
        slack = reward.conjugate(agent.theta) - agent.theta @ np.array(outcome) - reward.value(outcome)
        assert slack + 1e-12 >= 0
        assert slack <= 0.02
