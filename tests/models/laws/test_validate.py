"""What passes a graph of noises, and which case an observation is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import ProtocolError
from equipoise.models.estimated_model import infer_space
from equipoise.models.laws.validate import find_case, flow


@pytest.mark.parametrize("mechanics", [eq.mechanics.inventory(), eq.mechanics.department()], ids=["one", "several"])
def test_what_comes_to_a_place_passes_it(mechanics):
    """Each node gets the mass of its root and its share of what passes each of its parents."""
    arrays = mechanics.space.laws.arrays
    rng = np.random.default_rng(0)
    shares = np.concatenate([rng.dirichlet(np.ones(size)) for size in np.diff(arrays.node_first)])
    roots = arrays.root
    passing = flow(arrays, roots, shares)
    leaves, nodes = passing.leaves.toarray(), passing.nodes.toarray()
    assert leaves.sum(axis=1) == pytest.approx(np.ones(roots.size))
    come = np.zeros((roots.size, leaves.shape[1] + nodes.shape[1]))
    come[np.arange(roots.size), roots] = 1.0
    for node, (begin, end) in enumerate(zip(arrays.node_first[:-1], arrays.node_first[1:], strict=True)):
        for edge in range(begin, end):
            come[:, arrays.child[edge]] += nodes[:, node] * shares[edge]
    assert np.hstack([leaves, nodes]) == pytest.approx(come, abs=1e-12)


def test_an_observation_must_agree_in_every_outcome():
    space = eq.mechanics.inventory().space
    laws = space.laws
    case = int(laws.first_case[3])
    outcomes, after = laws.arrays.rows[laws.case_row[case]].copy(), int(laws.case_next[case])
    known = find_case(space, 3, outcomes, after, None)
    assert laws.case_row[known] == laws.case_row[case]
    for k in range(outcomes.size):
        wrong = outcomes.copy()
        wrong[k] = 0.123456789
        with pytest.raises(ProtocolError, match="cannot lead to"):
            find_case(space, 3, wrong, after, None)


def test_a_column_half_of_which_are_numbers_is_an_outcome():
    rows = {"state": [0, 1, 0, 1], "action": [0] * 4, "next_state": [1, 0, 1, 0]}
    half = pl.DataFrame(rows | {"pay": ["0.5", "0.25", "much", "little"]})
    assert infer_space(half).n_outcomes == 1
    less = pl.DataFrame(rows | {"pay": ["0.5", "some", "much", "little"], "rate": [0.5] * 4})
    assert list(infer_space(less).outcome_names()) == ["rate"]
