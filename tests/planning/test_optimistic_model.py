"""What a plan believes lies in its region, and is what the sweep used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence.base import build_region
from equipoise.planning.evi import extended_value_iteration
from equipoise.planning.optimistic_model import optimistic_model, sparse_outcomes

RULES = [eq.confidence.Bernstein(), eq.confidence.Adaptive(), eq.confidence.EmpiricalBernstein(), eq.confidence.L1()]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("seed", range(6))
def test_the_chain_is_the_one_of_the_last_sweep(rule, seed):
    model = eq.models.garnet(6, 2, 3, n_outcomes=2, seed=seed)
    agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.7, 0.7]), confidence=rule)
    eq.simulate(model, agent, 40 * 4**seed, progress=False)
    region = build_region(rule, model.space, agent.loop.arrays.counts, agent.t, 0.05)
    theta = np.random.default_rng(seed).normal(size=2)
    rewards = np.maximum(-theta * region.v_lo, -theta * region.v_hi).sum(axis=1)
    plan = extended_value_iteration(model.first_pair, region, rewards, 1e-9, relaxation=0.9)
    believed = optimistic_model(model.first_pair, region, theta, plan.bias, plan.policy)

    rows = believed.chain.toarray()
    assert rows.sum(axis=1) == pytest.approx(np.ones(6), abs=1e-12)
    for s, pair in enumerate(believed.pairs):
        part = slice(region.first[pair], region.first[pair + 1])
        listed = region.successor[part]
        others = np.setdiff1d(np.arange(6), listed)
        if region.radius[pair] > 0:
            centre = np.zeros(6)
            centre[listed] = region.lo[part]
            assert np.abs(rows[s] - centre).sum() <= region.radius[pair] + 1e-12
        else:
            assert np.all(rows[s, listed] >= region.lo[part] - 1e-12)
            assert np.all(rows[s, listed] <= region.hi[part] + 1e-12)
            assert np.all(rows[s, others] <= region.rest[pair] + 1e-12)
            assert rows[s, others].sum() <= region.rest_sum[pair] + 1e-12

    # the sweep's own equation, which a p that is not the best would miss
    swept = rewards[believed.pairs] + rows @ plan.bias - plan.bias
    assert swept.max() <= plan.gain + 1e-9
    assert swept.min() >= plan.gain - 2e-9
    assert believed.share @ rows == pytest.approx(believed.share, abs=1e-10)
    assert float(-theta @ believed.column) == pytest.approx(plan.gain, abs=1e-8)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_large_world_and_few_visits(rule):
    """Most pairs were never seen: their mass goes where u is largest, and rows stay short."""
    model = eq.models.garnet(3000, 2, 3, n_outcomes=2, seed=1)
    agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.7, 0.7]), confidence=rule)
    eq.simulate(model, agent, 6000, progress=False)
    region = build_region(rule, model.space, agent.loop.arrays.counts, agent.t, 0.05)
    theta = np.array([-0.5, 0.5])
    rewards = np.maximum(-theta * region.v_lo, -theta * region.v_hi).sum(axis=1)
    plan = extended_value_iteration(model.first_pair, region, rewards, 1e-9, relaxation=0.9)
    believed = optimistic_model(model.first_pair, region, theta, plan.bias, plan.policy)
    swept = rewards[believed.pairs] + believed.chain @ plan.bias - plan.bias
    assert swept.max() - swept.min() <= 2e-9
    assert believed.chain.sum(axis=1) == pytest.approx(np.ones(3000), abs=1e-12)
    assert believed.chain.T @ believed.share == pytest.approx(believed.share, abs=1e-10)


def test_sparse_outcomes_multiply_as_arrays_do():
    """From either side, against what is written out: outcomes that are listed, and those that are not."""
    model = eq.models.garnet(4, 2, 3, n_outcomes=5, seed=2)
    space = eq.Space(model.n_actions, 5, sparse_outcomes=True)
    rng = np.random.default_rng(0)
    agent = eq.TocUCRL2(space, eq.rewards.Quadratic([0.5] * 5), confidence=eq.confidence.Adaptive())
    for _ in range(60):
        agent.act(agent.state)
        outcomes = rng.random(5) * (rng.random(5) < 0.3)
        agent.observe(outcomes, int(rng.integers(4)))
    counts = agent.loop.arrays.counts
    region = build_region(agent.confidence, space, counts, agent.t, 0.05)
    sums, bounds = counts.nonzero, region.nonzero
    theta, pairs = np.array([-1.0, 0.5, -0.25, 0.75, 0.1]), np.array([6, 0, 3])
    dense = np.array([np.where(theta < 0.0, bounds.rest_hi[pair], bounds.rest_lo[pair]) for pair in pairs])
    for i, pair in enumerate(pairs):
        for place in range(sums.block_first[pair], sums.block_first[pair] + sums.block_used[pair]):
            k = sums.pool_outcome[place]
            dense[i, k] = bounds.hi[place] if theta[k] < 0.0 else bounds.lo[place]
    rows = sparse_outcomes(sums, bounds, theta, pairs)
    weights = np.array([0.5, 0.2, 0.3])
    assert bounds.rest_lo[pairs].tolist() == [0.0, 0.0, 0.0]
    lower = replace(rows, low=np.array([0.1, 0.0, 0.2]))
    more = np.where(theta < 0.0, 0.0, lower.low[:, None])
    for matrix, expected in ((rows, dense), (lower, dense + more)):
        assert weights @ matrix == pytest.approx(weights @ expected, abs=1e-14)
        assert matrix @ theta == pytest.approx(expected @ theta, abs=1e-14)
