"""The agent to start with: what it is made of, for every kind of reward."""

from __future__ import annotations

import pytest

import equipoise as eq
from equipoise import oracles, rewards
from equipoise.confidence import Adaptive, PosteriorSampling

SPACE = eq.Space(n_actions=[2, 2], n_outcomes=3, start=0)


def test_smooth_rewards_get_the_paper_with_regions_that_fit():
    agent = eq.recommended(SPACE, rewards.Quadratic([0.5] * 3))
    assert isinstance(agent, eq.TocUCRL2)
    assert isinstance(agent.confidence, Adaptive)
    assert repr(agent.oracle) == repr(oracles.FrankWolfe())
    assert (agent.threshold, agent.tolerance, agent.delta) == (None, None, 0.05)
    assert agent.planner == eq.planning.Planner(warm_start="visits")
    assert agent.caveat == ""


@pytest.mark.parametrize(
    "reward",
    [
        rewards.TargetDistance([0.5] * 3, 2),
        rewards.TargetDistance([0.5] * 3, 1),
        rewards.BottomSum(3, 1),
        rewards.Knapsack(3, 0.3),
    ],
    ids=repr,
)
def test_other_rewards_get_mixtures_of_policies(reward):
    agent = eq.recommended(SPACE, reward)
    assert isinstance(agent, eq.MixtureUCRL2)
    assert isinstance(agent.confidence, Adaptive)
    assert (agent.delta, agent.visit_growth, agent.proves) == (0.05, 1.0, True)


def test_large_tables_keep_the_descent_whatever_the_reward():
    large = eq.Space(n_actions=[1] * 301, n_outcomes=3)
    agent = eq.recommended(large, rewards.BottomSum(3, 1))
    assert isinstance(agent, eq.TocUCRL2)
    assert repr(agent.oracle) == repr(oracles.Doubling(oracles.SignedSimplex(), inherit=True))
    assert agent.planner == eq.planning.Planner(warm_start="visits")


@pytest.mark.parametrize("reward", [rewards.Quadratic([0.5] * 3), rewards.BottomSum(3, 1)], ids=repr)
def test_without_a_guarantee_it_draws_from_the_posterior(reward):
    agent = eq.recommended(SPACE, reward, guarantee=False, seed=9)
    assert isinstance(agent.confidence, PosteriorSampling)
    assert agent.confidence.seed == 9
    assert agent.caveat


def test_it_learns_a_river_on_which_the_papers_regions_learn_nothing():
    """30,000 steps on 20 states; the left end pays .005 a step, and the right end is worth .43."""
    model, reward = eq.models.riverswim(20), rewards.Linear([1.0])
    best = eq.solve(model, reward)
    ours, papers = [], []
    for seed in range(5):
        ours.append(eq.simulate(model, eq.recommended(model.space, reward), 30_000, seed=seed).regret(best)[-1])
        papers.append(eq.simulate(model, eq.TocUCRL2(model.space, reward), 30_000, seed=seed).regret(best)[-1])
    assert min(papers) > best.value - 0.01  # no more than the left end
    assert max(ours) < best.value / 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reward": None}, "reward: got NoneType"),
        ({"guarantee": "x"}, "guarantee: got 'x'"),
        ({"seed": -1}, "seed: got -1"),
        ({"space": 3}, "space: got int"),
    ],
)
def test_what_is_wrong_is_named(arguments, message):
    with pytest.raises(eq.EquipoiseError, match=message):
        eq.recommended(**({"space": SPACE, "reward": rewards.Quadratic([0.5] * 3)} | arguments))
