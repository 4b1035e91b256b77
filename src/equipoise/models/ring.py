"""M_det of the paper: a directed cycle that pays at one state only; deterministic."""

from __future__ import annotations

from equipoise.models._checks import checked_integer
from equipoise.models.labels import Labels
from equipoise.models.model import Model


def ring(length: int) -> Model:
    """Build M_det: a directed cycle whose only action pays 1 at state 0, the start, and 0 elsewhere.

    Its diameter is `length`: the time to come back to a state.

    Parameters
    ----------
    length : int
        How many states there are, at least 1.

    Examples
    --------
    >>> ring(3).means.ravel().tolist()
    [1.0, 0.0, 0.0]
    """
    length = checked_integer(length, "length", 1)
    return Model.from_branches(
        [[[(1.0, (s + 1) % length, [float(s == 0)])]] for s in range(length)],
        labels=Labels(actions=["go on"], outcomes=["pay"]),
    )
