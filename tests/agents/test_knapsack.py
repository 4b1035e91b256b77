"""Budgets that are never exceeded, on any world; null actions; regret as the paper defines it."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise._files import read_saved, write_npz
from equipoise.agents import KnapsackTocUCRL2
from equipoise.agents.checkpoint import VERSION
from equipoise.errors import FileError, ParameterError, ProtocolError
from tests.agents.kinds import take
from tests.reference.knapsack import KnapsackReference

BOTH = [eq.KnapsackAgent, KnapsackTocUCRL2]
both = pytest.mark.parametrize("kind", BOTH)


def random_world(seed: int, fractional: bool) -> eq.Model:
    """A garnet whose action 0 is null, with a reward and two resources; consumption 0/1 or anywhere in [0,1]."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    base = eq.models.garnet(n, int(rng.integers(2, 4)), int(rng.integers(1, n + 1)), 3, seed=seed)
    means = base.means.copy()
    means[base.first_pair[:-1]] = 0.0
    return eq.Model.from_sparse(base.first_pair, base.transitions(), means, noise="none" if fractional else "bernoulli")


def short_of_everything(seed: int) -> eq.Model:
    """Every action but the null one consumes half a unit of one resource and a unit of the other."""
    rng = np.random.default_rng(seed)
    base = eq.models.garnet(4, 2, 3, 3, seed=seed)
    means = np.column_stack([rng.uniform(0.5, 1.0, base.n_pairs), np.full(base.n_pairs, 0.5), np.ones(base.n_pairs)])
    means[base.first_pair[:-1]] = 0.0
    return eq.Model.from_sparse(base.first_pair, base.transitions(), means, noise="none")


@settings(max_examples=30, deadline=None)
@given(
    kind=st.sampled_from(BOTH), seed=st.integers(0, 2**32), budget=st.floats(0.001, 0.999),
    horizon=st.integers(1, 400), fractional=st.booleans(),
)  # fmt: skip
def test_budgets_are_never_exceeded(kind, seed, budget, horizon, fractional):
    model = random_world(seed, fractional)
    agent = kind(model.space, budget, horizon, null_actions=0)
    run = eq.simulate(model, agent, horizon, seed=seed, trace=True)
    consumed = run.trace.select(model.space.outcome_names()[1:]).to_numpy().sum(axis=0)  # counted apart from the agent
    assert np.all(consumed <= budget * horizon + 1e-9)
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
        agent = KnapsackTocUCRL2(model.space, budget, horizon, null_actions=0)
        eq.simulate(model, agent, horizon, seed=seed)
        assert np.all(agent.average[1:] <= budget + 1e-12), seed


@settings(max_examples=30, deadline=None)
@given(data=st.data(), kind=st.sampled_from(BOTH), budget=st.floats(0.001, 0.999), horizon=st.integers(1, 60))
def test_budgets_are_never_exceeded_whatever_the_world_does(data, kind, budget, horizon):
    """Outcomes and states come from an adversary, who knows the action; null actions consume nothing."""
    agent = kind(eq.Space([2, 3], 3), budget, horizon, null_actions=[1, 0])
    left, state = np.full(2, budget * horizon), 0
    for _ in range(horizon):
        action = agent.act(state)
        null = action == (1, 0)[state]
        assert null or left.min() >= 1.0
        consumed = [0.0, 0.0] if null else data.draw(st.lists(st.floats(0, 1), min_size=2, max_size=2))
        earned = 0.0 if null and kind is KnapsackTocUCRL2 else data.draw(st.floats(0, 1))
        left -= consumed
        state = data.draw(st.integers(0, 1))
        agent.observe([earned, *consumed], state)
        np.testing.assert_allclose(agent.inventory, left, atol=1e-9)
    assert np.all(left >= 0.0)


@both
@pytest.mark.parametrize("fractional", [False, True])
def test_the_stopping_time_is_the_papers(fractional, kind):
    """tau: the steps before some I_k < 1, counted on the trace; T if there is always enough; None while it goes on."""
    stopped = 0
    for seed in range(12):
        model, horizon = random_world(seed, fractional), 120
        budget = 0.05 + 0.08 * seed
        agent = kind(model.space, budget, horizon, null_actions=0)
        assert agent.stopping_time == (0 if budget * horizon < 1.0 else None)
        run = eq.simulate(model, agent, horizon, seed=seed, trace=True)
        names = model.space.outcome_names()[1:]
        left = budget * horizon - np.cumsum(run.trace.select(names).to_numpy(), axis=0)
        gone = np.flatnonzero((left < 1.0).any(axis=1))
        expected = int(gone[0]) + 1 if gone.size else horizon
        assert agent.stopping_time == run.stopping_time == expected
        stopped += expected < horizon
    assert 0 < stopped < 12 or kind is eq.KnapsackAgent
    other = eq.simulate(
        eq.models.bandit(2), eq.TocUCRL2(eq.models.bandit(2).space, eq.rewards.Quadratic([0.5, 0.5])), 9
    )
    assert other.stopping_time is None


