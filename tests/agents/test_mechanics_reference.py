"""The compiled agent that is told mechanics against the dense transcription: same actions, episodes, theta and gain.

Both see the same observations, step by step. And `simulate` takes the same steps as `act` and `observe` do, to the last
bit, in one call or in several.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence import L1, Adaptive, Bernstein, Confidence, EmpiricalBernstein, PosteriorSampling
from tests.agents.mechanics_cases import CASES, Case, clock, walk
from tests.reference import oracles as ref_oracles
from tests.reference import rewards as ref_rewards
from tests.reference.mechanics import Reference

THETA, GAIN = 1e-12, 1e-9
KPI = [0.7, 0.6]
RULES: dict[str, tuple[Confidence, float]] = {
    "paper": (Bernstein(), 1.0),
    "empirical": (EmpiricalBernstein(), 0.9),
    "adaptive": (Adaptive(), 0.9),
    "jaksch": (L1(), 1.0),
    "laplace": (L1("laplace"), 1.0),
}


def compare(
    case: Case,
    rule: str,
    steps: int,
    threshold: float = 0.5,
    delta: float = 0.1,
    seed: int = 1,
    visits: float = 1.0,
) -> Reference:
    mechanics = case.mechanics()
    model = mechanics.model(**case.truth)
    confidence, relaxation = RULES[rule]
    if case.step in (clock, walk):
        relaxation = 0.5  # these are periodic
    agent = eq.TocUCRL2(
        mechanics.space, eq.rewards.TargetSquared(KPI), threshold=threshold, confidence=confidence, delta=delta,
        planner=eq.planning.Planner(relaxation=relaxation), visits=visits,
    )  # fmt: skip
    told, reward = case.reference(), ref_rewards.TargetSquared(KPI)
    assert tuple(told.states) == tuple(mechanics.labels.state(s) for s in range(mechanics.space.n_states))
    reference = Reference(told, reward, ref_oracles.FrankWolfe(reward, 2), threshold, rule, delta, relaxation, visits)
    world = model.world(seed)
    thetas = []
    for t in range(1, steps + 1):
        action = agent.act(world.state)
        assert action == reference.act(world.state), f"time {t}"
        thetas.append(agent.theta)
        outcomes, state = world.step(action)
        agent.observe(outcomes, state, noise=world.noise)
        reference.observe(outcomes, state, world.noise)
    ended = agent.episode_record.triggers()
    assert agent.episode_starts.tolist() == reference.episode_starts
    assert ended[:-1] == reference.triggers[1:]
    np.testing.assert_allclose(thetas, reference.thetas, rtol=0, atol=THETA)
    np.testing.assert_allclose(agent.episode_record.gain, reference.gains, rtol=0, atol=GAIN)
    np.testing.assert_allclose(agent.episode_record.span, reference.bias_spans, rtol=0, atol=GAIN)
    assert agent.episode_record.sweeps.tolist() == reference.sweeps
    assert sorted(agent.visits.tolist()) == sorted(len(history) for history in reference.history.values())
    return reference


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", CASES)
def test_step_by_step(name, rule):
    compare(CASES[name], rule, 300)


@pytest.mark.parametrize("threshold", [0.0, math.inf])
@pytest.mark.parametrize("name", ["one noise", "one seen, one hidden", "two noises"])
def test_both_reasons_for_which_an_episode_ends(name, threshold):
    """Every step at a threshold of zero, but those on which the gradient stays; visits of laws alone at infinity."""
    reference = compare(CASES[name], "adaptive", 60 if threshold == 0 else 500, threshold)
    reasons = set(reference.triggers[1:])
    assert reasons <= ({"gradient", "both"} if threshold == 0 else {"visits"})
    assert len(reference.triggers) > 5


@pytest.mark.parametrize("name", ["one noise", "two noises"])
def test_episodes_that_end_before_visits_have_doubled(name):
    doubled, sooner = (compare(CASES[name], "adaptive", 400, math.inf, visits=visits) for visits in (1.0, 0.3))
    assert len(sooner.triggers) > 1.5 * len(doubled.triggers)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_step_by_step_for_longer(name, rule, seed):
    compare(CASES[name], rule, 1500, threshold=2.0, delta=0.01, seed=seed)


# --- the two ways to run ---

MORE_RULES: dict[str, Confidence] = {name: rule for name, (rule, _) in RULES.items()} | {
    "posterior": PosteriorSampling(seed=3),
    "scaled": eq.confidence.Scaled(Adaptive(), 0.3),
}


def new_agent(mechanics: eq.Mechanics, rule: str) -> eq.TocUCRL2:
    planner = eq.planning.Planner(relaxation=0.5)
    return eq.TocUCRL2(mechanics.space, eq.rewards.TargetSquared(KPI), confidence=MORE_RULES[rule], planner=planner)


def state_of(agent: eq.TocUCRL2) -> dict[str, list[object]]:
    """All that it knows, to the last bit."""
    counts, memory, records = agent.loop.arrays.counts, agent.loop.arrays.memory, agent.episode_record
    parts = {**counts._asdict(), **memory._asdict(), **records._asdict()}
    return {name: part.tobytes() for name, part in parts.items() if part is not None}


@pytest.mark.parametrize("rule", MORE_RULES)
@pytest.mark.parametrize("name", CASES)
def test_simulate_is_act_and_observe(name, rule):
    case, steps, seed = CASES[name], 400, 5
    mechanics = case.mechanics()
    model = mechanics.model(**case.truth)
    agents = [new_agent(mechanics, rule) for _ in range(4)]
    eq.simulate(model, agents[0], steps, seed=seed)
    for part in (1, 150, 9, 240):
        eq.simulate(model, agents[1], part, seed=seed)
    trace = eq.simulate(model, agents[2], steps, seed=seed, trace=True).trace
    world = model.world(seed)
    shown: dict[str, list[object]] = {noise: [] for noise in case.noises if noise not in case.hidden}
    for _ in range(steps):
        outcomes, state = world.step(agents[3].act(world.state))
        agents[3].observe(outcomes, state, noise=world.noise)
        for noise, value in world.noise.items():
            shown[noise].append(value)
    for agent in agents[1:]:
        assert state_of(agent) == state_of(agents[0])
    for noise, values in shown.items():
        assert trace[noise].to_list() == values
    assert not set(case.hidden) & set(trace.columns)


def test_a_seed_draws_what_the_laws_say():
    """Frequencies of a long run, for each law by its label."""
    case = CASES["laws by state and action"]
    mechanics = case.mechanics()
    agent = new_agent(mechanics, "adaptive")
    eq.simulate(mechanics.model(**case.truth), agent, 100_000, seed=2)
    counts, laws = agent.loop.arrays.counts, mechanics.space.laws
    truth = {
        "demand (price 0)": [0.1, 0.2, 0.7], "demand (price 1)": [0.5, 0.4, 0.1],
        "weather (0)": [0.8, 0.2], "weather (1)": [0.3, 0.7],
    }  # fmt: skip
    assert set(laws.names) == set(truth)
    for unit, name in enumerate(laws.names):
        block = slice(counts.block_first[unit], counts.block_first[unit] + counts.block_used[unit])
        n = agent.visits[unit]
        found = np.zeros(len(laws.values[unit]))
        found[counts.pool_state[block]] = counts.pool_count[block] / n
        assert np.all(np.abs(found - truth[name]) <= 5 / math.sqrt(n))
    assert agent.visits.sum() == 2 * 100_000


def test_an_agent_that_is_told_only_the_table_runs_in_the_same_world():
    """The same world, to the last bit, whatever the agent knows of it."""
    case = CASES["lost sales"]
    mechanics = case.mechanics()
    model = mechanics.model(**case.truth)
    plain = eq.TocUCRL2(model.space, eq.rewards.TargetSquared(KPI), confidence=Adaptive())
    eq.simulate(model, plain, 500, seed=3)
    by_hand = eq.TocUCRL2(mechanics.space.table, eq.rewards.TargetSquared(KPI), confidence=Adaptive())
    world = model.world(3)
    for _ in range(500):
        by_hand.observe(*world.step(by_hand.act(world.state)))
    assert by_hand.average.tolist() == plain.average.tolist()
    assert plain.visits.size == model.n_pairs
