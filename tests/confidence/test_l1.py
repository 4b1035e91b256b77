"""Balls in the 1-norm: UCRL2 as it was published, radii by hand, and the edges."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.confidence import L1
from equipoise.confidence.base import build_region
from equipoise.errors import ParameterError
from tests.reference.planner import maximum_over_ball_by_duality
from tests.reference.ucrl2 import OriginalUCRL2, best_in_ball

ROUNDING = 1e-9


def compare(model: eq.Model, weights: np.ndarray, delta: float, steps: int, seed: int) -> eq.TocUCRL2:
    """The same action at every step, and the same episodes and gains."""
    agent = eq.TocUCRL2(
        model.space, eq.rewards.Linear(weights), threshold=math.inf, delta=delta, confidence=L1("jaksch")
    )
    reference = OriginalUCRL2(model.n_actions, weights, model.start, delta)
    world = model.world(seed)
    for t in range(1, steps + 1):
        action = agent.act(world.state)
        assert action == reference.act(world.state), f"time {t}"
        assert agent.policy.tolist() == reference.policy.tolist()
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        reference.observe(outcomes, state)
    assert agent.episode_starts.tolist() == reference.episode_starts
    np.testing.assert_allclose(agent.episode_record.gain, reference.gains, rtol=0, atol=ROUNDING)
    assert set(agent.episode_record.triggers()) <= {"visits", "open"}
    return agent


@pytest.mark.parametrize("seed", range(4))
def test_ucrl2_as_it_was_published(seed):
    rng = np.random.default_rng(seed)
    model = eq.models.garnet(5, 3, 3, 3, seed=seed)
    compare(model, rng.normal(size=3), 0.1, 2000, seed)


def test_ucrl2_where_the_balls_have_become_small():
    """Radii of 2 are no test: on two states the radius falls below .5 after some 1500 visits."""
    model = eq.Model.from_arrays([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]]], [[[0.2], [0.5]], [[0.9], [0.6]]])
    agent = compare(model, np.array([1.0]), 0.5, 6000, 1)
    region = build_region(L1(), model.space, agent.loop.arrays.counts, agent.t, 0.5)
    assert region.radius.min() < 0.5


def test_ragged_actions():
    coin = [(0.5, 1, [1.0, 0.0]), (0.3, 2, [0.0, 1.0]), (0.2, 0, [0.0, 0.5])]
    back = [(0.7, 0, [0.2, 0.4]), (0.3, 2, [1.0, 1.0])]
    model = eq.Model.from_branches([[coin, back, coin], [back], [back, coin]])
    compare(model, np.array([1.0, -0.5]), 0.05, 1500, 2)


def test_the_reference_finds_the_best_in_a_ball():
    """Figure 2 against the dual program, in exact arithmetic."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        u, centre, radius = rng.normal(size=5), rng.dirichlet(np.full(5, 0.5)), float(rng.choice([0.05, 0.5, 1.5, 2.0]))
        assert best_in_ball(u, centre, radius) @ u == pytest.approx(
            maximum_over_ball_by_duality(u, centre, radius), abs=1e-12
        )


def test_radii_by_hand():
    """Two states of one action, 900 visits to each: A = 1, SA = 2, K = 1."""
    model = eq.Model.from_arrays([[[0.0, 1.0]], [[1.0, 0.0]]], [[[0.25]], [[0.5]]], noise="none")
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), confidence=L1())
    eq.simulate(model, agent, 1800)
    jaksch = build_region(L1(), model.space, agent.loop.arrays.counts, 1801, 0.05)
    assert jaksch.radius == pytest.approx(math.sqrt(14 * 2 * math.log(2 * 1801 / 0.05) / 900))
    width = math.sqrt(7 * math.log(2 * 2 * 1801 / 0.05) / (2 * 900))
    assert jaksch.v_hi[:, 0] == pytest.approx([0.25 + width, 0.5 + width])
    laplace = build_region(L1("laplace"), model.space, agent.loop.arrays.counts, 1801, 0.05)
    log = math.log(math.sqrt(901) * 1 * 4 / 0.05)  # 2^(S-1) - 1 = 1 set of states and its complement
    assert laplace.radius == pytest.approx(math.sqrt(2 * (1 + 1 / 900) * log / 900))
    width = math.sqrt((1 + 1 / 900) * log / 1800)  # 2 K SA = 4 too
    assert laplace.v_lo[:, 0] == pytest.approx([0.25 - width, 0.5 - width])
    assert jaksch.lo.tolist() == laplace.lo.tolist() == [1.0, 1.0]


def test_one_state_has_one_distribution():
    model = eq.models.bandit(3)
    for form in ("jaksch", "laplace"):
        agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([1 / 3] * 3), confidence=L1(form))
        eq.simulate(model, agent, 500)
        region = build_region(L1(form), model.space, agent.loop.arrays.counts, 501, 0.05)
        assert region.radius.tolist() == [0.0] * 3
        assert region.lo.tolist() == region.hi.tolist() == [1.0] * 3
        assert agent.average.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("form", ["Jaksch", "", None, 1])
def test_bad_forms(form):
    with pytest.raises(ParameterError, match=r"^form: "):
        L1(form)


def test_intervals_of_a_ball_are_within_zero_and_one():
    """Few visits: half the radius on either side of an estimate would leave [0, 1] at both ends."""
    model = eq.models.garnet(4, 2, 3, 2, seed=1)
    rule = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Linear([1.0, 0.0]))
    log = eq.simulate(model, rule, 200, trace=True, progress=False).trace
    table = eq.confidence.intervals(model.space, log, confidence=L1()).filter(pl.col("what").str.starts_with("→"))
    assert (table["low"].min(), table["high"].max()) == (0.0, 1.0)
    assert (table["low"] <= table["estimate"]).all()
    assert (table["estimate"] <= table["high"]).all()
