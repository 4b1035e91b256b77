"""Communication, hitting times and the diameter, against closed forms and a dense value iteration."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from equipoise import models
from equipoise.errors import ModelError
from equipoise.models import Model, communication, diameter, diameter_bounds, hitting_times, travel_times, unreachable


def dense_times(model, target):
    """Plain value iteration from zero, until nothing moves; `StillMovingError` if that takes too long."""
    p = model.transitions().toarray()
    p[:, target] = 0.0
    h = np.zeros(model.n_states)
    for _ in range(10**5):
        q = 1.0 + p @ h
        new = np.array([q[model.first_pair[s] : model.first_pair[s + 1]].min() for s in range(model.n_states)])
        if np.abs(new - h).max() <= 1e-14 * new.max():
            return new
        h = new
    raise StillMovingError


class StillMovingError(Exception):
    """The world is too hard for plain value iteration."""


def dense_diameter(model):
    return max(dense_times(model, target).max() for target in range(model.n_states))


@pytest.mark.parametrize("length", [1, 2, 3, 50])
def test_ring(length):
    ring = models.ring(length)
    assert diameter(ring) == length  # the return to a state counts
    assert hitting_times(ring, 0).tolist() == [length, *range(length - 1, 0, -1)]


@pytest.mark.parametrize(("branches", "D"), [(2, 2), (2, 4), (3, 2), (3, 4), (5, 6), (4, 20), (10, 12)])
def test_star(branches, D):
    assert models.star(branches, D).diameter() == D


@pytest.mark.parametrize("q", [0.5, 0.1, 1e-3, 1e-7])
def test_a_geometric_wait(q):
    """Leaving state 0 takes 1/q steps on average; from 1 one comes back at once, so the return to 1 takes 1 + 1/q."""
    model = Model.from_arrays([[[1 - q, q]], [[1, 0]]], [[[0]], [[0]]])
    assert model.diameter() == pytest.approx(1 + 1 / q, rel=1e-9)
    assert hitting_times(model, 1).tolist() == pytest.approx([1 / q, 1 + 1 / q], rel=1e-9)


def test_the_better_action_is_found():
    """A long sure way of n steps, or at every step a gamble that reaches the target or leads back to the start."""
    n, q = 30, 0.25
    states = [[[(1.0, s + 1, [0])], [(q, n, [0]), (1 - q, 0, [0])]] for s in range(n)]
    model = Model.from_branches([*states, [[(1.0, 0, [0])]]])
    h = hitting_times(model, n)
    expected = [min(n - s, 1 / q) for s in range(n)]  # near the end walking is faster than gambling
    assert h[:n].tolist() == pytest.approx(expected, rel=1e-12)


def test_riverswim_by_dense_iteration():
    river = models.riverswim(6)
    assert river.diameter() == pytest.approx(dense_diameter(river), rel=1e-9)


def test_riverswim_in_closed_form():
    """The way up dominates: with m_s the mean time from s to s + 1, m_0 = 1/.6, m_s = (1 + .05 m_{s-1}) / .35.

    To come back to the right end from itself one goes left for a moment: shorter than from the left end
    for n = 6, so the diameter is the sum of the m_s.
    """
    step, total = 1 / 0.6, 1 / 0.6
    for _ in range(1, 5):
        step = (1 + 0.05 * step) / 0.35
        total += step
    assert models.riverswim(6).diameter() == pytest.approx(total, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6))
def test_random_worlds_by_dense_iteration(S, A, m, seed):
    model = models.garnet(S, A, min(m, S), 1, seed=seed)
    try:
        times = [dense_times(model, target) for target in range(S)]
    except StillMovingError:
        reject()
    for target in range(S):
        assert hitting_times(model, target) == pytest.approx(times[target], rel=1e-8)
    assert diameter(model) == pytest.approx(max(h.max() for h in times), rel=1e-8)


def test_a_hard_river_is_exact():
    """Against the current for n states, where sweeps alone would take forever: policy iteration must take over."""
    n, up, down = 40, 0.3, 0.4
    p = np.zeros((n, 1, n))
    for s in range(n):
        p[s, 0, min(s + 1, n - 1)] += up
        p[s, 0, max(s - 1, 0)] += down
        p[s, 0, s] += 1 - up - down
    step, total = 1 / up, 1 / up
    for _ in range(1, n - 1):
        step = (1 + down * step) / up
        total += step
    model = Model.from_arrays(p, np.zeros((n, 1, 1)))
    assert hitting_times(model, n - 1)[0] == pytest.approx(total, rel=1e-9)
    assert model.diameter() == pytest.approx(total, rel=1e-9)


def test_a_start_that_misses_the_target_is_repaired():
    """Greedy for u = 0 every tie goes to action 0, which at the ends of a star is the loop: nobody arrives."""
    model = models.star(3, 6)
    target = 9  # the end of the last branch
    search = travel_times._Search(model)
    search.begin(target)
    h = travel_times._policy_iteration(model, target, np.zeros(model.n_states), search)
    assert h.tolist() == dense_times(model, target).tolist()


def test_the_fixed_point_holds_in_a_larger_world():
    model = models.garnet(300, 3, 4, 1, seed=5)
    h = hitting_times(model, 7)
    rest = h.copy()
    rest[7] = 0.0
    q = 1.0 + model.transitions() @ rest
    assert np.minimum.reduceat(q, model.first_pair[:-1]) == pytest.approx(h, rel=1e-11)


def test_who_cannot_reach_whom():
    # 0 <-> 1, 2 -> 0, 3 -> 2: from 0 and 1 neither 2 nor 3 can be reached.
    p = np.zeros((4, 1, 4))
    p[[0, 1, 2, 3], 0, [1, 0, 0, 2]] = 1.0
    v = np.zeros((4, 1, 1))
    assert unreachable(Model.from_arrays(p, v)) == (0, [2, 3])
    assert unreachable(Model.from_arrays(p, v, start=2)) == (2, [3])
    assert unreachable(Model.from_arrays(p, v, start=3)) == (0, [2, 3])
    assert unreachable(models.ring(4)) is None
    model = Model.from_arrays(p, v)
    assert not model.is_communicating()
    for call in (model.require_communicating, model.diameter, lambda: hitting_times(model, 0)):
        with pytest.raises(ModelError, match="from state 0 no policy reaches state 2, state 3"):
            call()


def test_two_actions_with_the_same_successor():
    """Two actions along one arc: a graph with an arc listed twice once sent scipy into an endless loop."""
    model = Model.from_branches([[[(1.0, 1, [0])], [(1.0, 1, [1])]], [[(1.0, 0, [0])], [(1.0, 0, [1])]]])
    assert model.is_communicating()
    assert model.diameter() == 2.0


def test_progress_goes_to_stderr(capsys):
    assert diameter(models.ring(3), progress=True) == 3.0
    assert capsys.readouterr().out == ""


def test_target_is_checked():
    with pytest.raises(ModelError, match="target: got 3"):
        hitting_times(models.ring(3), 3)


@pytest.mark.parametrize("seed", range(12))
def test_components_are_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    sizes = rng.integers(0, 4, n)
    first = np.concatenate([[0], np.cumsum(sizes)])
    successor = rng.integers(0, n, first[-1])
    count, label = communication.components(first[:-1], first[1:], successor)
    graph = csr_array((np.ones(successor.size), successor, first), shape=(n, n), copy=True)
    graph.sum_duplicates()
    expected, theirs = connected_components(graph, connection="strong")
    assert count == expected
    assert len(set(zip(label.tolist(), theirs.tolist(), strict=True))) == expected  # the same parts, otherwise numbered
    source = np.repeat(np.arange(n), sizes)
    assert (label[source] >= label[successor]).all()  # arcs lead to lower labels


@pytest.mark.parametrize(
    "model",
    [
        models.ring(9), models.riverswim(30), models.star(3, 10), models.grid(6, 6),
        models.garnet(60, 3, 4, 1, seed=2), models.garnet(40, 2, 1, 1, seed=3),
    ],
    ids=["ring", "riverswim", "star", "grid", "garnet", "deterministic"],
)  # fmt: skip
@pytest.mark.parametrize("targets", [1, 4])
def test_bounds_on_the_diameter_hold_it(model: Model, targets: int) -> None:
    lower, upper = diameter_bounds(model, targets)
    assert 1.0 <= lower <= model.diameter() * (1.0 + 1e-9)
    assert model.diameter() * (1.0 - 1e-9) <= upper < math.inf
    if model.max_successors == 1:
        assert upper <= 2.0 * model.diameter() * (1.0 + 1e-9)


def test_the_diameter_of_what_is_too_large_is_refused_with_a_way_out() -> None:
    model = models.garnet(200, 2, 3, 1, seed=5)
    with pytest.raises(ModelError, match=r"200 states with 1200 transitions .*diameter_bounds"):
        model.diameter(limit=1000.0)
    assert model.diameter(limit=math.inf) == model.diameter()


def test_a_large_model_is_checked_at_once() -> None:
    model = models.garnet(30_000, 2, 3, 1, seed=0)
    began = time.process_time()
    assert model.is_communicating()
    assert time.process_time() - began < 2.0
    assert model.transition_state is model.branch_next  # nothing is kept twice
    cut = Model.from_sparse(
        np.arange(4), csr_array(([1.0, 1.0, 1.0], ([0, 1, 2], [1, 0, 0])), shape=(3, 3)), np.zeros((3, 1))
    )
    with pytest.raises(ModelError, match="from state 0 no policy reaches state 2"):
        cut.require_communicating()
