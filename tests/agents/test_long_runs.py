"""The arithmetic of a billion steps: counts are exact, and averages as exact as their sums can be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import equipoise as eq

MANY = 10**9


def after(agent: eq.TocUCRL2, steps: int) -> eq.TocUCRL2:
    """The agent as if it had lived so long: every count and sum is multiplied, so that all of them fit together."""
    counts, memory = agent.loop.arrays.counts, agent.loop.arrays.memory
    factor = steps // (agent.t - 1)
    for part in (
        counts.visits,
        counts.fresh,
        counts.sums,
        counts.squares,
        counts.pool_count,
        counts.latest,
        memory.total,
    ):
        part *= factor
    memory.clock["time"] = factor * (agent.t - 1) + 1
    memory.average[:] = memory.total / (agent.t - 1)
    return agent


def test_each_step_is_counted_after_a_billion():
    model = eq.models.star(3, 4)
    agent = eq.recommended(model.space, eq.rewards.Quadratic([1 / 3] * 3))
    eq.simulate(model, agent, 1000, seed=1)
    after(agent, MANY)
    visits, total, steps = agent.visits.copy(), agent.loop.arrays.memory.total.copy(), agent.t - 1
    assert steps == MANY
    run = eq.simulate(model, agent, 100_000, seed=1)
    assert agent.visits.sum() == steps + 100_000
    assert np.all(agent.visits >= visits)
    gained = agent.loop.arrays.memory.total - total
    assert np.array_equal(gained, np.rint(gained))  # loops pay 0 or 1, and a float holds whole numbers to 2^53
    looped = [int(pair) for pair in np.flatnonzero(model.means.max(axis=1) > 0)]
    assert gained.tolist() == (agent.visits - visits)[looped].tolist()
    exact = [Fraction(int(total)) / (agent.t - 1) for total in agent.loop.arrays.memory.total]
    assert run.outcomes[-1].tolist() == [float(x) for x in exact]


def test_parts_of_one_are_summed_to_within_what_rounding_allows():
    """Outcomes of 1/10 in every step: the sum is that of as many numbers, each rounded once."""
    model = eq.Model.from_arrays([[[1.0]]], [[[0.1]]], noise="none")
    agent = eq.recommended(model.space, eq.rewards.Linear([1.0]))
    steps = 10**6
    eq.simulate(model, agent, steps, seed=1)
    exact = Fraction(0.1) * steps
    error = abs(Fraction(float(agent.loop.arrays.memory.total[0])) - exact)
    assert error <= steps * Fraction(1, 2**53) * exact
    assert abs(agent.average[0] - 0.1) < 1e-10


@pytest.mark.slow
def test_a_billion_steps():
    """All of them, on two arms that pay 0 or 1: every count is exact, and so is the average."""
    model = eq.models.bandit(2)
    agent = eq.recommended(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    run = eq.simulate(model, agent, MANY, seed=1)
    assert run.steps == agent.t - 1 == MANY
    assert agent.visits.sum() == MANY
    assert agent.loop.arrays.memory.total.tolist() == agent.visits.tolist()
    assert run.outcomes[-1].tolist() == [float(Fraction(int(n), MANY)) for n in agent.visits]
