"""Budgets that are never exceeded, on any world; null actions; regret as the paper defines it."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from tests.reference.knapsack import KnapsackReference


def random_world(seed: int, fractional: bool) -> eq.Model:
    """A garnet whose action 0 is null, with a reward and two resources; consumption 0/1 or anywhere in [0,1]."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    base = eq.models.garnet(n, int(rng.integers(2, 4)), int(rng.integers(1, n + 1)), 3, seed=seed)
    means = base.means.copy()
    means[base.first_pair[:-1]] = 0.0
    return eq.Model.from_sparse(base.first_pair, base.transitions(), means, noise="none" if fractional else "bernoulli")


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32), budget=st.floats(0.001, 0.999), horizon=st.integers(1, 400), fractional=st.booleans()
)
def test_budgets_are_never_exceeded(seed, budget, horizon, fractional):
    model = random_world(seed, fractional)
    agent = eq.KnapsackAgent(model.space, budget, horizon, null_actions=0)
    eq.simulate(model, agent, horizon, seed=seed)
    consumed = agent._inner.loop.arrays.memory.total[1:]
    assert np.all(consumed <= budget * horizon)
    assert np.all(agent.inventory >= 0)
    assert agent.t == horizon + 1
    if budget * horizon < 1:
        assert agent.stopped
        assert not consumed.any()


def test_budgets_are_never_exceeded_in_a_thousand_worlds():
    for seed in range(1000):
        rng = np.random.default_rng([seed, 1])
        model = random_world(seed, fractional=bool(seed % 2))
        budget, horizon = float(rng.uniform(0.01, 0.99)), int(rng.integers(1, 200))
        agent = eq.KnapsackAgent(model.space, budget, horizon, null_actions=0)
        eq.simulate(model, agent, horizon, seed=seed)
        assert np.all(agent._inner.loop.arrays.memory.total[1:] <= budget * horizon), seed


@pytest.mark.parametrize("fractional", [False, True])
def test_the_stopping_time_is_the_papers(fractional):
    """tau: the steps before some I_k < 1, counted on the trace; T if there is always enough; None while it goes on."""
    stopped = 0
    for seed in range(12):
        model, horizon = random_world(seed, fractional), 120
        budget = 0.05 + 0.08 * seed
        agent = eq.KnapsackAgent(model.space, budget, horizon, null_actions=0)
        assert agent.stopping_time == (0 if budget * horizon < 1.0 else None)
        run = eq.simulate(model, agent, horizon, seed=seed, trace=True)
        names = model.space.outcome_names()[1:]
        left = budget * horizon - np.cumsum(run.trace.select(names).to_numpy(), axis=0)
        gone = np.flatnonzero((left < 1.0).any(axis=1))
        expected = int(gone[0]) + 1 if gone.size else horizon
        assert agent.stopping_time == run.stopping_time == expected
        stopped += expected < horizon
    assert 0 < stopped < 12
    other = eq.simulate(
        eq.models.bandit(2), eq.TocUCRL2(eq.models.bandit(2).space, eq.rewards.Quadratic([0.5, 0.5])), 9
    )
    assert other.stopping_time is None


@pytest.mark.parametrize("seed", range(5))
def test_against_the_transcription(seed):
    model = random_world(seed, fractional=False)
    horizon = 600
    agent = eq.KnapsackAgent(model.space, 0.3, horizon, null_actions=0)
    reference = KnapsackReference(model.n_actions, 3, 0, 0.3, horizon, [0] * model.n_states, 0.05)
    world = model.world(seed)
    for _ in range(horizon):
        action = agent.act(world.state)
        assert action == reference.act(world.state)
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        reference.observe(outcomes, state)


def test_simulating_is_stepping_by_hand_across_the_stop(tmp_path):
    model = random_world(7, fractional=False)
    horizon = 400
    by_hand, simulated = (eq.KnapsackAgent(model.space, 0.1, horizon, 0) for _ in range(2))
    world = model.world(3)
    for t in range(horizon):
        if t in (50, 390):
            by_hand.save(tmp_path / "a")
            by_hand = eq.KnapsackAgent.load(tmp_path / "a")
        action = by_hand.act(world.state)
        by_hand.observe(*world.step(action))
    assert by_hand.stopped
    eq.simulate(model, simulated, 100, seed=3)
    eq.simulate(model, simulated, 300, seed=3)
    assert np.array_equal(by_hand.average, simulated.average)
    assert by_hand.state == simulated.state
    assert np.array_equal(by_hand.theta, simulated.theta)
    assert by_hand.earned == simulated.earned


