"""An occupancy for the eye: a table of what is done where, and the averages by the names of the outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from equipoise._types import Vector
from equipoise.models.labels import as_column
from equipoise.models.model import Model
from equipoise.offline.policies import policy_of

if TYPE_CHECKING:
    import polars

_SHOWN: Final = 6  # outcomes that a representation lists


def occupancy_frame(model: Model, occupancy: Vector) -> polars.DataFrame:
    """Return an occupancy as a table, one row a pair in their order.

    Parameters
    ----------
    model : Model
        Whose labels are used: where there are none, numbers stand.
    occupancy : array
        One number a pair.

    Returns
    -------
    polars.DataFrame
        state, action, occupancy, probability (of the action in its state), and the mean of each outcome.

    Examples
    --------
    >>> from equipoise.models import ring
    >>> occupancy_frame(ring(2), ring(2).means.ravel()).rows()
    [(0, 'go on', 1.0, 1.0, 1.0), (1, 'go on', 0.0, 1.0, 0.0)]
    """
    import polars

    labels, states = model.labels, model.state_of.tolist()
    actions = [pair - int(model.first_pair[s]) for pair, s in enumerate(states)]
    table: dict[str, Any] = {
        "state": as_column([labels.state(s) for s in states]),
        "action": as_column([labels.action(s, a) for s, a in zip(states, actions, strict=True)]),
        "occupancy": occupancy,
        "probability": policy_of(model, occupancy),
    }
    for k in range(model.n_outcomes):
        name = labels.name_outcome(k) if labels.outcomes is None or labels.outcome(k) in table else labels.outcome(k)
        table[name] = model.means[:, k]
    return polars.DataFrame(table)


def named_outcomes(model: Model, outcomes: Vector) -> str:
    """Write averages by the names of the outcomes, for a representation; nothing if they have none.

    >>> from equipoise.models import ring
    >>> named_outcomes(ring(2), ring(2).means[0])
    'pay=1, '
    """
    if model.labels.outcomes is None:
        return ""
    shown = [f"{name}={value:.4g}, " for name, value in zip(model.labels.outcomes, outcomes, strict=True)]
    return "".join(shown[:_SHOWN]) + ("..., " if len(shown) > _SHOWN else "")
