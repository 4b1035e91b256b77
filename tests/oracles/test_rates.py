"""Learning rates of one's choice: the steps by hand, the terms by a second formula, the paper's by default."""

from __future__ import annotations

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise import oracles as o
from equipoise import rewards as r
from equipoise.errors import OracleError
from equipoise.testing._oracle_paths import legs, sources

KPI = [0.7, 0.5, 0.6]


def test_gradient_descent_by_hand():
    reward, oracle = r.TargetDistance(KPI), o.TunedGradientDescent(scale=2.0, exponent=-0.5)
    (leg,) = legs(oracle, reward, sources(3, 1)["random outcomes"], 40)
    theta = np.zeros(3)
    for t, outcome in enumerate(leg.outcomes, start=1):
        theta = theta - 2.0 / (math.sqrt(3.0) * t**0.5) * (reward.conjugate_argmax(theta) - outcome)
        theta = theta / max(1.0, np.linalg.norm(theta))
        assert leg.thetas[t] == pytest.approx(theta, abs=1e-12)


def test_mirror_descent_by_hand():
    reward, oracle = r.TargetDistance(KPI, 1), o.TunedMirrorDescent(o.Box(), 100, scale=3.0, exponent=-0.5)
    eta = 3.0 * math.sqrt(1.5) / (3.0 * 10.0)
    assert oracle.eta(reward) == pytest.approx(eta, rel=1e-15)
    (leg,) = legs(oracle, reward, sources(3, 1)["random outcomes"], 40)
    Z = np.zeros(3)
    for t, outcome in enumerate(leg.outcomes):
        Z += reward.conjugate_argmax(leg.thetas[t]) - outcome
        assert leg.thetas[t + 1] == pytest.approx(np.clip(-eta * Z, -1.0, 1.0), abs=1e-12)


@pytest.mark.parametrize(("scale", "exponent"), [(1.0, -2 / 3), (2.0, -0.5), (0.3, -0.9)])
def test_terms_by_a_second_formula(scale, exponent):
    """Zinkevich's and the mirror descent's theorems with the rates themselves, summed up; the term is no smaller."""
    reward, ball = r.TargetDistance(KPI), math.sqrt(3.0)
    for T in (1, 7, 300):
        rates = scale / ball * np.arange(1.0, T + 1.0) ** exponent
        direct = ((2.0 * 1.0) ** 2 / (2.0 * rates[-1]) + 0.5 * ball**2 * rates.sum()) / T
        term = o.TunedGradientDescent(scale, exponent).theory.regret_term(reward, T)
        assert direct - 1e-12 <= term <= direct + scale * ball / (2.0 * T)
        eta = scale * math.sqrt(0.5) / ball * 400.0**exponent
        direct = (0.5 / eta + eta * ball**2 * T) / T
        term = o.TunedMirrorDescent(o.EuclideanBall(), 400, scale, exponent).theory.regret_term(reward, T)
        assert term == pytest.approx(direct, rel=1e-12)


def test_the_rate_is_what_the_terms_fall_by():
    reward = r.TargetDistance(KPI)
    for exponent in (-0.3, -0.5, -2 / 3, -0.9):
        theory = o.TunedGradientDescent(exponent=exponent).theory
        at = [
            max(theory.regret_term(reward, T), theory.gradient_episodes(reward, 1.0, T) / T) for T in (10**14, 10**16)
        ]
        assert math.log10(at[1] / at[0]) / 2.0 == pytest.approx(theory.rate, abs=0.02)
    assert max(o.TunedGradientDescent(exponent=-a / 100).theory.rate * -1 for a in range(1, 100)) <= 1 / 3


def test_defaults_are_told_as_before():
    assert repr(o.TunedGradientDescent()) == "TunedGradientDescent()"
    assert repr(o.Doubling(o.Box())) == "Doubling(mirror_map=Box())"
    assert repr(o.TunedGradientDescent(2.0)) == "TunedGradientDescent(scale=2.0)"
    phase = o.Doubling(o.Box(), scale=2.0, exponent=-0.5).phase(3)
    assert phase.oracle == o.TunedMirrorDescent(o.Box(), 8, 2.0, -0.5)
    assert o.TunedGradientDescent().theory.printed is not None
    assert o.TunedGradientDescent(2.0).theory.printed is None


