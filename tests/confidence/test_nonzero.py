"""Outcomes that are nearly all zero: counted and bounded by what was seen, and otherwise as if in arrays."""

from __future__ import annotations

import contextlib
import copy
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise._files import read_saved, write_npz
from equipoise._runtime.compiler import kernel
from equipoise.agents.checkpoint import VERSION
from equipoise.confidence import Adaptive, Bernstein, EmpiricalBernstein
from equipoise.confidence.base import build_region, confidence_entry
from equipoise.confidence.counts import Counts, empty_counts
from equipoise.confidence.elementwise import Elementwise, interval_entry
from equipoise.confidence.nonzero import (
    OTHERS,
    NonzeroBounds,
    NonzeroSums,
    add_nonzero,
    check_sums,
    empty_sums,
    extend_pool,
    list_arrays,
    listed_places,
    outcomes_are_full,
)
from equipoise.errors import FileError, ModelError, ParameterError
from equipoise.planning.kernels import nonzero_rewards
from equipoise.planning.optimistic_model import sparse_outcomes

K = 12


@interval_entry
def _at_least_a_tenth(tau, delta, count, binary, n, total, squares, floats, bounds):
    bounds[0] = 0.1 + 0.5 * total / n
    bounds[1] = 0.4 + 0.5 * total / n


class AtLeastATenth(Elementwise):
    """A rule that bounds what was never seen away from zero."""

    guarantee = "none"
    interval = _at_least_a_tenth


RULES = [Bernstein(), EmpiricalBernstein(), Adaptive()]
REWARDS = [eq.rewards.Quadratic([0.15] * K), eq.rewards.BottomSum(K, 3), eq.rewards.TargetDistance([0.1] * K, 1)]


def world(noise: str = "bernoulli", few: int = 2) -> eq.Model:
    """Six states, three actions, and twelve outcomes of which a pair has a few."""
    base, rng = eq.models.garnet(6, 3, 4, n_outcomes=1, seed=2), np.random.default_rng(1)
    means = np.zeros((base.n_pairs, K))
    for pair in range(base.n_pairs):
        means[pair, rng.choice(K, few, replace=False)] = rng.uniform(0.2, 1.0, few)
    return eq.Model.from_sparse(base.first_pair, base.transitions(), means, noise=noise)


def spaces(model: eq.Model) -> tuple[eq.Space, eq.Space]:
    """The same space, whose agents keep arrays, and whose agents keep what was seen."""
    n_actions = model.space.n_actions
    return model.space, eq.Space(n_actions, model.n_outcomes, model.start, sparse_outcomes=True)


NOTHING = np.zeros(1000, dtype=np.bool_)  # is told


@kernel
def add(sums, pair, outcome):
    if outcomes_are_full(sums):
        return False
    add_nonzero(sums, NOTHING, pair, outcome)
    return True


def dense_sums(sums: NonzeroSums) -> tuple[np.ndarray, np.ndarray]:
    """As arrays of pairs by outcomes."""
    pair, place = listed_places(sums, np.arange(sums.block_first.size))
    totals, squares = (np.zeros((sums.block_first.size, int(sums.pool["outcomes"][0]))) for _ in range(2))
    totals[pair, sums.pool_outcome[place]] = sums.pool_sum[place]
    squares[pair, sums.pool_outcome[place]] = sums.pool_square[place]
    return totals, squares


def dense_bounds(sums: NonzeroSums, bounds: NonzeroBounds) -> tuple[np.ndarray, np.ndarray]:
    """As arrays of pairs by outcomes."""
    pair, place = listed_places(sums, np.arange(sums.block_first.size))
    shape = (sums.block_first.size, int(sums.pool["outcomes"][0]))
    low, high = (np.repeat(part[:, None], shape[1], axis=1) for part in (bounds.rest_lo, bounds.rest_hi))
    low[pair, sums.pool_outcome[place]] = bounds.lo[place]
    high[pair, sums.pool_outcome[place]] = bounds.hi[place]
    return low, high


# -- counting --------------------------------------------------------------------------------------------------------

ENTRY = st.one_of(st.just(0.0), st.just(0.0), st.just(1.0), st.floats(1e-3, 1.0))
STEPS = st.lists(st.tuples(st.integers(0, 2), st.lists(ENTRY, min_size=5, max_size=5)), max_size=40)


