"""World: the law of a step, and where its randomness comes from.

Frequencies are compared with probabilities at fixed seeds: a count of n draws of probability p must lie
within z = 5 standard deviations sqrt(n p (1-p)) of n p. A right sampler fails such a comparison with
probability below 1e-6, and the seeds are fixed, so the tests either always pass or always fail.
"""

import numpy as np
import pytest

from equipoise import models
from equipoise.errors import ParameterError, ProtocolError
from equipoise.models import Model
from equipoise.models.world import draws_per_step, get_sampling, sample, stream

N = 20_000


def within(count, n, p, z=5.0):
    return abs(count - n * p) <= z * np.sqrt(n * p * (1 - p)) + 1e-9


def draw(model, pair, n, seed):
    """n independent steps from one pair: next states and outcomes."""
    rng = stream(model, seed)
    out = np.empty(model.n_outcomes)
    states, outcomes = np.empty(n, int), np.empty((n, model.n_outcomes))
    for i in range(n):
        states[i] = sample(rng, pair, get_sampling(model), out)
        outcomes[i] = out
    return states, outcomes


@pytest.mark.parametrize("n_states", [2, 15, 16, 17, 18, 40])  # few branches are scanned, many bisected
def test_frequencies(n_states):
    rng = np.random.default_rng(n_states)
    p = rng.dirichlet(np.ones(n_states))
    v = np.array([0.0, 0.3, 1.0])
    model = Model.from_arrays([[p]] * n_states, [[v]] * n_states)
    states, outcomes = draw(model, 0, N, seed=1)
    counts = np.bincount(states, minlength=n_states)
    assert all(within(count, N, chance) for count, chance in zip(counts, p, strict=True))
    assert set(np.unique(outcomes)) == {0.0, 1.0}
    assert all(within(count, N, mean) for count, mean in zip(outcomes.sum(axis=0), v, strict=True))
    assert within(((states == 0) & (outcomes[:, 1] == 1)).sum(), N, p[0] * v[1])  # independent


@pytest.mark.parametrize("size", [1, 3, 16, 17, 33, 100])
def test_the_branch_is_the_first_above_the_uniform(size):
    p = np.random.default_rng(size).dirichlet(np.ones(size))
    model = Model.from_arrays([[p]] * size, [[[0.5]]] * size, noise="none")
    states, outcomes = draw(model, 0, 2000, seed=2)
    uniforms = np.random.Generator(np.random.PCG64(np.random.SeedSequence(2))).random(2000)
    edges = np.cumsum(p)
    edges[-1] = 1.0
    assert np.array_equal(states, [np.flatnonzero(u < edges)[0] for u in uniforms])
    assert (outcomes == 0.5).all()


def test_branches_are_correlated():
    cases = [(0.3, 0, [1.0, 0.0]), (0.2, 1, [1.0, 0.0]), (0.5, 1, [0.25, 1.0])]
    model = Model.from_branches([[cases], [cases]])
    states, outcomes = draw(model, 0, N, seed=3)
    assert (outcomes[states == 0] == [1.0, 0.0]).all()
    second = outcomes[:, 1] == 1.0
    assert (states[second] == 1).all()
    assert (outcomes[second, 0] == 0.25).all()
    assert within(second.sum(), N, 0.5)
    assert within((states == 0).sum(), N, 0.3)
    noisy = Model.from_branches([[cases], [cases]], noise="bernoulli")
    states, outcomes = draw(noisy, 0, N, seed=4)
    assert (outcomes[states == 0] == [1.0, 0.0]).all()
    second = outcomes[:, 1] == 1.0
    assert within(outcomes[second, 0].sum(), second.sum(), 0.25)


@pytest.mark.parametrize("noise", ["bernoulli", "none"])
def test_a_stream_begins_at_any_step(noise):
    model = models.garnet(10, 2, 3, 4, noise=noise)
    assert draws_per_step(model) == (5 if noise == "bernoulli" else 1)
    world = model.world(seed=11)
    for t in range(1, 50):
        here, action = world.state, t % 2
        later = stream(model, 11, t)
        out = np.empty(4)
        expected = sample(later, model.pair(here, action), get_sampling(model), out)
        outcomes, state = world.step(action)
        assert state == expected
        assert outcomes.tolist() == out.tolist()
        assert world.t == t
        assert later.random() == stream(model, 11, t + 1).random()


def test_a_seed_decides_everything():
    model = models.riverswim(6)

    def path(seed):
        world = model.world(seed)
        return [world.step(1)[1] for _ in range(200)]

    assert path(5) == path(5) == path(np.random.SeedSequence(5))
    assert path(5) != path(6)


def test_outcomes_are_fresh_arrays():
    world = models.bandit(2).world(0)
    first, _ = world.step(0)
    world.step(1)
    assert first.tolist() == [1.0, 0.0]


def test_bad_actions_and_seeds_are_named():
    world = models.star(3, 4).world(0)
    for action in (3, -1, 0.5, None, "a"):
        with pytest.raises(ProtocolError, match=r'state 0 \("centre"\): got the action'):
            world.step(action)
    assert (world.state, world.t) == (0, 0)
    for seed in (-1, 0.5, None):
        with pytest.raises(ParameterError, match="seed"):
            models.ring(2).world(seed)
    with pytest.raises(ParameterError, match="t: got 0"):
        stream(models.ring(2), 0, 0)
