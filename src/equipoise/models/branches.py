"""Branches: the distribution of next states and outcomes as arrays, how they are read, checked and merged.

The branches of a pair are ``first[pair] ... first[pair + 1] - 1``: branch j is taken with probability
``probability[j]``, leads to ``next[j]``, and its outcomes have the mean ``rows[row[j]]``. `read_arrays`,
`read_branches`, `read_sparse` and `read_stored` check shapes, `Branches.check` checks numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from equipoise._files import ensure, require_pointer, require_range
from equipoise._runtime.compiler import kernel
from equipoise._types import Index, Vector
from equipoise.errors import FileError, ModelError
from equipoise.models.checks import SUM_TOLERANCE, check_integer, check_list, check_numbers
from equipoise.models.labels import Labels
from equipoise.models.outcome_rows import Rows, dense_row, entries, unpack_rows
from equipoise.models.space import count_pairs

VECTORS: Final = {
    "first_pair": np.int64,
    "branch_first": np.int64,
    "branch_probability": np.float64,
    "branch_next": np.int64,
    "branch_row": np.int64,
    "known_mask": np.bool_,
}
"""The arrays of a model's file except its rows, by name, with their types."""
_TRANSITIONS: Final = "transitions[state][action] are the probabilities of the next states"
_OUTCOMES: Final = "outcomes[state][action] are the means of the outcomes, also where there is only one"


class Branches(NamedTuple):
    """The branches of all pairs."""

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
            first=count_pairs(np.add.reduceat(kept, self.first[:-1], dtype=np.int64)),
            probability=self.probability[kept],
            next=self.next[kept],
            row=number[self.row[kept]],
            rows=self.rows[used],
        )

    def merged(self) -> csr_array:
        """Return p: one row per pair, one column per state, the branches of equal next state added up."""
        P, S = self.first.size - 1, self.first_pair.size - 1
        p = csr_array((self.probability, self.next, self.first), shape=(P, S), copy=True)
        p.sum_duplicates()
        return p

    def means(self) -> Rows:
        """Return v, exactly the row where all branches of a pair share one."""
        leading = self.row[self.first[:-1]]
        shared = np.logical_and.reduceat(self.row == np.repeat(leading, np.diff(self.first)), self.first[:-1])
        weight = np.where(np.repeat(shared, np.diff(self.first)), 0.0, self.probability)
        weight[self.first[:-1][shared]] = 1.0
        means: Any = csr_array((weight, self.row, self.first), shape=(shared.size, self.rows.shape[0])) @ self.rows
        if isinstance(means, np.ndarray):
            return np.clip(means, 0.0, 1.0)
        return csr_array((np.clip(means.data, 0.0, 1.0), means.indices, means.indptr), shape=means.shape)

    def check(self, labels: Labels) -> None:
        """Raise a `ModelError` that names the state, the action and the number that is wrong."""
        check_actions(self.first_pair, labels)
        B = self.probability.size
        if self.first.size != int(self.first_pair[-1]) + 1 or self.first_pair[0] != 0 or self.first[0] != 0:
            raise ModelError("first_pair and branch_first do not fit together")
        empty = np.flatnonzero(self.first[1:] <= self.first[:-1])  # a difference could wrap around 2^63
        if empty.size:
            raise ModelError(f"{self._pair(empty[0], labels)}: it leads nowhere; its probabilities must sum to 1")
        if self.first[-1] != B or self.next.size != B or self.row.size != B:
            raise ModelError("the arrays of branches differ in length")
        if self.row.min() < 0 or self.row.max() >= self.rows.shape[0]:
            raise ModelError("branch_row points outside of rows")
        if self.rows.shape[1] < 1:
            raise ModelError(f"{self._pair(0, labels)}, outcomes: got no entries; at least one is needed")
        self._check_numbers(labels)

    def _check_numbers(self, labels: Labels) -> None:
        """Check the numbers of arrays that fit together."""
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
    empty = np.flatnonzero(first_pair[1:] <= first_pair[:-1])  # a difference could wrap around 2^63
    if empty.size:
        raise ModelError(f"{labels.name_state(int(empty[0]))}: it has no actions; every state needs at least one")


def read_arrays(transitions: Any, outcomes: Any, labels: Labels) -> Branches:
    """Read distributions and means, one of each per action of a state."""
    states = check_list(transitions, "transitions")
    S, K = len(states), None
    counts, nexts, chances, means = list[int](), list[Index](), list[Vector](), list[Vector]()
    for s, listed in enumerate(states):  # before the outcomes, so that those are not blamed for axes in another order
        rows = check_list(listed, f"transitions, {labels.name_state(s)}")
        counts.append(len(rows))
        for a, row in enumerate(rows):
            where = f"transitions, {labels.name_pair(s, a)}"
            distribution = check_numbers(row, where, S, "state", meaning=_TRANSITIONS)
            reached = np.flatnonzero(distribution)
            nexts.append(reached.astype(np.int64))
            chances.append(distribution[reached])
    for s, one in enumerate(check_list(outcomes, "outcomes", S, "state")):
        for a, value in enumerate(check_list(one, f"outcomes, {labels.name_state(s)}", counts[s], "action")):
            where = f"outcomes, {labels.name_pair(s, a)}"
            mean = check_numbers(value, where, K, "outcome", meaning=_OUTCOMES)
            K = mean.size
            means.append(mean)
    sizes = [entry.size for entry in nexts]
    return Branches(
        first_pair=count_pairs(counts),
        first=count_pairs(sizes),
        probability=np.concatenate([np.empty(0), *chances]),
        next=np.concatenate([np.empty(0, np.int64), *nexts]),
        row=np.repeat(np.arange(len(means)), sizes),
        rows=np.array(means).reshape(len(means), K or 0),
    )


