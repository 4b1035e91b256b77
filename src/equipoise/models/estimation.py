"""What a log says of the system by itself: which states and actions there are, and how often each led where.

The estimate of a pair is its relative frequencies and its mean outcomes. How far from the truth they may be is another
question, which confidence regions answer (`equipoise.confidence.intervals`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.sparse import csr_array

from equipoise.errors import LogError
from equipoise.models.labels import Labels
from equipoise.models.log import Batch, Source, label_columns, log_frames, number_in, read_log
from equipoise.models.model import Model
from equipoise.models.space import Space

if TYPE_CHECKING:
    import polars

_NOT_OUTCOMES: Final = ("state", "action", "next_state", "t", "state_label", "action_label", "next_state_label")
_MOSTLY: Final = 0.5  # of a column of numbers; the cells of it that are none are refused with their rows


def estimate(log: Source, space: Space | None = None) -> Model:
    """A model of relative frequencies and mean outcomes.

    A pair that the log never took is made to stay where it is and to bring nothing; `eq.certify` says what could be
    behind it.

    Parameters
    ----------
    log : frame or path
        See `models.log`.
    space : Space, optional
        Of the system; None: what occurs in the log, see `space_from_log`.

    Examples
    --------
    >>> import polars
    >>> rows = {"state": ["idle", "idle"], "action": ["go", "go"], "pay": [0.0, 1.0], "next_state": ["idle", "idle"]}
    >>> model = estimate(polars.DataFrame(rows))
    >>> model.labels.states, model.means.tolist()
    (('idle',), [[0.5]])
    """
    space = space_from_log(log) if space is None else space
    P, S = space.n_pairs, space.n_states
    sums, visits = np.zeros((P, space.n_outcomes)), np.zeros(P)
    moves: dict[int, float] = {}

    def take(batch: Batch) -> None:
        nonlocal visits
        visits = visits + np.bincount(batch.pair, minlength=P)
        for k in range(space.n_outcomes):
            sums[:, k] += np.bincount(batch.pair, batch.outcomes[:, k], minlength=P)
        for code, count in zip(*np.unique(batch.pair * S + batch.next_state, return_counts=True), strict=True):
            moves[int(code)] = moves.get(int(code), 0.0) + float(count)

    read_log(log, space, take)
    for pair in np.flatnonzero(visits == 0).tolist():
        moves[pair * S + int(space.state_of[pair])] = 1.0
    codes = np.array(sorted(moves))
    chances = np.array([moves[code] for code in codes.tolist()]) / np.maximum(visits, 1)[codes // S]
    return Model.from_sparse(
        space.first_pair,
        csr_array((chances, (codes // S, codes % S)), shape=(P, S)),
        np.clip(sums / np.maximum(visits, 1)[:, None], 0.0, 1.0),
        space.start,
        labels=space.labels,
    )


def space_from_log(log: Source) -> Space:
    """The states, actions and outcomes that occur in a log, with their names as labels.

    A state has the actions that were taken in it; one in which nothing was ever done has all. Columns of numbers that
    are neither states nor actions nor `t` are outcomes. The log begins in the first row's state. Where there are
    columns of labels beside the numbers, as in the `trace` of a run, the labels are the names.

    Parameters
    ----------
    log : frame or path
        See `models.log`.

    Examples
    --------
    >>> import polars
    >>> rows = {"state": ["on", "off"], "action": ["stop", "start"], "pay": [1, 0], "next_state": ["off", "on"]}
    >>> space = space_from_log(polars.DataFrame(rows))
    >>> space.labels.states, space.labels.actions, space.labels.outcomes, space.start
    (('off', 'on'), [['start'], ['stop']], ('pay',), 1)
    """
    import polars

    seen: polars.DataFrame | None = None
    outcomes: list[str] = []
    start = None
    for frame in log_frames(log, None):
        if seen is None:
            _require(frame)
            outcomes = [name for name in frame.columns if name not in _NOT_OUTCOMES and _is_number(frame[name])]
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


def _require(frame: polars.DataFrame) -> None:
    for name in ("state", "action", "next_state"):
        if name not in frame.columns:
            raise LogError(f"log: there is no column {name!r}; state, action, next_state and the outcomes are needed")


def _is_number(column: polars.Series) -> bool:
    """Whether most of what a column holds are numbers."""
    import polars

    if column.dtype == polars.Boolean or column.dtype.is_temporal():
        return False
    given = column.len() - column.null_count()
    numbers = column.cast(polars.Float64, strict=False)
    return given > 0 and numbers.len() - numbers.null_count() >= _MOSTLY * given


def _order(label: Any) -> tuple[str, float, str]:
    """Numbers by size, texts by the alphabet, and never one against the other."""
    number = label if isinstance(label, bool) else number_in(label)
    if number is not None:
        return "", float(number), str(label)
    return type(label).__name__, 0.0, str(label)
