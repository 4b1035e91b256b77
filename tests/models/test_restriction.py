"""The part of a world that matters from its start: the same averages can be had, with fewer states."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipoise as eq
from equipoise.errors import ModelError
from equipoise.models import Labels, Model


def one_way(*successors, start=0, **others):
    """A world of deterministic actions: for each state, where each of them leads; outcome k is a visit to state k."""
    S = len(successors)
    branches = [[[(1.0, after, np.eye(S)[s])] for after in row] for s, row in enumerate(successors)]
    return Model.from_branches(branches, start=start, **others)


def best_average(model, weights):
    """The largest long-run average of a weighted outcome from the start, over all deterministic policies."""
    rows = [range(first, end) for first, end in itertools.pairwise(model.first_pair.tolist())]
    p, v = model.transitions().toarray(), model.means @ weights
    best = -np.inf
    for policy in itertools.product(*rows):
        chain = (np.eye(model.n_states) + p[list(policy)]) / 2  # the same averages, and it converges
        limit = np.linalg.matrix_power(chain, 2**16)
        best = max(best, (limit @ v[list(policy)])[model.start])
    return best


def test_states_that_no_policy_reaches_are_left_out():
    model = one_way([1], [0], [0, 2])
    part = model.restricted()
    assert part.n_states == 2
    assert part.is_communicating()
    assert part.n_actions == (1, 1)
    assert eq.solve(part, eq.rewards.Linear([1.0, 0.0, 0.0])).value == pytest.approx(0.5)


def test_states_that_are_only_passed_are_left_out():
    model = one_way([1, 2], [2], [3], [2])
    part = model.restricted()
    assert part.transitions().toarray().tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert part.start == 0
    assert part.means.tolist() == np.eye(4)[2:].tolist()


def test_the_start_is_the_first_state_that_is_met():
    assert one_way([3], [2], [3], [1]).restricted().start == 2


def test_a_state_where_one_may_stay_matters():
    model = one_way([0, 1], [1])
    assert model.restricted() is model
    with pytest.raises(ModelError, match=r"from state 1 no policy reaches state 0$"):
        model.require_communicating()


def test_a_choice_between_parts_that_are_never_left_matters():
    model = one_way([1, 2], [1], [2], [0])
    part = model.restricted()
    assert part.n_states == 3
    with pytest.raises(ModelError, match=r"from state 1 no policy reaches state 0, state 2$"):
        part.require_communicating()


def test_a_cycle_that_may_be_left_matters():
    assert one_way([1], [0, 2], [2]).restricted().n_states == 3


def test_a_chance_to_leave_at_every_step_is_no_place_to_stay():
    model = Model.from_arrays([[[0.9, 0.1]], [[0.0, 1.0]]], [[[1.0]], [[0.25]]])
    assert model.restricted().means.tolist() == [[0.25]]


def test_a_communicating_world_is_itself():
    model = eq.models.star(branches=3, diameter=4)
    assert model.restricted() is model


def test_labels_noise_and_what_is_known_stay():
    labels = Labels(["start", "never", "a", "b"], [["go"], ["x", "y"], ["to b", "to a"], ["to a"]], list("KLMN"))
    model = one_way([2], [0, 1], [3, 2], [2], labels=labels, known=[(2, 1)], noise="bernoulli")
    part = model.restricted()
    assert part.labels == Labels(["a", "b"], [["to b", "to a"], ["to a"]], list("KLMN"))
    assert part.known_mask.tolist() == [False, True, False]
    assert part.noise == "bernoulli"
    shared = one_way([1], [1], [0, 0, 0], labels=Labels(actions=["a", "b", "c"])).restricted()
    assert shared.labels.actions == ("a",)


def test_the_error_says_that_it_would_help():
    model = one_way([1], [0], [0])
    with pytest.raises(ModelError, match=r"reaches state 2; model\.restricted\(\) .* keeps 2 of 3 states"):
        eq.solve(model, eq.rewards.Linear([1.0, 0.0, 0.0]))


@st.composite
def worlds(draw):
    S = draw(st.integers(1, 4))
    rows = []
    for _ in range(S):
        actions = draw(st.integers(1, 2))
        rows.append([draw(st.sets(st.integers(0, S - 1), min_size=1, max_size=2)) for _ in range(actions)])
    branches = [
        [[(1 / len(after), s2, np.eye(4)[s]) for s2 in sorted(after)] for after in row] for s, row in enumerate(rows)
    ]
    return Model.from_branches(branches, start=draw(st.integers(0, S - 1)))


@given(worlds(), st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_the_best_average_from_the_start_is_the_same(model, weights):
    part = model.restricted()
    assert best_average(part, np.array(weights)) == pytest.approx(best_average(model, np.array(weights)), abs=1e-6)
    assert part.restricted() is part
