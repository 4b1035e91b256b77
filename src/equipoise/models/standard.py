"""Models on which learners are compared in the literature: RiverSwim, grids, and the random Garnet family.

RiverSwim has n states in a row and a current. Swimming left always succeeds. Swimming right moves on with probability
.35, stays with .6 and falls back with .05; at the left end it moves on with .6, at the right end it falls back with .4,
and else stays. Going left at the left end pays .005 on average, going right at the right end 1.

In a grid a move goes where it is aimed with probability 1 - slip and to either side with slip / 2. Whoever would enter
a wall or leave the grid stays.

In a Garnet (Generic Average Reward Non-stationary Environment Test-bench) every pair has a uniformly random set of
successors of equal size, probabilities uniform on the simplex and mean outcomes uniform on [0,1]. To make the model
communicating, action 0 of every state has among its successors the next state of a random cycle through all states;
where chance left that one out, it replaces one of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from equipoise._checks import SEED_LIMIT
from equipoise._types import Vector
from equipoise.errors import ModelError
from equipoise.models.checks import check_integer, check_list, check_noise, check_numbers, check_probability
from equipoise.models.communication import unreachable
from equipoise.models.labels import Labels
from equipoise.models.model import Model


def riverswim(n: int = 6) -> Model:
    """Build RiverSwim: action 0 swims left, 1 right; start at the left end; one outcome, drawn 0 or 1.

    Parameters
    ----------
    n : int
        The number of states, at least 2.

    Examples
    --------
    >>> river = riverswim(4)
    >>> river.transitions()[[river.pair(2, 1)]].toarray().tolist()
    [[0.0, 0.05, 0.6, 0.35]]
    """
    n = check_integer(n, "n", 2)
    transitions = np.zeros((n, 2, n))
    outcomes = np.zeros((n, 2, 1))
    for s in range(n):
        transitions[s, 0, max(s - 1, 0)] = 1.0
        if 0 < s < n - 1:
            transitions[s, 1, s - 1 : s + 2] = 0.05, 0.6, 0.35
    transitions[0, 1, :2] = 0.4, 0.6
    transitions[n - 1, 1, n - 2 :] = 0.4, 0.6
    outcomes[0, 0, 0] = 0.005
    outcomes[n - 1, 1, 0] = 1.0
    return Model.from_arrays(transitions, outcomes, labels=Labels(actions=["left", "right"], outcomes=["pay"]))


Cell = tuple[int, int]

_MOVES: Final = ((-1, 0), (0, 1), (1, 0), (0, -1))
_ACTIONS: Final = ("up", "right", "down", "left")


def _free_cells(rows: int, columns: int, walls: str | Iterable[Cell]) -> tuple[Cell, ...]:
    """List the free cells row by row: the cell of state s is entry s of the result."""
    rows = check_integer(rows, "rows", 1)
    columns = check_integer(columns, "columns", 1)
    if isinstance(walls, str):
        blocked = _drawn(walls, rows, columns)
    else:
        inside = {(r, c): 0 for r in range(rows) for c in range(columns)}
        blocked = {_check_cell(cell, f"walls[{i}]", inside) for i, cell in enumerate(check_list(walls, "walls"))}
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
        Cells that cannot be entered, which must not cut the grid into parts; or a picture of the grid, one line per
        row, where ``#`` is a wall and any other character a free cell.
    slip : float
        The probability of going to one of the two sides instead.
    goals : mapping or iterable, optional
        Cells whose four actions yield something: a mapping to mean outcome vectors, or a list of cells of which the
        k-th yields the unit vector e_k. By default two: the last free cell of the first row that has one, and the
        first free cell of the last row that has one.
    start : (row, column), optional
        By default the first free cell.
    noise : {"bernoulli", "none"}
        As in `Model.from_arrays`.

    Examples
    --------
    >>> world = grid(2, 3, slip=0.0, goals=[(0, 2), (1, 0)])
    >>> world.n_states, world.n_outcomes, world.diameter()
    (6, 2, 3.0)
    >>> world.labels.state_index((1, 0)), world.labels.action(3, 1), world.labels.outcomes
    (3, 'right', ('goal (0, 2)', 'goal (1, 0)'))
    """
    cells = _free_cells(rows, columns, walls)
    slip = check_probability(slip, "slip")
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
    begin = cells[0] if start is None else _check_cell(start, "start", state)
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
        listed = check_list(goals, "goals")
        goals = {}
        for k, goal in enumerate(listed):
            cell = _check_cell(goal, f"goals[{k}]", state)
            if cell in goals:
                raise ModelError(f"goals[{k}]: cell {cell} is listed twice")
            goals[cell] = np.eye(len(listed))[k]
        names = [f"goal {cell}" for cell in goals]
    if not goals:
        raise ModelError("goals: got none; at least one cell is needed")
    means, K = np.zeros((len(cells), 0)), None
    for cell, outcome in goals.items():
        name = f"goals, cell {cell}"
        vector = check_numbers(outcome, name, K, "outcome")
        if K is None:
            means, K = np.zeros((len(cells), vector.size)), vector.size
        means[state[_check_cell(cell, name, state)]] = vector
    return means, names


