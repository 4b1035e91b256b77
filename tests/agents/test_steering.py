"""The gradient threshold on its own: the same bits as in an agent, a plain transcription, files, errors."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import equipoise as eq
from equipoise.agents import Power, Span, Steering
from equipoise.errors import FileError, OracleError, ParameterError, ProtocolError, RewardError
from equipoise.oracles import Box, Doubling, EuclideanBall, SignedSimplex, SlackSimplex, TunedMirrorDescent
from equipoise.rewards.norms import dual

GARNET = eq.models.garnet(4, 2, 2, 3, seed=3)
THIRDS = [1 / 3, 1 / 3, 1 / 3]
CASES = {
    "FW, Q = L": (eq.rewards.Quadratic(THIRDS), None, None),
    "FW, Q = 0": (eq.rewards.Quadratic(THIRDS), None, 0.0),
    "FW, Q = inf": (eq.rewards.Quadratic(THIRDS), None, math.inf),
    "FW, Q grows": (eq.rewards.Quadratic(THIRDS), None, Power(0.5, 0.02)),
    "TGD": (eq.rewards.TargetDistance([0.6, 0.6, 0.6], 2), None, 0.3),
    "TMD, norm 1": (eq.rewards.TargetDistance([0.6] * 3, 1), TunedMirrorDescent(Box(), 600), 0.2),
    "doubling, norm inf": (eq.rewards.BottomSum(3, 1), None, 0.1),
    "doubling that inherits": (eq.rewards.BottomSum(3, 2), Doubling(SignedSimplex(), inherit=True), Power(0.3, 0.05)),
    "doubling, Q grows": (eq.rewards.TargetDistance([0.6] * 3, 2), Doubling(EuclideanBall()), Power(0.5, 0.05)),
    "entropy at any time": (eq.rewards.Entropy(4), None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_trigger_of_the_agent_to_the_last_bit(case):
    reward, oracle, threshold = CASES[case]
    model = GARNET.visits() if reward.n_outcomes == 4 else GARNET
    known = eq.confidence.Known(model)  # with nothing to learn, theta alone ends episodes
    agent = eq.TocUCRL2(model.space, reward, oracle, threshold, confidence=known, tolerance=1e-3)
    steering = Steering(reward, oracle, threshold)
    world, moved_at = model.world(seed=5), [1]
    for t in range(1, 601):
        action = agent.act(world.state)
        memory = agent.loop.arrays.memory
        assert steering.theta_ref.tobytes() == memory.reference.tobytes(), t
        assert steering.theta.tobytes() == agent.theta.tobytes()
        assert steering.drift == agent.drift
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        steering.observe(outcomes)
        assert steering.average.tobytes() == agent.average.tobytes()
        if steering.turn():
            moved_at.append(t + 1)
    if moved_at[-1] == 601:
        moved_at.pop()  # the agent plans when it is asked for an action, so not after the last step
    assert agent.episode_starts.tolist() == moved_at
    assert (len(moved_at) > 1) == (threshold != math.inf)


def test_a_plain_transcription_of_the_paper():
    rng, target = np.random.default_rng(0), np.array([0.2, 0.5])
    g = eq.rewards.Quadratic(target)
    steering = Steering(g, threshold=0.4)
    theta = reference = -target  # theta_1 = -grad g(0), and grad g(w) = target - w
    total, drift, changes = np.zeros(2), 0.0, 0
    for t in range(1, 2001):
        np.testing.assert_allclose(steering.theta_ref, reference, rtol=0, atol=1e-12)
        outcomes = rng.random(2)
        steering.observe(outcomes)
        total += outcomes
        theta = total / t - target
        drift += np.linalg.norm(theta - reference)
        assert steering.drift == pytest.approx(drift, abs=1e-9)
        if drift > 0.4:
            reference, drift, changes = theta, 0.0, changes + 1
        assert steering.turn() == (drift == 0.0)
    assert steering.changes == changes > 20


def test_theta_ref_that_is_held_moves_when_it_is_let_go():
    g = eq.rewards.Quadratic([0.5, 0.5])
    steering = Steering(g, threshold=0.1)
    first = steering.theta_ref
    for _ in range(50):
        steering.observe([1.0, 0.0])
    assert steering.theta_ref.tolist() == first.tolist()
    assert steering.due
    assert steering.turn()
    assert steering.theta_ref.tolist() == [0.5, -0.5]
    assert (steering.drift, steering.changes, steering.due) == (0.0, 1, False)


def test_the_oracle_restarts_on_time_even_while_theta_ref_is_held():
    g = eq.rewards.BottomSum(2, 1)
    held, free = Steering(g, threshold=math.inf), Steering(g, threshold=math.inf)
    for t in range(1, 40):
        for one in (held, free):
            one.observe([1.0, 0.0])
        free.turn()
        if t not in (2, 6, 14, 30):  # where a phase of 2, 4, 8 ... steps ends; `free` has begun the next
            np.testing.assert_array_equal(held.theta, free.theta)
    assert (held.changes, free.changes) == (0, 4)
    assert held.due
    assert not free.due
    assert held.turn()


def test_scaling_of_psi_is_that_of_the_dual_norm():
    for norm in (1.0, 2.0, math.inf):
        g = eq.rewards.TargetDistance([0.9, 0.9], norm)
        steering = Steering(g, TunedMirrorDescent({1.0: Box(), 2.0: EuclideanBall()}.get(norm, SlackSimplex()), 50))
        before = steering.theta_ref
        steering.observe([0.0, 0.25])
        expected = np.linalg.norm(steering.theta - before, ord=dual(norm))
        assert steering.drift == pytest.approx(expected, rel=1e-12)
        assert steering.drift > 0


@pytest.mark.parametrize("case", ["FW, Q = L", "doubling, norm inf", "doubling, Q grows"])
def test_what_is_kept_goes_on_bit_for_bit(case):
    reward, oracle, threshold = CASES[case]
    rng = np.random.default_rng(1)
    whole, first = (Steering(reward, oracle, threshold) for _ in range(2))
    for t in range(300):
        outcomes = rng.random(3)
        whole.observe(outcomes)
        whole.turn()
        first.observe(outcomes)
        first.turn()
        if t % 37 == 0:
            kept = first.memory()
            assert all(isinstance(part, np.ndarray) and part.dtype.fields is None for part in kept.values())
            first = Steering(reward, oracle, threshold)
            first.restore(kept)
        if t % 50 == 0:
            first = pickle.loads(pickle.dumps(first))
    for name, part in whole.memory().items():
        assert part.tobytes() == first.memory()[name].tobytes(), name


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("theta", None, "'theta' is missing"),
        ("theta", np.zeros(2), "'theta' is of type float64 and shape"),
        ("total", np.full(3, 9.0), "'total' is not of so many outcomes"),
        ("average", np.full(3, 0.5), "'average' is not that of its total"),
        ("reference", np.full(3, np.nan), "'reference' is not finite"),
        ("drift_state", np.array([-1.0, 0.5]), "'drift_state' is negative"),
        ("clock", np.array([0, 0, 1, 1, 0]), "'clock' has numbers"),
        ("clock", np.array([5, 1, 1, 1, 0]), "'clock' has numbers"),
        ("clock", np.array([5, 0, 2, 1, 0]), "'clock' has numbers"),
        ("clock", np.array([5, 0, 1, 1, 9]), "'clock' has numbers"),
    ],
)
def test_damaged_memory_is_refused(name, value, match):
    steering = Steering(eq.rewards.Quadratic(THIRDS))
    kept = steering.memory() | {name: value}
    with pytest.raises(FileError, match=match):
        steering.restore(kept)
    assert steering.t == 1


@pytest.mark.parametrize(
    ("outcomes", "match"),
    [
        ([0.5, 0.5], r"got shape \(2,\); 3 numbers are needed"),
        ([0.5, 1.5, 0.5], r"outcome 1: got 1.5; it must lie in \[0, 1\]"),
        ([0.5, math.nan, 0.5], "outcome 1: got nan"),
        ("many", "a vector of numbers is needed"),
    ],
)
def test_outcomes_that_cannot_be_are_refused(outcomes, match):
    steering = Steering(eq.rewards.Quadratic(THIRDS))
    with pytest.raises(ProtocolError, match=match):
        steering.observe(outcomes)
    assert steering.t == 1


def test_arguments_that_cannot_be_are_refused():
    g = eq.rewards.Quadratic(THIRDS)
    with pytest.raises(ParameterError, match=r"threshold: Span\(\) is made of the span of a plan"):
        Steering(g, threshold=Span())
    with pytest.raises(ParameterError, match="threshold: got -1"):
        Steering(g, threshold=-1)
    with pytest.raises(OracleError, match="FrankWolfe needs a smooth reward"):
        Steering(eq.rewards.BottomSum(3, 1), eq.oracles.FrankWolfe())
    with pytest.raises(ParameterError, match="reward: got ndarray"):
        Steering(np.ones(3))
    short = Steering(eq.rewards.TargetDistance(THIRDS, 1), TunedMirrorDescent(Box(), 2))
    short.observe(THIRDS)
    short.observe(THIRDS)
    with pytest.raises(ProtocolError, match="the horizon of 2 steps"):
        short.observe(THIRDS)


def test_a_theta_that_is_no_number_is_blamed_on_the_reward():
    g = eq.rewards.Custom(
        n_outcomes=1,
        value=lambda w: w[0],
        gradient=lambda w: np.where(w < 0.9, 1.0, np.nan),
        conjugate_argmax=lambda theta: np.ones(1),
        norm=2,
        lipschitz=1.0,
        smoothness=1.0,
        samples=0,
    )
    steering = Steering(g, threshold=math.inf)
    steering.observe([1.0])
    with pytest.raises(RewardError, match=r"at time 2.*theta is .nan.; the gradient or the conjugate of Custom"):
        steering.turn()
