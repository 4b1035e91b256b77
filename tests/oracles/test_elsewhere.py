"""Oracles written elsewhere: they run, remember, are saved with the agent, and studies know that nothing is proven."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence.nonzero import list_arrays
from equipoise.studies.plan import _rate, find_guarantee
from equipoise.theory import bounds, printed
from tests.oracles.elsewhere import Addressed, Bare, Greedy, HeavyBall, Reader, Short, Undeclared

MODEL = eq.models.garnet(4, 2, 3, 3, seed=2)
REWARD = eq.rewards.Quadratic([0.4, 0.3, 0.5])


def bits(agent: eq.TocUCRL2) -> list[bytes]:
    machine = agent.loop.arrays
    return [part.tobytes() for part in (*list_arrays(machine.counts), *machine.memory, *agent.episode_record)]


@pytest.mark.parametrize("reward", [REWARD, eq.rewards.ProportionalFairness(3, 0.1), eq.rewards.Entropy(3)], ids=repr)
@pytest.mark.parametrize("threshold", [None, 0.0, math.inf])
def test_frank_wolfe_built_in_and_by_address_are_the_same_bits(reward, threshold):
    agents = [eq.TocUCRL2(MODEL.space, reward, oracle, threshold) for oracle in (eq.oracles.FrankWolfe(), Addressed())]
    assert [agent.loop.constants.frank_wolfe for agent in agents] == [True, False]
    for agent in agents:
        eq.simulate(MODEL, agent, 3000, seed=4, progress=False)
    assert bits(agents[0]) == bits(agents[1])


def heavy_by_hand(outcomes: np.ndarray, inertia: float) -> tuple[np.ndarray, np.ndarray]:
    """Theta and the velocity after these outcomes, in plain Python."""
    theta, velocity = np.zeros(3), np.zeros(3)
    for t in range(1, len(outcomes) + 1):
        gradient = REWARD.gradient(outcomes[:t].sum(axis=0) / t)
        velocity = inertia * velocity + (1 - inertia) * (-gradient - theta)
        theta = theta + velocity
    return theta, velocity


def test_one_of_somebody_else_runs_and_remembers():
    agent, world, seen = eq.TocUCRL2(MODEL.space, REWARD, HeavyBall(0.7)), MODEL.world(3), []
    for _ in range(200):
        outcomes, state = world.step(agent.act(world.state))
        agent.observe(outcomes, state)
        seen.append(outcomes)
    theta, velocity = heavy_by_hand(np.array(seen), 0.7)
    np.testing.assert_allclose(agent.theta, theta, atol=1e-12)
    np.testing.assert_allclose(agent.loop.arrays.memory.oracle, [*velocity, 200.0], atol=1e-12)
    compiled = eq.TocUCRL2(MODEL.space, REWARD, HeavyBall(0.7))
    eq.simulate(MODEL, compiled, 200, seed=3, progress=False)
    assert bits(compiled) == bits(agent)


def restored(agent: eq.TocUCRL2) -> list[eq.TocUCRL2]:
    """By pickle, by copy, and by what a file would hold."""
    fresh = eq.TocUCRL2(MODEL.space, REWARD, agent.oracle)
    kept = {name: {field: part.copy() for field, part in parts.items()} for name, parts in agent.memory().items()}
    assert all(part.dtype.fields is None for parts in kept.values() for part in parts.values())  # no records in files
    fresh.restore(kept)
    return [pickle.loads(pickle.dumps(agent)), copy.copy(agent), fresh]


def test_its_memory_is_saved_and_restored():
    agent = eq.TocUCRL2(MODEL.space, REWARD, HeavyBall(0.9))
    eq.simulate(MODEL, agent, 500, seed=1, progress=False)
    assert agent.loop.arrays.memory.oracle[3] == 500.0
    others = restored(agent)
    for one in [agent, *others]:
        eq.simulate(MODEL, one, 500, seed=1, progress=False)
        assert one.loop.arrays.memory.oracle[3] == 1000.0
    assert all(bits(one) == bits(agent) for one in others)


def test_a_step_is_given_the_time_the_outcome_and_the_reward():
    reward = eq.rewards.Quadratic([0.4, 0.3, 0.5])
    agent, world = eq.TocUCRL2(MODEL.space, reward, Reader(), threshold=math.inf), MODEL.world(0)
    for t in range(1, 30):
        action = agent.act(world.state)
        before = agent.theta
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        local = (t - 1) % 7 + 1
        assert agent.theta.tolist() == [t, local, outcomes[0] + agent.average[1] + 4.0]
        np.testing.assert_array_equal(agent.loop.arrays.memory.oracle, reward.conjugate_argmax(before))
        assert agent.loop.phase.origin == t - local


def test_what_was_not_declared_is_not_called():
    agent = eq.TocUCRL2(MODEL.space, REWARD, Undeclared(), threshold=0.0)
    eq.simulate(MODEL, agent, 5, progress=False)
    assert np.isnan(agent.loop.arrays.memory.oracle).all()


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (Bare(), "oracle: the kernel of Bare.*declared by @oracle_entry"),
        (Short(), r"oracle: the first theta of Short\(\) is \[0.0\]; 3 numbers are needed"),
    ],
    ids=repr,
)
def test_what_cannot_be_called_is_refused_at_once(oracle, message):
    with pytest.raises(eq.errors.OracleError, match=message):
        eq.TocUCRL2(MODEL.space, REWARD, oracle)


def test_a_phase_that_needs_more_memory_is_refused():
    agent = eq.TocUCRL2(MODEL.space, REWARD, Greedy(), threshold=math.inf)
    with pytest.raises(eq.errors.OracleError, match="remembers 3 numbers, and 4 in phase 2"):
        eq.simulate(MODEL, agent, 20, progress=False)


def test_nothing_is_proven_of_it_and_everything_says_so():
    oracle = HeavyBall()
    agent = eq.TocUCRL2(MODEL.space, REWARD, oracle)
    setting = bounds.Setting.of(agent)
    for ask in (
        lambda: bounds.oracle_term(setting, 100),
        lambda: bounds.regret(bounds.Facts.of(MODEL), setting, 100),
        lambda: bounds.gradient_episodes(REWARD, oracle, 1.0, 100),
        lambda: bounds.episodes(REWARD, oracle, 1.0, 8, 100),
    ):
        with pytest.raises(eq.errors.ParameterError, match=r"no bound is known for HeavyBall\(\)"):
            ask()
    with pytest.raises(eq.errors.ParameterError, match="the paper prints no term for HeavyBall"):
        printed.oracle_term(setting, 100)
    assert bounds.rate(oracle) is None
    assert find_guarantee(agent, MODEL, [100]) is None
    assert _rate(agent, REWARD, True, 100) is None
    assert agent.caveat == "no bound is known for its oracle"
    assert eq.TocUCRL2(MODEL.space, REWARD).caveat == ""


def test_phases_say_where_they_begin():
    oracle = eq.oracles.Doubling(eq.oracles.Box())
    begun = 0
    for index in range(1, 20):
        phase = oracle.phase(index)
        assert phase.origin == begun
        begun += phase.length
