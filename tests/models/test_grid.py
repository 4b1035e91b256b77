"""The grid."""

import numpy as np
import pytest

from equipoise.errors import ModelError
from equipoise.models import grid


def test_grid_moves_slips_and_bumps():
    model = grid(3, 3, walls=[(1, 1)], slip=0.2)
    cells = model.labels.states
    assert cells == tuple((r, c) for r in range(3) for c in range(3) if (r, c) != (1, 1))
    p = model.transitions().toarray()

    def law(cell, action):
        row = p[model.pair(cells.index(cell), action)]
        return {cells[s]: pytest.approx(row[s]) for s in np.flatnonzero(row)}

    assert law((0, 1), 1) == {(0, 2): 0.8, (0, 1): 0.2}  # right; up is the border, down the wall
    assert law((0, 1), 2) == {(0, 1): 0.8, (0, 0): 0.1, (0, 2): 0.1}  # down, into the wall
    assert law((2, 0), 0) == {(1, 0): 0.8, (2, 0): 0.1, (2, 1): 0.1}  # up
    assert law((2, 0), 3) == {(2, 0): 0.9, (1, 0): 0.1}  # left, out of the grid


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (1, 7), (4, 4), (3, 6)])
def test_the_diameter_of_a_sure_grid_is_the_longest_walk(rows, columns):
    assert grid(rows, columns, slip=0.0).diameter() == rows + columns - 2


def test_picture_and_list_agree():
    picture = """
        ..#
        .#.
        ...
    """
    assert grid(3, 3, walls=picture) == grid(3, 3, walls=[(0, 2), (1, 1)])


def test_goals_and_start():
    model = grid(2, 3)
    assert np.flatnonzero(model.means[:, 0]).tolist() == [4 * 2 + a for a in range(4)]  # top right
    assert np.flatnonzero(model.means[:, 1]).tolist() == [4 * 3 + a for a in range(4)]  # bottom left
    assert model.start == 0
    model = grid(2, 2, goals={(1, 1): [0.25, 0.5, 1.0]}, start=(1, 0), noise="none")
    assert model.n_outcomes == 3
    assert model.start == 2
    assert model.means[model.pair(3, 2)].tolist() == [0.25, 0.5, 1.0]
    assert not model.means[: model.pair(3, 0)].any()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: grid(0, 3), "rows: got 0"),
        (lambda: grid(3, 2.5), "columns: got 2.5"),
        (lambda: grid(2, 2, slip=1.1), "slip: got 1.1"),
        (lambda: grid(2, 2, slip=float("nan")), "slip: got nan"),
        (lambda: grid(2, 2, slip="x"), "slip: got 'x'"),
        (lambda: grid(1, 3, walls=[(0, 1)]), r"cell \(0, 2\) cannot be reached from \(0, 0\)"),
        (lambda: grid(1, 3, walls="###"), "no cell free"),
        (lambda: grid(1, 3, walls=".#"), "row 0 of the picture has 2 cells; 3"),
        (lambda: grid(2, 3, walls="..."), "the picture has 1 rows; 2"),
        (lambda: grid(2, 3, walls=[(0, 5)]), r"walls\[0\]: \(0, 5\) is .* outside"),
        (lambda: grid(2, 3, walls=[7]), r"walls\[0\]: got 7"),
        (lambda: grid(2, 3, start=(2, 0)), r"start: \(2, 0\)"),
        (lambda: grid(2, 3, goals=[]), "goals: got none"),
        (lambda: grid(2, 3, goals=[(0, 0), (0, 0)]), r"goals\[1\]: cell \(0, 0\) is listed twice"),
        (lambda: grid(2, 3, walls=[(0, 1)], goals=[(0, 1)]), r"goals\[0\]: \(0, 1\) is a wall"),
        (lambda: grid(2, 3, goals={(0, 0): [1], (0, 1): [1, 1]}), r"goals, cell \(0, 1\): got 2 entries; 1"),
        (lambda: grid(2, 3, goals={(0, 0): [2]}), "outcome 0: the mean is 2"),
        (lambda: grid(2, 3, noise="x"), "noise: got 'x'"),
    ],
)
def test_bad_parameters_are_named(build, message):
    with pytest.raises(ModelError, match=message):
        build()
