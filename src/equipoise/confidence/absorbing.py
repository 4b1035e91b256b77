"""Counting the rows of a log, as if they had been observed.

A region says of each pair what its own visits prove, whoever decided on them; so visits under another policy count as
much as one's own. They are counted in a copy, which takes the place of the counts once the log is through.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from equipoise._compile import kernel
from equipoise._types import Vector
from equipoise.confidence.counts import Counts, add_outcome, count, enlarged, pool_is_full
from equipoise.confidence.law_counts import count_case
from equipoise.confidence.nonzero import add_nonzero, copied, more_room, outcomes_are_full
from equipoise.models.log import Batch, Source, read_log
from equipoise.models.space import Space


@kernel
def _count_rows(counts, known, pair, outcomes, next_state, first):
    """Count rows from the `first` on; returns the row before which a pool was full, or their number."""
    for i in range(first, pair.shape[0]):
        if pool_is_full(counts) or outcomes_are_full(counts.nonzero):
            return i
        for k in range(counts.sums.shape[1]):  # none if all are told, or counted apart
            add_outcome(counts, pair[i], k, outcomes[i, k])
        add_nonzero(counts.nonzero, known, pair[i], outcomes[i])
        count(counts, pair[i], next_state[i])
    return pair.shape[0]


@kernel
def _count_cases(laws, counts, outcomes, case):
    for i in range(case.shape[0]):
        count_case(laws, counts, outcomes[i], case[i])


def absorbed(counts: Counts, log: Source, space: Space) -> tuple[Counts, int, Vector]:
    """The counts with those of a log added, how many rows it has, and the sum of their outcomes.

    Parameters
    ----------
    counts : Counts
        Not changed.
    log : frame or path
        See `models.log`.
    space : Space
        Of the system.
    """
    copy = copied(counts)
    total = np.zeros(space.n_outcomes)

    def take(batch: Batch) -> None:
        nonlocal copy, total
        total = total + batch.outcomes.sum(axis=0)
        if space.laws is not None:
            _count_cases(space.laws.arrays, copy, batch.outcomes, batch.case)
            return
        done = 0
        known = space.known_mask
        while (done := _count_rows(copy, known, batch.pair, batch.outcomes, batch.next_state, done)) < batch.pair.size:
            if copy.nonzero is not None and outcomes_are_full(copy.nonzero):
                copy = copy._replace(nonzero=more_room(copy.nonzero))
            else:
                copy = enlarged(copy)

    rows = read_log(log, space, take)
    return copy, rows, total
