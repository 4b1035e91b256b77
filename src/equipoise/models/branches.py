"""The law of a world as arrays of branches: how they fit together, what is checked, what follows from them.

The pair (s, a) is number ``first_pair[s] + a``. Its branches are ``first[pair] ... first[pair + 1] - 1``: branch j is
taken with probability ``probability[j]``, leads to ``next[j]``, and its outcomes have the mean ``rows[row[j]]``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Index, Mask, Vector
from equipoise.errors import ModelError
from equipoise.models._checks import SUM_TOLERANCE
from equipoise.models.labels import Labels
from equipoise.models.rows import Rows, dense_row, entries
from equipoise.models.space import pairs_of

__all__ = ["SUM_TOLERANCE", "Branches", "check_actions"]


class Branches(NamedTuple):
    """The arrays; see the module's text."""

    first_pair: Index
    first: Index
    probability: Vector
    next: Index
    row: Index
    rows: Rows

    def taken(self) -> Branches:
        """Return the branches of positive probability, with the rows that they use."""
        kept = self.probability > 0.0
        used = np.zeros(self.rows.shape[0], np.bool_)
        used[self.row[kept]] = True
        number = np.cumsum(used) - 1
        return Branches(
            first_pair=self.first_pair,
            first=pairs_of(np.add.reduceat(kept, self.first[:-1], dtype=np.int64)),
            probability=self.probability[kept],
            next=self.next[kept],
            row=number[self.row[kept]],
            rows=self.rows[used],
        )

    def merged(self) -> csr_array:
        """Return p: one row a pair, one column a state, the branches of equal next state added up."""
        P, S = self.first.size - 1, self.first_pair.size - 1
        p = csr_array((self.probability, self.next, self.first), shape=(P, S), copy=True)
        p.sum_duplicates()
        return p

    def means(self) -> Rows:
        """Return v, exactly the row where all branches of a pair share one."""
        P, R = self.first.size - 1, self.rows.shape[0]
        leading = self.row[self.first[:-1]]
        shared = np.logical_and.reduceat(self.row == np.repeat(leading, np.diff(self.first)), self.first[:-1])
        if not isinstance(self.rows, np.ndarray):
            return self._sparse_means(shared)
        means = self.rows[leading]
        if not shared.all():
            weights = csr_array((self.probability, self.row, self.first), shape=(P, R))
            mixed: Vector = np.asarray(weights @ self.rows)[~shared]
            means[~shared] = np.clip(mixed, 0.0, 1.0)
        return means

    def _sparse_means(self, shared: Mask) -> csr_array:
        P = shared.size
        weight = np.where(np.repeat(shared, np.diff(self.first)), 0.0, self.probability)
        weight[self.first[:-1][shared]] = 1.0
        means: Any = csr_array((weight, self.row, self.first), shape=(P, self.rows.shape[0])) @ self.rows
        return csr_array((np.clip(means.data, 0.0, 1.0), means.indices, means.indptr), shape=means.shape)

    def check(self, labels: Labels) -> None:
        """Raise a `ModelError` that names the state, the action and the number that is wrong.

        Parameters
        ----------
        labels : Labels
            What states and actions are called.
        """
        self._check_pointers(labels)
        self._check_numbers(labels)

    def _check_pointers(self, labels: Labels) -> None:
        """Check that the arrays fit together, so that the other checks may index them."""
        check_actions(self.first_pair, labels)
        B = self.probability.size
        if self.first.size != self.first_pair[-1] + 1 or self.first_pair[0] != 0 or self.first[0] != 0:
            raise ModelError("first_pair and branch_first do not fit together")
        empty = np.flatnonzero(np.diff(self.first) < 1)
        if empty.size:
            raise ModelError(f"{self._pair(empty[0], labels)}: it leads nowhere; its probabilities must sum to 1")
        if self.first[-1] != B or self.next.size != B or self.row.size != B:
            raise ModelError("the arrays of branches differ in length")
        if self.row.min() < 0 or self.row.max() >= self.rows.shape[0]:
            raise ModelError("branch_row points outside of rows")
        if self.rows.shape[1] < 1:
            raise ModelError(f"{self._pair(0, labels)}, outcomes: got no entries; at least one is needed")

    def _check_numbers(self, labels: Labels) -> None:
        S = self.first_pair.size - 1
        wrong = np.flatnonzero((self.next < 0) | (self.next >= S))
        if wrong.size:
            raise ModelError(f"{self._branch(wrong[0], labels)}: there are only {S} states, 0 to {S - 1}")
        wrong = np.flatnonzero(~(np.isfinite(self.probability) & (self.probability >= 0.0)))
        if wrong.size:
            j = wrong[0]
            raise ModelError(
                f"{self._branch(j, labels)}: the probability is {self.probability[j]}; it must lie in [0, 1]"
            )
        total = np.add.reduceat(self.probability, self.first[:-1])
        off = np.flatnonzero(np.abs(total - 1.0) > SUM_TOLERANCE)
        if off.size:
            raise ModelError(
                f"{self._pair(off[0], labels)}: the probabilities sum to {total[off[0]]}; "
                f"they must sum to 1, to within {SUM_TOLERANCE}"
            )
        bad, outcome = self._outside()
        for row, k in zip(bad.tolist(), outcome.tolist(), strict=True):
            users = np.flatnonzero(self.row == row)
            if users.size:
                where, mean = self._branch(users[0], labels), dense_row(self.rows, row)[k]
                raise ModelError(f"{where}, {labels.name_outcome(k)}: the mean is {mean}; it must lie in [0, 1]")

    def _outside(self) -> tuple[Index, Index]:
        """The rows and outcomes of means outside of [0, 1]."""
        wrong = ~((entries(self.rows) >= 0.0) & (entries(self.rows) <= 1.0))
        if isinstance(self.rows, np.ndarray):
            row, outcome = map(np.asarray, np.nonzero(wrong))
        else:
            places = np.flatnonzero(wrong)
            row = np.searchsorted(self.rows.indptr, places, side="right") - 1
            outcome = np.asarray(self.rows.indices[places], dtype=np.int64)
        return row.astype(np.int64), outcome.astype(np.int64)

    def _pair(self, pair: int | np.intp, labels: Labels) -> str:
        state = int(np.searchsorted(self.first_pair, pair, side="right")) - 1
        return labels.name_pair(state, int(pair - self.first_pair[state]))

    def _branch(self, j: int | np.intp, labels: Labels) -> str:
        pair = np.searchsorted(self.first, j, side="right") - 1
        return f"{self._pair(pair, labels)}, next {labels.name_state(int(self.next[j]))}"


def check_actions(first_pair: Index, labels: Labels) -> None:
    """Raise a `ModelError` that names a state without actions, if there is one."""
    empty = np.flatnonzero(np.diff(first_pair) < 1)
    if empty.size:
        raise ModelError(f"{labels.name_state(int(empty[0]))}: it has no actions; every state needs at least one")
