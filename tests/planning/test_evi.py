"""The sparse planner against the dense one, its certificate, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise._runtime.compiler import kernel
from equipoise.confidence.nonzero import copy_arrays
from equipoise.confidence.region import Region
from equipoise.planning import extended_value_iteration
from equipoise.planning.evi import Workspace, workspace
from equipoise.planning.kernels import _inner_bound, inner_maximum, iterate, optimistic_rewards, rank_states, sweep
from tests.reference import planner as dense

EXACT = 1e-12


def random_region(rng: np.random.Generator, n_states: int, n_pairs: int) -> tuple[Region, np.ndarray, np.ndarray]:
    """A sparse region with a feasible point in every pair, and the same one dense."""
    lists, los, his, rests = [], [], [], []
    lo_dense, hi_dense = np.zeros((n_pairs, n_states)), np.zeros((n_pairs, n_states))
    for pair in range(n_pairs):
        listed = rng.permutation(n_states)[: rng.integers(0, n_states + 1)]
        point = rng.dirichlet(np.full(n_states, 0.3))
        unlisted = np.setdiff1d(np.arange(n_states), listed)
        slack = rng.choice([0.0, 0.05, 1.0])
        rest = min(1.0, (point[unlisted].max() if unlisted.size else 0.0) + slack * rng.random())
        lo = np.maximum(0.0, point[listed] - slack * rng.random(listed.size))
        hi = np.minimum(1.0, point[listed] + slack * rng.random(listed.size))
        hi_dense[pair] = rest
        lo_dense[pair, listed], hi_dense[pair, listed] = lo, hi
        lists.append(listed), los.append(lo), his.append(hi), rests.append(rest)
    region = Region(
        first=np.concatenate([[0], np.cumsum([len(x) for x in lists])]).astype(np.int64),
        successor=np.concatenate(lists).astype(np.int64),
        lo=np.concatenate(los),
        hi=np.concatenate(his),
        rest=np.array(rests),
        rest_sum=np.ones(n_pairs),
        radius=np.zeros(n_pairs),
        v_lo=np.zeros((n_pairs, 1)),
        v_hi=np.zeros((n_pairs, 1)),
    )
    return region, lo_dense, hi_dense


def ranked(u: np.ndarray) -> Workspace:
    work = workspace(u.size, 1)
    work.order[:] = np.arange(u.size)
    rank_states(u, work)
    return work


def best_value(region: Region, pair: int, u: np.ndarray) -> float:
    own = copy_arrays(region)
    return inner_maximum(pair, own, u, ranked(u))


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32), n_states=st.integers(1, 40), ties=st.booleans())
def test_inner_maximum_equals_the_dense_one(seed, n_states, ties):
    rng = np.random.default_rng(seed)
    region, lo, hi = random_region(rng, n_states, 3)
    u = rng.integers(0, 4, n_states).astype(float) if ties else rng.random(n_states) * 10
    for pair in range(3):
        found = best_value(region, pair, u)
        expected = dense.best_distribution(u, lo[pair], hi[pair]) @ u
        assert found == pytest.approx(expected, abs=EXACT * 10)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_inner_maximum_equals_its_dual(seed):
    rng = np.random.default_rng(seed)
    region, lo, hi = random_region(rng, 8, 1)
    u = rng.random(8)
    assert best_value(region, 0, u) == pytest.approx(dense.inner_maximum_by_duality(u, lo[0], hi[0]), abs=EXACT)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), share=st.floats(0, 1))
def test_inner_maximum_with_a_bound_on_all_that_is_not_listed(seed, share):
    """The bound lies between the least mass that the others must have and the most that they can have."""
    rng = np.random.default_rng(seed)
    region, lo, hi = random_region(rng, 8, 1)
    u = rng.normal(size=8)
    unlisted = np.setdiff1d(np.arange(8), region.successor)
    least = max(0.0, 1.0 - float(region.hi.sum()))
    bound = least + share * (min(1.0, float(hi[0, unlisted].sum())) - least)
    found = best_value(region._replace(rest_sum=np.array([bound])), 0, u)
    assert found == pytest.approx(dense.inner_maximum_by_duality(u, lo[0], hi[0], (unlisted, bound)), abs=EXACT)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), n_states=st.integers(1, 9), radius=st.floats(1e-6, 2), whole=st.booleans())
@example(seed=2**32, n_states=8, radius=1.0, whole=False)
def test_inner_maximum_over_a_ball(seed, n_states, radius, whole):
    """The centre is a distribution, or lacks no more to one than the radius."""
    rng = np.random.default_rng(seed)
    listed = rng.permutation(n_states)[: rng.integers(1, n_states + 1)]
    centre = np.zeros(n_states)
    mass = 1.0 if whole else max(0.0, 1.0 - radius * rng.random())
    centre[listed] = mass * rng.dirichlet(np.full(listed.size, 0.5))
    u = np.round(rng.normal(size=n_states), rng.integers(0, 4))
    region = Region(
        first=np.array([0, listed.size]), successor=listed.astype(np.int64), lo=centre[listed], hi=centre[listed],
        rest=np.zeros(1), rest_sum=np.zeros(1), radius=np.array([radius]), v_lo=np.zeros((1, 1)), v_hi=np.zeros((1, 1)),
    )  # fmt: skip
    assert best_value(region, 0, u) == pytest.approx(dense.maximum_over_ball_by_duality(u, centre, radius), abs=EXACT)


def test_over_the_ball_of_a_pair_never_visited_the_best_state_is_sure():
    region = Region(
        first=np.zeros(2, np.int64), successor=np.zeros(0, np.int64), lo=np.zeros(0), hi=np.zeros(0),
        rest=np.zeros(1), rest_sum=np.ones(1), radius=np.array([2.0]), v_lo=np.zeros((1, 1)), v_hi=np.zeros((1, 1)),
    )  # fmt: skip
    assert best_value(region, 0, np.array([0.5, 3.0, -1.0])) == 3.0


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), n_states=st.integers(1, 300))
def test_states_are_ranked(seed, n_states):
    rng = np.random.default_rng(seed)
    u = np.round(rng.random(n_states), rng.integers(0, 4))
    order, rank, prefix = ranked(u)[:3]
    assert sorted(order.tolist()) == list(range(n_states))
    assert np.all(np.diff(u[order]) <= 0)
    assert np.array_equal(order[rank], np.arange(n_states))
    np.testing.assert_allclose(prefix, np.concatenate([[0], np.cumsum(u[order])]), atol=EXACT * n_states)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_plans_equal_the_dense_ones_and_certify(seed):
    rng = np.random.default_rng(seed)
    n_actions = rng.integers(1, 4, size=rng.integers(1, 7))
    first_pair = np.concatenate([[0], np.cumsum(n_actions)])
    region, lo, hi = random_region(rng, n_actions.size, int(first_pair[-1]))
    # a little of every state, so that the plain iteration converges
    region = region._replace(rest=np.maximum(region.rest, 0.02), hi=np.minimum(1.0, region.hi + 0.02))
    for pair in range(first_pair[-1]):
        listed = region.successor[region.first[pair] : region.first[pair + 1]]
        hi[pair] = region.rest[pair]
        hi[pair, listed] = region.hi[region.first[pair] : region.first[pair + 1]]
    reward = rng.normal(size=first_pair[-1])
    epsilon = 10 ** -rng.uniform(1, 6)
    try:
        plan = extended_value_iteration(first_pair, region, reward, epsilon, limit=3000)
    except eq.errors.ConvergenceError:
        plan = extended_value_iteration(first_pair, region, reward, epsilon, relaxation=0.5)
    else:
        expected = dense.extended_value_iteration(reward, lo, hi, n_actions, epsilon)
        assert plan.policy.tolist() == expected.policy.tolist()
        assert plan.sweeps == expected.sweeps
        assert plan.gain == pytest.approx(expected.gain, abs=1e-10)
    # the certificate, checked with the dense inner maximum: gain + bias(s) >= r + max p.bias, tight within epsilon
    best = np.array([dense.best_distribution(plan.bias, lo[i], hi[i]) @ plan.bias for i in range(first_pair[-1])])
    backed_up = reward + best
    for s in range(n_actions.size):
        values = backed_up[first_pair[s] : first_pair[s + 1]]
        assert plan.gain + plan.bias[s] >= values.max() - 1e-10
        assert plan.gain + plan.bias[s] <= values[plan.policy[s]] + epsilon + 1e-10
    assert plan.span <= epsilon
    assert plan.bias.min() == 0.0


def singletons(model: eq.Model) -> Region:
    p = model.transition_probability
    zeros = np.zeros((model.n_pairs, 1))
    none = np.zeros(model.n_pairs)
    return Region(model.transition_first, model.transition_state, p, p, none, none, none, zeros, zeros)


@pytest.mark.parametrize("seed", range(4))
def test_gain_of_a_known_model_equals_a_linear_program(seed):
    model = eq.models.garnet(6, 3, 3, 1, seed=seed)
    reward = model.means[:, 0]
    plan = extended_value_iteration(model.first_pair, singletons(model), reward, 1e-10, relaxation=0.5)
    lp, _ = dense.optimum_by_lp(reward, model.transitions().toarray(), model.n_actions)
    assert plan.gain == pytest.approx(lp, abs=1e-8)


def test_a_periodic_model_needs_relaxation_and_the_error_says_the_span():
    model = eq.models.ring(4)
    reward = model.means[:, 0]
    with pytest.raises(eq.errors.ConvergenceError, match=r"span 1 after 500 sweeps.*relaxation below 1"):
        extended_value_iteration(model.first_pair, singletons(model), reward, 1e-6, limit=500)
    plan = extended_value_iteration(model.first_pair, singletons(model), reward, 1e-9, relaxation=0.5)
    assert plan.gain == pytest.approx(1 / 4, abs=1e-9)


def test_warm_start_keeps_the_certificate():
    model = eq.models.riverswim(12)
    reward = model.means[:, 0]
    cold = extended_value_iteration(model.first_pair, singletons(model), reward, 1e-8)
    warm = extended_value_iteration(model.first_pair, singletons(model), reward, 1e-8, bias=cold.bias)
    assert warm.sweeps < cold.sweeps
    assert abs(warm.gain - cold.gain) <= 1e-8


def test_from_elsewhere_a_bias_may_be_wider_by_the_tolerance_and_no_more():
    """Two states, to stay or to go (D = 1), rewards 0 and 1: from (0, 1 + P) the plan stops at once, D (1 + P) wide."""
    model = eq.Model.from_arrays([[[1.0, 0.0], [0.0, 1.0]]] * 2, [[[0.0]] * 2, [[1.0]] * 2])
    reward, region = np.array([0.0, 0.0, 1.0, 1.0]), singletons(model)
    cold = extended_value_iteration(model.first_pair, region, reward, 0.25)
    warm = extended_value_iteration(model.first_pair, region, reward, 0.25, bias=[0.0, 1.25])
    assert (np.ptp(cold.bias), cold.gain) == (1.0, 1.0)
    assert (np.ptp(warm.bias), warm.gain, warm.sweeps) == (1.25, 1.25, 1)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), n_states=st.integers(2, 6), tolerance=st.sampled_from([1e-6, 0.1, 1.0]))
def test_from_anywhere_the_span_is_at_most_the_diameter_times_what_a_step_may_lose(seed, n_states, tolerance):
    """span(bias) <= D (gain - min r) and gain <= max r + P: what the theory of warm starts rests on."""
    rng = np.random.default_rng(seed)
    model = eq.models.garnet(n_states, 2, n_states, seed=int(rng.integers(1000)))
    reward = rng.random(model.n_pairs)
    start = 20 * rng.random(n_states)
    plan = extended_value_iteration(model.first_pair, singletons(model), reward, tolerance, bias=start)
    assert np.ptp(plan.bias) <= model.diameter() * (plan.gain - reward.min()) + 1e-9
    assert plan.gain <= reward.max() + tolerance + 1e-9


def test_ties_go_to_the_lowest_action():
    model = eq.Model.from_arrays([[[1.0]] * 4], [[[0.5], [0.5 + 5e-13], [0.5], [0.6]]])
    region = singletons(model)
    plan = extended_value_iteration([0, 4], region, [0.5, 0.5 + 5e-13, 0.5, 0.5 + 5e-13], 1e-3)
    assert plan.policy.tolist() == [0]
    plan = extended_value_iteration([0, 4], region, [0.5, 0.5 + 3e-12, 0.5, 0.5], 1e-3)
    assert plan.policy.tolist() == [1]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_optimistic_reward_is_the_maximum_over_corners(seed):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=3)
    corners = np.sort(rng.random((2, 1, 3)), axis=0)
    out = np.zeros(1)
    optimistic_rewards(theta, corners[0], corners[1], out)
    every = [-theta @ np.where([b >> k & 1 for k in range(3)], corners[1, 0], corners[0, 0]) for b in range(8)]
    assert out[0] == pytest.approx(max(every), abs=EXACT)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": [1.0]}, "reward: got shape"),
        ({"reward": [np.nan, 0.0]}, r"reward\[0\]"),
        ({"tolerance": -1.0}, "tolerance: got -1.0"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"relaxation": 0.0}, "relaxation: got 0.0"),
    ],
)
def test_bad_input(change, message):
    model = eq.models.ring(2)
    arguments = {"reward": [1.0, 0.0], "tolerance": 0.1, "relaxation": 0.5} | change
    with pytest.raises(eq.EquipoiseError, match=message):
        extended_value_iteration(model.first_pair, singletons(model), **arguments)


@kernel
def whole_sweep(first_pair, region, reward, u, policy, work):
    """One in which nothing is known of any pair beforehand."""
    sweep(None, first_pair, region, reward, u, policy, work, np.inf)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_states=st.integers(2, 30),
    ties=st.booleans(),
    relaxation=st.sampled_from([1.0, 0.9, 0.5]),
)
def test_what_is_passed_over_changes_no_bit(seed, n_states, ties, relaxation):
    """A plan equals sweeps in which every pair is worked out, whatever its bound says."""
    rng = np.random.default_rng(seed)
    n_actions = rng.integers(1, 6, n_states)
    first_pair = np.concatenate([[0], np.cumsum(n_actions)]).astype(np.int64)
    region, _, _ = random_region(rng, n_states, int(first_pair[-1]))
    reward = rng.integers(0, 3, first_pair[-1]) / 2.0 if ties else rng.random(first_pair[-1])
    start = np.zeros(n_states) if rng.random() < 0.5 else rng.random(n_states) * 5
    start -= start.min()
    u, policy, work = start.copy(), np.zeros(n_states, np.int64), workspace(n_states, int(first_pair[-1]))
    work.order[:] = np.arange(n_states)
    own = copy_arrays(region)
    sweeps = int(rng.integers(2, 40))
    for count in range(sweeps):
        whole_sweep(first_pair, own, reward, u, policy, work)
        if count < sweeps - 1:
            u += relaxation * (work.u_next - u)
            u -= u.min()
    again = copy_arrays(region)
    v, chosen, buffers = start.copy(), rng.integers(0, n_actions), workspace(n_states, int(first_pair[-1]))
    iterate(None, first_pair, again, reward, -1.0, sweeps, relaxation, v, chosen, buffers, sweeps)
    assert np.array_equal(u, v)
    assert np.array_equal(policy, chosen)
    assert np.array_equal(work.u_next, buffers.u_next)
    assert buffers.certificate["gain"][0] == (work.u_next - u).max()


@kernel
def bound_on(pair, region, u, highest):
    return _inner_bound(pair, region, u, highest)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_states=st.integers(1, 12), lift=st.sampled_from([0.0, -0.5, -3.0]))
def test_what_passes_an_action_over_is_a_bound(seed, n_states, lift):
    """Also where what is not listed is bounded together, where u is negative, and where lower bounds exceed 1."""
    rng = np.random.default_rng(seed)
    region, *_ = random_region(rng, n_states, 1)
    region.rest_sum[0] = rng.choice([0.0, 0.1, 1.0]) * rng.random()
    region.lo[:] *= rng.choice([1.0, 1.3])
    region.hi[:] = np.maximum(region.lo, region.hi)
    u = rng.random(n_states) + lift
    assert best_value(region, 0, u) <= bound_on(0, region, u, max(0.0, u.max())) + EXACT


def test_the_bound_is_reached_where_one_state_takes_all_that_is_left():
    region = Region(
        first=np.array([0, 2]), successor=np.array([0, 1]), lo=np.array([0.2, 0.3]), hi=np.array([0.9, 0.9]),
        rest=np.array([0.1]), rest_sum=np.array([0.1]), radius=np.zeros(1),
        v_lo=np.zeros((1, 1)), v_hi=np.zeros((1, 1)),
    )  # fmt: skip
    u = np.array([0.5, 0.0, 1.0])
    assert bound_on(0, region, u, 1.0) == pytest.approx(0.2 * 0.5 + 0.1 * 1.0 + 0.4 * 0.5, abs=EXACT)
    assert best_value(region, 0, u) == pytest.approx(bound_on(0, region, u, 1.0), abs=EXACT)


@kernel
def sweep_from(first_pair, region, reward, u, policy, work):
    sweep(None, first_pair, region, reward, u, policy, work, 0.0)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    pay=st.sampled_from([0.0, 1e8]),
    scale=st.sampled_from([1.0, 1e-5]),
    lift=st.sampled_from([0.0, -2.0, -1e8]),
)
def test_a_sweep_that_passes_actions_over_is_one_that_looks_at_all(seed, pay, scale, lift):
    """To the last bit, and with the same ties, which are wide where rewards are large."""
    rng = np.random.default_rng(seed)
    n_states, n_actions = 40, 4
    first_pair = np.arange(0, n_states * n_actions + 1, n_actions)
    region, *_ = random_region(rng, n_states, n_states * n_actions)
    reward = pay + scale * rng.random(n_states * n_actions)
    u = scale * rng.random(n_states) + lift
    policy = rng.integers(0, n_actions, n_states)
    work = workspace(n_states, n_states * n_actions)
    work.order[:], work.ceiling[:] = np.arange(n_states), np.inf
    sweep_from(first_pair, Region._make(np.array(part) for part in region), reward, u, policy, work)
    values = np.array([reward[pair] + best_value(region, pair, u) for pair in range(reward.size)])
    assert (work.ceiling >= values - 1e-12 * max(1.0, pay, -lift)).all()
    assert (work.ceiling > values + 1e-9).any() or scale < 1.0 or pay > 0.0 or lift < 0.0  # some were passed over
    for s, of_state in enumerate(values.reshape(n_states, n_actions)):
        best, choice = -np.inf, 0
        for action, value in enumerate(of_state):
            if best == -np.inf or value > best + 1e-12 * max(1.0, abs(best)):
                best, choice = value, action
        assert (work.u_next[s], policy[s]) == (of_state.max(), choice)
