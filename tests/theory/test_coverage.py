"""E^v and E^p on one run: the same as the decomposition sees, exact at episode starts, and able to fail."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import Counts
from equipoise.theory import coverage, decompose, recording
from equipoise.theory.recording import Truth, look
from tests.simulation.test_simulation import state_of
from tests.theory.kinds import K, Scaled, makers


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    name=st.sampled_from(sorted(makers())),
    steps=st.integers(1, 10000),
    factor=st.sampled_from([1.0, 0.2, 0.05]),
)
def test_the_same_as_the_decomposition(seed, name, steps, factor):
    """Whatever the number of stretches of 4096 steps; and the agent is left as by `simulate`."""
    model = eq.models.garnet(5, 2, 3, K, seed=seed)
    one, two, three = (makers()[name](model.space, confidence=Scaled(factor, factor)) for _ in range(3))
    found = coverage(model, one, steps, seed)
    full = decompose(model, two, steps, seed).episodes
    eq.simulate(model, three, steps, seed)
    assert state_of(one) == state_of(two) == state_of(three)
    assert found.steps == steps
    assert found.episodes == full.number.size == len(three.episode_starts)
    assert found.v_held == full.v_held.all()
    assert found.p_held == full.p_held.all()
    assert found.held == (found.v_held and found.p_held)
    assert found.v_slack == full.v_slack.min()
    assert found.p_slack == full.p_slack.min()
    missing = np.flatnonzero(~(full.v_held & full.p_held))
    assert found.missed == (full.start[missing[0]] if missing.size else None)


@pytest.mark.parametrize("name", ["FW", "doubling", "doubling-inherit"])
def test_the_regions_are_those_of_the_episode_starts(name):
    """Stopped by `simulate` at every start, with `build_region` and the counts of that moment."""
    model = eq.models.garnet(5, 2, 3, K, seed=4)
    first = makers()[name](model.space, delta=0.2)
    eq.simulate(model, first, 1500, seed=6)
    full = decompose(model, makers()[name](model.space, delta=0.2), 1500, seed=6)
    agent = makers()[name](model.space, delta=0.2)
    p = model.transitions().toarray()
    for row, start in enumerate(first.episode_starts):
        if start > 1:
            eq.simulate(model, agent, int(start) - agent.t, seed=6)
        assert agent.t == start
        twin = copy.copy(agent)
        twin.act(twin.state)  # begins the phase, if one is due, and the episode
        assert len(twin.episode_starts) == row + 1
        delta, tau = 0.2, int(start)
        if name == "doubling":
            h = int(math.log2(start + 1))  # mega-episode h begins at 2^h - 1
            delta, tau = 0.2 / 2**h, int(start) - (2**h - 2)
        region = build_region(twin.confidence, model.space, twin.loop.arrays.counts, tau, delta)
        assert full.episodes.tau[row] == tau
        inside = True
        for pair in range(model.n_pairs):
            part = slice(region.first[pair], region.first[pair + 1])
            lo, hi = np.zeros(model.n_states), np.full(model.n_states, region.rest[pair])
            lo[region.successor[part]], hi[region.successor[part]] = region.lo[part], region.hi[part]
            inside &= bool(np.all((lo <= p[pair]) & (p[pair] <= hi)))
        assert inside == full.episodes.p_held[row]
        steps = full.row == row
        best = -full.episodes.theta[row] * np.where(full.episodes.theta[row] < 0, region.v_hi, region.v_lo)
        np.testing.assert_allclose(full.optimistic[steps], best.sum(axis=1)[full.pair[steps]], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("p", "v", "held", "used"),
    [
        ([0.5, 0.3, 0.2], 0.5, (True, True), (0.0, 2 / 3)),  # state 1: .1 of .2; state 2, not listed: .2 of .3
        ([0.5, 0.5, 0.0], 0.5, (True, True), (0.0, 0.5)),  # .1 of .2
        ([0.3, 0.7, 0.0], 0.5, (True, False), (0.0, 1.5)),  # the listed successor 1 is above its bound
        ([0.1, 0.5, 0.4], 0.5, (True, False), (0.0, 4 / 3)),  # only what is not listed is too likely
        ([0.6, 0.4, 0.0], 0.8, (False, True), (1.5, 0.0)),  # v above, p exact
        ([0.6, 0.4, 0.0], 0.2, (False, True), (3.0, 0.0)),  # v below
        ([0.6, 0.4, 0.0], 0.45, (True, True), (0.5, 0.0)),
    ],
)
def test_one_look_by_hand(p, v, held, used):
    """Ten visits to one pair: six to state 0, whose interval [0, 1] never binds, four to state 1, none to state 2."""
    counts = Counts.zeros(1, 1)._replace(
        visits=np.array([10]), sums=np.array([[5.0]]), block_first=np.array([0]), block_used=np.array([2]),
        pool_state=np.array([0, 1]), pool_count=np.array([6, 4]),
    )  # fmt: skip
    region = eq.confidence.Region(
        first=np.array([0, 2]), successor=np.array([1, 0]), lo=np.array([0.2, 0.0]), hi=np.array([0.6, 1.0]),
        rest=np.array([0.3]), rest_sum=np.ones(1), radius=np.zeros(1), v_lo=np.array([[0.4]]), v_hi=np.array([[0.7]]),
    )  # fmt: skip
    truth = Truth(np.array([0, 3]), np.array([0, 1, 2]), np.array(p), np.array([[v]]))
    scratch, looks = recording._scratch(3, 1), recording._looks(1, 1)
    look(counts, region, truth, scratch, looks, 0, False)
    assert (looks.v_held[0], looks.p_held[0]) == held
    assert (looks.v_used[0], looks.p_used[0]) == pytest.approx(used, abs=1e-12)
    assert not scratch.chance.any()
    assert not scratch.seen.any()
    look(counts, region, truth, scratch, looks, 0, True)
    assert (looks.v_held[0], looks.p_held[0]) == held
    assert np.isnan(looks.v_used[0])
    assert np.isnan(looks.p_used[0])


def test_the_level_is_kept_and_smaller_radii_do_not_keep_it():
    """Lemma 4.1: both events together with probability 1 - delta; a tenth of the radius would not do for either."""
    delta, runs = 0.1, 200
    model = eq.models.garnet(4, 2, 3, K, seed=0)
    missed = dict.fromkeys(((1.0, 1.0), (0.1, 1.0), (1.0, 0.1)), 0)
    for factors in missed:
        for seed in range(runs):
            agent = makers()["FW-linear"](model.space, delta=delta, confidence=Scaled(*factors))
            missed[factors] += not coverage(model, agent, 2000, seed).held
    assert missed[1.0, 1.0] <= delta * runs
    assert missed[0.1, 1.0] > delta * runs
    assert missed[1.0, 0.1] > delta * runs


def test_slack_is_the_radius_that_was_not_needed():
    """With every radius multiplied by a factor and the same path, 1 - slack is divided by it: a linear reward whose
    plan does not depend on the regions, in a world without choice."""
    model = eq.models.garnet(4, 1, 3, 2, seed=3)
    reward = eq.rewards.Linear([1.0, 0.5])
    used = {}
    for factor in (1.0, 0.5, 0.25):
        agent = eq.TocUCRL2(model.space, reward, confidence=Scaled(factor, factor))
        found = decompose(model, agent, 3000, seed=1).episodes
        used[factor] = np.column_stack([1 - found.v_slack, 1 - found.p_slack])
    assert used[1.0].shape == used[0.25].shape
    for factor in (0.5, 0.25):
        # smaller radii bind where larger ones were cut at 0 or 1, so they can only show more
        assert np.all(used[factor] >= used[1.0] / factor - 1e-12)
        assert np.any(np.isclose(used[factor], used[1.0] / factor, rtol=1e-12) & (used[1.0] > 0))


def test_an_episode_under_way_has_no_slack():
    model = eq.models.garnet(5, 2, 3, K, seed=8)
    agent = makers()["FW"](model.space)
    eq.simulate(model, agent, 601, seed=2)
    found = coverage(model, agent, 1, seed=2)
    assert agent.episode_starts[-1] < 602
    assert found.episodes == 1
    assert found.v_slack == found.p_slack == 1.0
    assert found.held
    later = coverage(model, agent, 2000, seed=2)
    assert later.episodes > 1
    assert 0 < later.v_slack < 1


def test_refusals():
    model = eq.models.garnet(4, 2, 3, K, seed=1)
    agent = makers()["FW"](model.space)
    with pytest.raises(eq.EquipoiseError, match="steps: got 0"):
        coverage(model, agent, 0)
    with pytest.raises(eq.EquipoiseError, match="agent: got RoundRobin"):
        coverage(model, eq.agents.baselines.RoundRobin(model.space, agent.reward), 10)