@settings(deadline=None)
@given(STEPS)
def test_sums_are_those_of_arrays(steps):
    sums = empty_sums(3, 5)
    totals, squares = np.zeros((3, 5)), np.zeros((3, 5))
    for pair, outcomes in steps:
        vector = np.array(outcomes)
        while not add(sums, pair, vector):
            sums = extend_pool(sums)
        totals[pair] += vector
        squares[pair] += vector * vector
    found = dense_sums(sums)
    assert np.array_equal(found[0], totals)  # to the last bit: to add zeros changes no sum
    assert np.array_equal(found[1], squares)
    assert int(sums.block_used.sum()) == np.count_nonzero(totals)


def test_a_pool_grows_with_what_is_seen_and_not_with_pairs_times_outcomes():
    sums = empty_sums(1000, 5000)
    rng = np.random.default_rng(3)
    for _ in range(4000):
        vector = np.zeros(5000)
        vector[rng.integers(5000, size=3)] = 1.0
        while not add(sums, rng.integers(1000), vector):
            sums = extend_pool(sums)
    seen = int(sums.block_used.sum())
    assert seen > 11_000
    assert sums.pool_outcome.size < 10 * seen  # blocks of twice the size, what they leave behind, and the next step


def test_a_step_in_which_everything_is_seen_has_room():
    sums = empty_sums(2, 64)
    for pair, _ in itertools.product(range(2), range(3)):
        while not add(sums, pair, np.ones(64)):
            sums = extend_pool(sums)
    assert np.array_equal(dense_sums(sums)[0], np.full((2, 64), 3.0))
    assert sums.block_capacity.tolist() == [64, 64]


# -- bounding --------------------------------------------------------------------------------------------------------


def counted(steps) -> tuple[Counts, Counts]:
    """The same observations, in arrays and by what was seen."""
    apart = Counts.zeros(3, 0, empty_sums(3, 5))
    arrays = Counts.zeros(3, 5)
    sums = apart.nonzero
    for pair, outcomes in steps:
        vector = np.array(outcomes)
        while not add(sums, pair, vector):
            sums = extend_pool(sums)
        arrays.sums[pair] += vector
        arrays.squares[pair] += vector * vector
        for counts in (apart, arrays):
            counts.visits[pair] += 1
    return arrays, apart._replace(nonzero=sums)


@settings(deadline=None, max_examples=60)
@given(STEPS, st.sampled_from([*RULES, AtLeastATenth()]), st.lists(st.floats(-2.0, 2.0), min_size=5, max_size=5))
def test_bounds_are_those_of_arrays_and_rewards_up_to_rounding(steps, rule, theta):
    space = eq.Space([2, 1], 5)
    theta = np.array(theta)
    arrays, apart = counted(steps)
    dense, listed = (build_region(rule, space, counts, 50, 0.05) for counts in (arrays, apart))
    low, high = dense_bounds(apart.nonzero, listed.nonzero)
    assert np.array_equal(low, dense.v_lo)
    assert np.array_equal(high, dense.v_hi)
    optimistic = np.where(theta < 0.0, dense.v_hi, dense.v_lo)
    reward = np.zeros(3)
    nonzero_rewards(theta, apart.nonzero, listed.nonzero, reward)
    rounding = 20 * np.finfo(float).eps * np.abs(theta).sum()  # of sums of five products, in two orders
    assert np.abs(reward - optimistic @ -theta).max() <= rounding
    rows = sparse_outcomes(apart.nonzero, listed.nonzero, theta, np.array([2, 0]))
    weights = np.array([0.3, 0.7])
    assert np.abs(rows @ -theta - optimistic[[2, 0]] @ -theta).max() <= rounding
    assert np.abs(weights @ rows - weights @ optimistic[[2, 0]]).max() <= 20 * np.finfo(float).eps


