"""Lemma 4.4, pathwise: its terms against the dense transcription, itself at every step, its sums against the bounds."""

from __future__ import annotations

import copy
import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise import oracles as o
from equipoise.theory import Decomposition, Facts, Setting, bounds, decompose, printed
from tests.agents.test_against_reference import cases
from tests.reference import oracles as ref_oracles
from tests.reference import rewards as ref_rewards
from tests.simulation.test_simulation import state_of
from tests.theory.kinds import KPI, K, Looking, Scaled, dense_slack, dense_terms, makers

ROUNDING = 1e-9  # as in tests/agents/test_against_reference.py: theta and bias agree to that
TERMS = ("club", "diamond", "heart", "spade", "P")


# --- against the dense transcription ---


def compare(model: eq.Model, agent: eq.TocUCRL2, reference: Looking, steps: int, seed: int) -> Decomposition:
    """Every term of every step; the dense agent is shown the observations of the same world."""
    best = eq.solve(model, agent.reward)
    found = decompose(model, agent, steps, seed, best)
    p = model.transitions().toarray()
    world = model.world(seed)
    rows, held, slack = [], [], []
    for t in range(steps):
        state = world.state
        action = reference.act(state)
        assert (state, action) == (found.state[t], found.action[t]), f"time {t + 1}"
        if reference.episode_starts[-1] == t + 1 and reference.known_model is None:
            h_p, h_v = reference.boxes[-1]
            inside_v = np.all((h_v.lo <= model.means) & (model.means <= h_v.hi))
            held.append((inside_v, np.all((h_p.lo <= p) & (p <= h_p.hi))))
            slack.append(dense_slack(reference.facts[-1], p, model.means))
        theta = reference.thetas[-1]
        outcomes, after = world.step(action)
        pair = model.pair(state, action)
        rows.append(dense_terms(reference, theta, pair, state, outcomes, best.outcomes))
        reference.observe(outcomes, after)
    dense = np.array(rows)
    for k, name in enumerate(("left", *TERMS)):
        np.testing.assert_allclose(getattr(found, name), dense[:, k], rtol=0, atol=ROUNDING, err_msg=name)
    assert found.episodes.start.tolist() == reference.episode_starts
    assert found.episodes.tau.tolist() == [facts["tau"] for facts in reference.facts]
    np.testing.assert_allclose(found.episodes.gain, reference.gains, rtol=0, atol=ROUNDING)
    if held:
        assert [*zip(found.episodes.v_held, found.episodes.p_held, strict=True)] == held
        slacks = np.column_stack([found.episodes.v_slack, found.episodes.p_slack])
        np.testing.assert_allclose(slacks, slack, rtol=0, atol=ROUNDING)
    assert found.holds
    return found


@pytest.mark.parametrize("threshold", [0.3, 2.0])
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_oracle(case, threshold):
    model = eq.models.garnet(4, 2, 3, K, seed=11)
    agent = eq.TocUCRL2(model.space, case.reward, case.oracle, threshold)
    reference = Looking(model.n_actions, K, model.start, case.ref_reward, case.ref_oracle(), threshold)
    compare(model, agent, reference, steps=700, seed=5)


@pytest.mark.parametrize("seed", range(6))
def test_random_worlds(seed):
    rng = np.random.default_rng(seed)
    n_states = int(rng.integers(1, 7))
    noise = ("none", "bernoulli")[seed % 2]
    model = eq.models.garnet(n_states, int(rng.integers(1, 4)), int(rng.integers(1, n_states + 1)), K, seed, noise)
    reward, ref = eq.rewards.Quadratic(KPI), ref_rewards.Quadratic(KPI)
    for threshold, tolerance in ((0.0, None), (0.7, 0.2), (math.inf, None)):
        agent = eq.TocUCRL2(model.space, reward, threshold=threshold, delta=0.3, tolerance=tolerance)
        oracle = ref_oracles.FrankWolfe(ref, K)
        reference = Looking(model.n_actions, K, 0, ref, oracle, threshold, delta=0.3, tolerance=tolerance)
        compare(model, agent, reference, steps=150 if threshold == 0 else 1000, seed=seed)


