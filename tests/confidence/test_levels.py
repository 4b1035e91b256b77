"""Whether what is said to hold with probability 1 - delta does: at every n, bound by bound, rule by rule, run by run.

Streams are checked at every n at the level .3, which leaves a bound that is wrong much room to fail in. Were a bound
to fail exactly as often as it may, `most_misses` would be exceeded with probability 1e-6; the seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numba import njit

import equipoise as eq
from equipoise._runtime.compiler import call_for_two
from equipoise.confidence import L1, Adaptive, Elementwise, EmpiricalBernstein, Scaled
from equipoise.confidence import bernstein as bounds
from equipoise.theory import coverage
from tests.confidence.common import ANY, BINARY, most_misses
from tests.reference import regions as dense

LEVEL = 0.3
STREAMS, LENGTH = 1000, 3000
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def coin(p: float) -> Draw:
    return lambda rng, shape: (rng.random(shape) < p).astype(float)


LAWS: dict[str, tuple[float, float, Draw]] = {  # mean, variance, and a way to draw
    "rare": (1e-3, 1e-3 * (1 - 1e-3), coin(1e-3)),
    "seldom": (0.01, 0.01 * 0.99, coin(0.01)),
    "even": (0.5, 0.25, coin(0.5)),
    "frequent": (0.999, 0.999 * (1 - 0.999), coin(0.999)),
    "always .25": (0.25, 0.0, lambda rng, shape: np.full(shape, 0.25)),
    "always 0": (0.0, 0.0, lambda rng, shape: np.zeros(shape)),
    "always 1": (1.0, 0.0, lambda rng, shape: np.ones(shape)),
    "0 or .5": (0.25, 0.0625, lambda rng, shape: 0.5 * (rng.random(shape) < 0.5)),
    "rarely 1, else .5": (0.505, 0.25 * 0.01 * 0.99, lambda rng, shape: 0.5 + 0.5 * (rng.random(shape) < 0.01)),
    "uniform": (0.5, 1 / 12, lambda rng, shape: rng.random(shape)),
}
COINS = ("rare", "seldom", "even", "frequent", "always 0", "always 1")


def streams(name: str) -> tuple[float, float, np.ndarray]:
    mean, variance, draw = LAWS[name]
    return mean, variance, draw(np.random.default_rng(list(LAWS).index(name)), (STREAMS, LENGTH))


# --- each bound by itself ---


def failures(name: str) -> dict[str, np.ndarray]:
    """Which streams leave a bound at some n, each bound at the whole of the level."""
    mu, variance, x = streams(name)
    n = np.arange(1.0, LENGTH + 1)
    total, squares = np.cumsum(x, axis=1), np.cumsum(x**2, axis=1)
    off = total / n - mu
    radius = dense.bernstein_of_variance(n, variance, LEVEL)
    low, high = dense.ends(n, total, LEVEL)
    # with the distance |off| itself in the place of a bound on it, the second moment around the true mean is used
    deviation = dense.deviation_bound(n, dense.sample_variance(n, total, squares), np.abs(off), LEVEL)
    fails = {
        "Laplace": np.abs(off) > dense.laplace(n, LEVEL),
        "Bernstein above": off > radius + 1e-12,
        "Bernstein below": off < -radius - 1e-12,
        "variance": deviation < math.sqrt(variance) - 1e-12,
        "all ones": low > mu,
        "all zeros": high < mu,
        "likelihood": dense.log_evidence(n, total, mu) > math.log(1 / LEVEL),
    }
    return {bound: fail.any(axis=1) for bound, fail in fails.items()}


@pytest.mark.parametrize("name", LAWS)
def test_each_bound_keeps_its_level(name):
    for bound, failed in failures(name).items():
        assert failed.sum() <= most_misses(STREAMS, LEVEL), bound


def test_some_bounds_have_little_to_spare():
    """So that the test above is one: exact ends and the likelihood come near to their level for some law."""
    found = {name: failures(name) for name in ("rare", "even", "frequent")}
    most = {bound: max(int(by_law[bound].sum()) for by_law in found.values()) for bound in found["even"]}
    assert most["all zeros"] > 0.8 * LEVEL * STREAMS
    assert most["all ones"] > 0.8 * LEVEL * STREAMS
    assert most["likelihood"] > 0.25 * LEVEL * STREAMS
    assert most["Laplace"] > 0.2 * LEVEL * STREAMS


@pytest.mark.parametrize(
    "p", [[0.999, 0.001], [0.5, 0.5], [0.9] + [0.01] * 10, [0.05] * 20, [2.0**-i for i in range(1, 30)]]
)
def test_the_mass_never_seen(p):
    """At every n: what was not seen weighs no more than the bound; the parts of the level are shared over j seen."""
    law = np.array(p) / np.sum(p)
    rng = np.random.default_rng(5)
    runs, length = 4 * STREAMS, LENGTH
    missed = 0
    for _ in range(runs):
        drawn = rng.choice(law.size, p=law, size=length)
        new = np.sort(np.unique(drawn, return_index=True)[1])  # the times at which a state was new
        seen = np.arange(1, new.size + 1)
        unseen = 1 - np.cumsum(law[drawn[new]])
        # the bound falls until the next new state, so it is smallest just before it
        since = np.append(new[1:], length) - 1 - new
        missed += bool(np.any(unseen > dense.missing_mass(seen, since, LEVEL) + 1e-12))
    assert missed <= most_misses(runs, LEVEL)
    if law.size == 2 and law[0] > 0.9:
        assert missed > 0.4 * LEVEL * runs  # half of the level is for the first state seen


# --- the compiled bounds, one by one ---


@njit
def _compiled_failures(x, mean, level):
    """How many streams leave Laplace's interval, and the exact ones from zeros and from ones, at some n."""
    fails = np.zeros((3, x.shape[0]), dtype=np.bool_)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
            n = float(j + 1)
            lower, upper = bounds.exact_ends(n, total, level)
            fails[0, i] |= abs(total / n - mean) > bounds.laplace_radius(n, level)
            fails[1, i] |= upper < mean
            fails[2, i] |= lower > mean
    return fails.sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_compiled_laplace_and_ends_keep_their_levels(name):
    mean, _, x = streams(name)
    assert _compiled_failures(x, mean, LEVEL).max() <= most_misses(STREAMS, LEVEL)