# -- agents ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", REWARDS, ids=repr)
@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("noise", ["bernoulli", "none"])
def test_an_agent_walks_the_same_way(noise, rule, reward):
    model = world(noise)
    agents = [eq.TocUCRL2(space, reward, confidence=rule) for space in spaces(model)]
    one, two = (eq.simulate(model, agent, 4000, seed=3) for agent in agents)
    assert [agent.loop.arrays.counts.nonzero is None for agent in agents] == [True, False]
    assert np.array_equal(one.outcomes, two.outcomes)
    assert np.array_equal(agents[0].visits, agents[1].visits)
    gains = [run.episodes["gain"].to_numpy() for run in (one, two)]
    assert np.abs(gains[0] - gains[1]).max() < 1e-12
    sums = dense_sums(agents[1].loop.arrays.counts.nonzero)
    assert np.array_equal(sums[0], agents[0].loop.arrays.counts.sums)
    assert np.array_equal(sums[1], agents[0].loop.arrays.counts.squares)


def test_by_hand_it_is_the_same_to_the_last_bit():
    model = world()
    space = spaces(model)[1]
    compiled, stepped = (eq.TocUCRL2(space, REWARDS[0], confidence=Adaptive()) for _ in range(2))
    eq.simulate(model, compiled, 1500, seed=5)
    place = model.world(seed=5)
    for _ in range(1500):
        stepped.observe(*place.step(stepped.act(place.state)))
    for one, two in zip(*(list_arrays(agent.loop.arrays.counts.nonzero) for agent in (compiled, stepped)), strict=True):
        assert np.array_equal(one, two)
    assert np.array_equal(compiled.policy, stepped.policy)
    assert compiled.gain == stepped.gain


def test_at_every_plan_the_bounds_are_those_that_are_filled_anew():
    model = world(few=6)
    agent = eq.TocUCRL2(spaces(model)[1], REWARDS[0], confidence=Adaptive())
    place, planned = model.world(seed=3), 0
    room = agent.loop.arrays.counts.nonzero.pool_outcome.size
    for _ in range(500):
        action = agent.act(place.state)
        if agent.episode_starts[-1] == agent.t:
            counts = agent.loop.arrays.counts
            anew = build_region(agent.confidence, agent.space, counts, agent.t, agent.loop.constants.delta)
            now = dense_bounds(counts.nonzero, agent.loop.arrays.region.nonzero)
            for one, two in zip(now, dense_bounds(counts.nonzero, anew.nonzero), strict=True):
                assert np.array_equal(one, two)
            planned += 1
        agent.observe(*place.step(action))
    assert planned > 20
    assert agent.loop.arrays.counts.nonzero.pool_outcome.size > room  # the pool grew on the way


def test_what_is_forgotten_at_a_restart_is_gone():
    model = world()
    doubling = eq.oracles.Doubling(eq.oracles.mirror_maps.SignedSimplex())
    agents = [
        eq.TocUCRL2(space, eq.rewards.BottomSum(K, 3), doubling, confidence=Adaptive()) for space in spaces(model)
    ]
    for agent in agents:
        eq.simulate(model, agent, 700, seed=2)
    assert agents[0].visits.sum() < 700
    assert np.array_equal(dense_sums(agents[1].loop.arrays.counts.nonzero)[0], agents[0].loop.arrays.counts.sums)


def test_certificates_and_logs_are_those_of_arrays():
    model = world()
    reward = eq.rewards.Quadratic([0.6] * K)
    certificates = []
    rule = eq.agents.baselines.StationaryAgent(model.space, reward)
    log = eq.simulate(model, rule, 3000, seed=1, trace=True).trace
    for space in spaces(model):
        agent = eq.TocUCRL2(space, reward, confidence=Adaptive())
        agent.absorb(log)
        eq.simulate(model, agent, 2000, seed=1)
        # No effort: in a search for a better theta, rounding may lead to other plans.
        certificates.append((agent.certificate(), eq.certify(space, reward, log, effort=0)))
    best = eq.solve(model, reward).value
    for one, two in zip(*certificates, strict=True):
        assert one.best_possible > best
        assert one.best_possible == pytest.approx(two.best_possible, abs=1e-9)
        assert one.slack["adds"].sum() == pytest.approx(two.slack["adds"].sum(), rel=1e-6)
        together = {name: part["adds"].sum() for (name,), part in one.slack.group_by("source")}
        named = {name: part["adds"].sum() for (name,), part in two.slack.group_by("source")}
        others = named.pop("outcomes never seen")
        assert others > 0.0
        assert sum(together.values()) == pytest.approx(sum(named.values()) + others, rel=1e-6)
        assert all(named[name] <= together[name] + 1e-9 for name in named)