def test_a_known_model_and_a_relaxed_iteration():
    """The dense planner does not relax, so only an unrelaxed agent can equal it; the lemma holds for both."""
    model = eq.models.garnet(5, 3, 3, K, seed=2)
    ref = ref_rewards.Quadratic(KPI)
    known = {"confidence": eq.confidence.Known(model), "tolerance": 1e-6, "threshold": 0.5}
    plain = eq.planning.Planner(relaxation=1.0)
    agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic(KPI), **known, planner=plain)
    truth = (model.transitions().toarray(), model.means)
    oracle = ref_oracles.FrankWolfe(ref, K)
    reference = Looking(model.n_actions, K, 0, ref, oracle, 0.5, tolerance=1e-6, known_model=truth)
    compare(model, agent, reference, steps=300, seed=0)
    relaxed = decompose(model, eq.TocUCRL2(model.space, eq.rewards.Quadratic(KPI), **known), 3000)
    assert relaxed.holds
    assert relaxed.held.all()
    assert np.all(relaxed.episodes.v_slack == 1.0)
    assert np.all(relaxed.episodes.p_slack == 1.0)
    np.testing.assert_allclose(
        relaxed.spade, _motion(model, relaxed), atol=1e-12
    )  # one distribution: nothing to choose


def _motion(model, found):
    """p.bias - bias(s_t), from r~ and the gain: in a known model it is gain - r~ up to the tolerance."""
    spade = np.empty(found.t.size)
    transitions = model.transitions().toarray()
    agent = eq.TocUCRL2(
        model.space, eq.rewards.Quadratic(KPI), threshold=0.5, confidence=eq.confidence.Known(model), tolerance=1e-6
    )
    world = model.world(0)
    for i in range(found.t.size):
        state = world.state
        action = agent.act(state)
        spade[i] = transitions[model.pair(state, action)] @ agent.bias - agent.bias[state]
        agent.observe(*world.step(action))
    return spade


def test_known_outcomes_have_no_diamond():
    """Visits told in advance: H^v is a point, and an outcome is its mean."""
    model = eq.models.riverswim(4).visits()
    found = decompose(model, eq.TocUCRL2(model.space, eq.rewards.Entropy(4, 0.1)), 3000)
    np.testing.assert_allclose(found.diamond, 0.0, atol=1e-14)
    assert found.episodes.v_held.all()
    assert np.all(found.episodes.v_slack == 1.0)
    assert found.holds


def test_entropy_that_follows_time():
    model = eq.models.riverswim(4).visits()
    found = decompose(model, eq.TocUCRL2(model.space, eq.rewards.Entropy(4)), 3000)
    assert found.holds
    assert found.held.all()


# --- the inequality, and the sums, on random worlds ---


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    name=st.sampled_from(sorted(makers())),
    n_states=st.integers(1, 6),
    n_actions=st.integers(1, 3),
    noise=st.sampled_from(["none", "bernoulli"]),
    threshold=st.sampled_from([None, 0.05, 0.5, 5.0]),
    tolerance=st.sampled_from([None, None, 1e-6, 0.3]),
    warm=st.sampled_from([False, True, "visits"]),
)
def test_the_lemma_and_the_bounds_on_random_worlds(seed, name, n_states, n_actions, noise, threshold, tolerance, warm):
    """Lemma 4.4 at every step; every sum below its bound; the regret below the oracle's term and the errors."""
    model = eq.models.garnet(n_states, n_actions, min(3, n_states), K, seed, noise)
    planner = eq.planning.Planner(warm_start=warm)
    agent = makers()[name](model.space, threshold=threshold, tolerance=tolerance, planner=planner)
    steps = 700
    found = decompose(model, agent, steps, seed)
    assert found.held.all()  # delta = .05 at 7 sigma; `test_coverage` shows that smaller radii fail
    assert np.all(found.gap >= -found.allowance)
    assert found.holds
    assert np.all(found.allowance < 1e-6 * (1 + found.episodes.span[found.row]))
    np.testing.assert_allclose(found.total[-1], found.sums, rtol=1e-9, atol=1e-9)  # two orders of summation
    _check_certain_regret(agent, found)
    again = makers()[name](model.space, threshold=threshold, tolerance=tolerance, planner=planner)
    _check_sums(model, Setting.of(again), found)