def test_after_stopping_only_null_actions():
    model = random_world(11, fractional=False)
    agent = eq.KnapsackAgent(model.space, 0.05, 300, null_actions=0)
    world = model.world(0)
    taken_after = []
    for _ in range(300):
        was = agent.stopped
        action = agent.act(world.state)
        if was:
            taken_after.append(action)
        agent.observe(*world.step(action))
    assert taken_after
    assert set(taken_after) == {0}
    with pytest.raises(eq.EquipoiseError, match="horizon of 300 steps"):
        agent.act(agent.state)


def test_bandits_with_knapsacks_reach_the_optimum():
    """One state, a cheap and a dear arm: half of the time may be spent. The regret per step falls with T."""
    model = eq.Model.from_branches(
        [[[(1.0, 0, [0.0, 0.0])], [(0.9, 0, [0.3, 1.0]), (0.1, 0, [0.0, 0.0])], [(1.0, 0, [0.8, 1.0])]]], known=[(0, 0)]
    )
    best = eq.solve_knapsack(model, 0.5)
    assert best.value == pytest.approx(0.4)
    per_step = []
    for horizon in (10**4, 10**6):
        agent = eq.KnapsackAgent(model.space, 0.5, horizon, null_actions=[0])
        eq.simulate(model, agent, horizon, seed=0)
        assert agent.regret(best) == pytest.approx(horizon * best.value - agent.earned)
        per_step.append(agent.regret(best) / horizon)
    assert 0 <= per_step[1] < per_step[0]
    assert per_step[1] < 0.02


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 0.0}, "budget"),
        ({"budget": 1.0}, "budget"),
        ({"budget": math.nan}, "budget"),
        ({"budget": -0.5}, "budget"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 10.5}, "horizon"),
        ({"null_actions": [0, 0]}, "null_actions: got 2; each of the 3 states needs one"),
        ({"null_actions": [0, 5, 0]}, "null_actions: state 1 has no action 5"),
        ({"null_actions": 7}, "null_actions: state 0 has no action 7"),
        ({"null_actions": [0, None, 0]}, "null_actions: state 1 has no action None"),
        ({"null_actions": [0, True, 0]}, "null_actions: state 1 has no action True"),
        ({"space": eq.Space([1, 1], 1)}, "space: it has one outcome"),
        ({"space": "queue"}, "space: got str"),
        (
            {"space": eq.Space([2, 2, 2], 2, known={(2, 0): [0.0, 0.5]})},
            r"state 2, action 0 is known to have the outcomes \[0.0, 0.5\]",
        ),
    ],
)
def test_bad_input(change, message):
    arguments = {"space": eq.Space([2, 2, 2], 2), "budget": 0.3, "horizon": 100, "null_actions": 0} | change
    with pytest.raises(eq.EquipoiseError, match=message):
        eq.KnapsackAgent(**arguments)


def test_a_null_action_that_yields_something_is_refused():
    agent = eq.KnapsackAgent(eq.Space([2], 2), 0.001, 100, null_actions=0)
    assert agent.stopped  # a tenth of a unit is too little to act with
    agent.act(0)
    with pytest.raises(eq.EquipoiseError, match="state 0, action 0 gave"):
        agent.observe([0.0, 1.0], 0)
    model = eq.Model.from_arrays([[[1.0], [1.0]]], [[[0.5, 0.0], [1.0, 1.0]]])
    agent = eq.KnapsackAgent(model.space, 0.001, 100, null_actions=0)
    with pytest.raises(eq.EquipoiseError, match="a null action must yield and consume nothing"):
        eq.simulate(model, agent, 100)


def test_a_copy_is_another_agent():
    model = random_world(1, fractional=True)
    agent = eq.KnapsackAgent(model.space, 0.3, 100, 0)
    eq.simulate(model, agent, 40)
    twin = copy.copy(agent)
    eq.simulate(model, twin, 60)
    assert (agent.t, twin.t) == (41, 101)
    eq.simulate(model, agent, 60)
    assert np.array_equal(agent.average, twin.average)


def test_files(tmp_path):
    model = random_world(1, fractional=True)
    agent = eq.KnapsackAgent(model.space, 0.3, 100, 0)
    agent.save(tmp_path / "a")
    assert repr(eq.KnapsackAgent.load(tmp_path / "a")) == repr(agent)
    with pytest.raises(eq.EquipoiseError, match="it holds a KnapsackAgent; a TocUCRL2 was asked for"):
        eq.TocUCRL2.load(tmp_path / "a")
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-200])
    with pytest.raises(eq.EquipoiseError, match="truncated"):
        eq.KnapsackAgent.load(tmp_path / "a")