def read_branches(branches: Any, labels: Labels) -> Branches:
    """Read lists of (probability, next state, outcomes), one list per action of a state."""
    counts, sizes, chances, nexts, rows = list[int](), list[int](), list[float](), list[int](), list[Vector]()
    states, K = check_list(branches, "branches"), None
    for s, actions in enumerate(states):
        listed = check_list(actions, f"branches, {labels.name_state(s)}")
        counts.append(len(listed))
        for a, action in enumerate(listed):
            cases = check_list(action, f"branches, {labels.name_pair(s, a)}")
            sizes.append(len(cases))
            for j, case in enumerate(cases):
                where = f"{labels.name_pair(s, a)}, branch {j}"
                parts = check_list(case, where)
                if len(parts) != 3:
                    raise ModelError(
                        f"{where}: got {len(parts)} entries; (probability, next state, outcomes) is needed"
                    )
                chances.append(float(check_numbers([parts[0]], f"{where}, probability")[0]))
                nexts.append(check_integer(parts[1], f"{where}, next state", 0, len(states) - 1))
                mean = check_numbers(parts[2], f"{where}, outcomes", K, "outcome")
                K = mean.size
                rows.append(mean)
    return Branches(
        first_pair=count_pairs(counts),
        first=count_pairs(sizes),
        probability=np.array(chances, np.float64),
        next=np.array(nexts, np.int64),
        row=np.arange(len(rows)),
        rows=np.array(rows).reshape(len(rows), K or 0),
    )


def read_sparse(first_pair: ArrayLike, transitions: Any, means: ArrayLike | csr_array, labels: Labels) -> Branches:
    """Read sparse transitions and means over the pairs."""
    first = _integers(first_pair, "first_pair")
    if first.ndim != 1 or first.size < 2 or first[0] != 0:
        raise ModelError("first_pair: a vector of S + 1 integers that starts at 0 is needed, with S at least 1")
    check_actions(first, labels)
    if not issparse(transitions):
        raise ModelError(f"transitions: got {type(transitions).__name__}; a sparse array is needed")
    p = _check_rows(transitions, "transitions").astype(np.float64, copy=True)
    P, S = int(first[-1]), first.size - 1
    if p.shape != (P, S):
        raise ModelError(f"transitions: got the shape {p.shape}; {(P, S)} is needed, pairs by states")
    p.sum_duplicates()
    outcomes: Any = means
    try:
        sparse = hasattr(outcomes, "tocsr")
        v: Any = (_check_rows(outcomes, "means") if sparse else np.array(outcomes)).astype(np.float64)
    except (TypeError, ValueError):
        raise ModelError("means: not an array of numbers") from None
    if v.ndim != 2 or v.shape[0] != P:
        raise ModelError(f"means: got the shape {v.shape}; ({P}, K) is needed, pairs by outcomes")
    return Branches(
        first_pair=first,
        first=p.indptr.astype(np.int64),
        probability=p.data,
        next=p.indices.astype(np.int64),
        row=np.repeat(np.arange(P), np.diff(p.indptr)),
        rows=v,
    )


def read_stored(arrays: Mapping[str, NDArray[Any]]) -> Branches:
    """Read stored arrays; a `FileError` if a type is wrong or an index leads out of an array."""
    found: dict[str, Any] = {**arrays, "rows": unpack_rows("rows", arrays)}
    for name, dtype in {**VECTORS, "rows": np.float64}.items():
        if found.get(name) is None:
            raise FileError(f"the array {name!r} is missing")
        if found[name].dtype != dtype or found[name].ndim != (2 if name == "rows" else 1):
            raise FileError(f"the array {name!r} is {found[name].dtype} of shape {found[name].shape}")
    law = Branches(*[found[name] for name in [*list(VECTORS)[:-1], "rows"]])
    first = law.first_pair
    ensure(
        first.size > 1 and first[0] == 0 and np.all(first[1:] > first[:-1]),
        "the array 'first_pair' must begin with 0 and increase",
    )
    n_pairs = int(first[-1])
    ensure(found["known_mask"].size == n_pairs, f"the array 'known_mask' must have {n_pairs} entries")
    require_pointer(law.first, n_pairs, law.probability.size, "branch_first")
    require_range(law.next, law.probability.size, 0, first.size - 1, "branch_next")
    require_range(law.row, law.probability.size, 0, law.rows.shape[0], "branch_row")
    return law


def _check_rows(x: Any, name: str) -> Any:
    """Sparse rows whose indices are in range: some of SciPy's code follows them unchecked."""
    rows = x.tocsr()
    first, index = rows.indptr, rows.indices
    if (
        first.shape != (rows.shape[0] + 1,)
        or first[0] != 0
        or np.any(first[1:] < first[:-1])
        or not first[-1] <= index.size == rows.data.size
        or (index.size and not 0 <= index.min() <= index.max() < rows.shape[1])
    ):
        raise ModelError(f"{name}: its indptr and indices are not those of an array of shape {rows.shape}")
    return rows


def _integers(x: ArrayLike, name: str) -> Index:
    try:
        array: NDArray[Any] = np.array(x)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"{name}: got numbers of type {array.dtype}; integers are needed")
    return array.astype(np.int64)


@kernel
def cumulate(branch_first, probability, out):  # type: ignore[no-untyped-def]
    """Cumulative probabilities within each pair; the last one is exactly 1."""
    for pair in range(branch_first.shape[0] - 1):
        total = 0.0
        for j in range(branch_first[pair], branch_first[pair + 1]):
            total += probability[j]
            out[j] = min(total, 1.0)
        out[branch_first[pair + 1] - 1] = 1.0
