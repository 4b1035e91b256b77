"""The paper's worlds: their arcs and outcomes as the paper states them."""

import numpy as np
import pytest

from equipoise import models
from equipoise.errors import ModelError


def arcs(model):
    """The deterministic arcs as {(state, action): next state}."""
    assert model.max_successors == 1
    return {
        (s, a): int(model.transition_state[model.pair(s, a)])
        for s, count in enumerate(model.n_actions)
        for a in range(count)
    }


def payers(model):
    """The pairs with a non-zero outcome, and that outcome."""
    return {
        (s, a): model.means[model.pair(s, a)].tolist()
        for s, count in enumerate(model.n_actions)
        for a in range(count)
        if model.means[model.pair(s, a)].any()
    }


def test_bandit():
    model = models.bandit(3)
    assert arcs(model) == {(0, 0): 0, (0, 1): 0, (0, 2): 0}
    assert np.array_equal(model.means, np.eye(3))
    assert model.diameter() == 1.0


def test_ring():
    model = models.ring(4)
    assert arcs(model) == {(0, 0): 1, (1, 0): 2, (2, 0): 3, (3, 0): 0}
    assert payers(model) == {(0, 0): [1.0]}


def test_star():
    model = models.star(branches=2, diameter=4)
    assert model.n_states == 1 + 2 * 2
    assert model.start == 0
    assert arcs(model) == {
        (0, 0): 1, (0, 1): 3,
        (1, 0): 2, (1, 1): 0, (2, 0): 2, (2, 1): 1,
        (3, 0): 4, (3, 1): 0, (4, 0): 4, (4, 1): 3,
    }  # fmt: skip
    assert payers(model) == {(2, 0): [1.0, 0.0], (4, 0): [0.0, 1.0]}
    assert arcs(models.star(2, 2)) == {(0, 0): 1, (0, 1): 2, (1, 0): 1, (1, 1): 0, (2, 0): 2, (2, 1): 0}


def test_hub_around_a_ring():
    model = models.hub(branches=3)
    assert arcs(model) == {
        (0, 0): 1, (0, 1): 3, (1, 0): 2, (1, 1): 4, (2, 0): 0, (2, 1): 5,
        (3, 0): 3, (3, 1): 0, (4, 0): 4, (4, 1): 1, (5, 0): 5, (5, 1): 2,
    }  # fmt: skip
    assert payers(model) == {(3, 0): [1, 0, 0], (4, 0): [0, 1, 0], (5, 0): [0, 0, 1]}
    assert model.diameter() == 4.0  # 3 -> 0 -> 1 -> 2 -> 5


def test_hub_around_any_centre():
    river = models.riverswim(4)
    model = models.hub(branches=3, centre=river, attach=[1, 1, 3])
    assert model.n_actions == (2, 4, 2, 3, 2, 2, 2)
    assert model.is_communicating()
    inside = model.transitions().toarray()
    for s in range(4):
        for a in range(2):
            assert np.array_equal(inside[model.pair(s, a)][:4], river.transitions().toarray()[river.pair(s, a)])
    assert payers(model) == {(4, 0): [1, 0, 0], (5, 0): [0, 1, 0], (6, 0): [0, 0, 1]}
    assert inside[model.pair(1, 3), 5] == 1.0
    assert inside[model.pair(6, 1), 3] == 1.0


def test_scalar_hub_shares_the_dynamics_of_the_hub():
    model = models.scalar_hub(branches=3)
    assert arcs(model) == arcs(models.hub(branches=3))
    assert model.n_outcomes == 1
    assert payers(model) == {(3, 1): [1.0], (0, 1): [1.0], (4, 0): [1.0]}


def split():
    return models.Model.from_arrays([[[0, 1]], [[0, 1]]], [[[0]], [[0]]])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: models.bandit(0), "arms: got 0"),
        (lambda: models.bandit(1.5), "arms: got 1.5"),
        (lambda: models.ring(0), "length: got 0"),
        (lambda: models.star(1, 4), "branches: got 1"),
        (lambda: models.star(3, 0), "diameter: got 0"),
        (lambda: models.star(3, 5), "diameter: got 5; it must be even"),
        (lambda: models.star(3, "4"), "diameter: got '4'"),
        (lambda: models.hub(0), "branches: got 0"),
        (lambda: models.hub(2, centre=3), "centre: got 3"),
        (lambda: models.hub(2, centre=split()), "centre: not communicating: from state 1"),
        (lambda: models.hub(2, attach=[0]), "attach: got 1 entries; 2"),
        (lambda: models.hub(2, attach=[0, 2]), r"attach\[1\]: got 2"),
        (lambda: models.scalar_hub(1), "branches: got 1"),
    ],
)
def test_bad_parameters_are_named(build, message):
    with pytest.raises(ModelError, match=message):
        build()