@njit
def _compiled_spread_fails(x, begin, end, mean, level, factor):
    """How many streams leave Bernstein's interval, its radius times a factor, for an n from begin to end.

    The distance to be known is |sample's mean - mean| itself, so that nothing is left to other bounds.
    """
    missed = 0
    for i in range(x.shape[0]):
        total = 0.0
        squares = 0.0
        for j in range(end):
            total += x[i, j]
            squares += x[i, j] * x[i, j]
            n = float(j + 1)
            if n >= begin:
                off = abs(total / n - mean)
                if off > factor * bounds.bernstein_radius(n, total, squares, level, off) + 1e-12:
                    missed += 1
                    break
    return missed


@pytest.mark.parametrize("name", ["seldom", "even", "0 or .5", "rarely 1, else .5", "uniform", "always .25"])
def test_bernstein_within_one_epoch(name):
    """Over all n it has much to spare, as most of its level is for other epochs; so look at one, at a level of its own.

    In epoch j its three parts have the level d / ((j+1)(j+2)) each. Here d is (j+1)(j+2)/100, so they fail with .03
    together. Half of the radius fails more often than that.
    """
    mean, _, draw = LAWS[name]
    runs = 4 * STREAMS
    x = draw(np.random.default_rng(8), (runs, 1100))
    for about in (30, 300, 1000):
        epoch = math.floor(math.log(about) / math.log(1.1))
        begin, end = math.ceil(1.1**epoch), math.ceil(1.1 ** (epoch + 1)) - 1
        level = (epoch + 1) * (epoch + 2) / 100
        arguments = (x, begin, end, mean, level)
        assert _compiled_spread_fails(*arguments, 1.0) <= most_misses(runs, 0.03)
        if name == "even" and about > 30:  # below that the terms in 1/n are most of the radius
            assert _compiled_spread_fails(*arguments, 0.5) > most_misses(runs, 0.03)


def test_the_variance_within_one_epoch():
    """The same for the bound on the deviation, by a law that is seldom far from its mean."""
    mean, variance, draw = LAWS["seldom"]
    runs, epoch = 4 * STREAMS, 82
    begin, end = math.ceil(1.1**epoch), math.ceil(1.1 ** (epoch + 1)) - 1
    x = draw(np.random.default_rng(9), (runs, end))
    n = np.arange(1.0, end + 1)
    total = np.cumsum(x, axis=1)
    second = (total * (1 - 2 * mean) / n + mean**2)[:, begin - 1 :]  # of x - mean, as x is 0 or 1
    n = n[begin - 1 :]
    level = (epoch + 1) * (epoch + 2) / 100
    found = dense.deviation_bound(n, second, 0.0, level)
    assert (found < math.sqrt(variance)).any(axis=1).sum() <= most_misses(runs, 0.01)
    naive = np.sqrt(second) + (found - np.sqrt(second)) / 2  # half of what is added to the sample's deviation
    assert (naive < math.sqrt(variance)).any(axis=1).sum() > most_misses(runs, 0.01)