def _check_sums(model: eq.Model, setting: Setting, found: Decomposition) -> None:
    facts = Facts.of(model)
    for T in (1, 2, 7, 50, found.t.size):
        limits = bounds.errors(facts, setting, T)
        for name, total, limit in zip(TERMS, found.total[T - 1], limits, strict=True):
            assert total <= limit * (1 + 1e-12), f"{name} at {T}"
    largest = np.linalg.norm(found.outcomes, setting.reward.norm, axis=1).max()
    M = found.episodes.number.size
    delay = setting.Q * M * (1 + 1e-12)
    if bounds.errors(facts, setting, 1).club > 0:  # the refined form of Lemma 4.5, with the episodes there were
        assert found.sums.club <= bounds.club(delay, largest, 1)
        assert found.sums.heart <= bounds.heart(
            delay, np.linalg.norm(model.means, setting.reward.norm, axis=1).max(), 1
        )


def _check_certain_regret(agent: eq.TocUCRL2, found: Decomposition) -> None:
    """Reg(T) <= oracle term + average error, with certainty at every T: (4.6), (C.5), (C.23)."""
    setting = Setting(reward=agent.reward, oracle=agent.oracle)
    averages = np.cumsum(found.outcomes, axis=0) / found.t[:, None]
    errors = np.cumsum(found.left) / found.t
    target = agent.reward.value(found.best.outcomes)  # the proof compares with g(v*), whoever v* is
    for T in (1, 2, 3, 5, 14, 30, 100, 250, found.t.size):
        regret = target - agent.reward.value(averages[T - 1])
        term = bounds.oracle_term(setting, T)
        if isinstance(agent.oracle, o.TunedGradientDescent | o.Doubling):
            assert term <= printed.oracle_term(setting, T)
        assert regret <= term + errors[T - 1] + 1e-10  # rounding of sums of 700 terms of size 1


def test_one_long_run():
    """10^5 steps of the default agent: all as it should be, and nearer to the bounds than a short one."""
    model = eq.models.garnet(6, 2, 4, K, seed=3)
    agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic(KPI))
    found = decompose(model, agent, 10**5, seed=9)
    assert found.holds
    assert found.held.all()
    _check_sums(model, Setting.of(agent), found)
    _check_certain_regret(agent, found)
    assert 0.75 * bounds.planning(model.n_pairs, 10**5) < found.sums.P  # this bound is nearly reached


def test_the_ring_of_six_refutes_the_printed_claim():
    """Erratum 19: six steps at pairs never seen, each with P = 1."""
    model = eq.models.ring(6)
    found = decompose(model, eq.TocUCRL2(model.space, eq.rewards.Linear([1.0])), 6)
    assert found.episodes.number.size == 1
    assert printed.planning(6) < found.sums.P == 6.0 <= bounds.planning(6, 6)


def test_planning_needs_the_rule_of_visits():
    """A known model at Q = infinity: one episode for ever, and P = 1 at every step."""
    model = eq.models.garnet(3, 2, 2, K, seed=1)
    agent = eq.TocUCRL2(
        model.space, eq.rewards.Quadratic(KPI), threshold=math.inf, confidence=eq.confidence.Known(model)
    )
    assert decompose(model, agent, 100).sums.P == 100.0 > bounds.planning(6, 100)


# --- the run is that of simulate ---


@pytest.mark.parametrize("name", sorted(makers()))
def test_the_trajectory_is_that_of_simulate(name):
    model = eq.models.garnet(6, 2, 4, K, seed=3)
    looked, simulated = (makers()[name](model.space) for _ in range(2))
    found = decompose(model, looked, 3000, seed=9)
    run = eq.simulate(model, simulated, 3000, seed=9)
    assert state_of(looked) == state_of(simulated)
    assert np.array_equal(np.cumsum(found.outcomes, axis=0)[-1] / 3000, run.outcomes[-1])  # added up in the same order
    assert found.episodes.start.tolist() == run.episodes["start"].to_list()
    by_hand = makers()[name](model.space)
    world = model.world(9)
    for t in range(500):
        assert (found.t[t], found.state[t]) == (by_hand.t, world.state)
        action = by_hand.act(world.state)
        assert found.action[t] == action
        assert np.array_equal(found.theta[t], by_hand.theta)
        outcomes, state = world.step(action)
        assert np.array_equal(found.outcomes[t], outcomes)
        by_hand.observe(outcomes, state)