def test_intervals_list_what_was_seen_and_the_others_in_one_row():
    model = world()
    rule = eq.agents.baselines.StationaryAgent(model.space, REWARDS[0])
    log = eq.simulate(model, rule, 500, seed=1, trace=True).trace
    dense, listed = (eq.confidence.intervals(space, log) for space in spaces(model))
    key = ["state", "action", "what"]
    seen = listed.filter(listed["what"] != OTHERS)
    both = seen.join(dense, on=key, how="inner", suffix="_dense")
    assert both.height == seen.height
    for name in ("estimate", "low", "high"):
        assert both[name].to_list() == pytest.approx(both[f"{name}_dense"].to_list(), nan_ok=True, abs=0)
    unseen = dense.join(seen, on=key, how="anti").join(
        listed.filter(listed["what"] == OTHERS), on=key[:2], suffix="_listed"
    )
    assert unseen["high"].to_list() == unseen["high_listed"].to_list()
    assert listed.filter(listed["what"] == OTHERS).height == model.n_pairs


# -- files -----------------------------------------------------------------------------------------------------------


def saved(tmp_path):
    model = world()
    agent = eq.TocUCRL2(spaces(model)[1], REWARDS[0], confidence=Adaptive())
    eq.simulate(model, agent, 800, seed=4)
    path = tmp_path / "agent.npz"
    agent.save(path)
    return model, agent, path


def test_it_goes_on_from_a_file_and_from_a_copy(tmp_path):
    model, agent, path = saved(tmp_path)
    others = [eq.TocUCRL2.load(path), copy.deepcopy(agent)]
    run = eq.simulate(model, agent, 800, seed=4)
    for other in others:
        assert other.space.sparse_outcomes
        again = eq.simulate(model, other, 800, seed=4)
        assert np.array_equal(run.outcomes, again.outcomes)
        assert np.array_equal(other.theta, agent.theta)
        assert other.gain == agent.gain


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("pool_outcome", lambda array: array.__setitem__(0, K)),
        ("pool_outcome", lambda array: array.__setitem__(slice(None), 3)),
        ("block_first", lambda array: array.__setitem__(0, -1)),
        ("block_first", lambda array: array.__setitem__(slice(None), 0)),
        ("block_used", lambda array: array.__iadd__(K)),
        ("block_capacity", lambda array: array.__imul__(2)),
        ("pool_sum", lambda array: array.__imul__(1e9)),
        ("pool_sum", lambda array: array.__imul__(np.nan)),
        ("pool_square", lambda array: array.__imul__(-1.0)),
        ("pool", lambda array: array.__setitem__(0, 10**6)),
        ("pool", lambda array: array.__setitem__(1, 2 * K)),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, name, damage):
    *_, path = saved(tmp_path)
    content = read_saved(path, {"agent": VERSION})
    arrays = {key: part.copy() for key, part in content.arrays.items()}
    damage(arrays[f"memory.outcomes.{name}"])
    write_npz(path, arrays, content.header, "agent", VERSION)
    with pytest.raises(FileError, match=r"'memory\.outcomes"):
        eq.TocUCRL2.load(path)


@pytest.mark.parametrize(("room", "apart"), [(3, True), (4, False)])
def test_blocks_that_share_a_place_are_refused(room, apart):
    """The second begins at place 3: the first may have three places, and one more outcome of it must not get there."""
    fresh, sums = empty_sums(2, 4), empty_sums(2, 4)
    sums.block_first[:], sums.block_used[:], sums.block_capacity[:] = [0, 3], [1, 1], [room, 1]
    sums.pool["used"] = 4
    sums.pool_outcome[[0, 3]], sums.pool_sum[[0, 3]], sums.pool_square[[0, 3]] = 1, 0.5, 0.25
    shared = contextlib.nullcontext() if apart else pytest.raises(FileError, match="share a place")
    with shared:
        check_sums(sums, fresh, np.zeros(2, dtype=np.bool_), np.array([1, 1]))


def test_a_file_without_its_sums_is_refused(tmp_path):
    *_, path = saved(tmp_path)
    content = read_saved(path, {"agent": VERSION})
    header = copy.deepcopy(dict(content.header))
    del header["memory"]["outcomes"]
    write_npz(path, content.arrays, header, "agent", VERSION)
    with pytest.raises(FileError, match="missing"):
        eq.TocUCRL2.load(path)


