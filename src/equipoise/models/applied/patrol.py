r"""A guard on patrol: visit every place of a building as evenly as the walls allow.

In the user's words: a robot patrols rooms that are joined by doors, on floors where it slips; no place should
go unseen for long, and the way through the doors should not eat up the time. Nobody gives it a map of how
its wheels behave.

States.       The free cells of the picture, row by row.
Actions.      0 up, 1 right, 2 down, 3 left.
Transitions.  Those of `grid`: ahead with probability 1 - slip, to either side with slip / 2; whoever would
              enter a wall or leave the picture stays.
Outcomes.     V(s, a) = e_s, known in advance: the averages are the fractions of time spent in each cell.

Communicating unless the walls cut the building into parts, which is an error.
"""

from __future__ import annotations

from typing import Final

from equipoise.errors import ModelError
from equipoise.models._checks import checked_probability
from equipoise.models.grid import grid
from equipoise.models.model import Model

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


def patrol(picture: str | None = None, slip: float = 0.1) -> Model:
    """Build the patrol; it starts in the first free cell, and the label of a state is its (row, column).

    Parameters
    ----------
    picture : str, optional
        A line a row, ``#`` a wall and any other character a free cell. By default `BUILDING`: 10 x 10
        cells, four rooms of different sizes, and a door between any two neighbours.
    slip : float
        The probability of going to one of the two sides instead.

    Returns
    -------
    Model
        Its outcomes are the shares of time in each cell.

    Raises
    ------
    ModelError
        When the picture has no rows, rows of different lengths, no free cell, or parts cut off by walls.

    See Also
    --------
    equipoise.mechanics.patrol : The same, told as mechanics.

    Examples
    --------
    >>> model = patrol()
    >>> model.n_states, model.n_outcomes, bool(model.space.known_mask.all())
    (85, 85, True)
    >>> model.labels.state(10), model.labels.state_index((2, 4))
    ((1, 1), 22)
    """
    picture, rows, columns = _size(picture)
    slip = checked_probability(slip, "slip")
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
