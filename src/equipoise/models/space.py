"""What an agent may know of a system: the states, the start, the actions of each state, and K.

State-action pairs are numbered flat, ``pair = first_pair[s] + a``. The mean outcomes v(s,a) of some pairs may be known
in advance, and so may the mechanics of a step, with laws that are to be learnt (`Laws`).
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, lil_array

from equipoise._types import Index, Mask, Vector
from equipoise.errors import ModelError
from equipoise.models.checks import check_integer, check_list, check_numbers, check_pair
from equipoise.models.labels import Labels, check_labels
from equipoise.models.laws.known_transitions import build_table_laws, check_table_facts
from equipoise.models.laws.laws import Laws
from equipoise.models.outcome_rows import Rows, are_equal, compress, dense_row, differing_rows, make_read_only, to_array


def count_pairs(n_actions: Iterable[int]) -> Index:
    """Return first_pair, of length S + 1, from the number of actions of each state."""
    counts = n_actions if isinstance(n_actions, np.ndarray) else list(n_actions)
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


@final
class Space:
    """All that an agent may know of a system; immutable.

    Parameters
    ----------
    n_actions : sequence of int
        How many actions each state has; its length is the number of states.
    n_outcomes : int
        K, the length of the outcome vector.
    start : int
        The first state.
    known : mapping, optional
        ``{(state, action): outcome vector}``: mean outcomes known in advance.
    labels : Labels, optional
        The labels of states, actions and outcomes; they are no part of equality.
    known_transitions, same_law
        What is known of the transitions, as for `knowing`.
    sparse_outcomes : bool
        Whether nearly all outcomes of a step are zero, whatever the pair. Agents then keep only those that were ever
        not zero; regions and plans are the same up to rounding. It is no part of equality.

    Attributes
    ----------
    n_states, n_pairs, n_outcomes, start : int
        S, the number of state-action pairs, K, and s_1.
    n_actions : tuple of int
        By state.
    first_pair : numpy.ndarray
        Of length S + 1; the pairs of state s are ``first_pair[s] ... first_pair[s + 1] - 1``.
    state_of : numpy.ndarray
        The state of every pair.
    known_mask : numpy.ndarray
        Whether a pair's mean outcomes are known in advance.
    known_outcomes, known_rows : numpy.ndarray
        These, one row per pair; zero where they are not known. The second is a `scipy.sparse.csr_array` if it is large
        and nearly all zero; the first is always an array, made on first use.
    labels : Labels
        Empty unless given.
    laws : Laws or None
        What is known of the mechanics; None if nothing is known of the transitions.
    sparse_outcomes : bool
        As given; of a model, whether its mean outcomes are kept sparse.

    Examples
    --------
    >>> space = Space(n_actions=[2, 3, 1], n_outcomes=2, known={(1, 2): [0.5, 1.0]})
    >>> space.n_states, space.n_pairs, space.pair(1, 2)
    (3, 6, 4)
    >>> space.known_outcomes[4].tolist()
    [0.5, 1.0]
    """

    n_states: int
    n_pairs: int
    n_outcomes: int
    start: int
    n_actions: tuple[int, ...]
    first_pair: Index
    state_of: Index
    known_mask: Mask
    known_rows: Rows
    labels: Labels
    laws: Laws | None
    sparse_outcomes: bool

    def __init__(
        self,
        n_actions: Iterable[int],
        n_outcomes: int,
        start: int = 0,
        known: Mapping[tuple[int, int], ArrayLike] | None = None,
        labels: Labels | None = None,
        *,
        known_transitions: Mapping[tuple[int, int], Any] | None = None,
        same_law: Iterable[Mapping[tuple[int, int], Sequence[int]]] = (),
        sparse_outcomes: bool = False,
    ) -> None:
        named = check_labels(labels)
        counts = [
            check_integer(count, f"n_actions, {named.name_state(s)}", 1)
            for s, count in enumerate(check_list(n_actions, "n_actions"))
        ]
        if not counts:
            raise ModelError("n_actions: got no entries; at least one state is needed")
        K = check_integer(n_outcomes, "n_outcomes", 1)
        start = check_integer(start, "start", 0, len(counts) - 1)
        named.check(counts, K)
        if not isinstance(sparse_outcomes, bool):
            raise ModelError(f"sparse_outcomes: got {sparse_outcomes!r}; True or False is needed")
        first_pair = count_pairs(counts)
        mask = np.zeros(first_pair[-1], np.bool_)
        outcomes: Any = lil_array((int(first_pair[-1]), K)) if sparse_outcomes else np.zeros((first_pair[-1], K))
        if known is not None and not isinstance(known, Mapping):
            raise ModelError(f"known: got {known!r}; a mapping from (state, action) to outcomes is needed")
        for key, vector in (known or {}).items():
            pair = check_pair(key, first_pair, "known", named)
            where = f"known, {named.name_pair(*key)}"
            mean = check_numbers(vector, where, K, "outcome")
            wrong = np.flatnonzero(~((mean >= 0.0) & (mean <= 1.0)))
            if wrong.size:
                k = int(wrong[0])
                raise ModelError(f"{where}, {named.name_outcome(k)}: got {mean[k]}; it must lie in [0, 1]")
            mask[pair] = True
            outcomes[pair] = mean
        rows = csr_array(outcomes) if sparse_outcomes else outcomes
        plain = Space.from_arrays(first_pair, start, mask, rows, named, sparse_outcomes=sparse_outcomes)
        self.__dict__.update(plain.__dict__)
        self.__dict__["laws"] = self._laws_of(known_transitions or {}, same_law)

    def knowing(
        self,
        known_transitions: Mapping[tuple[int, int], Any] | None = None,
        same_law: Iterable[Mapping[tuple[int, int], Sequence[int]]] = (),
    ) -> Space:
        """Return the same space with known transitions.

        Parameters
        ----------
        known_transitions : mapping, optional
            From (state, action) to a distribution over next states: a mapping from states to probabilities, or one
            entry per state.
        same_law : iterable of mappings
            Groups of pairs whose next states are drawn from one law, up to a relabelling: each from (state, action) to
            a list of states. The law draws a place; the next state is the one at that place of the pair's list.

        Examples
        --------
        Two states. To stay is certain; to leave works with one unknown probability for both.

        >>> space = Space([2, 2], 1).knowing(
        ...     known_transitions={(0, 0): {0: 1.0}, (1, 0): {1: 1.0}},
        ...     same_law=[{(0, 1): [0, 1], (1, 1): [1, 0]}],
        ... )
        >>> space.laws
        Laws(common law 0; 2 given)
        """
        if self.laws is not None:
            raise ModelError("knowing: its mechanics are known already; say everything at once, of a plain space")
        laws = self._laws_of(known_transitions or {}, same_law)
        return Space.from_arrays(*self._parts(), laws, self.sparse_outcomes)

    def _laws_of(self, known_transitions: Any, same_law: Any) -> Laws | None:
        if not known_transitions and isinstance(same_law, list | tuple) and not same_law:
            return None  # before an array is made of sparse rows
        facts = check_table_facts(self, known_transitions, same_law)
        return build_table_laws(self, facts) if facts.given or facts.groups else None

    @classmethod
    def from_arrays(
        cls,
        first_pair: Index,
        start: int,
        known_mask: Mask,
        known_rows: Rows,
        labels: Labels | None = None,
        laws: Laws | None = None,
        sparse_outcomes: bool = False,
    ) -> Space:
        """Build from arrays; a `ModelError` says if they do not fit together.

        Parameters
        ----------
        first_pair, start, known_mask, known_rows, labels, laws, sparse_outcomes
            The attributes of these names.
        """
        if first_pair.dtype != np.int64 or first_pair.ndim != 1 or first_pair.size == 1 or first_pair[0] != 0:
            raise ModelError("Space, first_pair: int64 numbers are needed that begin at 0, one per state and one more")
        if np.any(first_pair[1:] <= first_pair[:-1]):
            state = int(np.argmax(first_pair[1:] <= first_pair[:-1]))
            raise ModelError(f"Space, state {state}: it has no actions; every state needs at least one")
        S, P = first_pair.size - 1, int(first_pair[-1])
        if known_mask.dtype != np.bool_ or known_mask.shape != (P,):
            raise ModelError(f"Space, known_mask: {P} truth values are needed, one for each pair")
        if known_rows.dtype != np.float64 or known_rows.shape[0] != P or known_rows.shape[1] < 1:
            raise ModelError(f"Space, known_rows: {P} rows of numbers are needed, one for each pair")
        start = check_integer(start, "start", 0, S - 1)
        if laws is not None and not laws.fits(S, P, known_rows.shape[1]):
            raise ModelError("Space, laws: they are those of another space")
        space, counts = object.__new__(cls), np.diff(first_pair)
        space.__dict__.update(
            n_states=S,
            n_pairs=P,
            n_outcomes=int(known_rows.shape[1]),
            start=start,
            n_actions=tuple(counts.tolist()),
            first_pair=make_read_only(first_pair),
            state_of=make_read_only(np.repeat(np.arange(S), counts)),
            known_mask=make_read_only(known_mask),
            known_rows=compress(known_rows),
            labels=labels or Labels(),
            laws=laws,
            sparse_outcomes=sparse_outcomes,
        )
        return space

    @functools.cached_property
    def known_outcomes(self) -> Vector:
        """The known mean outcomes, one row per pair, as an array."""
        return make_read_only(to_array(self.known_rows))

    @property
    def table(self) -> Space:
        """The same space without known mechanics: every pair has transitions of its own.

        Examples
        --------
        >>> space = Space([2, 1], 1)
        >>> space.table is space
        True
        """
        if self.laws is None:
            return self
        return Space.from_arrays(*self._parts(), sparse_outcomes=self.sparse_outcomes)

    def _parts(self) -> tuple[Index, int, Mask, Rows, Labels]:
        return self.first_pair, self.start, self.known_mask, self.known_rows, self.labels

    def pair(self, state: int, action: int) -> int:
        """Return the flat number of a state-action pair, or raise a `ModelError` if there is no such pair.

        Parameters
        ----------
        state, action : int
            Their numbers; ``space.labels`` has the number of a label.
        """
        return check_pair((state, action), self.first_pair, "pair", self.labels)

    def outcome_names(self, taken: Container[str] = ()) -> list[str]:
        """The names of the outcomes as columns of a table: their labels, or outcome_0, outcome_1, ...

        Parameters
        ----------
        taken : container of str
            Other columns of the table. A label that is among them is written as by `name_outcome`.

        Examples
        --------
        >>> Space([1], 2).outcome_names(), Space([1], 1, labels=Labels(outcomes=["sales"])).outcome_names(["sales"])
        (['outcome_0', 'outcome_1'], ['outcome 0 ("sales")'])
        """
        if self.labels.outcomes is None:
            return [f"outcome_{k}" for k in range(self.n_outcomes)]
        return [self.name_outcome(k) if name in taken else name for k, name in enumerate(self.labels.outcomes)]

    def name_state(self, state: int) -> str:
        """Name a state for a message, by its number and its label.

        Parameters
        ----------
        state : int
            Its number.

        Examples
        --------
        >>> Space([1, 1], 1, labels=Labels(states=["idle", "busy"])).name_state(1)
        'state 1 ("busy")'
        """
        return self.labels.name_state(state)

    def name_pair(self, pair: int) -> str:
        """Name a state-action pair for a message.

        Parameters
        ----------
        pair : int
            Its flat number, as from ``space.pair(state, action)``.

        Examples
        --------
        >>> Space([1, 2], 1, labels=Labels(actions=["wait", "go"])).name_pair(2)
        'state 1, action 1 ("go")'
        """
        state = int(self.state_of[pair])
        return self.labels.name_pair(state, int(pair - self.first_pair[state]))

    def name_outcome(self, outcome: int) -> str:
        """Name an outcome for a message.

        Parameters
        ----------
        outcome : int
            Its number.

        Examples
        --------
        >>> Space([1], 2, labels=Labels(outcomes=["sales", "waste"])).name_outcome(0)
        'outcome 0 ("sales")'
        """
        return self.labels.name_outcome(outcome)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Space is immutable: {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        return (
            self.start == other.start
            and np.array_equal(self.first_pair, other.first_pair)
            and np.array_equal(self.known_mask, other.known_mask)
            and are_equal(self.known_rows, other.known_rows)
            and (self.laws is other.laws or self.laws == other.laws)
        )

    __hash__ = None  # type: ignore[assignment]

    def difference(self, other: Space) -> str:
        """Say the first thing in which another space differs, labels apart; empty if nothing does.

        Parameters
        ----------
        other : Space
            The other one.

        Examples
        --------
        >>> Space([2, 1], 1).difference(Space([2, 1], 1, start=1))
        'the start is 0 here and 1 there'
        """
        for what, mine, theirs in (
            ("the number of states", self.n_states, other.n_states),
            ("the number of outcomes", self.n_outcomes, other.n_outcomes),
            ("the start", self.start, other.start),
        ):
            if mine != theirs:
                return f"{what} is {mine} here and {theirs} there"
        for s, (mine, theirs) in enumerate(zip(self.n_actions, other.n_actions, strict=True)):
            if mine != theirs:
                return f"{self.name_state(s)} has {mine} actions here and {theirs} there"
        apart = np.flatnonzero(self.known_mask != other.known_mask)
        for pair in np.union1d(apart, differing_rows(self.known_rows, other.known_rows)).tolist():
            here, there = (
                dense_row(space.known_rows, pair).tolist() if space.known_mask[pair] else "unknown"
                for space in (self, other)
            )
            return f"{self.name_pair(int(pair))}: its outcomes are {here} here and {there} there"
        if self.laws is not other.laws and self.laws != other.laws:
            here, there = (
                "its mechanics are known" if laws else "no mechanics are" for laws in (self.laws, other.laws)
            )
            return f"{here} here and {there} there" if here != there else "its mechanics are others there"
        return ""

    def __copy__(self) -> Space:
        return self

    def __deepcopy__(self, memo: object) -> Space:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writeable again, and would be of another type for the kernels.
        return Space.from_arrays, (*self._parts(), self.laws, self.sparse_outcomes)

    def __repr__(self) -> str:
        return (
            f"Space({self.n_states} states, {self.n_pairs} pairs, {self.n_outcomes} outcomes, "
            f"start={self.start}, {int(self.known_mask.sum())} known{f', {self.laws!r}' if self.laws else ''})"
        )