def test_worlds_that_outgrow_their_room():
    """Many successors: the pool of counts, the region and the records are enlarged on the way."""
    model = eq.models.garnet(60, 3, 25, 2, seed=1)
    looked, simulated = (eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.6, 0.6])) for _ in range(2))
    found = decompose(model, looked, 20000, seed=4)
    eq.simulate(model, simulated, 20000, seed=4)
    assert looked.loop.arrays.counts.pool_state.size > 2 * model.n_pairs
    assert found.episodes.number.size > 64
    assert state_of(looked) == state_of(simulated)
    assert found.holds
    assert found.held.all()


@pytest.mark.parametrize("name", ["FW", "doubling"])
def test_an_agent_under_way(name):
    """The same terms as without a stop; of the episode cut in two, the slack is not known again."""
    model = eq.models.garnet(5, 2, 3, K, seed=8)
    whole, parts = (makers()[name](model.space) for _ in range(2))
    best = eq.solve(model, whole.reward)
    full = decompose(model, whole, 1500, 2, best)
    eq.simulate(model, parts, 601, seed=2)
    rest = decompose(model, parts, 899, 2, best)
    assert rest.t[0] == 602
    for name in ("t", "state", "action", "theta", "outcomes", "left", *TERMS, "optimistic"):
        assert np.array_equal(getattr(rest, name), getattr(full, name)[601:]), name
    first = full.row[601]
    assert full.t[601] > full.episodes.start[first]  # it was cut in two
    assert math.isnan(rest.episodes.v_slack[0])
    assert math.isnan(rest.episodes.p_slack[0])
    for name in ("number", "start", "tau", "gain", "P", "theta", "v_held", "p_held"):
        assert np.array_equal(getattr(rest.episodes, name), getattr(full.episodes, name)[first:]), name
    assert np.array_equal(rest.episodes.v_slack[1:], full.episodes.v_slack[first + 1 :])


def test_mega_episodes_have_a_clock_and_a_delta_of_their_own():
    model = eq.models.garnet(4, 2, 2, K, seed=5)
    fresh = decompose(model, makers()["doubling"](model.space), 500)
    starts = np.array([2**h - 1 for h in range(1, 10)])  # mega-episode h begins at 2^h - 1
    origin = starts[np.searchsorted(starts, fresh.episodes.start, side="right") - 1]
    assert np.array_equal(fresh.episodes.tau, fresh.episodes.start - origin + 1)
    assert set(starts[starts <= 500]) <= set(fresh.episodes.start.tolist())
    np.testing.assert_allclose(fresh.episodes.P, 1 / np.sqrt(fresh.episodes.tau))
    inherit = decompose(model, makers()["doubling-inherit"](model.space), 500)
    assert np.array_equal(inherit.episodes.tau, inherit.episodes.start)


# --- what is wrong is noticed ---


def broken(found: Decomposition, **parts: np.ndarray) -> bool:
    return not dataclasses.replace(found, **parts).holds


def test_a_wrong_term_breaks_the_lemma():
    """The gap is small in a known model with exact plans, so that every term has to be right."""
    model = eq.models.garnet(5, 3, 3, K, seed=2)
    known = {"confidence": eq.confidence.Known(model), "tolerance": 1e-9}
    found = decompose(model, makers()["FW"](model.space, threshold=2.0, **known), 2000)
    assert found.holds
    assert found.held.all()
    assert found.gap.min() < 1e-3
    zero = np.zeros_like(found.club)
    for name in ("club", "diamond", "heart", "spade"):
        assert broken(found, **{name: -getattr(found, name)}), f"{name} with the wrong sign"
        assert broken(found, **{name: zero}), f"{name} left out"


def test_spade_needs_its_maximum():
    model = eq.models.riverswim(5)
    reward = eq.rewards.Linear([1.0])
    found = decompose(model, eq.TocUCRL2(model.space, reward, delta=0.5, tolerance=1e-9), 30000)
    assert found.holds
    transitions = model.transitions().toarray()
    agent = eq.TocUCRL2(model.space, reward, delta=0.5, tolerance=1e-9)
    world = model.world(0)
    motion = np.empty(30000)
    for i in range(30000):
        state = world.state
        action = agent.act(state)
        motion[i] = transitions[model.pair(state, action)] @ agent.bias - agent.bias[state]
        agent.observe(*world.step(action))
    assert np.all(found.spade >= motion - 1e-9)  # p is in the region
    assert broken(found, spade=motion)