# -- where it is used ------------------------------------------------------------------------------------------------


def test_a_model_with_sparse_means_says_so_and_others_do_not(monkeypatch):
    assert not world().space.sparse_outcomes
    monkeypatch.setattr(eq.models.outcome_rows, "_LARGE", 0)
    monkeypatch.setattr(eq.models.outcome_rows, "_FEW", 2)
    sparse = world()
    assert sparse.space.sparse_outcomes
    assert sparse.space == eq.Space(sparse.n_actions, K)  # it is no part of what is known
    assert sparse.space.table.sparse_outcomes
    assert copy.deepcopy(sparse.space).sparse_outcomes
    agent = eq.recommended(sparse.space, REWARDS[0])
    assert agent.loop.arrays.counts.sums.shape == (sparse.n_pairs, 0)


def test_regions_that_are_no_rule_for_one_mean_keep_arrays():
    model = world()
    space = spaces(model)[1]
    for rule in (eq.confidence.L1(), eq.confidence.PosteriorSampling(seed=1), eq.confidence.Scaled(Adaptive(), 0.5)):
        agent = eq.TocUCRL2(space, REWARDS[0], confidence=rule)
        eq.simulate(model, agent, 300, seed=1)
        assert agent.loop.arrays.counts.nonzero is None


def test_what_cannot_be_is_refused():
    with pytest.raises(ModelError, match="sparse_outcomes: got 1"):
        eq.Space([1], 1, sparse_outcomes=1)
    model = world()
    agent = eq.TocUCRL2(spaces(model)[1], REWARDS[0])
    with pytest.raises(ParameterError, match="too many to look at one by one"):
        eq.theory.decompose(model, agent, 10, seed=1)


def test_a_hundred_million_means_take_no_memory_that_is_not_used():
    """Of 20,000 pairs by 5,000 outcomes, four arrays would take 3.2 GB."""
    space = eq.Space([2] * 10_000, 5_000, sparse_outcomes=True)
    agent = eq.TocUCRL2(space, eq.rewards.Quadratic(np.full(5_000, 0.1)), confidence=Adaptive())
    sizes = [
        part.nbytes for part in (*list_arrays(agent.loop.arrays.counts), *list_arrays(agent.loop.arrays.counts.nonzero))
    ]
    sizes += [
        part.nbytes for part in (*list_arrays(agent.loop.arrays.region), *list_arrays(agent.loop.arrays.region.nonzero))
    ]
    assert sum(sizes) < 20e6
    outcomes = np.zeros(5_000)
    outcomes[[7, 4_000]] = 1.0
    for t in range(5):
        agent.act(t)
        agent.observe(outcomes, t + 1)
    assert agent.loop.arrays.counts.nonzero.block_used.sum() == 10


def test_a_log_that_fills_the_pool_leaves_room_for_its_bounds():
    """And the pool of successors, which it does not fill, stays as it is."""
    model = world(few=8)
    rule = eq.agents.baselines.StationaryAgent(model.space, REWARDS[0])
    log = eq.simulate(model, rule, 2000, seed=1, trace=True).trace
    agents = [eq.TocUCRL2(space, REWARDS[0], confidence=Adaptive()) for space in spaces(model)]
    room = agents[1].loop.arrays.counts.nonzero.pool_outcome.size
    for agent in agents:
        agent.absorb(log)
    counts, region = agents[1].loop.arrays.counts, agents[1].loop.arrays.region
    assert counts.nonzero.pool_outcome.size > 2 * room
    assert region.nonzero.lo.size == region.nonzero.hi.size == counts.nonzero.pool_outcome.size
    assert counts.pool_state.size == agents[0].loop.arrays.counts.pool_state.size
    for agent in agents:
        eq.simulate(model, agent, 500, seed=2)
    assert agents[0].gain == pytest.approx(agents[1].gain, abs=1e-12)
    assert np.array_equal(agents[0].visits, agents[1].visits)


