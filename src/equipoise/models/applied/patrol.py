r"""A guard on patrol: visit every place of a building as evenly as the walls allow.

In the user's words: a robot patrols rooms that are joined by doors, on floors where it slips; no place should
go unseen for long, and the way through the doors should not eat up the time. Nobody gives it a map of how
its wheels behave.

States.       The free cells of the picture, row by row.
Actions.      0 up, 1 right, 2 down, 3 left.
Noise.        slip: "no", "left" or "right", where the robot goes instead, seen from the way it is aimed at. One law for
              all cells and directions. It is seen, also where a wall stops the robot either way.
Step.         That of `equipoise.models.grid`: whoever would enter a wall or leave the picture stays.
Outcomes.     V(s, a) = e_s, known in advance: the averages are the fractions of time spent in each cell.
Usual law.    0.9, 0.05 and 0.05.

Communicating unless the walls cut the building into parts, which is an error. A building of 85 cells has 340 unknown
distributions as a table, and one unknown law of three numbers as mechanics.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from equipoise.errors import ModelError
from equipoise.models.applied.system import System
from equipoise.models.labels import Label
from equipoise.models.mechanics import Mechanics
from equipoise.models.model import Model
from equipoise.models.standard import grid

Cell = tuple[int, int]
_TURN: Final = {"no": 0, "left": -1, "right": 1}
BUILDING: Final = """
    ....#.....
    ....#.....
    ..........
    ....#.....
    ....#.....
    ##.####.##
    ...#......
    ...#......
    ..........
    ...#......
"""


def patrol(picture: str | None = None) -> Mechanics:
    r"""Describe the map; the robot starts in the first free cell.

    Parameters
    ----------
    picture : str, optional
        A line a row, ``#`` a wall and any other character a free cell. By default the building of
        `equipoise.models.patrol`.

    Returns
    -------
    Mechanics
        Its law is how the wheels slip.

    Raises
    ------
    ModelError
        When the picture has no rows, rows of different lengths, no free cell, or parts cut off by walls.

    See Also
    --------
    equipoise.models.patrol : The same as a table.

    Examples
    --------
    >>> robot = patrol()
    >>> robot.space.n_states, robot.space.n_pairs, robot.laws
    (85, 340, {'slip': [None]})
    >>> world = patrol("..\n..").model(slip=[0.5, 0.25, 0.25])
    >>> world.transitions()[[world.pair(0, world.labels.action_index(0, "right"))]].toarray().tolist()
    [[0.25, 0.5, 0.25, 0.0]]
    """
    return from_table_labels(patrol_table(picture, 0.0)).mechanics({"slip": [0.9, 0.05, 0.05]})


def from_table_labels(table: Model) -> System:
    """The system of a table in which nothing slips: its states, actions and outcomes, and where each move leads."""
    labels, S = table.labels, table.n_states
    directions = [labels.action(0, a) for a in range(4)]  # in the order of a turn to the right
    ahead = np.asarray(table.transitions().argmax(axis=1)).reshape(-1, 4)

    def step(cell: Cell, action: str, slip: str) -> tuple[Label, list[float]]:
        here = labels.state_index(cell)
        towards = (directions.index(action) + _TURN[slip]) % 4
        visited = [0.0] * S
        visited[here] = 1.0
        return labels.state(int(ahead[here, towards])), visited

    return System(
        step,
        start=labels.state(table.start),
        states=[labels.state(s) for s in range(S)],
        actions=directions,
        outcomes=[labels.outcome(k) for k in range(S)],
        noises={"slip": tuple(_TURN)},
    )


def patrol_table(picture: str | None, slip: Any) -> Model:
    """The visits to the cells of a picture."""
    picture, rows, columns = _size(picture)
    try:
        return grid(rows, columns, picture, slip).visits()
    except ModelError as error:
        raise ModelError(f"picture: {error}") from None


def _size(picture: str | None) -> tuple[str, int, int]:
    if picture is None:
        picture = BUILDING
    if not isinstance(picture, str):
        raise ModelError(f"picture: got {picture!r}; a text is needed, a line a row")
    lines = [line.strip() for line in picture.split("\n") if line.strip()]
    if not lines:
        raise ModelError("picture: it has no rows")
    for r, line in enumerate(lines):
        if len(line) != len(lines[0]):
            raise ModelError(f"picture: row {r} has {len(line)} cells, row 0 has {len(lines[0])}")
    return picture, len(lines), len(lines[0])