# --- whole rules, compiled ---


@njit
def _missed(address, delta, binary, x, mean, floats, factor):
    """How many streams leave their intervals, shrunk towards the mean by a factor, at some n."""
    missed = 0
    for i in range(x.shape[0]):
        total = 0.0
        squares = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
            squares += x[i, j] * x[i, j]
            n = float(j + 1)
            lower, upper = call_for_two(address, (np.int64(1), delta, 1.0, np.int64(binary), n, total, squares, floats))
            centre = total / n
            if centre + factor * (lower - centre) > mean or centre + factor * (upper - centre) < mean:
                missed += 1
                break
    return missed


def missed(rule: Elementwise, name: str, binary: int = ANY, factor: float = 1.0) -> int:
    """At delta = .99."""
    mean, _, x = streams(name)
    return int(_missed(rule.interval.address, 0.99, binary, x[:, : LENGTH // 2], mean, rule.floats, factor))


@pytest.mark.parametrize("name", LAWS)
def test_empirical_bernstein_on_streams(name):
    """delta / 2 is the level of one mean."""
    assert missed(EmpiricalBernstein(), name) <= most_misses(STREAMS, 0.99 / 2)


@pytest.mark.parametrize("name", LAWS)
def test_adaptive_on_streams(name):
    """delta / 4 is the level of one mean."""
    assert missed(Adaptive(), name) <= most_misses(STREAMS, 0.99 / 4)
    if name in COINS:
        assert missed(Adaptive(), name, BINARY) <= most_misses(STREAMS, 0.99 / 4)


def test_half_of_the_intervals_would_not_do():
    """The same checks are failed, for some law, if every bound is half as far from the estimate."""
    assert max(missed(EmpiricalBernstein(), name, factor=0.5) for name in COINS) > most_misses(STREAMS, 0.99 / 2)
    for binary in (ANY, BINARY):
        found = max(missed(Adaptive(), name, binary, 0.5) for name in COINS)
        assert found > most_misses(STREAMS, 0.99 / 4)


@pytest.mark.parametrize("form", ["jaksch", "laplace"])
@pytest.mark.parametrize("n_states", [2, 3, 6])
def test_balls_on_streams(form, n_states):
    """Both are dense here; that the compiled balls have these radii is tested with the regions."""
    rng = np.random.default_rng(n_states)
    n = np.arange(1.0, LENGTH + 1)
    for law in (np.full(n_states, 1 / n_states), rng.dirichlet(np.full(n_states, 0.3))):
        runs = STREAMS // 2
        distance = np.zeros((runs, LENGTH))
        drawn = rng.choice(n_states, p=law, size=(runs, LENGTH))
        for s in range(n_states):
            distance += np.abs(np.cumsum(drawn == s, axis=1) / n - law[s])
        if form == "jaksch":
            radius = np.sqrt(14 * n_states * np.log(2 * (n + 1) / LEVEL) / n)
        else:
            radius = 2 * dense.laplace(n, LEVEL / (2 ** (n_states - 1) - 1))
        assert (distance > radius).any(axis=1).sum() <= most_misses(runs, LEVEL)


# --- whole runs ---

STEPS, RUNS, DELTA = 1000, 1000, 0.1
RULES = {
    "empirical Bernstein": EmpiricalBernstein(),
    "adaptive": Adaptive(),
    "jaksch": L1(),
    "laplace": L1("laplace"),
}


def hard_worlds() -> dict[str, eq.Model]:
    """What is rare, what is certain, what is neither 0 nor 1, and what has many successors."""
    rare = [
        [[(0.999, 0, [0.2, 0.0]), (0.001, 1, [1.0, 1.0])], [(0.99, 0, [0.0, 0.5]), (0.01, 1, [1.0, 0.0])]],
        [[(0.999, 1, [0.7, 0.3]), (0.001, 0, [0.0, 0.0])], [(0.5, 0, [0.1, 0.0]), (0.5, 1, [0.0, 0.9])]],
    ]
    thirds = [
        [
            [(0.3, 0, [0.0, 1.0]), (0.3, 1, [0.3, 0.3]), (0.4, 0, [1.0, 0.0])],
            [(0.9, 0, [0.3, 0.5]), (0.1, 1, [1.0, 0.5])],
        ],
        [[(0.5, 0, [0.0, 0.3]), (0.5, 1, [1.0, 0.3])], [(0.05, 0, [1.0, 1.0]), (0.95, 0, [0.3, 0.0])]],
    ]
    certain = np.zeros((3, 2, 3))
    certain[[0, 1, 2], 0, [1, 2, 0]] = 1.0
    certain[[0, 1, 2], 1, [0, 1, 2]] = 1.0
    n_leaves = 60
    weights = np.array([2.0 ** -(i / 5) for i in range(n_leaves)])
    many = np.zeros((n_leaves + 1, 2, n_leaves + 1))
    many[0, 0, 1:], many[0, 1, 1:] = weights / weights.sum(), 1 / n_leaves
    many[1:, :, 0] = 1.0
    values = np.linspace(0, 1, 4 * (n_leaves + 1)).reshape(n_leaves + 1, 2, 2)
    return {
        "rare": eq.Model.from_branches(rare),
        "thirds": eq.Model.from_branches(thirds),
        "certain": eq.Model.from_arrays(certain, np.tile([[0.0, 0.25], [1.0, 0.1]], (3, 1, 1)), noise="none"),
        "many": eq.Model.from_arrays(many, values),
    }


def missed_runs(confidence: eq.confidence.Confidence, model: eq.Model, runs: int = RUNS) -> int:
    reward = eq.rewards.Quadratic([0.5, 0.5])
    missed = 0
    for seed in range(runs):
        agent = eq.TocUCRL2(model.space, reward, confidence=confidence, delta=DELTA)
        missed += not coverage(model, agent, STEPS, seed).held
    return missed


@pytest.mark.parametrize("name", RULES)
def test_the_level_is_kept_by_some_whole_runs(name):
    """Few runs may exceed their share by chance, and no more often than that."""
    missed = {world: missed_runs(RULES[name], model, RUNS // 20) for world, model in hard_worlds().items()}
    assert max(missed.values()) <= most_misses(RUNS // 20, DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_the_level_is_kept_by_whole_runs(name):
    """1000 runs in each world: the regions of every episode hold the truth, in all but 100 at most."""
    missed = {world: missed_runs(RULES[name], model) for world, model in hard_worlds().items()}
    assert max(missed.values()) <= DELTA * RUNS


@pytest.mark.slow
def test_a_tenth_of_the_regions_does_not_keep_it():
    runs = RUNS // 4
    missed = {world: missed_runs(Scaled(Adaptive(), 0.1), model, runs) for world, model in hard_worlds().items()}
    assert max(missed.values()) > most_misses(runs, DELTA)
    assert sum(missed.values()) > DELTA * len(missed) * runs


def failing(chances, level, visits):
    """The probability that the bound on the mass never seen in a log is too small at some number of visits, exactly.

    A log is what was seen up to some visit, which may depend on what was seen; the bound knows how many successors
    there were, and not when.
    """
    S = len(chances)
    at = {frozenset(): 1.0}  # the probability of each set of successors, as long as the bound has held
    failed = 0.0
    for n in range(1, visits + 1):
        after = dict.fromkeys(at, 0.0)
        for seen, mass in at.items():
            for s, chance in enumerate(chances):
                after[seen | {s}] = after.get(seen | {s}, 0.0) + mass * chance
        at = {}
        for seen, mass in after.items():
            j = len(seen)
            bound = 1 - (level / (S * j * (j + 1) * math.comb(S, j))) ** (1 / n) if j else 1.0
            if sum(chance for s, chance in enumerate(chances) if s not in seen) > bound + 1e-12:
                failed += mass
            else:
                at[seen] = mass
    return failed


@pytest.mark.parametrize("rare", [0.001, 0.01, 0.1, 0.4])
def test_the_mass_never_seen_in_a_log(rare):
    """The probability that it fails is at most the level that is left for it, a share 1/S."""
    for common in (1, 2):
        chances = [(1 - rare) / common] * common + [rare / (5 - common)] * (5 - common)
        assert failing(chances, 1.0, 400) <= 1 / 5