def test_pairs_whose_means_are_told_need_no_array():
    """Three of eighteen are told: the same steps, bounds and certificates, and nothing of these pairs is counted."""
    base = world("none")
    told = [0, 7, 16]
    known = {(pair // 3, pair % 3): base.means[pair] for pair in told}
    n_actions = base.space.n_actions
    dense, listed = (eq.Space(n_actions, K, base.start, known, sparse_outcomes=sparse) for sparse in (False, True))
    model = eq.Model.from_sparse(base.first_pair, base.transitions(), base.means, noise="none", known=list(known))
    assert dense == listed == model.space
    agents = [eq.TocUCRL2(space, REWARDS[0], confidence=Adaptive()) for space in (dense, listed)]
    runs = [eq.simulate(model, agent, 3000, seed=3) for agent in agents]
    assert np.array_equal(runs[0].outcomes, runs[1].outcomes)
    assert agents[0].gain == pytest.approx(agents[1].gain, abs=1e-12)
    counts = agents[1].loop.arrays.counts
    assert counts.sums.shape == (18, 0)
    low, high = dense_bounds(counts.nonzero, agents[1].loop.arrays.region.nonzero)
    assert np.array_equal(low[told], base.means[told])
    assert np.array_equal(high[told], base.means[told])
    one, two = (agent.certificate(effort=2) for agent in agents)
    assert one.best_possible == pytest.approx(two.best_possible, abs=1e-9)
    assert one.slack["adds"].sum() == pytest.approx(two.slack["adds"].sum(), rel=1e-6)
    tables = [eq.confidence.intervals(space, traced(model)) for space in (dense, listed)]
    named = [table.filter(table["what"] == "outcome_3").sort("state", "action") for table in tables]
    both = named[1].join(named[0], on=["state", "action"], suffix="_dense")
    assert both.height == named[1].height > 0
    assert both["low"].to_list() == both["low_dense"].to_list()


def traced(model: eq.Model):
    rule = eq.agents.baselines.StationaryAgent(model.space, REWARDS[0])
    return eq.simulate(model, rule, 500, seed=1, trace=True).trace


def test_what_was_told_is_kept_in_files_and_looked_at(tmp_path):
    base = world("none")
    space = eq.Space(base.space.n_actions, K, base.start, {(0, 0): base.means[0]}, sparse_outcomes=True)
    agent = eq.TocUCRL2(space, REWARDS[0], confidence=Adaptive())
    place = base.world(seed=1)
    for _ in range(300):
        agent.observe(*place.step(agent.act(place.state)))
    path = tmp_path / "agent.npz"
    agent.save(path)
    assert eq.TocUCRL2.load(path).certificate().best_possible == agent.certificate().best_possible
    content = read_saved(path, {"agent": VERSION})
    arrays = {key: part.copy() for key, part in content.arrays.items()}
    arrays["memory.outcomes.pool_sum"][0] *= 0.5  # a mean that was told
    write_npz(path, arrays, content.header, "agent", VERSION)
    with pytest.raises(FileError, match=r"'memory\.outcomes\.pool_sum' changes outcomes that are told"):
        eq.TocUCRL2.load(path)


class Vacuous(AtLeastATenth):
    """Its rule, but regions that it fills itself: they say nothing."""

    kernel = confidence_entry(
        lambda frame: None,  # never called: it is only looked at
    )


def test_a_subclass_that_fills_its_regions_itself_keeps_arrays():
    assert AtLeastATenth().is_its_rule
    assert not Vacuous().is_its_rule
    space = eq.Space([2, 1], 5, sparse_outcomes=True)
    assert empty_counts(space, Vacuous()).nonzero is None
    assert empty_counts(space, AtLeastATenth()).nonzero is not None


def test_an_array_that_would_be_too_large_is_refused_with_what_does_without(monkeypatch):
    monkeypatch.setattr(eq.models.outcome_rows, "_LARGE", 0)
    monkeypatch.setattr(eq.models.outcome_rows, "_MOST", 1000)
    space = eq.Space([2] * 20, 50, sparse_outcomes=True)
    with pytest.raises(ParameterError, match=r"L1.*too large here.*Adaptive\(\).*sparse_outcomes=True"):
        eq.TocUCRL2(space, eq.rewards.Quadratic([0.1] * 50), confidence=eq.confidence.L1())
    eq.TocUCRL2(space, eq.rewards.Quadratic([0.1] * 50), confidence=Adaptive()).act(0)