def test_P_is_the_tolerance_that_the_planner_had():
    """A coarse plan in a known model: without P, or with 1/sqrt(tau) for it, the lemma fails."""
    model = eq.models.star(branches=3, diameter=4)
    known = {"confidence": eq.confidence.Known(model), "tolerance": 0.2}
    found = decompose(model, eq.TocUCRL2(model.space, eq.rewards.Quadratic(np.full(3, 1 / 3)), **known), 3000)
    assert found.holds
    assert np.all(found.P == 0.2)
    assert broken(found, P=np.zeros(3000))
    assert broken(found, P=1 / np.sqrt(found.episodes.tau[found.row]))


def test_where_the_regions_miss_the_truth_nothing_is_claimed():
    """An agent that is sure of another world: the events fail, the inequality too, and `holds` is about neither."""
    model = eq.models.garnet(4, 2, 3, K, seed=1)
    other = eq.models.garnet(4, 2, 3, K, seed=2)
    reward = eq.rewards.Quadratic([1.0, 1.0, 1.0])
    agent = eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Known(other), tolerance=1e-9)
    found = decompose(model, agent, 500)
    assert not found.held.any()
    assert found.gap.min() < -1e-3
    assert found.holds
    everywhere = found.episodes._replace(v_held=found.episodes.v_held | True, p_held=found.episodes.p_held | True)
    assert broken(found, episodes=everywhere)
    assert np.all(found.episodes.p_slack == -math.inf)


def test_radii_that_are_too_small_are_seen():
    """Bernstein scaled by one is Bernstein; with a tenth of the radius of v, or of p, that event alone fails."""
    model = eq.models.garnet(4, 2, 3, K, seed=1)
    same = decompose(model, makers()["FW"](model.space, confidence=Scaled(1.0, 1.0)), 2000)
    paper = decompose(model, makers()["FW"](model.space), 2000)
    for name in ("left", *TERMS):
        assert np.array_equal(getattr(same, name), getattr(paper, name))
    small_v = decompose(model, makers()["FW"](model.space, confidence=Scaled(0.1, 1.0)), 2000)
    assert not small_v.episodes.v_held.all()
    assert small_v.episodes.p_held.all()
    small_p = decompose(model, makers()["FW"](model.space, confidence=Scaled(1.0, 0.1)), 2000)
    assert small_p.episodes.v_held.all()
    assert not small_p.episodes.p_held.all()
    for found in (small_v, small_p):
        assert np.array_equal(found.episodes.v_held, found.episodes.v_slack >= 0)
        assert np.array_equal(found.episodes.p_held, found.episodes.p_slack >= 0)


# --- what it gives back, and what it refuses ---


def test_the_frame():
    model = eq.models.garnet(4, 2, 3, K, seed=1)
    found = decompose(model, makers()["FW"](model.space), 200)
    frame = found.frame()
    assert frame.columns == ["t", "episode", "state", "action", "left", *TERMS, "gap", "held"]
    assert len(frame) == 200
    assert frame["spade"].to_list() == found.spade.tolist()
    assert frame["episode"].max() == found.episodes.number.size
    assert repr(found).startswith(f"Decomposition(200 steps, {found.episodes.number.size} episodes; left=")


def test_refusals():
    model = eq.models.garnet(4, 2, 3, K, seed=1)
    agent = makers()["FW"](model.space)
    best = eq.solve(model, agent.reward)
    other = eq.models.garnet(4, 2, 3, K, seed=2)
    for arguments, message in (
        ((model, agent, 0), "steps: got 0"),
        ((model, agent, 10, -1), "seed: got -1"),
        ((model, eq.agents.baselines.RoundRobin(model.space, agent.reward), 10), "agent: got RoundRobin; a TocUCRL2"),
        ((model, agent, 10, 0, 0.5), "best: got float; a Benchmark"),
        ((other, agent, 10, 0, best), "best: it is the benchmark of another model"),
        ((eq.models.bandit(3), agent, 10), "it was not made for this model"),
    ):
        with pytest.raises(eq.EquipoiseError, match=message):
            decompose(*arguments)
    assert agent.t == 1
    eq.simulate(model, agent, 90)
    assert agent.episode_starts[-1] < 91
    twin = copy.copy(agent)
    with pytest.raises(eq.EquipoiseError, match="copied at time 91, in the midst of an episode"):
        decompose(model, twin, 10)
    assert twin.t == 91
    decompose(model, agent, 10)