def test_a_study_may_ask_for_one():
    study = {"kind": "Doubling", "mirror_map": "EuclideanBall", "scale": 2.0}
    agents = [{"name": "fast", "kind": "TocUCRL2", "oracle": study}]
    agents += [{"name": "there", "kind": "TocUCRL2", "oracle": {"kind": "StartingAt", "oracle": "TunedGradientDescent",
                                                               "theta": [0.5, -0.5]}}]  # fmt: skip
    problem = {"name": "p", "world": {"kind": "bandit", "arms": 2}, "reward": {"kind": "TargetDistance", "kpi": {
        "kind": "TargetBall", "centre": [0.5, 0.4], "radius": 0.2}}}  # fmt: skip
    from equipoise.studies.vocabulary import make_agent, make_reward, make_world

    model = make_world(problem["world"], "world")
    reward = make_reward(problem["reward"], model, "reward")
    made = [make_agent({k: v for k, v in one.items() if k != "name"}, model, reward, 10, 0, "agent") for one in agents]
    assert isinstance(reward.kpi, r.TargetBall)
    assert made[0].oracle == o.Doubling(o.EuclideanBall(), scale=2.0)
    assert made[1].theta.tolist() == [0.5, -0.5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0,), "scale: got 0.0"),
        ((math.inf,), "scale: got inf"),
        ((1.0, -1.0), "exponent: got -1.0"),
        ((1.0, 0.0), "exponent: got 0"),
    ],
)
def test_what_is_refused(arguments, message):
    for make in (
        o.TunedGradientDescent,
        lambda *x: o.TunedMirrorDescent(o.Box(), 9, *x),
        lambda *x: o.Doubling(o.Box(), False, *x),
    ):
        with pytest.raises(OracleError, match=message):
            make(*arguments)


@pytest.mark.parametrize(
    ("mirror_map", "reward"),
    [(o.EuclideanBall(), r.TargetDistance(KPI)), (o.Box(), r.TargetDistance(KPI, 1)),
     (o.SignedSimplex(), r.BottomSum(3, 2)),
     (o.SlackSimplex(), r.Knapsack(3, 0.4)), (o.CrossPolytope(), r.TargetDistance(KPI, math.inf))], ids=repr,
)  # fmt: skip
def test_f_against_its_definition(mirror_map, reward):
    """F by a convex program over the weights, or by its formula; infinite outside; of many thetas at once."""
    import cvxpy

    rng = np.random.default_rng(2)
    thetas = []
    for _ in range(6):
        if isinstance(mirror_map, o.EntropicMap):
            base, coordinate, scale = mirror_map.vertices(reward)
            weights = rng.dirichlet(np.full(scale.size, 0.7))
            theta = -base.copy()
            np.subtract.at(theta, coordinate, weights * scale)
            share = cvxpy.Variable(scale.size, nonneg=True)
            columns = np.zeros((base.size, scale.size))
            columns[coordinate, np.arange(scale.size)] = scale
            program = cvxpy.Problem(
                cvxpy.Minimize(-cvxpy.sum(cvxpy.entr(share))),
                [cvxpy.sum(share) == 1.0, -base - columns @ share == theta],
            )
            program.solve(solver=cvxpy.CLARABEL)
            expected = np.abs(scale).max() ** 2 * program.value
        else:
            theta = rng.uniform(-0.5, 0.5, 3)
            expected = 0.5 * float(theta @ theta)
        assert mirror_map.value(reward, theta) == pytest.approx(expected, abs=2e-6 * max(1.0, reward.lipschitz**2))
        thetas.append(theta)
    many = np.array(thetas).reshape(2, 3, -1)
    assert mirror_map.value(reward, many).shape == (2, 3)
    assert mirror_map.value(reward, many)[1, 2] == mirror_map.value(reward, thetas[5])
    far = np.full(3, 2.0 * reward.lipschitz)
    assert mirror_map.value(reward, far) == math.inf
    first = mirror_map.initial_theta(reward)
    assert mirror_map.value(reward, first) <= mirror_map.value(reward, np.array(thetas)).min() + 1e-12
    with pytest.raises(OracleError, match="3 finite numbers"):
        mirror_map.value(reward, [0.5, 0.5])


def test_the_range_of_f_is_attained_at_a_vertex():
    for mirror_map, reward in (
        (o.SignedSimplex(), r.BottomSum(3, 2)),
        (o.CrossPolytope(), r.TargetDistance(KPI, math.inf)),
    ):
        vertex = -reward.lipschitz * np.eye(3)[0]
        span = mirror_map.value(reward, vertex) - mirror_map.value(reward, mirror_map.initial_theta(reward))
        assert span == pytest.approx(mirror_map.radius(reward) ** 2, rel=1e-9)


def test_a_simplex_with_several_weights_for_a_theta_is_refused():

    reward = r.Knapsack(3, 0.4)
    reward.vertices = reward.vertices._replace(
        coordinate=np.append(reward.vertices.coordinate, 1), scale=np.append(reward.vertices.scale, -1.0)
    )
    with pytest.raises(OracleError, match="several on one coordinate"):
        o.SlackSimplex().value(reward, np.zeros(3))
    assert eq.rewards.Knapsack(3, 0.4).vertices.scale.size < reward.vertices.scale.size
