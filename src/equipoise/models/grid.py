"""The grid: cells, four moves, walls.

A move goes where it is aimed with probability 1 - slip and to either side with slip / 2; whoever would enter a
wall or leave the grid stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from equipoise._types import Vector
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer, checked_list, checked_numbers, checked_probability
from equipoise.models.labels import Labels
from equipoise.models.model import Model
from equipoise.models.structure import unreachable

Cell = tuple[int, int]

_MOVES: Final = ((-1, 0), (0, 1), (1, 0), (0, -1))
_ACTIONS: Final = ("up", "right", "down", "left")


def _free_cells(rows: int, columns: int, walls: str | Iterable[Cell]) -> tuple[Cell, ...]:
    """List the free cells row by row: the cell of state s is entry s of the result."""
    rows = checked_integer(rows, "rows", 1)
    columns = checked_integer(columns, "columns", 1)
    blocked = _drawn(walls, rows, columns) if isinstance(walls, str) else _listed(walls, rows, columns)
    free = tuple((r, c) for r in range(rows) for c in range(columns) if (r, c) not in blocked)
    if not free:
        raise ModelError("walls: they leave no cell free")
    return free


def grid(
    rows: int,
    columns: int,
    walls: str | Iterable[Cell] = (),
    slip: float = 0.1,
    goals: Mapping[Cell, ArrayLike] | Iterable[Cell] | None = None,
    start: Cell | None = None,
    noise: str = "bernoulli",
) -> Model:
    """Build a grid world with walls and slippery moves.

    The states are the free cells row by row, and labelled so: the state of a cell is
    ``world.labels.state_index((row, column))``. Actions: 0 up, 1 right, 2 down, 3 left.

    Parameters
    ----------
    rows, columns : int
        The size.
    walls : str or iterable of (row, column)
        Cells that cannot be entered; or a picture of the grid, a line a row, where ``#`` is a wall and any
        other character a free cell.
    slip : float
        The probability of going to one of the two sides instead.
    goals : mapping or iterable, optional
        Cells whose four actions yield something: a mapping to mean outcome vectors, or a list of cells of
        which the k-th yields the unit vector e_k. By default two cells: the last free one of the top row
        and the first free one of the bottom row (of the rows that have a free cell).
    start : (row, column), optional
        By default the first free cell.
    noise : {"bernoulli", "none"}
        As in `Model.from_arrays`.

    Raises
    ------
    ModelError
        When a parameter is out of range, or the walls cut the grid into parts.

    Examples
    --------
    >>> world = grid(2, 3, slip=0.0, goals=[(0, 2), (1, 0)])
    >>> world.n_states, world.n_outcomes, world.diameter()
    (6, 2, 3.0)
    >>> world.labels.state_index((1, 0)), world.labels.action(3, 1), world.labels.outcomes
    (3, 'right', ('goal (0, 2)', 'goal (1, 0)'))
    """
    cells = _free_cells(rows, columns, walls)
    slip = checked_probability(slip, "slip")
    state = {cell: s for s, cell in enumerate(cells)}
    S = len(cells)
    where = np.array(cells)
    lookup = np.full((rows + 2, columns + 2), -1)
    lookup[where[:, 0] + 1, where[:, 1] + 1] = np.arange(S)
    landing = np.empty((4, S), np.int64)
    for a, (down, right) in enumerate(_MOVES):
        ahead = lookup[where[:, 0] + 1 + down, where[:, 1] + 1 + right]
        landing[a] = np.where(ahead < 0, np.arange(S), ahead)
    pair = 4 * np.arange(S) + np.arange(4)[:, None]
    chance = [np.full((4, S), weight) for weight in (1.0 - slip, slip / 2.0, slip / 2.0)]
    towards = [landing, np.roll(landing, 1, axis=0), np.roll(landing, -1, axis=0)]
    p = coo_array((np.stack(chance).ravel(), (np.tile(pair.ravel(), 3), np.stack(towards).ravel())), shape=(4 * S, S))
    begin = cells[0] if start is None else _checked_cell(start, "start", state)
    means, names = _yields(goals, cells, state)
    model = Model.from_sparse(
        4 * np.arange(S + 1),
        csr_array(p),
        np.repeat(means, 4, axis=0),
        state[begin],
        noise,
        labels=Labels(cells, _ACTIONS, names),
    )
    split = unreachable(model)
    if split is not None:
        lost = cells[split[1][0]]
        raise ModelError(f"walls: they cut the grid into parts; cell {lost} cannot be reached from {cells[split[0]]}")
    return model


def _yields(goals: Any, cells: tuple[Cell, ...], state: dict[Cell, int]) -> tuple[Vector, list[str] | None]:
    """Return the mean outcomes of every state, and the names of the outcomes if each belongs to one cell."""
    names: list[str] | None = None
    if goals is None:
        goals = [min(cells, key=lambda cell: (cell[0], -cell[1])), min(cells, key=lambda cell: (-cell[0], cell[1]))]
    if not isinstance(goals, Mapping):
        listed = checked_list(goals, "goals")
        goals = {}
        for k, goal in enumerate(listed):
            cell = _checked_cell(goal, f"goals[{k}]", state)
            if cell in goals:
                raise ModelError(f"goals[{k}]: cell {cell} is listed twice")
            goals[cell] = np.eye(len(listed))[k]
        names = [f"goal {cell}" for cell in goals]
    if not goals:
        raise ModelError("goals: got none; at least one cell is needed")
    K: int | None = None
    means = np.empty(0)
    for cell, outcome in goals.items():
        name = f"goals, cell {cell}"
        vector = checked_numbers(outcome, name, K, "outcome")
        if K is None:
            K = vector.size
            means = np.zeros((len(cells), K))
        means[state[_checked_cell(cell, name, state)]] = vector
    return means, names


def _checked_cell(cell: Any, name: str, state: Mapping[Cell, int]) -> Cell:
    try:
        row, column = cell
    except (TypeError, ValueError):
        raise ModelError(f"{name}: got {cell!r}; a cell (row, column) is needed") from None
    place = (checked_integer(row, f"{name}, row", 0), checked_integer(column, f"{name}, column", 0))
    if place not in state:
        raise ModelError(f"{name}: {place} is a wall or outside of the grid")
    return place


def _listed(walls: Any, rows: int, columns: int) -> set[Cell]:
    inside = {(r, c): 0 for r in range(rows) for c in range(columns)}
    return {_checked_cell(cell, f"walls[{i}]", inside) for i, cell in enumerate(checked_list(walls, "walls"))}


def _drawn(picture: str, rows: int, columns: int) -> set[Cell]:
    lines = [line.strip() for line in picture.split("\n") if line.strip()]
    if len(lines) != rows:
        raise ModelError(f"walls: the picture has {len(lines)} rows; {rows} are needed")
    for r, line in enumerate(lines):
        if len(line) != columns:
            raise ModelError(f"walls: row {r} of the picture has {len(line)} cells; {columns} are needed")
    return {(r, c) for r, line in enumerate(lines) for c, character in enumerate(line) if character == "#"}
