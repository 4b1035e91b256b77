"""What a user gives to `Model.from_arrays`, `from_branches` and `from_sparse`, as arrays of branches.

Here the shapes are checked, with messages that name the place in what was given; `branches` checks the numbers.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from equipoise._types import Index, Vector
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer, checked_list, checked_numbers
from equipoise.models.branches import Branches, check_actions
from equipoise.models.labels import Labels
from equipoise.models.space import pairs_of

_TRANSITIONS: Final = "transitions[state][action] are the probabilities of the next states"
_OUTCOMES: Final = "outcomes[state][action] are the means of the outcomes, also where there is only one"


def read_arrays(transitions: Any, outcomes: Any, labels: Labels) -> Branches:
    """Read distributions and means, one of each an action of a state."""
    states = checked_list(transitions, "transitions")
    S = len(states)
    counts: list[int] = []
    nexts: list[Index] = []
    chances: list[Vector] = []
    means: list[Vector] = []
    K: int | None = None
    for s in range(S):  # before the outcomes, so that those are not blamed for axes in another order
        rows = checked_list(states[s], f"transitions, {labels.name_state(s)}")
        counts.append(len(rows))
        for a, row in enumerate(rows):
            where = f"transitions, {labels.name_pair(s, a)}"
            distribution = checked_numbers(row, where, S, "state", meaning=_TRANSITIONS)
            reached = np.flatnonzero(distribution)
            nexts.append(reached.astype(np.int64))
            chances.append(distribution[reached])
    for s, one in enumerate(checked_list(outcomes, "outcomes", S, "state")):
        for a, value in enumerate(checked_list(one, f"outcomes, {labels.name_state(s)}", counts[s], "action")):
            where = f"outcomes, {labels.name_pair(s, a)}"
            mean = checked_numbers(value, where, K, "outcome", meaning=_OUTCOMES)
            K = mean.size
            means.append(mean)
    P = len(means)
    sizes = [entry.size for entry in nexts]
    return Branches(
        first_pair=pairs_of(counts),
        first=pairs_of(sizes),
        probability=np.concatenate([np.empty(0), *chances]),
        next=np.concatenate([np.empty(0, np.int64), *nexts]),
        row=np.repeat(np.arange(P), sizes),
        rows=np.array(means).reshape(P, K or 0),
    )


def read_branches(branches: Any, labels: Labels) -> Branches:
    """Read lists of (probability, next state, outcomes), one list an action of a state."""
    counts: list[int] = []
    sizes: list[int] = []
    chances: list[float] = []
    nexts: list[int] = []
    rows: list[Vector] = []
    K: int | None = None
    states = checked_list(branches, "branches")
    for s, actions in enumerate(states):
        listed = checked_list(actions, f"branches, {labels.name_state(s)}")
        counts.append(len(listed))
        for a, action in enumerate(listed):
            cases = checked_list(action, f"branches, {labels.name_pair(s, a)}")
            sizes.append(len(cases))
            for j, case in enumerate(cases):
                where = f"{labels.name_pair(s, a)}, branch {j}"
                parts = checked_list(case, where)
                if len(parts) != 3:
                    raise ModelError(
                        f"{where}: got {len(parts)} entries; (probability, next state, outcomes) is needed"
                    )
                probability = checked_numbers([parts[0]], f"{where}, probability")
                chances.append(float(probability[0]))
                nexts.append(checked_integer(parts[1], f"{where}, next state", 0, len(states) - 1))
                mean = checked_numbers(parts[2], f"{where}, outcomes", K, "outcome")
                K = mean.size
                rows.append(mean)
    B = len(rows)
    return Branches(
        first_pair=pairs_of(counts),
        first=pairs_of(sizes),
        probability=np.array(chances, np.float64),
        next=np.array(nexts, np.int64),
        row=np.arange(B),
        rows=np.array(rows).reshape(B, K or 0),
    )


def read_sparse(first_pair: ArrayLike, transitions: Any, means: ArrayLike | csr_array, labels: Labels) -> Branches:
    """Read sparse transitions and means over the pairs."""
    first = _integers(first_pair, "first_pair")
    if first.ndim != 1 or first.size < 2 or first[0] != 0:
        raise ModelError("first_pair: a vector of S + 1 integers that starts at 0 is needed, with S at least 1")
    check_actions(first, labels)
    if not issparse(transitions):
        raise ModelError(f"transitions: got {type(transitions).__name__}; a sparse array is needed")
    given: Any = transitions
    p = given.tocsr().astype(np.float64, copy=True)
    P, S = int(first[-1]), first.size - 1
    if p.shape != (P, S):
        raise ModelError(f"transitions: got the shape {p.shape}; {(P, S)} is needed, pairs by states")
    p.sum_duplicates()
    outcomes: Any = means
    try:
        v: Any = outcomes.astype(np.float64).tocsr() if hasattr(outcomes, "tocsr") else np.array(outcomes, np.float64)
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


def _integers(x: ArrayLike, name: str) -> Index:
    try:
        array: NDArray[Any] = np.array(x)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"{name}: got numbers of type {array.dtype}; integers are needed")
    return array.astype(np.int64)