def _check_cell(cell: Any, name: str, state: Mapping[Cell, int]) -> Cell:
    try:
        row, column = cell
    except (TypeError, ValueError):
        raise ModelError(f"{name}: got {cell!r}; a cell (row, column) is needed") from None
    place = (check_integer(row, f"{name}, row", 0), check_integer(column, f"{name}, column", 0))
    if place not in state:
        raise ModelError(f"{name}: {place} is a wall or outside of the grid")
    return place


def _drawn(picture: str, rows: int, columns: int) -> set[Cell]:
    lines = [line.strip() for line in picture.split("\n") if line.strip()]
    if len(lines) != rows:
        raise ModelError(f"walls: the picture has {len(lines)} rows; {rows} are needed")
    for r, line in enumerate(lines):
        if len(line) != columns:
            raise ModelError(f"walls: row {r} of the picture has {len(line)} cells; {columns} are needed")
    return {(r, c) for r, line in enumerate(lines) for c, character in enumerate(line) if character == "#"}


_KEYS_AT_ONCE = 2**22  # random keys held in memory together


def garnet(
    n_states: int,
    n_actions: int,
    n_successors: int,
    n_outcomes: int = 1,
    seed: int = 0,
    noise: str = "bernoulli",
) -> Model:
    """Build a random communicating model; the same arguments give the same model.

    Parameters
    ----------
    n_states, n_actions : int
        The number of states, and of actions in each of them.
    n_successors, n_outcomes : int
        The number of next states of every pair, at most `n_states`, and K.
    seed : int
        Of all the randomness.
    noise : {"bernoulli", "none"}
        As in `Model.from_arrays`.

    Examples
    --------
    >>> world = garnet(n_states=50, n_actions=3, n_successors=4, n_outcomes=2, seed=1)
    >>> world.n_pairs, world.max_successors, world.is_communicating()
    (150, 4, True)
    """
    S = check_integer(n_states, "n_states", 1)
    A = check_integer(n_actions, "n_actions", 1)
    m = check_integer(n_successors, "n_successors", 1)
    if m > S:
        raise ModelError(f"n_successors: got {m}; there are only {S} states")
    K = check_integer(n_outcomes, "n_outcomes", 1)
    rng = np.random.default_rng(check_integer(seed, "seed", 0, SEED_LIMIT))
    noise = check_noise(noise)

    successors = _subsets(rng, S * A, S, m)
    cycle = rng.permutation(S)
    following = np.empty(S, np.int64)
    following[cycle] = np.roll(cycle, -1)
    leading = successors[::A]  # action 0 of every state; a view
    without = np.flatnonzero((leading != following[:, None]).all(axis=1))
    leading[without, rng.integers(m, size=without.size)] = following[without]

    weights = np.maximum(rng.standard_exponential((S * A, m)), np.finfo(np.float64).tiny)
    weights /= weights.sum(axis=1, keepdims=True)
    pointers = m * np.arange(S * A + 1)
    transitions = csr_array((weights.ravel(), successors.ravel(), pointers), shape=(S * A, S))
    return Model.from_sparse(A * np.arange(S + 1), transitions, rng.random((S * A, K)), 0, noise)


def _subsets(rng: np.random.Generator, count: int, n: int, m: int) -> NDArray[np.int64]:
    """Draw `count` uniformly random subsets of m of the numbers 0 ... n - 1, one per row."""
    chosen = np.empty((count, m), np.int64)
    if m * m <= 2 * n:
        # Floyd: at j = n-m ... n-1 take a number up to j, or j itself if that one has been taken.
        for i in range(m):
            j = n - m + i
            drawn = rng.integers(j + 1, size=count)
            taken = (chosen[:, :i] == drawn[:, None]).any(axis=1)
            chosen[:, i] = np.where(taken, j, drawn)
        return chosen
    step = max(1, _KEYS_AT_ONCE // n)
    for begin in range(0, count, step):
        keys = rng.random((min(step, count - begin), n))
        chosen[begin : begin + step] = np.argpartition(keys, m - 1, axis=1)[:, :m]
    return chosen