@pytest.mark.parametrize("seed", range(5))
def test_against_the_transcription(seed):
    model = random_world(seed, fractional=False)
    horizon = 600
    agent = KnapsackTocUCRL2(model.space, 0.3, horizon, null_actions=0)
    reference = KnapsackReference(model.n_actions, 3, 0, 0.3, horizon, [0] * model.n_states, 0.05)
    world = model.world(seed)
    for _ in range(horizon):
        action = agent.act(world.state)
        assert action == reference.act(world.state)
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        reference.observe(outcomes, state)


@both
@pytest.mark.parametrize("confidence", [None, eq.confidence.Adaptive(), eq.confidence.PosteriorSampling(seed=6)])
def test_simulating_is_stepping_by_hand_across_the_stop(kind, confidence, tmp_path):
    model = short_of_everything(7)
    horizon = 400
    by_hand, simulated = (kind(model.space, 0.02, horizon, 0, confidence=confidence) for _ in range(2))
    world = model.world(3)
    for t in range(horizon):
        action = by_hand.act(world.state)
        if t in (5, 50, 398):  # between an action and what follows it, before the stop and after
            by_hand.save(tmp_path / "a")
            by_hand = kind.load(tmp_path / "a")
        by_hand.observe(*world.step(action))
    eq.simulate(model, simulated, 100, seed=3)
    eq.simulate(model, simulated, 300, seed=3)
    assert simulated.stopping_time == by_hand.stopping_time
    assert by_hand.stopped or (kind is KnapsackTocUCRL2 and confidence is not None)
    assert np.array_equal(by_hand.average, simulated.average)
    assert by_hand.state == simulated.state
    assert np.array_equal(by_hand.theta, simulated.theta)
    assert by_hand.earned == simulated.earned
    for mine, other in zip(by_hand.episode_record, simulated.episode_record, strict=True):
        assert np.array_equal(mine, other)


@both
def test_saved_at_any_moment_it_continues_bit_identically(kind, tmp_path):
    model = short_of_everything(5)
    whole, parts = (kind(model.space, 0.05, 300, 0) for _ in range(2))
    eq.simulate(model, whole, 300, seed=2, progress=False)
    assert whole.stopping_time < 280  # the last file is written after the stop
    for steps in (1, 7, 60, 212, 20):
        eq.simulate(model, parts, steps, seed=2, progress=False)
        parts.save(tmp_path / "a")
        parts = kind.load(tmp_path / "a")
    assert np.array_equal(whole.average, parts.average)
    assert np.array_equal(whole.visits, parts.visits)
    assert np.array_equal(whole.episode_record.start, parts.episode_record.start)
    assert (whole.state, whole.stopping_time) == (parts.state, parts.stopping_time)


def test_a_file_whose_reward_after_the_stop_cannot_be(tmp_path):
    model = short_of_everything(5)
    agent = eq.KnapsackAgent(model.space, 0.05, 300, 0)
    eq.simulate(model, agent, 300, seed=2, progress=False)
    assert agent.stopping_time < 280
    idle, before = 300 - agent.stopping_time, agent._inner._total[0]
    for wrong in (before + idle + 0.5, before - 0.5):
        agent._total[0] = wrong
        agent.save(tmp_path / "a")
        with pytest.raises(FileError, match="is not that of its memory and its budget"):
            eq.KnapsackAgent.load(tmp_path / "a")


@both
@pytest.mark.parametrize(
    ("name", "place", "number"),
    [
        ("clock", 0, 2), ("clock", 0, 10**6), ("clock", 0, 0), ("clock", 1, 4), ("clock", 2, 99),
        ("total", 0, -1.0), ("total", 1, np.nan), ("total", 2, 1e3), ("total", 2, 0.5),
    ],
)  # fmt: skip
@pytest.mark.parametrize("steps", [20, 290])
def test_a_file_whose_inner_agent_is_elsewhere(kind, name, place, number, steps, tmp_path):
    model = short_of_everything(5)
    agent = kind(model.space, 0.05 if kind is eq.KnapsackAgent else 0.1, 300, 0)
    eq.simulate(model, agent, steps, seed=2, progress=False)
    assert agent.stopped == (steps > 100)
    agent.save(tmp_path / "a.npz")
    content = read_saved(tmp_path / "a.npz", {"agent": VERSION})
    arrays = {key: np.array(array) for key, array in content.arrays.items()}
    arrays[f"memory.inner.{name}"][place] = number
    write_npz(tmp_path / "b.npz", arrays, content.header, "agent", VERSION)
    with pytest.raises(FileError, match="holds no agent that can go on"):
        kind.load(tmp_path / "b.npz")


