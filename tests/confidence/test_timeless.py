"""Regions that are refilled only where something was seen: the same as those filled anew, and fewer calls."""

from __future__ import annotations

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence import L1, Adaptive, EmpiricalBernstein, Scaled
from equipoise.confidence.base import build_region
from equipoise.confidence.elementwise import Elementwise, interval_entry
from equipoise.errors import ContractError
from equipoise.testing import CLAUSES

TIMELESS = [Adaptive(), EmpiricalBernstein(), L1("laplace"), Scaled(Adaptive(), 0.5)]


def rows(region, pair):
    part = slice(region.first[pair], region.first[pair + 1])
    listed = sorted(zip(region.successor[part], region.lo[part], region.hi[part], strict=True))
    return listed, region.rest[pair], region.rest_sum[pair], region.radius[pair], *region.v_lo[pair], *region.v_hi[pair]


def assert_filled_anew(agent: eq.TocUCRL2) -> None:
    """At the start of an episode all that the agent holds is what its counts give."""
    counts = agent.loop.arrays.counts
    assert not counts.fresh.any()
    logged = agent.loop.constants.rows > 0
    anew = build_region(agent.confidence, agent.space, counts, agent.t, agent.loop.constants.delta, logged)
    for pair in range(counts.visits.size):
        assert rows(agent.loop.arrays.region, pair) == rows(anew, pair)


@pytest.mark.parametrize("confidence", TIMELESS, ids=repr)
@pytest.mark.parametrize("oracle", [None, "doubling"])
def test_at_every_plan_the_region_is_the_one_that_is_filled_anew(confidence, oracle):
    model = eq.models.garnet(6, 3, 4, n_outcomes=2, seed=5)
    reward = eq.rewards.Quadratic([0.9, 0.6])
    doubling = eq.oracles.Doubling(eq.oracles.mirror_maps.EuclideanBall(2, 5.0), inherit=True) if oracle else None
    agent = eq.TocUCRL2(model.space, reward, doubling, confidence=confidence)
    world, planned = model.world(seed=3), 0
    for t in range(600):
        if t == 300:  # rows of a log are no visits of an episode
            rule = eq.agents.baselines.StationaryAgent(model.space, reward)
            agent.absorb(eq.simulate(model, rule, 50, seed=1, trace=True).trace)
        action = agent.act(world.state)
        if agent.episode_starts[-1] == agent.t:
            assert_filled_anew(agent)
            planned += 1
        agent.observe(*world.step(action))
    assert planned > 20


def test_with_known_mechanics_units_are_kept_as_pairs_are():
    shop = eq.mechanics.inventory()
    agent = eq.recommended(shop.space, eq.rewards.TargetSquared([0.9] * shop.space.n_outcomes))
    world, planned = shop.model().world(seed=2), 0
    for _ in range(300):
        action = agent.act(world.state)
        if agent.episode_starts[-1] == agent.t:
            assert_filled_anew(agent)
            planned += 1
        outcomes, state = world.step(action)
        agent.observe(outcomes, state, noise=world.noise)
    assert planned > 5


@interval_entry
def _counted(tau, delta, count, binary, n, total, squares, floats, bounds):
    floats[0] += 1.0  # how often it was asked
    width = math.sqrt(math.log(4.0 * count * n * n / delta) / n)
    bounds[0], bounds[1] = max(0.0, total / n - width), min(1.0, total / n + width)


class Counting(Elementwise):
    guarantee = "none: a test"
    timeless = True

    def __init__(self):
        self.asked = np.zeros(1)

    @property
    def floats(self):
        return self.asked

    @property
    def interval(self):
        return _counted


def test_only_pairs_that_were_visited_are_asked_again():
    model = eq.models.garnet(40, 3, 3, n_outcomes=1, seed=1)
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), confidence=Counting())
    eq.simulate(model, agent, 5000, seed=1)
    agent.loop.constants.floats[0] = 0.0
    counts = agent.loop.arrays.counts
    touched = np.flatnonzero(counts.fresh)
    expected = int((counts.block_used[touched] + 2).sum())  # successors, one outcome, and what was never seen
    episodes = agent.episode_starts.size
    agent._now["planned"] = 0  # the next step is planned anew
    agent.act(agent.state)
    assert agent.episode_starts.size == episodes + 1
    assert 0 < touched.size < model.n_pairs / 2
    assert agent.loop.constants.floats[0] == expected


@interval_entry
def _slowly_wider(tau, delta, count, binary, n, total, squares, floats, bounds):
    width = math.sqrt(math.log(4.0 * count * tau * tau / delta) / n)
    bounds[0], bounds[1] = max(0.0, total / n - width), min(1.0, total / n + width)


class Liar(Elementwise):
    guarantee = "none: a test"
    caveat = "a test"
    timeless = True

    @property
    def interval(self):
        return _slowly_wider


def test_one_that_reads_the_time_is_not_timeless():
    with pytest.raises(ContractError, match="depend on its own counts alone"):
        CLAUSES["keeps_what_still_stands"](Liar())
