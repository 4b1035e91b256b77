"""What a plan believes lies in its region, and is what the sweep used."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence.fill import region_of
from equipoise.planning.evi import extended_value_iteration
from equipoise.planning.response import response

RULES = [eq.confidence.Bernstein(), eq.confidence.Adaptive(), eq.confidence.EmpiricalBernstein(), eq.confidence.L1()]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("seed", range(6))
def test_the_chain_is_the_one_of_the_last_sweep(rule, seed):
    model = eq.models.garnet(6, 2, 3, n_outcomes=2, seed=seed)
    agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.7, 0.7]), confidence=rule)
    eq.simulate(model, agent, 40 * 4**seed, progress=False)
    region = region_of(rule, model.space, agent.machine.counts, agent.t, 0.05)
    theta = np.random.default_rng(seed).normal(size=2)
    rewards = np.maximum(-theta * region.v_lo, -theta * region.v_hi).sum(axis=1)
    plan = extended_value_iteration(model.first_pair, region, rewards, 1e-9, relaxation=0.9)
    believed = response(model.first_pair, region, theta, plan.bias, plan.policy)

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
    region = region_of(rule, model.space, agent.machine.counts, agent.t, 0.05)
    theta = np.array([-0.5, 0.5])
    rewards = np.maximum(-theta * region.v_lo, -theta * region.v_hi).sum(axis=1)
    plan = extended_value_iteration(model.first_pair, region, rewards, 1e-9, relaxation=0.9)
    believed = response(model.first_pair, region, theta, plan.bias, plan.policy)
    swept = rewards[believed.pairs] + believed.chain @ plan.bias - plan.bias
    assert swept.max() - swept.min() <= 2e-9
    assert believed.chain.sum(axis=1) == pytest.approx(np.ones(3000), abs=1e-12)
    assert believed.chain.T @ believed.share == pytest.approx(believed.share, abs=1e-10)
