"""A world: states, actions, transition probabilities and outcome laws (section 2 of the paper).

An action a in a state s leads to s' with probability p(s'|s,a) and to a random outcome vector V(s,a) in
[0,1]^K with mean v(s,a); s' and V(s,a) may depend on each other in any way, but on nothing else.

Storage. The pair (s, a) is number ``first_pair[s] + a``. A pair has *branches*: branch j is taken with
probability ``branch_probability[j]``, leads to ``branch_next[j]``, and its outcomes have the mean
``rows[branch_row[j]]``. The branches of a pair are ``branch_first[pair] ... branch_first[pair + 1] - 1``.
Given the branch, the outcomes are the mean itself (noise "none") or independent 0/1 draws with that mean
(noise "bernoulli"). From these follow p, with the branches of equal next state merged
(``transition_first``, ``transition_state``, ``transition_probability``), and v (``means``).

Nothing is ever an array of S x A x S numbers. All arrays are C-contiguous and read-only, always: compiled
loops are specialised on that.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from equipoise._files import read_npz, write_npz
from equipoise._types import Index, Mask, Vector
from equipoise.errors import FileError, ModelError
from equipoise.models import structure
from equipoise.models._checks import checked_integer, checked_list, checked_noise, checked_numbers
from equipoise.models._kernels import cumulate
from equipoise.models.space import Space, checked_pair, pairs_of, sealed
from equipoise.models.world import Seed, World

__all__ = ["Model", "Space"]

_SUM_TOLERANCE: Final = 1e-9
_KIND: Final = "model"
_VERSION: Final = 1
_STORED: Final = {
    "first_pair": (np.int64, 1),
    "branch_first": (np.int64, 1),
    "branch_probability": (np.float64, 1),
    "branch_next": (np.int64, 1),
    "branch_row": (np.int64, 1),
    "rows": (np.float64, 2),
    "known_mask": (np.bool_, 1),
}


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Model:
    """A Markov world with vectors of outcomes; immutable.

    Made by `from_arrays`, `from_branches`, `from_sparse` or `load`. A model need not be communicating;
    where that matters, `require_communicating` is called.

    Attributes
    ----------
    n_states, n_pairs, n_outcomes, start, max_successors : int
        S, the number of state-action pairs, K, s_1, and Gamma: the most next states a pair has.
    n_actions : tuple of int
        By state.
    space : Space
        All that an agent may know.
    noise : str
        "bernoulli" or "none".
    means : numpy.ndarray
        v, one row a pair.

    Examples
    --------
    >>> model = Model.from_arrays(
    ...     transitions=[[[0.9, 0.1], [0, 1]], [[1, 0]]],
    ...     outcomes=[[[0.2, 0.0], [0.0, 0.5]], [[1.0, 1.0]]],
    ... )
    >>> model
    Model(2 states, 3 pairs, 2 outcomes, start=0, noise='bernoulli')
    >>> model.n_actions, model.max_successors, model.is_communicating()
    ((2, 1), 2, True)
    >>> model.diameter()
    2.0
    """

    first_pair: Index
    branch_first: Index
    branch_probability: Vector
    branch_cumulative: Vector
    branch_next: Index
    branch_row: Index
    rows: Vector
    transition_first: Index
    transition_state: Index
    transition_probability: Vector
    means: Vector
    known_mask: Mask
    start: int
    noise: str

    @classmethod
    def from_arrays(
        cls,
        transitions: ArrayLike | Sequence[Sequence[ArrayLike]],
        outcomes: ArrayLike | Sequence[Sequence[ArrayLike]],
        start: int = 0,
        noise: str = "bernoulli",
        known: Iterable[tuple[int, int]] = (),
    ) -> Model:
        """Build from distributions and mean outcomes, the next state being independent of the outcomes.

        Parameters
        ----------
        transitions : nested sequence
            ``transitions[s][a]`` is a distribution over the S states; states may differ in their actions.
        outcomes : nested sequence
            ``outcomes[s][a]`` holds the K mean outcomes, in [0,1].
        start : int
            The first state.
        noise : {"bernoulli", "none"}
            Independent 0/1 draws with these means, or the means themselves.
        known : iterable of (state, action)
            Pairs whose mean outcomes the agent is told.

        Raises
        ------
        ModelError
            Naming the state, the action and the number that is wrong.
        """
        states = checked_list(transitions, "transitions")
        S = len(states)
        told = checked_list(outcomes, "outcomes", S, "state")
        counts: list[int] = []
        nexts: list[Index] = []
        chances: list[Vector] = []
        means: list[Vector] = []
        K: int | None = None
        for s in range(S):
            rows = checked_list(states[s], f"transitions, state {s}")
            values = checked_list(told[s], f"outcomes, state {s}", len(rows), "action")
            counts.append(len(rows))
            for a, (row, value) in enumerate(zip(rows, values, strict=True)):
                where = f"state {s}, action {a}"
                distribution = checked_numbers(row, f"transitions, {where}", S, "state")
                mean = checked_numbers(value, f"outcomes, {where}", K, "outcome")
                K = mean.size
                reached = np.flatnonzero(distribution)
                nexts.append(reached.astype(np.int64))
                chances.append(distribution[reached])
                means.append(mean)
        P = len(means)
        sizes = [entry.size for entry in nexts]
        return _assembled(
            first_pair=pairs_of(counts),
            branch_first=pairs_of(sizes),
            branch_probability=np.concatenate([np.empty(0), *chances]),
            branch_next=np.concatenate([np.empty(0, np.int64), *nexts]),
            branch_row=np.repeat(np.arange(P), sizes),
            rows=np.array(means).reshape(P, K or 0),
            start=start,
            noise=noise,
            known=known,
        )

    @classmethod
    def from_branches(
        cls,
        branches: Sequence[Sequence[Sequence[tuple[float, int, ArrayLike]]]],
        start: int = 0,
        noise: str = "none",
        known: Iterable[tuple[int, int]] = (),
    ) -> Model:
        """Build from joint laws of the next state and the outcomes.

        Parameters
        ----------
        branches : nested sequence
            ``branches[s][a]`` lists ``(probability, next_state, outcome_vector)``.
        start : int
            The first state.
        noise : {"bernoulli", "none"}
            With "none" the outcomes are the branch's vector itself; with "bernoulli" that vector is the
            mean of independent 0/1 draws.
        known : iterable of (state, action)
            Pairs whose mean outcomes the agent is told.

        Examples
        --------
        A coin that pays exactly when it moves on:

        >>> coin = [(0.5, 0, [0.0]), (0.5, 1, [1.0])]
        >>> model = Model.from_branches([[coin], [[(1.0, 0, [0.0])]]])
        >>> model.means.ravel().tolist()
        [0.5, 0.0]
        """
        counts: list[int] = []
        sizes: list[int] = []
        chances: list[float] = []
        nexts: list[int] = []
        rows: list[Vector] = []
        K: int | None = None
        states = checked_list(branches, "branches")
        for s, actions in enumerate(states):
            listed = checked_list(actions, f"branches, state {s}")
            counts.append(len(listed))
            for a, action in enumerate(listed):
                cases = checked_list(action, f"branches, state {s}, action {a}")
                sizes.append(len(cases))
                for j, case in enumerate(cases):
                    where = f"state {s}, action {a}, branch {j}"
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
        return _assembled(
            first_pair=pairs_of(counts),
            branch_first=pairs_of(sizes),
            branch_probability=np.array(chances, np.float64),
            branch_next=np.array(nexts, np.int64),
            branch_row=np.arange(B),
            rows=np.array(rows).reshape(B, K or 0),
            start=start,
            noise=noise,
            known=known,
        )

    @classmethod
    def from_sparse(
        cls,
        first_pair: ArrayLike,
        transitions: csr_array,
        means: ArrayLike,
        start: int = 0,
        noise: str = "bernoulli",
        known: Iterable[tuple[int, int]] = (),
    ) -> Model:
        """Build a large model from sparse arrays over the pairs, as `from_arrays` does from nested ones.

        Parameters
        ----------
        first_pair : array of int
            Of length S + 1; the pairs of state s are ``first_pair[s] ... first_pair[s + 1] - 1``.
        transitions : scipy.sparse.csr_array
            p, one row a pair and one column a state.
        means : array
            v, one row a pair and one column an outcome.
        start, noise, known
            As in `from_arrays`.

        Examples
        --------
        >>> model = Model.from_sparse([0, 1, 2], csr_array([[0.5, 0.5], [1.0, 0.0]]), [[0.0], [1.0]])
        >>> model.n_states, model.transitions().toarray().tolist()
        (2, [[0.5, 0.5], [1.0, 0.0]])
        """
        first = _integers(first_pair, "first_pair")
        if first.ndim != 1 or first.size < 2 or first[0] != 0:
            raise ModelError("first_pair: a vector of S + 1 integers that starts at 0 is needed, with S at least 1")
        _no_empty_state(first)
        if not issparse(transitions):
            raise ModelError(f"transitions: got {type(transitions).__name__}; a sparse array is needed")
        p = transitions.tocsr().astype(np.float64, copy=True)
        P, S = int(first[-1]), first.size - 1
        if p.shape != (P, S):
            raise ModelError(f"transitions: got the shape {p.shape}; {(P, S)} is needed, pairs by states")
        p.sum_duplicates()
        try:
            v = np.array(means, dtype=np.float64)
        except (TypeError, ValueError):
            raise ModelError("means: not an array of numbers") from None
        if v.ndim != 2 or v.shape[0] != P:
            raise ModelError(f"means: got the shape {v.shape}; ({P}, K) is needed, pairs by outcomes")
        return _assembled(
            first_pair=first,
            branch_first=p.indptr.astype(np.int64),
            branch_probability=p.data,
            branch_next=p.indices.astype(np.int64),
            branch_row=np.repeat(np.arange(P), np.diff(p.indptr)),
            rows=v,
            start=start,
            noise=noise,
            known=known,
        )

    @property
    def n_states(self) -> int:
        """S."""
        return self.first_pair.size - 1

    @property
    def n_pairs(self) -> int:
        """How many state-action pairs there are."""
        return self.branch_first.size - 1

    @property
    def n_outcomes(self) -> int:
        """K."""
        return int(self.rows.shape[1])

    @property
    def n_actions(self) -> tuple[int, ...]:
        """How many actions each state has."""
        return self.space.n_actions

    @property
    def state_of(self) -> Index:
        """The state of every pair."""
        return self.space.state_of

    @functools.cached_property
    def space(self) -> Space:
        """All that an agent may know of this world."""
        told = self.means if self.known_mask.all() else np.where(self.known_mask[:, None], self.means, 0.0)
        return Space._of_arrays(self.first_pair, self.start, self.known_mask, told)

    @functools.cached_property
    def max_successors(self) -> int:
        """Gamma, the largest number of next states that a pair has."""
        return int(np.diff(self.transition_first).max())

    def pair(self, state: int, action: int) -> int:
        """Return the flat number of a state-action pair, or raise a `ModelError` if there is no such pair."""
        return self.space.pair(state, action)

    def transitions(self) -> csr_array:
        """Return p as a sparse array, one row a pair and one column a state."""
        return csr_array(
            (self.transition_probability, self.transition_state, self.transition_first),
            shape=(self.n_pairs, self.n_states),
        )

    def is_communicating(self) -> bool:
        """Whether some policy leads from any state to any other."""
        return structure.is_communicating(self)

    def require_communicating(self) -> None:
        """Raise a `ModelError` naming who cannot reach whom, unless the model is communicating."""
        structure.require_communicating(self)

    def diameter(self, progress: bool | None = None) -> float:
        """Return D, the largest optimal expected travel time; see `structure.diameter`."""
        if "_diameter" not in self.__dict__:
            self.__dict__["_diameter"] = structure.diameter(self, progress)
        found: float = self.__dict__["_diameter"]
        return found

    def visits(self) -> Model:
        """Return the same dynamics with V(s,a) = e_s, told in advance: the outcomes count the visits.

        K is then S, and the means are a dense array of one row a pair: mind the memory in large worlds.

        >>> from equipoise.models import ring
        >>> ring(2).visits().means.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        return _assembled(
            first_pair=self.first_pair,
            branch_first=self.branch_first,
            branch_probability=self.branch_probability,
            branch_next=self.branch_next,
            branch_row=np.repeat(self.state_of, np.diff(self.branch_first)),
            rows=np.eye(self.n_states),
            start=self.start,
            noise="none",
            known=np.ones(self.n_pairs, np.bool_),
        )

    def world(self, seed: Seed, t: int = 1, state: int | None = None) -> World:
        """Return a simulator of this model that hides it; the seed decides all its randomness.

        It begins at step `t` in `state`, by default the first step and the start: ``model.world(seed, agent.t,
        agent.state)`` goes on where a simulation with that seed stopped.
        """
        return World(self, seed, t, state)

    def stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays that a file holds, here or within another file."""
        return {"start": self.start, "noise": self.noise}, {name: getattr(self, name) for name in _STORED}

    @classmethod
    def from_stored(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Model:
        """Return the model that `stored` gave the parts of, all of them checked."""
        for name, (dtype, ndim) in _STORED.items():
            if name not in arrays:
                raise FileError(f"the array {name!r} is missing")
            if arrays[name].dtype != dtype or arrays[name].ndim != ndim:
                raise FileError(f"the array {name!r} is not one that Equipoise writes")
        parts: dict[str, Any] = {name: arrays[name] for name in _STORED}
        known = parts.pop("known_mask")
        try:
            return _assembled(**parts, start=header.get("start"), noise=header.get("noise"), known=known)
        except ModelError as error:
            raise FileError(f"no well-formed model ({error})") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, exactly at `path`; the file is complete or not there at all."""
        header, arrays = self.stored()
        write_npz(path, arrays, header, _KIND, _VERSION)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model that `save` wrote; equal to it in every number.

        Raises
        ------
        FileError
            When the file is missing, damaged, or holds something else.
        """
        header, arrays = read_npz(path, _KIND, _VERSION)
        try:
            return cls.from_stored(header, arrays)
        except FileError as error:
            raise FileError(f"{path}: {error}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return (
            self.start == other.start
            and self.noise == other.noise
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _STORED)
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writeable again, and would be of another type for the kernels.
        stored = {name: getattr(self, name) for name in _STORED}
        known = stored.pop("known_mask")
        return _rebuilt, (stored | {"start": self.start, "noise": self.noise, "known": known},)

    def __repr__(self) -> str:
        return (
            f"Model({self.n_states} states, {self.n_pairs} pairs, {self.n_outcomes} outcomes, "
            f"start={self.start}, noise={self.noise!r})"
        )


def _rebuilt(stored: dict[str, Any]) -> Model:
    return _assembled(**stored)


def _assembled(
    *,
    first_pair: Index,
    branch_first: Index,
    branch_probability: Vector,
    branch_next: Index,
    branch_row: Index,
    rows: Vector,
    start: Any,
    noise: Any,
    known: Iterable[tuple[int, int]] | Mask,
) -> Model:
    """Check everything, drop branches of probability zero, and derive the rest."""
    if first_pair.size < 2:
        raise ModelError("no states: at least one is needed")
    S = first_pair.size - 1
    start = checked_integer(start, "start", 0, S - 1)
    noise = checked_noise(noise)
    _check_pointers(first_pair, branch_first, branch_probability, branch_next, branch_row, rows)
    _check_numbers(first_pair, branch_first, branch_probability, branch_next, branch_row, rows)
    known_mask = _known(known, first_pair)

    taken = branch_probability > 0.0
    counts = np.add.reduceat(taken, branch_first[:-1], dtype=np.int64)
    branch_first = pairs_of(counts)
    branch_probability, branch_next = branch_probability[taken], branch_next[taken]
    used, branch_row = np.unique(branch_row[taken], return_inverse=True)
    rows = rows[used]

    cumulative = np.empty(branch_probability.size)
    cumulate(branch_first, branch_probability, cumulative)
    P = branch_first.size - 1
    merged = csr_array((branch_probability, branch_next, branch_first), shape=(P, S), copy=True)
    merged.sum_duplicates()
    return Model(
        first_pair=sealed(first_pair.copy()),
        branch_first=sealed(branch_first),
        branch_probability=sealed(branch_probability),
        branch_cumulative=sealed(cumulative),
        branch_next=sealed(branch_next),
        branch_row=sealed(branch_row.astype(np.int64)),
        rows=sealed(rows),
        transition_first=sealed(merged.indptr.astype(np.int64)),
        transition_state=sealed(merged.indices.astype(np.int64)),
        transition_probability=sealed(merged.data),
        means=sealed(_means(branch_first, branch_probability, branch_row, rows)),
        known_mask=sealed(known_mask),
        start=start,
        noise=noise,
    )


def _means(branch_first: Index, probability: Vector, branch_row: Index, rows: Vector) -> Vector:
    """v, exactly the row where all branches of a pair share one."""
    P, R = branch_first.size - 1, rows.shape[0]
    leading = branch_row[branch_first[:-1]]
    shared = np.logical_and.reduceat(branch_row == np.repeat(leading, np.diff(branch_first)), branch_first[:-1])
    means = rows[leading]
    if not shared.all():
        weights = csr_array((probability, branch_row, branch_first), shape=(P, R))
        mixed: Vector = np.asarray(weights @ rows)[~shared]
        means[~shared] = np.clip(mixed, 0.0, 1.0)
    return means


def _known(known: Iterable[tuple[int, int]] | Mask, first_pair: Index) -> Mask:
    P = int(first_pair[-1])
    if isinstance(known, np.ndarray) and known.dtype == np.bool_:
        if known.shape != (P,):
            raise ModelError(f"known: got a mask of shape {known.shape}; ({P},) is needed")
        return known.copy()
    mask = np.zeros(P, np.bool_)
    for i, key in enumerate(checked_list(known, "known")):
        mask[checked_pair(key, first_pair, f"known[{i}]")] = True
    return mask


def _no_empty_state(first_pair: Index) -> None:
    empty = np.flatnonzero(np.diff(first_pair) < 1)
    if empty.size:
        raise ModelError(f"state {empty[0]}: it has no actions; every state needs at least one")


def _check_pointers(
    first_pair: Index,
    branch_first: Index,
    probability: Vector,
    branch_next: Index,
    branch_row: Index,
    rows: Vector,
) -> None:
    """Check that the arrays fit together, so that the other checks may index them."""
    _no_empty_state(first_pair)
    B = probability.size
    if branch_first.size != first_pair[-1] + 1 or first_pair[0] != 0 or branch_first[0] != 0:
        raise ModelError("first_pair and branch_first do not fit together")
    empty = np.flatnonzero(np.diff(branch_first) < 1)
    if empty.size:
        raise ModelError(f"{_name(first_pair, empty[0])}: it leads nowhere; its probabilities must sum to 1")
    if branch_first[-1] != B or branch_next.size != B or branch_row.size != B:
        raise ModelError("the arrays of branches differ in length")
    if branch_row.min() < 0 or branch_row.max() >= rows.shape[0]:
        raise ModelError("branch_row points outside of rows")
    if rows.shape[1] < 1:
        raise ModelError(f"{_name(first_pair, 0)}, outcomes: got no entries; at least one is needed")


def _check_numbers(
    first_pair: Index,
    branch_first: Index,
    probability: Vector,
    branch_next: Index,
    branch_row: Index,
    rows: Vector,
) -> None:
    def branch_name(j: np.intp) -> str:
        pair = np.searchsorted(branch_first, j, side="right") - 1
        return f"{_name(first_pair, pair)}, next state {branch_next[j]}"

    S = first_pair.size - 1
    wrong = np.flatnonzero((branch_next < 0) | (branch_next >= S))
    if wrong.size:
        raise ModelError(f"{branch_name(wrong[0])}: there are only {S} states, 0 to {S - 1}")
    wrong = np.flatnonzero(~(np.isfinite(probability) & (probability >= 0.0)))
    if wrong.size:
        j = wrong[0]
        raise ModelError(f"{branch_name(j)}: the probability is {probability[j]}; it must lie in [0, 1]")
    total = np.add.reduceat(probability, branch_first[:-1])
    off = np.flatnonzero(np.abs(total - 1.0) > _SUM_TOLERANCE)
    if off.size:
        raise ModelError(
            f"{_name(first_pair, off[0])}: the probabilities sum to {total[off[0]]}; "
            f"they must sum to 1, to within {_SUM_TOLERANCE}"
        )
    bad, outcome = np.nonzero(~((rows >= 0.0) & (rows <= 1.0)))
    for row, k in zip(bad, outcome, strict=True):
        users = np.flatnonzero(branch_row == row)
        if users.size:
            raise ModelError(f"{branch_name(users[0])}, outcome {k}: the mean is {rows[row, k]}; it must lie in [0, 1]")


def _name(first_pair: Index, pair: int | np.intp) -> str:
    state = int(np.searchsorted(first_pair, pair, side="right")) - 1
    return f"state {state}, action {int(pair - first_pair[state])}"


def _integers(x: ArrayLike, name: str) -> Index:
    try:
        array: NDArray[Any] = np.array(x)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"{name}: got numbers of type {array.dtype}; integers are needed")
    return array.astype(np.int64)
