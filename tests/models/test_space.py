"""Space: numbering, what is told in advance, and bad input."""

import copy
import pickle
import re

import numpy as np
import pytest

from equipoise import mechanics, models
from equipoise.errors import ModelError
from equipoise.models import Space


def test_pairs_are_numbered_state_by_state():
    space = Space([2, 3, 1], n_outcomes=2, start=1)
    numbers = [space.pair(s, a) for s, count in enumerate([2, 3, 1]) for a in range(count)]
    assert numbers == list(range(6))
    assert space.state_of.tolist() == [0, 0, 1, 1, 1, 2]
    assert (space.n_states, space.n_pairs, space.n_outcomes, space.start) == (3, 6, 2, 1)
    assert space.n_actions == (2, 3, 1)


def test_equality_is_by_value():
    assert Space([2, 1], 2, known={(0, 1): [0.5, 1]}) == Space(np.array([2, 1]), 2, known={(0, 1): (0.5, 1.0)})
    base = Space([2, 1], 2)
    others = [Space([1, 2], 2), Space([2, 1], 3), Space([2, 1], 2, start=1), Space([2, 1], 2, known={(0, 0): [0, 0]})]
    assert all(base != other for other in others)
    assert base != "space"


@pytest.mark.parametrize("rebuild", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_equal_and_read_only(rebuild):
    space = rebuild(Space([2, 1], 2, known={(0, 1): [0.5, 1]}))
    assert space == Space([2, 1], 2, known={(0, 1): [0.5, 1]})
    for name in ("first_pair", "state_of", "known_mask", "known_outcomes"):
        assert not getattr(space, name).flags.writeable
    with pytest.raises(AttributeError, match="start"):
        space.start = 1


def test_model_and_hand_made_space_agree():
    assert models.star(3, 4).space == Space([3] + [2] * 6, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_actions": [], "n_outcomes": 1}, "at least one state"),
        ({"n_actions": 3, "n_outcomes": 1}, "n_actions: got 3"),
        ({"n_actions": [1, 0], "n_outcomes": 1}, "n_actions, state 1: got 0"),
        ({"n_actions": [1, 1.5], "n_outcomes": 1}, "n_actions, state 1: got 1.5; a whole number"),
        ({"n_actions": [1], "n_outcomes": 0}, "n_outcomes: got 0"),
        ({"n_actions": [1], "n_outcomes": 1, "start": 1}, "start: got 1"),
        ({"n_actions": [1], "n_outcomes": 1, "start": True}, "start: got True"),
        ({"n_actions": [1], "n_outcomes": 1, "known": [(0, 0)]}, "known: .* a mapping"),
        ({"n_actions": [1], "n_outcomes": 1, "known": {0: [1]}}, r"known: got 0; a pair"),
        ({"n_actions": [1], "n_outcomes": 1, "known": {(1, 0): [1]}}, "known, state: got 1"),
        ({"n_actions": [1], "n_outcomes": 1, "known": {(0, 2): [1]}}, "known, state 0, action: got 2"),
        ({"n_actions": [1], "n_outcomes": 2, "known": {(0, 0): [1]}}, "known, state 0, action 0: got 1 entries; 2"),
        ({"n_actions": [1], "n_outcomes": 2, "known": {(0, 0): [1, 1.5]}}, "outcome 1: got 1.5"),
        ({"n_actions": [1], "n_outcomes": 1, "known": {(0, 0): [np.nan]}}, "outcome 0: got nan"),
        ({"n_actions": [1], "n_outcomes": 1, "known": {(0, 0): ["x"]}}, "a vector of numbers"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ModelError, match=message):
        Space(**arguments)


@pytest.mark.parametrize(
    ("pair", "message"), [((3, 0), "state: got 3"), ((-1, 0), "got -1"), ((1, 3), "state 1, action: got 3")]
)
def test_pair_checks_its_range(pair, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        Space([2, 3, 1], 1).pair(*pair)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("first_pair", np.array([0, 1]), "known_mask: 1 truth values are needed"),
        ("first_pair", np.array([1, 2, 3]), "int64 numbers are needed that begin at 0"),
        ("first_pair", np.array([0, 2, 2]), "state 1: it has no actions"),
        ("first_pair", np.array([0, 2**62, -(2**62)]), "state 1: it has no actions"),
        ("start", 2, "start"),
        ("known_mask", np.zeros(4, np.bool_), "known_mask: 3 truth values are needed"),
        ("known_rows", np.zeros((2, 1)), "known_rows: 3 rows of numbers are needed"),
        ("laws", "other", "laws: they are those of another space"),
    ],
)
def test_a_space_of_arrays_is_checked(name, value, message):
    known = {"known_mask": np.zeros(3, np.bool_), "known_rows": np.zeros((3, 1))}
    parts = {"first_pair": np.array([0, 2, 3]), "start": 0, **known}
    assert Space.from_arrays(**parts) == Space([2, 1], 1)
    if name == "laws":
        value = mechanics.inventory().space.laws
    with pytest.raises(ModelError, match=message):
        Space.from_arrays(**parts | {name: value})
