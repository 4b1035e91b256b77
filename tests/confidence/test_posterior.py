"""Draws from the posterior: the laws of the generator, the moments of the draws, and one seed, one trajectory."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

import equipoise as eq
from equipoise.confidence import Adaptive, PosteriorSampling
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import POOL, Counts
from equipoise.confidence.posterior_sampling import beta, gamma, normal, uniform
from equipoise.errors import ParameterError
from tests.simulation.test_simulation import state_of

DRAWS = 20_000
SMALL = 1e-5  # a p-value below that is no accident: there are some 50 of them here, of fixed seeds
MASK = 2**64 - 1

# --- the generator ---


@njit
def _uniforms(stream, out):
    for i in range(out.size):
        out[i] = uniform(stream)


@njit
def _normals(stream, out):
    for i in range(out.size):
        out[i] = normal(stream)


@njit
def _gammas(stream, shape, out):
    for i in range(out.size):
        out[i] = gamma(stream, shape)


@njit
def _betas(stream, a, b, out):
    for i in range(out.size):
        out[i] = beta(stream, a, b)


def drawn(draw, *arguments: float, seed: int = 0) -> np.ndarray:
    out = np.zeros(DRAWS)
    draw(PosteriorSampling(seed=seed).first_stream(), *arguments, out)
    return out


def test_the_generator_is_splitmix64():
    """The published first five numbers of the seed 1234567."""
    published = [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip
    out = np.zeros(5)
    _uniforms(np.array([1234567], dtype=np.uint64), out)
    assert out == pytest.approx([z / 2**64 for z in published], abs=2.0**-52)


def unmixed(z: int) -> int:
    """The state whose next number is z: the mixing of SplitMix64 backwards."""

    def unshifted(z: int, by: int) -> int:
        x = z
        for _ in range(64 // by + 1):
            x = z ^ (x >> by)
        return x

    z = unshifted(z, 31)
    z = unshifted(z * pow(0x94D049BB133111EB, -1, 2**64) & MASK, 27)
    z = unshifted(z * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK, 30)
    return (z - 0x9E3779B97F4A7C15) & MASK


@pytest.mark.parametrize("z", [0, MASK, 1 << 63, MASK - (1 << 11)])
def test_uniforms_are_never_at_an_end(z):
    out = np.zeros(1)
    _uniforms(np.array([unmixed(z)], dtype=np.uint64), out)
    assert out[0] == pytest.approx(z / 2**64, abs=2.0**-51)
    assert 0 < out[0] < 1


def test_uniform_and_normal_laws():
    x = drawn(_uniforms)
    assert stats.kstest(x, "uniform").pvalue > SMALL
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 5 / np.sqrt(DRAWS)
    z = drawn(_normals)
    assert stats.kstest(z, "norm").pvalue > SMALL
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 5 / np.sqrt(DRAWS)


@pytest.mark.parametrize("shape", [0.05, 0.3, 0.999, 1.0, 1.5, 7.0, 1e3, 1e9])
def test_gamma_law(shape):
    x = drawn(_gammas, shape)
    assert stats.kstest(x, stats.gamma(shape).cdf).pvalue > SMALL


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.1, 3.0), (0.02, 1.0), (5.5, 2.0), (1e6, 3.0)])
def test_beta_law(a, b):
    x = drawn(_betas, a, b)
    assert stats.kstest(x, stats.beta(a, b).cdf).pvalue > SMALL


def test_a_shape_of_zero():
    assert not drawn(_gammas, 0.0).any()
    assert np.all(drawn(_betas, 2.0, 0.0) == 1.0)


# --- the regions ---

SEEN = np.array([7, 2, 1])  # of six states, three were seen
TOTALS = np.array([3.5, 10.0, 0.0])


def many_alike(n_states: int = 6) -> tuple[eq.Space, Counts]:
    """A space of very many pairs, each with the same ten visits: one region is that many draws."""
    n_pairs = DRAWS
    space = eq.Space(n_actions=[DRAWS - n_states + 1] + [1] * (n_states - 1), n_outcomes=3, start=0)
    counts = Counts.zeros(n_pairs, 3)
    return space, counts._replace(
        visits=np.full(n_pairs, 4), fresh=np.full(n_pairs, 6), sums=np.tile(TOTALS, (n_pairs, 1)),
        block_first=3 * np.arange(n_pairs), block_used=np.full(n_pairs, 3),
        pool_state=np.tile([4, 0, 2], n_pairs), pool_count=np.tile(SEEN, n_pairs),
        pool=np.array([(3 * n_pairs, 3 * n_pairs, 3, 0)], dtype=POOL),
    )  # fmt: skip


def assert_drawn_from(x: np.ndarray, a: float, b: float) -> None:
    """Mean and variance of Beta(a, b) to within 5 standard errors, and its distribution function."""
    mean, variance, _, excess = stats.beta.stats(a, b, moments="mvsk")
    assert abs(x.mean() - mean) <= 5 * np.sqrt(variance / x.size)
    assert abs(x.var() - variance) <= 5 * variance * np.sqrt((excess + 2) / x.size)
    assert stats.kstest(x, stats.beta(a, b).cdf).pvalue > SMALL


@pytest.mark.parametrize("prior", [0.5, 3.0])
def test_a_single_draw(prior):
    space, counts = many_alike()
    region = build_region(PosteriorSampling(prior=prior, seed=1), space, counts, 11, 0.05)
    np.testing.assert_array_equal(region.lo, region.hi)
    np.testing.assert_array_equal(region.v_lo, region.v_hi)
    p = region.lo.reshape(-1, 3)
    np.testing.assert_allclose(p.sum(axis=1) + region.rest_sum, 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(region.rest * 3, region.rest_sum, rtol=1e-14)
    weights = np.append(SEEN + prior / 6, 3 * prior / 6)  # Dirichlet, the last for the three states never seen
    parts = np.column_stack([p, region.rest_sum])
    for i in range(4):
        assert_drawn_from(parts[:, i], weights[i], weights.sum() - weights[i])
    total = weights.sum()
    for i in range(4):
        for j in range(i):
            product = parts[:, i] * parts[:, j]
            expected = weights[i] * weights[j] / (total * (total + 1))
            assert abs(product.mean() - expected) <= 5 * product.std() / np.sqrt(DRAWS)
    for k in range(3):
        assert_drawn_from(region.v_lo[:, k], 1 + TOTALS[k], 1 + 10 - TOTALS[k])
    assert abs(np.corrcoef(region.v_lo[:, 0], p[:, 0])[0, 1]) < 5 / np.sqrt(DRAWS)


def test_all_states_seen():
    """No mass is left for others, to the last bit."""
    space, counts = many_alike(5)
    counts = counts._replace(
        block_first=5 * np.arange(DRAWS), block_used=np.full(DRAWS, 5), pool_state=np.tile(np.arange(5), DRAWS),
        pool_count=np.tile([4, 3, 1, 1, 1], DRAWS), pool=np.array([(5 * DRAWS, 5 * DRAWS, 5, 0)], dtype=POOL),
    )  # fmt: skip
    region = build_region(PosteriorSampling(seed=2), space, counts, 11, 0.05)
    assert not region.rest.any()
    assert not region.rest_sum.any()
    p = region.lo.reshape(-1, 5)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    for i, count in enumerate([4, 3, 1, 1, 1]):
        assert_drawn_from(p[:, i], count + 0.1, 10.5 - count - 0.1)


def test_a_pair_never_visited_leads_anywhere_alike():
    space = eq.Space(n_actions=[1] * 8, n_outcomes=1, start=0)
    region = build_region(PosteriorSampling(), space, Counts.zeros(8, 1), 1, 0.05)
    assert region.rest.tolist() == [1 / 8] * 8
    assert region.rest_sum.tolist() == [1.0] * 8


def test_the_box_around_three_draws():
    """Least and largest of three: F^3 and 1 - (1 - F)^3. The first of them is the single draw of the same seed."""
    space, counts = many_alike()
    one, three = (build_region(PosteriorSampling(samples=n, seed=4), space, counts, 11, 0.05) for n in (1, 3))
    assert np.all(three.v_lo[0] <= one.v_lo[0])
    assert np.all(one.v_hi[0] <= three.v_hi[0])
    assert np.all((three.lo[:3] <= one.lo[:3]) & (one.hi[:3] <= three.hi[:3]))
    assert one.rest_sum[0] <= three.rest_sum[0]
    outcome = stats.beta(1 + TOTALS[0], 1 + 10 - TOTALS[0]).cdf
    assert stats.kstest(three.v_hi[:, 0], lambda x: outcome(x) ** 3).pvalue > SMALL
    assert stats.kstest(three.v_lo[:, 0], lambda x: 1 - (1 - outcome(x)) ** 3).pvalue > SMALL
    first = stats.beta(SEEN[0] + 0.5 / 6, 10.5 - SEEN[0] - 0.5 / 6).cdf
    assert stats.kstest(three.hi[::3], lambda x: first(x) ** 3).pvalue > SMALL
    assert stats.kstest(three.lo[::3], lambda x: 1 - (1 - first(x)) ** 3).pvalue > SMALL
    left = stats.beta(0.25, 10.25).cdf
    assert stats.kstest(three.rest_sum, lambda x: left(x) ** 3).pvalue > SMALL


def test_known_outcomes_are_not_drawn():
    model = eq.Model.from_arrays([[[0.5, 0.5], [1, 0]], [[1, 0]]], [[[0.3], [0.4]], [[0.9]]], known=[(0, 1), (1, 0)])
    region = build_region(PosteriorSampling(samples=2), model.space, Counts.zeros(3, 1), 1, 0.05)
    assert region.v_lo[1:].ravel().tolist() == region.v_hi[1:].ravel().tolist() == [0.4, 0.9]
    assert region.v_lo[0, 0] < region.v_hi[0, 0]


# --- trajectories ---


def maker(model: eq.Model, seed: int = 0, samples: int = 1) -> eq.TocUCRL2:
    reward = eq.rewards.Quadratic([0.7, 0.5, 0.6])
    return eq.TocUCRL2(model.space, reward, confidence=PosteriorSampling(samples=samples, seed=seed), threshold=0.5)


@pytest.mark.parametrize("samples", [1, 3])
def test_one_seed_one_trajectory(tmp_path, samples):
    """In one go, in pieces, by hand, and through a file, between two steps and in the midst of one."""
    model = eq.models.garnet(5, 3, 3, 3, seed=1)
    whole, pieces, by_hand, kept = (maker(model, 3, samples) for _ in range(4))
    eq.simulate(model, whole, 2000, seed=9)
    for steps in (1, 2, 500, 497, 1000):
        eq.simulate(model, pieces, steps, seed=9)
    world = model.world(9)
    for _ in range(2000):
        by_hand.observe(*world.step(by_hand.act(world.state)))
    world = model.world(9)
    for t in range(2000):
        if t in (0, 1, 700):
            kept.save(tmp_path / "agent")
            kept = eq.TocUCRL2.load(tmp_path / "agent")
        action = kept.act(world.state)
        if t in (0, 3, 701):
            kept.save(tmp_path / "agent")
            kept = eq.TocUCRL2.load(tmp_path / "agent")
        kept.observe(*world.step(action))
    assert len(whole.episode_starts) > 50
    assert state_of(whole) == state_of(pieces) == state_of(by_hand) == state_of(kept)
    assert repr(kept.confidence) == repr(whole.confidence)


def test_another_seed_another_trajectory():
    model = eq.models.garnet(5, 3, 3, 3, seed=1)
    ends = set()
    for seed in (0, 1, 2, 2**200):
        agent = maker(model, seed)
        eq.simulate(model, agent, 500, seed=9)
        ends.add(tuple(state_of(agent)))
    assert len(ends) == 4


def test_every_episode_draws_anew():
    """The stream moves on with every plan, and only then."""
    model = eq.models.garnet(5, 3, 3, 3, seed=1)
    agent, world = maker(model), model.world(1)
    streams = []
    for _ in range(300):
        action = agent.act(world.state)
        streams.append(int(agent.loop.arrays.memory.stream[0]))
        agent.observe(*world.step(action))
    starts = agent.episode_starts.tolist()
    changed = [t + 1 for t in range(300) if t == 0 or streams[t] != streams[t - 1]]
    assert changed == starts
    assert len(set(streams)) == len(starts)


def test_the_world_goes_its_own_way():
    """With one action a state the outcomes are a function of the world's seed, whatever the agent draws."""
    model = eq.models.garnet(5, 1, 3, 3, seed=1)
    reward = eq.rewards.Quadratic([0.7, 0.5, 0.6])
    confidences = [PosteriorSampling(seed=0), PosteriorSampling(seed=5), PosteriorSampling(samples=7), Adaptive()]
    totals = []
    for confidence in confidences:
        agent = eq.TocUCRL2(model.space, reward, confidence=confidence, threshold=0.1)
        eq.simulate(model, agent, 500, seed=5)
        totals.append((agent.loop.arrays.memory.total.tobytes(), agent.visits.tobytes(), agent.state))
    assert len(set(totals)) == 1


