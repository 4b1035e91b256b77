"""theta_1 of one's choice, under every oracle, and what it costs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise import oracles as o
from equipoise import rewards as r
from equipoise.agents.steering import Steering
from equipoise.errors import OracleError
from equipoise.theory import bounds

KPI = [0.7, 0.5, 0.6]
PAIRS = [
    (o.FrankWolfe(), r.Quadratic(KPI), [0.5, -0.4, 0.3]),
    (o.TunedGradientDescent(), r.TargetDistance(KPI), [0.6, 0.0, -0.8]),
    (o.TunedMirrorDescent(o.Box(), 500), r.TargetDistance(KPI, 1), [1.0, -1.0, 0.5]),
    (o.Doubling(o.SignedSimplex()), r.BottomSum(3, 2), [-2.0, 0.0, 0.0]),
    (o.Doubling(o.CrossPolytope(), inherit=True), r.TargetDistance(KPI, math.inf), [0.5, 0.0, -0.5]),
    (o.FrankWolfe(), r.Entropy(3), [3.0, -7.0, 0.0]),
]


@pytest.mark.parametrize(("oracle", "reward", "theta"), PAIRS, ids=repr)
def test_an_agent_begins_there_and_every_mega_episode_with_it(oracle, reward, theta, tmp_path: Path):
    model = eq.models.garnet(4, 2, 2, 3, seed=5)
    agent = eq.TocUCRL2(model.space, reward, o.StartingAt(oracle, theta))
    assert agent.theta.tolist() == theta
    own = eq.TocUCRL2(model.space, reward, oracle)
    world, starts = model.world(3), []
    for _ in range(70):
        action = agent.act(world.state)
        if agent.loop.phase.length is not None and agent.loop.steps_left_in_phase() == agent.loop.phase.length:
            starts.append(agent.theta.tolist())
        agent.observe(*world.step(action))
    assert starts == [theta] * (6 if isinstance(oracle, o.Doubling) else 0)
    path = tmp_path / "agent.npz"
    agent.save(path)
    twin = eq.TocUCRL2.load(path)
    assert twin.oracle == agent.oracle != own.oracle
    for one in (agent, twin):
        eq.simulate(model, one, 100, seed=4, progress=False)
    assert twin.theta.tobytes() == agent.theta.tobytes()


@pytest.mark.parametrize(("oracle", "reward", "theta"), PAIRS, ids=repr)
def test_starting_where_it_would_is_no_change(oracle, reward, theta):
    model = eq.models.garnet(4, 2, 2, 3, seed=5)
    first = oracle.phase(1).oracle.initial_theta(reward)
    runs = [
        eq.simulate(model, eq.TocUCRL2(model.space, reward, one), 300, seed=4, progress=False)
        for one in (oracle, o.StartingAt(oracle, first))
    ]
    assert np.array_equal(runs[0].outcomes, runs[1].outcomes)
    steering = Steering(reward, o.StartingAt(oracle, theta))
    assert steering.theta_ref.tolist() == theta


def test_a_certificate_is_no_false_one_after_a_bad_start():
    """Frank-Wolfe's short cut, the tangent at the average, does not hold of theta_1: with it the bound is 0."""
    model = eq.models.bandit(2)
    reward = r.Quadratic([1.0, 0.0])
    best = eq.solve(model, reward).value
    for theta in ([1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.5, 0.5]):
        agent = eq.TocUCRL2(
            model.space, reward, o.StartingAt(o.FrankWolfe(), theta), confidence=eq.confidence.Known(model)
        )
        agent.act(0)
        assert agent.best_possible >= best - 1e-12


def test_what_theory_says_of_it():
    reward = r.Quadratic(KPI)
    own, other = o.FrankWolfe(), o.StartingAt(o.FrankWolfe(), [0.5, -0.4, 0.3])
    far = np.linalg.norm(np.array([0.5, -0.4, 0.3]) + np.array(KPI))
    extra = other.theory.regret_term(reward, 50) - own.theory.regret_term(reward, 50)
    assert extra == pytest.approx(far * math.sqrt(3.0) / 50, rel=1e-12)
    descent = o.StartingAt(o.TunedGradientDescent(), [0.6, 0.0, -0.8])
    distance = r.TargetDistance(KPI)
    assert descent.theory.regret_term(distance, 50) == o.TunedGradientDescent().theory.regret_term(distance, 50)
    doubled = o.StartingAt(o.Doubling(o.SignedSimplex()), [-2.0, 0.0, 0.0])
    fair = r.BottomSum(3, 2)
    extra = doubled.theory.regret_term(fair, 20) - doubled.oracle.theory.regret_term(fair, 20)
    assert extra == pytest.approx(4 * (4 / 3 + 2 / 3 + 2 / 3) / 20, rel=1e-12)  # 2 + 4 + 8 steps, and a fourth begun
    setting = bounds.Setting(reward=reward, oracle=other)
    assert bounds.gradient_episodes(reward, other, 1.0, 50) == 1.0 + bounds.gradient_episodes(reward, own, 1.0, 50)
    assert bounds.oracle_term(setting, 50) == other.theory.regret_term(reward, 50)
    assert other.theory.moves(r.Linear([1.0, 0.0, 0.0]))
    assert bounds.gradient_episodes(r.Linear([0.5, 0.5, 0.5]), other, 0.1, 50) == 1.0


@pytest.mark.parametrize(
    ("oracle", "reward", "theta", "message"),
    [
        (o.FrankWolfe(), r.Quadratic(KPI), [0.5, 0.5], "got 2 numbers; 3 are needed"),
        (o.FrankWolfe(), r.Quadratic(KPI), [9.0, 0.0, 0.0], "of length 9 .*must lie in the ball"),
        (o.Doubling(o.SignedSimplex()), r.BottomSum(3, 2), [-1.0, 0.0, 0.0], "where Doubling.* keeps theta"),
        (o.Doubling(o.SignedSimplex()), r.BottomSum(3, 2), [-3.0, 1.0, 0.0], "must lie in"),
        (o.TunedMirrorDescent(o.SlackSimplex(), 9), r.Knapsack(3, 0.4), [-0.5, 1.0, 0.0], "must lie in"),
        (o.TunedGradientDescent(), r.TargetDistance(KPI, 1), [0.0, 0.0, 0.0], "needs a reward that is Lipschitz"),
    ],
    ids=repr,
)
def test_what_does_not_fit_is_refused(oracle, reward, theta, message):
    space = eq.models.garnet(4, 2, 2, 3, seed=5).space
    with pytest.raises(OracleError, match=message):
        eq.TocUCRL2(space, reward, o.StartingAt(oracle, theta))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((o.FrankWolfe(), [math.nan]), r"theta\[0\]: got nan"),
        ((o.FrankWolfe(), [[0.5]]), "a non-empty vector is needed"),
        ((o.FrankWolfe(), "ab"), "a vector of numbers"),
        (("FrankWolfe", [0.5]), "oracle: got 'FrankWolfe'"),
        ((o.StartingAt(o.FrankWolfe(), [0.5]), [0.5]), "theta_1 of its own"),
    ],
)
def test_what_is_no_theta_is_refused(arguments, message):
    with pytest.raises(OracleError, match=message):
        o.StartingAt(*arguments)
