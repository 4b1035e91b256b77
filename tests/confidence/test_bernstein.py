"""The paper's regions: the formulae, known outcomes, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.confidence.base import build_region
from tests.reference import confidence as dense


def after(model: eq.Model, steps: int, seed: int) -> eq.TocUCRL2:
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear(np.ones(model.n_outcomes)))
    eq.simulate(model, agent, steps, seed=seed)
    return agent


def as_dense(region: eq.confidence.Region, n_states: int) -> tuple[np.ndarray, np.ndarray]:
    n_pairs = region.rest.size
    lo, hi = np.zeros((n_pairs, n_states)), np.repeat(region.rest[:, None], n_states, axis=1)
    for pair in range(n_pairs):
        part = slice(region.first[pair], region.first[pair + 1])
        lo[pair, region.successor[part]] = region.lo[part]
        hi[pair, region.successor[part]] = region.hi[part]
    return lo, hi


def counted(agent: eq.TocUCRL2) -> tuple[np.ndarray, np.ndarray]:
    counts = agent.loop.arrays.counts
    table = np.zeros((agent.space.n_pairs, agent.space.n_states))
    for pair in range(agent.space.n_pairs):
        for i in range(counts.block_first[pair], counts.block_first[pair] + counts.block_used[pair]):
            table[pair, counts.pool_state[i]] = counts.pool_count[i]
    return table, agent.visits.astype(float)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 3000), delta=st.floats(1e-6, 0.9))
def test_regions_equal_the_dense_ones(seed, steps, delta):
    model = eq.models.garnet(5, 2, 4, 2, seed=seed)
    agent = after(model, steps, seed)
    region = build_region(eq.confidence.Bernstein(), model.space, agent.loop.arrays.counts, agent.t, delta)
    successors, visits = counted(agent)
    lo, hi = as_dense(region, 5)
    expected = dense.transition_region(successors, visits, agent.t, delta)
    np.testing.assert_allclose(lo, expected.lo, atol=1e-14)
    np.testing.assert_allclose(hi, expected.hi, atol=1e-14)
    outcomes = dense.outcome_region(agent.loop.arrays.counts.sums, visits, agent.t, delta)
    np.testing.assert_allclose(region.v_lo, outcomes.lo, atol=1e-14)
    np.testing.assert_allclose(region.v_hi, outcomes.hi, atol=1e-14)
    # every region holds a distribution: the empirical one, or any if nothing was seen
    assert np.all(lo.sum(axis=1) <= 1 + 1e-12)
    assert np.all(hi.sum(axis=1) >= 1 - 1e-12)


def test_radii_by_hand():
    """One state, one action, an outcome of .25 after 400 visits: log-v = log(12 K SA tau^2 / delta)."""
    model = eq.Model.from_arrays([[[1.0]]], [[[0.25, 1.0]]], noise="none")
    agent = after(model, 400, 0)
    region = build_region(eq.confidence.Bernstein(), model.space, agent.loop.arrays.counts, 401, 0.1)
    log_v = math.log(12 * 2 * 1 * 401**2 / 0.1)
    radius = math.sqrt(2 * 0.25 * log_v / 400) + 3 * log_v / 400
    assert region.v_lo[0, 0] == pytest.approx(max(0.0, 0.25 - radius))
    assert region.v_hi[0, 0] == pytest.approx(0.25 + radius)
    assert region.v_hi[0, 1] == 1.0
    log_p = math.log(12 * 1 * 1 * 401**2 / 0.1)
    assert region.lo[0] == pytest.approx(1 - math.sqrt(2 * log_p / 400) - 3 * log_p / 400)
    assert region.hi[0] == 1.0
    assert region.rest[0] == pytest.approx(3 * log_p / 400)


def test_known_outcomes_are_single_points():
    model = eq.Model.from_arrays([[[0.5, 0.5], [1, 0]], [[1, 0]]], [[[0.3], [0.4]], [[0.9]]], known=[(0, 1), (1, 0)])
    agent = after(model, 50, 0)
    region = build_region(eq.confidence.Bernstein(), model.space, agent.loop.arrays.counts, agent.t, 0.05)
    assert region.v_lo[1:].ravel().tolist() == region.v_hi[1:].ravel().tolist() == [0.4, 0.9]
    assert region.v_lo[0, 0] < region.v_hi[0, 0]


def test_a_known_model_is_a_single_point():
    model = eq.models.garnet(6, 2, 3, 2, seed=1)
    agent = after(model, 10, 0)
    region = build_region(eq.confidence.Known(model), model.space, agent.loop.arrays.counts, 11, 0.05)
    lo, hi = as_dense(region, 6)
    assert np.array_equal(lo, hi)
    assert np.array_equal(lo, model.transitions().toarray())
    assert np.array_equal(region.v_lo, model.means)
    assert np.array_equal(region.v_hi, model.means)


def test_coverage():
    """Lemma conc: with probability 1 - delta all regions hold the true model; a tenth of the radius would not do."""
    delta, runs, misses, narrow_misses = 0.1, 100, 0, 0
    for seed in range(runs):
        model = eq.models.garnet(4, 2, 3, 2, seed=seed)
        p = model.transitions().toarray()
        agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0, 0.5]), delta=delta)
        inside = narrow = True
        for steps in (30, 100, 300, 1000):
            eq.simulate(model, agent, steps, seed=seed)
            region = build_region(agent.confidence, model.space, agent.loop.arrays.counts, agent.t, delta)
            lo, hi = as_dense(region, 4)
            inside &= bool(np.all((lo <= p) & (p <= hi)))
            inside &= bool(np.all((region.v_lo <= model.means) & (model.means <= region.v_hi)))
            visits = np.maximum(1, agent.visits)[:, None]
            mean = agent.loop.arrays.counts.sums / visits
            log_v = np.log(12 * 2 * model.n_pairs * agent.t**2 / delta)
            radius = np.sqrt(2 * mean * log_v / visits) + 3 * log_v / visits
            narrow &= bool(np.all(np.abs(mean - model.means) <= radius / 10))
        misses += not inside
        narrow_misses += not narrow
    assert misses <= 10
    assert narrow_misses > 10