def test_the_same_number_seeds_another_stream():
    """World and agent of the same seed: their uniform numbers have nothing to do with each other."""
    for seed in range(3):
        own = drawn(_uniforms, seed=seed)
        other = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed))).random(DRAWS)
        assert abs(np.corrcoef(own, other)[0, 1]) < 5 / np.sqrt(DRAWS)
        assert not np.isin(own.round(12), other.round(12)).any()


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"prior": 0.0}, "prior"), ({"prior": -1.0}, "prior"), ({"prior": np.inf}, "prior"),
        ({"prior": np.nan}, "prior"), ({"prior": "1"}, "prior"), ({"samples": 0}, "samples"),
        ({"samples": 1.5}, "samples"), ({"samples": 1001}, "samples"), ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"), ({"seed": None}, "seed"),
    ],
)  # fmt: skip
def test_bad_arguments(arguments, culprit):
    with pytest.raises(ParameterError, match=f"^{culprit}: "):
        PosteriorSampling(**arguments)


def test_it_says_that_nothing_is_proven():
    assert PosteriorSampling().caveat
    assert maker(eq.models.garnet(5, 3, 3, 3, seed=1)).caveat == PosteriorSampling.caveat
    assert not Adaptive().caveat


def test_a_plan_that_fails_draws_nothing():
    model = eq.models.riverswim(6)
    planner = eq.planning.Planner(limit=1)
    agent = eq.TocUCRL2(
        model.space, eq.rewards.Linear([1.0]), confidence=PosteriorSampling(seed=4), tolerance=1e-9, planner=planner
    )
    before = agent.loop.arrays.memory.stream.copy()
    with pytest.raises(eq.errors.ConvergenceError):
        agent.act(0)
    assert np.array_equal(agent.loop.arrays.memory.stream, before)
