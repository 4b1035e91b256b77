"""Regions shrunk towards the estimates: by exactly the factor, by nothing at 1, and with a word of warning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.confidence import L1, Adaptive, Bernstein, EmpiricalBernstein, Known, PosteriorSampling, Scaled
from equipoise.confidence.base import build_region
from equipoise.confidence.nonzero import list_arrays
from equipoise.errors import ParameterError
from tests.confidence.common import facts_of
from tests.simulation.test_simulation import state_of

OTHERS = [
    Bernstein(), EmpiricalBernstein(), Adaptive(), L1(), L1("laplace"), PosteriorSampling(seed=2),
    PosteriorSampling(samples=4),
]  # fmt: skip


def after(model: eq.Model, steps: int, seed: int, confidence: eq.confidence.Confidence | None = None) -> eq.TocUCRL2:
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0, 0.5]), confidence=confidence)
    eq.simulate(model, agent, steps, seed=seed)
    return agent


@pytest.mark.parametrize("other", OTHERS, ids=repr)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 2000), factor=st.sampled_from([1.0, 0.5, 0.1, 1e-6]))
def test_every_bound_by_the_factor(other, seed, steps, factor):
    model = eq.models.garnet(5, 2, 4, 2, seed=seed)
    agent = after(model, steps, seed)
    facts = facts_of(agent)
    plain, scaled = (
        build_region(c, model.space, agent.loop.arrays.counts, agent.t, 0.05) for c in (other, Scaled(other, factor))
    )
    np.testing.assert_array_equal(scaled.first, plain.first)
    np.testing.assert_array_equal(scaled.successor, plain.successor)
    for pair in range(model.n_pairs):
        n = facts.visits[pair]
        part = slice(plain.first[pair], plain.first[pair + 1])
        if n == 0:
            for name in ("rest", "rest_sum", "radius"):
                assert getattr(scaled, name)[pair] == getattr(plain, name)[pair]
            np.testing.assert_array_equal(scaled.v_lo[pair], plain.v_lo[pair])
            np.testing.assert_array_equal(scaled.v_hi[pair], plain.v_hi[pair])
            continue
        mean, centre = facts.sums[pair] / n, facts.successors[pair, plain.successor[part]] / n
        for name, estimate in (("v_lo", mean), ("v_hi", mean)):
            bound = getattr(plain, name)[pair]
            np.testing.assert_allclose(
                getattr(scaled, name)[pair] - estimate, factor * (bound - estimate), rtol=0, atol=1e-15
            )
        assert scaled.radius[pair] == factor * plain.radius[pair]
        if plain.radius[pair] > 0:
            np.testing.assert_array_equal(scaled.lo[part], plain.lo[part])
            continue
        for name in ("lo", "hi"):
            bound = getattr(plain, name)[part]
            np.testing.assert_allclose(
                getattr(scaled, name)[part] - centre, factor * (bound - centre), rtol=0, atol=1e-15
            )
        assert scaled.rest[pair] == factor * plain.rest[pair]
        assert scaled.rest_sum[pair] == factor * plain.rest_sum[pair]


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_a_factor_of_one_changes_nothing(other):
    """The same steps, planned in the same way."""
    model = eq.models.garnet(5, 2, 4, 2, seed=3)
    planner = eq.planning.Planner(relaxation=0.5)
    ends = []
    for confidence in (other, Scaled(other, 1)):
        agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0, 0.5]), confidence=confidence, planner=planner)
        eq.simulate(model, agent, 5000, seed=4)
        ends.append((agent.visits.tolist(), agent.average.tolist(), agent.episode_starts.tolist()))
    assert ends[0] == ends[1]


def test_two_factors_are_their_product():
    model = eq.models.garnet(5, 2, 4, 2, seed=3)
    agent = after(model, 800, 1)
    for other in OTHERS:
        once, twice = (
            build_region(c, model.space, agent.loop.arrays.counts, agent.t, 0.05)
            for c in (Scaled(other, 0.125), Scaled(Scaled(other, 0.5), 0.25))
        )
        for one, two in zip(list_arrays(once), list_arrays(twice), strict=True):
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-15)


def test_a_bandit_has_no_transitions_to_shrink():
    model = eq.models.bandit(3)
    for other in OTHERS:
        agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([1 / 3] * 3), confidence=Scaled(other, 0.3))
        eq.simulate(model, agent, 300, seed=0)
        region = build_region(agent.confidence, model.space, agent.loop.arrays.counts, agent.t, 0.05)
        assert np.all(region.lo <= 1)
        assert np.all((region.hi >= 1 - 1e-15) | (region.radius > 0))


def test_it_goes_on_from_a_file(tmp_path):
    model = eq.models.garnet(5, 2, 4, 2, seed=3)
    for other in OTHERS:
        whole, agent = (after(model, steps, 7, Scaled(other, 0.3)) for steps in (900, 400))
        agent.save(tmp_path / "agent")
        agent = eq.TocUCRL2.load(tmp_path / "agent")
        eq.simulate(model, agent, 500, seed=7)
        assert state_of(agent) == state_of(whole)
        assert repr(agent.confidence) == repr(Scaled(other, 0.3))


@pytest.mark.parametrize("factor", [0, -0.5, 1.0000001, math.inf, math.nan, "1", None])
def test_bad_factors(factor):
    with pytest.raises(ParameterError, match=r"^factor: "):
        Scaled(Bernstein(), factor)


def test_only_what_learns_can_be_scaled():
    for other in (Known(eq.models.bandit(2)), Bernstein, "Bernstein", None):
        with pytest.raises(ParameterError, match=r"^confidence: "):
            Scaled(other, 0.5)


def test_it_says_what_it_costs():
    for other in OTHERS:
        assert Scaled(other, 0.5).caveat
        assert "none" in Scaled(other, 0.5).guarantee
    model = eq.models.bandit(2)
    agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]), confidence=Scaled(Bernstein(), 0.1))
    assert agent.caveat == Scaled.caveat