@both
def test_after_stopping_only_null_actions(kind):
    model = short_of_everything(11)
    agent = kind(model.space, 0.05, 300, null_actions=0)
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
        agent = KnapsackTocUCRL2(model.space, 0.5, horizon, null_actions=[0])
        eq.simulate(model, agent, horizon, seed=0)
        assert agent.regret(best) == pytest.approx(horizon * best.value - agent.earned)
        per_step.append(agent.regret(best) / horizon)
    assert 0 <= per_step[1] < per_step[0]
    assert per_step[1] < 0.02


def nurses() -> eq.Model:
    """Quiet or busy: an extra nurse serves more patients and costs a unit; without one, some are served as well."""
    p = [[[0.7, 0.3], [0.7, 0.3]], [[0.4, 0.6], [0.4, 0.6]]]
    return eq.Model.from_arrays(p, [[[0.5, 0.0], [0.6, 1.0]], [[0.3, 0.0], [0.8, 1.0]]])


def test_the_optimum_when_null_actions_yield():
    """By hand: busy 3 / 7 of the time whatever is done; a nurse earns .5 then, and .1 otherwise."""
    for budget, price in ((0.2, 0.5), (0.6, 0.1)):
        best = eq.solve_knapsack(nurses(), budget)
        nothing = (4 * 0.5 + 3 * 0.3) / 7
        busy = min(budget, 3 / 7)
        assert best.value == pytest.approx(nothing + 0.5 * busy + 0.1 * (budget - busy))
        assert best.prices.tolist() == pytest.approx([price])
        assert best.gap < 1e-6


@pytest.mark.parametrize(
    ("confidence", "per_step"), [(None, 0.03), (eq.confidence.PosteriorSampling(seed=1), 0.015), ("known", 0.005)]
)
def test_null_actions_that_yield_something(confidence, per_step):
    model = nurses()
    best = eq.solve_knapsack(model, 0.2)
    regions = eq.confidence.Known(model) if confidence == "known" else confidence
    regrets = []
    for seed in range(3):
        agent = eq.KnapsackAgent(model.space, 0.2, 10_000, 0, confidence=regions)
        run = eq.simulate(model, agent, 10_000, seed=seed, progress=False)
        assert agent.average[1] <= 0.2
        assert run.outcomes[-1][0] == agent.earned / 10_000
        regrets.append(agent.regret(best) / 10_000)
    # a standard deviation of chance is .005; idling all the time loses 0.1, and the nurse at any time .04
    assert np.mean(regrets) < per_step + 0.003


def test_what_null_actions_yield_after_the_stop_counts():
    model = eq.Model.from_arrays([[[1.0], [1.0]]], [[[0.25, 0.0], [1.0, 1.0]]], noise="none")
    agent = eq.KnapsackAgent(model.space, 0.004, 250, null_actions=0)  # one unit
    eq.simulate(model, agent, 250, progress=False)
    assert agent.stopped
    assert agent.earned == pytest.approx(1.0 + 249 * 0.25)
    assert agent.inventory.tolist() == [0.0]
    alike = eq.KnapsackAgent(model.space, 0.004, 250, null_actions=0)
    take(alike, model.world(0), 250)
    assert alike.earned == agent.earned
    assert np.array_equal(alike.average, agent.average)


def test_two_arms_in_closed_form():
    """One earns .9 for a unit, the other .5 for a quarter of one. By hand, with b = .4 and null 0: x + y = 1 and
    x + y / 4 = .4, so x = .2, y = .8 and opt = .58; the price is (.9 - .5) / .75."""
    model = eq.Model.from_branches(
        [[[(1.0, 0, [0.0, 0.0])], [(1.0, 0, [0.9, 1.0])], [(0.25, 0, [0.5, 1.0]), (0.75, 0, [0.5, 0.0])]]],
        known=[(0, 0)],
    )
    best = eq.solve_knapsack(model, 0.4)
    assert best.value == pytest.approx(0.58)
    assert best.prices.tolist() == pytest.approx([0.4 / 0.75])
    agent = eq.KnapsackAgent(model.space, 0.4, 20_000, 0, confidence=eq.confidence.Known(model))
    eq.simulate(model, agent, 20_000, seed=4, progress=False)
    assert agent.regret(best) < 20_000 * 0.002
    assert agent.inventory[0] < 20_000 * 0.002
    assert agent.theta == pytest.approx([-1.0, 0.4 / 0.75], abs=0.1)
    learning = eq.KnapsackAgent(model.space, 0.4, 20_000, 0)
    eq.simulate(model, learning, 20_000, seed=4, progress=False)
    assert learning.regret(best) < 20_000 * 0.01


