"""A model from a log: which states and actions there are, and how often each led where.

The estimate of a pair is its relative frequencies and its mean outcomes; `equipoise.confidence.intervals` bounds its
error. The model does not have pairs that were never tried. A log that enters a state and has no row in it raises a
`LogError`: any guess of what follows there would decide what is best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Mask, Vector
from equipoise.errors import LogError
from equipoise.models.labels import RESERVED, Labels
from equipoise.models.log import (
    Batch,
    Source,
    check_types,
    is_numeric,
    label_columns,
    parse_number,
    read_frames,
    read_log,
    require_columns,
)
from equipoise.models.model import Model
from equipoise.models.space import Space, count_pairs

if TYPE_CHECKING:
    import polars

_SHOWN: Final = 5  # states that a message names
_MOSTLY: Final = 0.5  # of the cells of a column of numbers are numbers; the other cells raise errors with their rows


def estimate(log: Source, space: Space | None = None) -> Model:
    """A model of relative frequencies and mean outcomes; see `Model.estimate`."""
    space = infer_space(log) if space is None else space
    P, S = space.n_pairs, space.n_states
    sums, visits = np.zeros((P, space.n_outcomes)), np.zeros(P)
    moves: dict[int, float] = {}
    begun: list[int] = []

    def take(batch: Batch) -> None:
        nonlocal visits
        begun.append(int(space.state_of[batch.pair[0]]))
        visits = visits + np.bincount(batch.pair, minlength=P)
        for k in range(space.n_outcomes):
            sums[:, k] += np.bincount(batch.pair, batch.outcomes[:, k], minlength=P)
        for code, count in zip(*np.unique(batch.pair * S + batch.next_state, return_counts=True), strict=True):
            moves[int(code)] = moves.get(int(code), 0.0) + float(count)

    read_log(log, space, take)
    codes = np.array(sorted(moves))
    pair, after = codes // S, codes % S
    times = np.array([moves[code] for code in codes.tolist()])
    tried = visits > 0
    acted = np.bincount(space.state_of[tried], minlength=S) > 0
    _refuse_dead_ends(space, acted, np.bincount(after, times, minlength=S).astype(np.float64))
    number = np.cumsum(acted) - 1  # of the states that are kept
    return Model.from_sparse(
        count_pairs(np.bincount(space.state_of[tried], minlength=S)[acted]),
        csr_array(
            (times / visits[pair], ((np.cumsum(tried) - 1)[pair], number[after])), shape=(tried.sum(), acted.sum())
        ),
        np.clip(sums[tried] / visits[tried, None], 0.0, 1.0),
        int(number[space.start if acted[space.start] else begun[0]]),
        labels=space.labels if tried.all() else _labels_of(space, tried, acted),
    )


def _refuse_dead_ends(space: Space, acted: Mask, entered: Vector) -> None:
    """Raise an error for a log without rows in a state that it enters; `entered` says by how many rows."""
    ends, rows = np.flatnonzero((entered > 0) & ~acted), int(entered.sum())
    if ends.size:
        listed = (f"{space.name_state(s)}, entered by {int(entered[s])} of {rows} rows" for s in ends[:_SHOWN].tolist())
        more = f"; and in {ends.size - _SHOWN} others" if ends.size > _SHOWN else ""
        raise LogError(
            f"log: nothing was done in {'; in '.join(listed)}{more}. What follows there is unknown, so no model can be "
            "estimated. Add rows from there or, if it may be neglected, leave out the rows that lead there; "
            "eq.certify and agent.absorb take the log as it is"
        )


def _labels_of(space: Space, tried: Mask, acted: Mask) -> Labels:
    """Of the states and actions that are kept, with their numbers in the space where these have no labels."""
    labels, states = space.labels, np.flatnonzero(acted).tolist()
    actions = [
        [labels.action(s, a) for a in np.flatnonzero(tried[space.first_pair[s] : space.first_pair[s + 1]]).tolist()]
        for s in states
    ]
    return Labels([labels.state(s) for s in states], actions, labels.outcomes)


def infer_space(log: Source) -> Space:
    """The states, actions and outcomes that occur in a log, with their names as labels."""
    import polars

    seen: polars.DataFrame | None = None
    outcomes: list[str] = []
    start = None
    for frame in read_frames(log, None):
        if seen is None:
            require_columns(frame.columns)
            check_types(frame.schema)
            outcomes = [name for name in frame.columns if name not in RESERVED and _is_number(frame[name])]
            if not outcomes:
                raise LogError("log: it has no column of numbers beside state, action and next_state: no outcome")
        column = label_columns(frame.columns)
        rows = frame.select(polars.col(column[name]).alias(name) for name in ("state", "action", "next_state"))
        rows = rows.fill_nan(None).drop_nulls()  # `read_log` refuses the others, with their numbers
        if start is None and rows.height:
            start = rows["state"][0]
        seen = rows.unique() if seen is None else polars.concat([seen, rows.unique()]).unique()
    if seen is None or not seen.height:
        raise LogError("log: no row has a state, an action and a next_state")
    states = sorted(set(seen["state"].to_list()) | set(seen["next_state"].to_list()), key=_order)
    everything = sorted(set(seen["action"].to_list()), key=_order)
    taken: dict[object, list[object]] = {}
    for state, action in seen.select("state", "action").unique().iter_rows():
        taken.setdefault(state, []).append(action)
    actions = [sorted(taken.get(state, everything), key=_order) for state in states]
    rows_of_labels: Any = [list(row) for row in actions]
    labels = Labels(states, rows_of_labels, outcomes)
    return Space([len(row) for row in actions], len(outcomes), states.index(start), labels=labels)


def _is_number(column: polars.Series) -> bool:
    """Whether most of what a column holds are numbers."""
    import polars

    if column.dtype == polars.Boolean or not is_numeric(column.dtype):
        return False
    given = column.len() - column.null_count()
    numbers = column.cast(polars.Float64, strict=False)
    return given > 0 and numbers.len() - numbers.null_count() >= _MOSTLY * given


def _order(label: Any) -> tuple[str, float, str]:
    """Numbers by size, texts by the alphabet, and never one against the other."""
    number = label if isinstance(label, bool) else parse_number(label)
    if number is not None:
        return "", float(number), str(label)
    return type(label).__name__, 0.0, str(label)
