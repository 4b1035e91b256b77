"""Mixtures of policies over a region: against `solve`, against the sparse response, and from one region to the next."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import empty_counts
from equipoise.planning.evi import workspace
from equipoise.planning.mixture import MixturePlanner
from equipoise.planning.occupancy import dense_scratch, evaluate
from equipoise.planning.optimistic_model import optimistic_model

CASES = {
    "star, balance": (eq.models.star(3, 4), eq.rewards.Balance([0.2, 0.3, 0.5])),
    "star, quadratic": (eq.models.star(3, 4), eq.rewards.Quadratic([1.2, 1.0, 1.1])),
    "pricing": (eq.models.pricing(), eq.rewards.Knapsack(n_outcomes=2, budget=0.3)),
    "scheduler": (eq.models.scheduler(), eq.rewards.BottomSum(3, 1)),
    "sites": (eq.models.sites(), eq.rewards.TargetDistance([0.3, 0.2, 0.4])),
    "garnet": (eq.models.garnet(9, 3, 3, 3, seed=4), eq.rewards.ProportionalFairness(3, 0.1)),
    "ring": (eq.models.ring(4), eq.rewards.Linear([1.0])),
    "large": (eq.models.garnet(320, 3, 4, 3, seed=5), eq.rewards.Balance([0.2, 0.3, 0.5])),
    "told": (eq.models.riverswim(5).visits(), eq.rewards.Balance([0.2] * 5)),
}


def known_planner(model, reward):
    known = eq.confidence.Known(model)
    counts = empty_counts(model.space, known)
    planner = MixturePlanner(model.space, reward, known.relaxation)
    planner.enter(counts, build_region(known, model.space, counts, 1, 0.05))
    return planner


@pytest.mark.parametrize("name", CASES)
def test_the_mixture_of_a_known_model_is_its_optimum(name):
    model, reward = CASES[name]
    planner, best = known_planner(model, reward), eq.solve(model, reward)
    mixture = planner.plan(np.zeros(reward.n_outcomes), 1.0, 1e-5)
    assert mixture.lower <= best.dual_value + 1e-7
    assert mixture.upper >= best.value - 1e-7
    assert mixture.upper - mixture.lower <= 1e-5
    assert mixture.bound >= best.value - 1e-7
    assert reward.value(mixture.outcomes) == pytest.approx(mixture.lower, abs=1e-9)
    for one in mixture.policies:  # every outcome vector is that of a stationary distribution of its policy
        rows = model.transitions()[model.first_pair[:-1] + one.policy]
        np.testing.assert_allclose(one.share @ rows, one.share, atol=1e-9)
        means = model.mean_rows[model.first_pair[:-1] + one.policy]
        np.testing.assert_allclose(one.share @ means, one.outcomes, atol=1e-9)


@pytest.mark.parametrize("name", ["star, balance", "pricing", "scheduler", "star, quadratic"])
def test_looking_ahead_solves_for_the_time_to_come(name):
    model, reward = CASES[name]
    average, share, K = model.means.mean(axis=0), 0.1, reward.n_outcomes
    mixture = known_planner(model, reward).plan(average, share, 1e-5)
    best = eq.solve(model, reward.of(share * np.eye(K), (1.0 - share) * average))
    assert mixture.lower == pytest.approx(best.value, abs=share * 2e-5)
    assert mixture.upper >= best.value - 1e-7


def test_plans_over_regions_bound_the_optimum_and_policies_serve_again():
    model, reward = eq.models.sites(), eq.rewards.BottomSum(3, 1)
    best = eq.solve(model, reward).value
    agent = eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Adaptive())
    planner = MixturePlanner(model.space, reward, 1.0)
    for steps in (100, 1_000, 10_000):
        eq.simulate(model, agent, steps, seed=1, progress=False)
        region = build_region(agent.confidence, model.space, agent.loop.arrays.counts, agent.t, 0.05)
        planner.enter(agent.loop.arrays.counts, region)
        mixture = planner.plan(np.zeros(3), 1.0, 1e-4)
        fresh = MixturePlanner(model.space, reward, 1.0)
        fresh.enter(agent.loop.arrays.counts, region)
        again = fresh.plan(np.zeros(3), 1.0, 1e-4)
        assert mixture.upper == pytest.approx(again.upper, abs=2e-4)
        assert mixture.bound >= best


@pytest.mark.parametrize(
    "confidence", [eq.confidence.Adaptive(), eq.confidence.L1(), eq.confidence.PosteriorSampling()]
)
def test_a_policy_leads_where_its_sparse_response_says(confidence):
    model, reward = eq.models.garnet(8, 3, 3, 2, seed=3), eq.rewards.Balance([0.5, 0.5])
    agent = eq.TocUCRL2(model.space, reward, confidence=confidence)
    eq.simulate(model, agent, 3_000, seed=2, progress=False)
    region = build_region(confidence, model.space, agent.loop.arrays.counts, agent.t, 0.05)
    rng, space = np.random.default_rng(3), model.space
    for _ in range(20):
        theta, u = rng.normal(size=2), rng.random(8)
        policy = rng.integers(0, 3, 8)
        share, column = np.zeros(8), np.zeros(2)
        evaluate(
            space.first_pair,
            region,
            theta,
            u,
            policy,
            0.0,
            workspace(8, space.n_pairs),
            dense_scratch(8),
            share,
            column,
        )
        said = optimistic_model(space.first_pair, region, theta, u, policy)
        np.testing.assert_allclose(share, said.share, atol=1e-9)
        np.testing.assert_allclose(column, said.column, atol=1e-9)


def test_rare_transitions_have_no_part_if_they_are_cut():
    leak = 1e-6
    model = eq.Model.from_arrays([[[1.0 - leak, leak]], [[leak, 1.0 - leak]]], [[[0.25]], [[0.75]]], noise="none")
    for cut, expected in ((0.0, [0.5, 0.5]), (1e-3, [0.0, 1.0])):
        known = eq.confidence.Known(model)
        region = build_region(known, model.space, empty_counts(model.space, known), 1, 0.05)
        share, column = np.zeros(2), np.zeros(1)
        evaluate(
            model.first_pair, region, np.array([-1.0]), np.zeros(2), np.zeros(2, dtype=np.int64), cut, workspace(2, 2),
            dense_scratch(2), share, column,
        )  # fmt: skip
        np.testing.assert_allclose(share, expected, atol=1e-9)


def test_known_dynamics_are_planned_with_ways_to_each_class():
    system = eq.mechanics.sites()
    model, reward = system.model(), eq.rewards.BottomSum(3, 1)
    agent = eq.MixtureUCRL2(system.space, reward)
    eq.simulate(model, agent, 5_000, seed=0, progress=False)
    region = build_region(agent.confidence, system.space, agent._counts, agent.t, 0.05)
    planner = MixturePlanner(system.space, reward, 1.0)
    planner.enter(agent._counts, region)
    mixture = planner.plan(np.zeros(3), 1.0, 1e-4)
    assert mixture.upper >= eq.solve(model, reward).value
    assert mixture.upper - mixture.lower <= 1e-3
    for one in mixture.policies:
        pairs = model.first_pair[:-1] + one.policy
        home = pairs[one.share > 0.2]
        way = planner.way(home, mixture.best)
        rows = model.transitions()[model.first_pair[:-1] + way.policy].toarray()
        at = np.full(model.n_states, 1.0 / model.n_states)
        for _ in range(200):
            at = at @ rows
        assert at[one.share > 0.2].sum() > 0.15  # it gets there from everywhere
