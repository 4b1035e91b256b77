"""Whole regions after runs on random worlds: equal to the dense ones, never empty, and what a planner can plan on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.confidence import L1, Adaptive, Bernstein, EmpiricalBernstein, PosteriorSampling, Scaled
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import empty_counts
from equipoise.theory import coverage
from tests.confidence.common import as_dense, facts_of
from tests.reference import regions as dense

DENSE = {
    "empirical Bernstein": (EmpiricalBernstein(), lambda facts, tau, d: dense.region_of_empirical_bernstein(facts, d)),
    "adaptive": (Adaptive(), lambda facts, tau, d: dense.region_of_adaptive(facts, d)),
    "jaksch": (L1(), lambda facts, tau, d: dense.region_of_balls(facts, tau, d, "jaksch")),
    "laplace": (L1("laplace"), lambda facts, tau, d: dense.region_of_balls(facts, tau, d, "laplace")),
}
EVERY = {
    "paper": Bernstein(),
    "draw": PosteriorSampling(seed=3),
    "five draws": PosteriorSampling(prior=2.0, samples=5),
    "scaled": Scaled(Adaptive(), 0.1),
    "scaled ball": Scaled(L1(), 0.01),
    "scaled draw": Scaled(PosteriorSampling(), 0.5),
} | {name: confidence for name, (confidence, _) in DENSE.items()}


def worlds(seed: int) -> eq.Model:
    """From one state and one outcome upwards; some outcomes known, some certain, some neither 0 nor 1."""
    rng = np.random.default_rng(seed)
    n_states, n_actions, n_outcomes = (int(rng.integers(1, most)) for most in (8, 4, 4))
    shape = (n_states, n_actions)
    transitions = np.where(rng.random((*shape, n_states)) < 0.4, rng.random((*shape, n_states)), 0.0)
    transitions[..., 0] += 1e-3  # a rare way back
    for s in range(n_states):
        transitions[s, 0, (s + 1) % n_states] += 0.5  # and one that leads everywhere
    transitions /= transitions.sum(axis=2, keepdims=True)
    means = rng.choice([0.0, 0.25, 0.3, 1.0, 0.999], size=(*shape, n_outcomes))
    known = [(0, 0)] if rng.random() < 0.5 else []
    return eq.Model.from_arrays(transitions, means, noise=str(rng.choice(["none", "bernoulli"])), known=known)


def after(model: eq.Model, steps: int, seed: int, confidence: eq.confidence.Confidence) -> eq.TocUCRL2:
    reward = eq.rewards.Linear(np.linspace(1, -0.5, model.n_outcomes))
    agent = eq.TocUCRL2(model.space, reward, confidence=confidence)
    if steps:
        eq.simulate(model, agent, steps, seed=seed)
    return agent


runs = st.tuples(st.integers(0, 2**32), st.integers(0, 3000), st.sampled_from([1e-6, 0.05, 0.9]))


@pytest.mark.parametrize("name", DENSE)
@settings(max_examples=25, deadline=None)
@given(run=runs)
def test_equal_to_the_dense_ones(name, run):
    seed, steps, delta = run
    model = worlds(seed)
    confidence, transcribed = DENSE[name]
    agent = after(model, steps, seed, confidence)
    region = build_region(confidence, model.space, agent.loop.arrays.counts, agent.t, delta)
    facts = facts_of(agent)
    expected = transcribed(facts, agent.t, delta)
    lo, hi = as_dense(region, model.n_states)
    np.testing.assert_array_equal(facts.visits, agent.visits)
    np.testing.assert_allclose(region.v_lo, expected.v_lo, rtol=0, atol=1e-9)
    np.testing.assert_allclose(region.v_hi, expected.v_hi, rtol=0, atol=1e-9)
    np.testing.assert_allclose(region.radius, expected.radius, rtol=0, atol=1e-12)
    np.testing.assert_allclose(lo, expected.lo, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.where(region.radius[:, None] > 0, lo, hi), expected.hi, rtol=0, atol=1e-9)
    np.testing.assert_allclose(region.rest_sum, expected.together, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=25, deadline=None)
@given(run=runs)
def test_every_region_holds_a_distribution(name, run):
    """The empirical one, or that of a draw; listed are the states seen, each once; bounds within [0, 1]."""
    seed, steps, delta = run
    model = worlds(seed)
    agent = after(model, steps, seed, EVERY[name])
    region = build_region(EVERY[name], model.space, agent.loop.arrays.counts, agent.t, delta)
    facts = facts_of(agent)
    lo, hi = as_dense(region, model.n_states)
    for pair in range(model.n_pairs):
        listed = region.successor[region.first[pair] : region.first[pair + 1]]
        assert sorted(listed) == np.flatnonzero(facts.successors[pair]).tolist()
        unlisted = model.n_states - listed.size
        if region.radius[pair] > 0:
            assert region.radius[pair] <= 2
            assert lo[pair].sum() == pytest.approx(1.0 if facts.visits[pair] else 0.0, abs=1e-12)
            continue
        most = hi[pair, listed].sum() + min(unlisted * region.rest[pair], region.rest_sum[pair])
        assert lo[pair].sum() <= 1 + 1e-12
        assert most >= 1 - 1e-12
        assert 0 <= region.rest[pair] <= 1
        assert region.rest[pair] <= region.rest_sum[pair] + 1e-15
    assert np.all((lo >= -1e-15) & (lo <= hi + 1e-15) & (hi <= 1 + 1e-15) | (region.radius[:, None] > 0))
    assert np.all((region.v_lo >= -1e-15) & (region.v_lo <= region.v_hi + 1e-15) & (region.v_hi <= 1 + 1e-15))
    told = model.space.known_mask
    np.testing.assert_array_equal(region.v_lo[told], model.means[told])
    np.testing.assert_array_equal(region.v_hi[told], model.means[told])


@pytest.mark.parametrize("name", DENSE)
def test_a_pair_never_visited_may_be_anything(name):
    model = eq.models.garnet(4, 2, 3, 2, seed=0)
    region = build_region(DENSE[name][0], model.space, after(model, 0, 0, DENSE[name][0]).loop.arrays.counts, 1, 0.05)
    assert region.first.tolist() == [0] * 9
    assert (region.v_lo.min(), region.v_lo.max(), region.v_hi.min(), region.v_hi.max()) == (0, 0, 1, 1)
    anything = region.radius == 2 if isinstance(DENSE[name][0], L1) else (region.rest == 1) & (region.rest_sum == 1)
    assert anything.all()


def test_the_mass_never_seen_is_bounded_as_a_whole():
    """One successor of 40 in 1000 visits: each of the others has its own bound, all together hardly more."""
    n_states = 40
    space = eq.Space(n_actions=[1] * n_states, n_outcomes=1, start=0)
    agent = eq.TocUCRL2(space, eq.rewards.Linear([1.0]), confidence=Adaptive())
    for _ in range(1000):
        agent.act(0)
        agent.observe([0.5], 0)
    region = build_region(Adaptive(), space, agent.loop.arrays.counts, 1001, 0.05)
    assert agent.loop.arrays.counts.latest[0] == 1
    assert region.rest_sum[0] == pytest.approx(1 - (0.05 / (2 * n_states * 1 * 2)) ** (1 / 999), rel=1e-9)
    assert region.rest_sum[0] < n_states * region.rest[0] / 10


def test_since_is_counted_from_the_last_new_successor():
    """By hand: after 0 0 1 0 0 0 the last new successor came four visits from the end, so three have passed."""
    space = eq.Space(n_actions=[1, 1], n_outcomes=1, start=0)
    agent = eq.TocUCRL2(space, eq.rewards.Linear([1.0]), confidence=Adaptive())
    passed = []
    for state in (0, 0, 1, 0, 0, 0, 0):
        before = agent.state
        agent.act(before)
        agent.observe([0.5], state)
        passed.append(int(agent.visits[before] - agent.loop.arrays.counts.latest[before]))
    # state 0: 0 (new), 0, then 1 (new); state 1: 0 (new); state 0: three times 0
    assert passed == [0, 1, 0, 0, 1, 2, 3]


def cycle(n_states: int) -> eq.Model:
    """Round and round, whatever the action: periodic."""
    transitions = np.zeros((n_states, 2, n_states))
    for s in range(n_states):
        transitions[s, :, (s + 1) % n_states] = 1.0
    means = np.zeros((n_states, 2, 1))
    means[0, 0], means[0, 1] = 0.9, 0.2
    means[:, 1] += 0.05
    return eq.Model.from_arrays(transitions, means)


@pytest.mark.parametrize("name", EVERY)
def test_a_periodic_world_can_be_planned(name):
    """The smaller the regions, the nearer to periodic: steps of one half keep the sweeps few all the same."""
    model = cycle(6)
    agent = eq.TocUCRL2(
        model.space, eq.rewards.Linear([1.0]), confidence=EVERY[name], planner=eq.planning.Planner(limit=10_000)
    )
    eq.simulate(model, agent, 10**6, checkpoints=[10**6])
    assert agent.average[0] > 0.14  # of (.9 + 5 x .05) / 6


@pytest.mark.parametrize("name", DENSE)
def test_coverage_may_go_on_in_the_midst_of_the_first_episode(name):
    """The agent that planned it knows its regions, balls among them."""
    model = eq.models.garnet(6, 2, 3, 2, seed=1)
    agent, whole = (
        eq.TocUCRL2(model.space, eq.rewards.Linear([1.0, 0.5]), confidence=DENSE[name][0]) for _ in range(2)
    )
    coverage(model, agent, 1, seed=2)
    assert coverage(model, agent, 99, seed=2).held == coverage(model, whole, 100, seed=2).held
    assert agent.t == whole.t == 101


def test_a_ball_of_everything_does_not_bind():
    """Before anything was seen no bound can be used up: the slack is 1, as for intervals."""
    model = eq.models.garnet(4, 2, 3, 2, seed=1)
    for confidence in (Bernstein(), Adaptive(), L1(), L1("laplace")):
        agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0, 0.5]), confidence=confidence)
        found = coverage(model, agent, 1)
        assert (found.v_slack, found.p_slack) == (1.0, 1.0), confidence


def test_balls_of_very_many_states():
    """2^(S-1) is no float then; its logarithm is."""
    model = eq.models.riverswim(3000)
    agent = after(model, 10, 0, L1("laplace"))
    region = build_region(L1("laplace"), model.space, agent.loop.arrays.counts, 11, 0.05)
    seen = agent.visits > 0
    assert region.radius[seen].tolist() == [2.0] * int(seen.sum())  # sqrt(2 x 2999 log 2 / n) is more
    assert np.isfinite(region.radius).all()
    n = 10**6
    log = math.log(math.sqrt(n + 1)) + 2999 * math.log(2) + math.log(2 * model.n_pairs / 0.05)
    agent.loop.arrays.counts.visits[:] = n
    agent.loop.arrays.counts.fresh[:] = 0
    far = build_region(L1("laplace"), model.space, agent.loop.arrays.counts, n, 0.05)
    assert far.radius == pytest.approx(math.sqrt(2 * (1 + 1 / n) * log / n), rel=1e-9)


def test_outcomes_are_unknown_where_only_transitions_are_told():
    """The first unit of outcomes comes right after the laws: it is to be learnt, and not known to be 0."""
    laws = [{(0, 0): [0, 1]}]
    for known in ({"known_transitions": {(0, 0): {1: 1}, (1, 0): {0: 1}}}, {"same_law": laws}):
        space = eq.Space([1, 1], 2).knowing(**known)
        counts = empty_counts(space, Adaptive())
        region = build_region(Adaptive(), space, counts, 1, 0.05)
        learnt = space.laws.arrays.learnt
        assert region.v_hi[learnt:].tolist() == [[1.0, 1.0]] * 2
        assert region.v_lo[learnt:].tolist() == [[0.0, 0.0]] * 2
        agent = eq.TocUCRL2(space, eq.rewards.Linear([0.5, 0.5]))
        agent.act(0)
        assert agent.gain == pytest.approx(1.0)  # nothing was seen: every outcome may be 1