def test_planning_for_what_is_left_earns_more_than_the_papers_algorithm():
    model, horizon = eq.models.pricing(), 10_000
    best = eq.solve_knapsack(model, 0.3)
    per_step = {
        kind: np.mean([
            regret_of(kind(model.space, 0.3, horizon, 0, confidence=eq.confidence.Adaptive()), model, seed, best)
            for seed in range(3)
        ])
        for kind in BOTH
    }  # fmt: skip
    assert per_step[eq.KnapsackAgent] < 0.5 * per_step[KnapsackTocUCRL2]
    known = eq.confidence.Known(model)
    for kind, least, most in ((eq.KnapsackAgent, -0.01, 0.01), (KnapsackTocUCRL2, 0.05, 0.3)):
        tolerance = {} if kind is eq.KnapsackAgent else {"tolerance": 1e-9}
        agents = [kind(model.space, 0.3, horizon, 0, confidence=known, **tolerance) for _ in range(3)]
        lost = np.mean([regret_of(agent, model, seed, best) for seed, agent in enumerate(agents)])
        assert least < lost < most


def regret_of(agent, model: eq.Model, seed: int, best) -> float:
    eq.simulate(model, agent, agent.horizon, seed=seed, progress=False)
    return agent.regret(best) / agent.horizon


def test_it_plans_for_the_steps_that_are_left():
    """After a first half without any consumption, twice the budget per step is left for the other half.

    A look-ahead of a part of the steps so far would sell at every step; no look-ahead at every fourth.
    """
    model = eq.Model.from_arrays([[[1.0], [1.0]]], [[[0.0, 0.0], [1.0, 1.0]]], noise="none", known=[(0, 0), (0, 1)])
    agent = eq.KnapsackAgent(model.space, 0.25, 1_000, 0, confidence=eq.confidence.Known(model))
    for _ in range(500):
        agent.act(0)
        agent.observe([0.0, 0.0], 0)  # nobody buys
    taken = []
    for _ in range(500):
        taken.append(agent.act(0))
        agent.observe([1.0, 1.0] if taken[-1] else [0.0, 0.0], 0)
    rates = np.array(taken).reshape(5, 100).mean(axis=1)
    assert rates == pytest.approx(np.full(5, 0.5), abs=0.1)  # it keeps back 1.2 sqrt(500) = 27 of 250 units at first
    assert agent.inventory[0] < 10


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
@both
def test_bad_input(kind, change, message):
    arguments = {"space": eq.Space([2, 2, 2], 2), "budget": 0.3, "horizon": 100, "null_actions": 0} | change
    with pytest.raises(eq.EquipoiseError, match=message):
        kind(**arguments)


def test_null_actions_that_are_known_to_yield_something():
    space = eq.Space([2], 2, known={(0, 0): [0.5, 0.0]})
    assert eq.KnapsackAgent(space, 0.3, 100, 0).null_actions.tolist() == [0]
    with pytest.raises(ParameterError, match=r"state 0, action 0 is known to have .* must yield and consume nothing"):
        KnapsackTocUCRL2(space, 0.3, 100, 0)


@both
@pytest.mark.parametrize("budget", [0.001, 0.9])
def test_a_null_action_that_consumes_is_named(kind, budget):
    """Before it has stopped, and after: with budget .001 a tenth of a unit is too little to act with."""
    agent = kind(eq.Space([1, 2], 2), budget, 100, null_actions=0)
    agent.act(0)
    with pytest.raises(ProtocolError, match=r"null_actions: state 0, action 0 gave \[0.0, 0.5\]; a null action must"):
        agent.observe([0.0, 0.5], 0)
    assert agent.t == 1
    assert agent.earned == 0
    model = eq.Model.from_arrays([[[1.0], [1.0]]], [[[0.0, 0.5], [1.0, 1.0]]])
    agent = kind(model.space, budget, 100, null_actions=0)
    with pytest.raises(ProtocolError, match=r"null_actions: state 0, action 0 has the mean outcomes \[0.0, 0.5\]"):
        eq.simulate(model, agent, 100)
    assert agent.t == 1


def test_a_null_action_that_yields_something_is_none_of_the_papers():
    agent = KnapsackTocUCRL2(eq.Space([2], 2), 0.001, 100, null_actions=0)
    agent.act(0)
    with pytest.raises(ProtocolError, match=r"state 0, action 0 gave .* must yield and consume nothing"):
        agent.observe([1.0, 0.0], 0)
    agent = eq.KnapsackAgent(eq.Space([2], 2), 0.001, 100, null_actions=0)
    agent.observe([1.0, 0.0], 0 * agent.act(0))
    assert agent.earned == 1


@both
def test_a_copy_is_another_agent(kind):
    model = random_world(1, fractional=True)
    agent = kind(model.space, 0.3, 100, 0)
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
