r"""A guard on patrol: the map is known, how the wheels slip is not.

The states, actions, outcomes and parameters are those of `equipoise.models.patrol`: 340 unknown distributions as a
table of 85 cells, one unknown law of three numbers as mechanics.

Noise.        slip: "no", "left" or "right", where the robot goes instead, seen from the way it is aimed at. One law for
              all cells and directions. It is seen, also where a wall stops the robot either way.
Usual laws.   0.9, 0.05 and 0.05, the defaults of the table.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise import models
from equipoise.mechanics.wording import in_the_words_of
from equipoise.models import Mechanics
from equipoise.models.labels import Label

Cell = tuple[int, int]
_TURN: Final = {"no": 0, "left": -1, "right": 1}


def patrol(picture: str | None = None) -> Mechanics:
    r"""Tell the map; the robot starts in the first free cell.

    Parameters
    ----------
    picture : str, optional
        A line a row, ``#`` a wall and any other character a free cell. By default the building of
        `equipoise.models.patrol`.

    Raises
    ------
    ModelError
        When the picture has no rows, rows of different lengths, no free cell, or parts cut off by walls.

    Examples
    --------
    >>> robot = patrol()
    >>> robot.space.n_states, robot.space.n_pairs, robot.laws
    (85, 340, {'slip': [None]})
    >>> world = patrol("..\n..").model(slip=[0.5, 0.25, 0.25])
    >>> world.transitions()[[world.pair(0, world.labels.action_index(0, "right"))]].toarray().tolist()
    [[0.25, 0.5, 0.25, 0.0]]
    """
    table = models.patrol(picture, slip=0.0)
    directions = [table.labels.action(0, a) for a in range(4)]  # in the order of a turn to the right
    ahead = np.asarray(table.transitions().argmax(axis=1)).reshape(-1, 4)
    S = table.n_states

    def step(cell: Cell, action: str, slip: str) -> tuple[Label, list[float]]:
        here = table.labels.state_index(cell)
        towards = (directions.index(action) + _TURN[slip]) % 4
        visited = [0.0] * S
        visited[here] = 1.0
        return table.labels.state(int(ahead[here, towards])), visited

    return in_the_words_of(table, step, {"slip": tuple(_TURN)}, {"slip": [0.9, 0.05, 0.05]})
