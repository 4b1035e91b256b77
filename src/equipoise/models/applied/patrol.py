r"""A guard on patrol: visit every place of a building as evenly as the walls allow.

States        The free cells of the picture, row by row.
Actions       0 up, 1 right, 2 down, 3 left.
Noise         slip: "no", "left" or "right": where the robot goes instead, seen from the way it is aimed at. One law
              for all cells and directions, seen also where a wall stops the robot either way.
Step          That of `equipoise.models.grid`: whoever would enter a wall or leave the picture stays.
Outcomes      V(s, a) = e_s, known in advance: the averages are the fractions of time spent in each cell.
Usual law     0.9, 0.05 and 0.05.
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
    r"""Describe a robot on slippery floors; it starts in the first free cell.

    A state is a free cell (row, column); the actions are up, right, down and left. Outcome k is 1 in cell k: averages
    are the shares of time in each cell. Unknown is how the wheels slip.

    Parameters
    ----------
    picture : str, optional
        One line per row, ``#`` a wall and any other character a free cell; walls must not cut it into parts. By
        default a building of 10 x 10 cells: four rooms of different sizes, and a door between any two neighbours.

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
    picture = BUILDING if picture is None else picture
    if not isinstance(picture, str):
        raise ModelError(f"picture: got {picture!r}; a text is needed, one line per row")
    lines = [line.strip() for line in picture.split("\n") if line.strip()]
    if not lines:
        raise ModelError("picture: it has no rows")
    try:
        return grid(len(lines), len(lines[0]), picture, slip).visits()
    except ModelError as error:
        raise ModelError(f"picture: {error}") from None
