"""The agent to start with: what it is made of, for every kind of reward."""

from __future__ import annotations

import pytest

import equipoise as eq
from equipoise import oracles, rewards
from equipoise.confidence import Adaptive, PosteriorSampling

SPACE = eq.Space(n_actions=[2, 2], n_outcomes=3, start=0)


@pytest.mark.parametrize(
    ("reward", "oracle"),
    [
        (rewards.Quadratic([0.5] * 3), oracles.FrankWolfe()),
        (rewards.TargetDistance([0.5] * 3, 2), oracles.TunedGradientDescent()),
        (rewards.TargetDistance([0.5] * 3, 1), oracles.Doubling(oracles.Box(), inherit=True)),
        (rewards.BottomSum(3, 1), oracles.Doubling(oracles.SignedSimplex(), inherit=True)),
        (rewards.Knapsack(3, 0.3), oracles.Doubling(oracles.SlackSimplex(), inherit=True)),
    ],
    ids=repr,
)
def test_the_paper_with_regions_that_fit(reward, oracle):
    agent = eq.recommended(SPACE, reward)
    assert isinstance(agent.confidence, Adaptive)
    assert repr(agent.oracle) == repr(oracle)
    assert (agent.threshold, agent.tolerance, agent.delta) == (None, None, 0.05)
    assert agent.planner == eq.planning.Planner(warm_start="visits")
    assert agent.caveat == ""


def test_without_a_guarantee_it_draws_from_the_posterior():
    agent = eq.recommended(SPACE, rewards.BottomSum(3, 1), guarantee=False, seed=9)
    assert isinstance(agent.confidence, PosteriorSampling)
    assert agent.confidence.seed == 9
    assert agent.planner == eq.planning.Planner()
    assert agent.caveat == "without a proof here"


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
