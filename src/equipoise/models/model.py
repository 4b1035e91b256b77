"""A model: states, actions, transition probabilities and distributions of outcomes (section 2 of the paper).

An action a in a state s leads to s' with probability p(s'|s,a) and to a random outcome vector V(s,a) in
[0,1]^K with mean v(s,a); s' and V(s,a) may depend on each other in any way, but on nothing else.

The pair (s, a) is number ``first_pair[s] + a``. Branch j of a pair is taken with probability
``branch_probability[j]``, leads to ``branch_next[j]``, and its outcomes have the mean ``rows[branch_row[j]]``:
they are that mean (noise "none") or independent 0/1 draws with it (noise "bernoulli"). From the branches follow
p, those of equal next state merged, and v (``means``). Nothing is ever an array of S x A x S numbers. All arrays
are C-contiguous and read-only: compiled loops are specialised on that.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, eye_array

from equipoise._files import blaming, ensure, load_array, read_npz, write_npz
from equipoise._types import Index, Mask, Vector
from equipoise.errors import FileError, ModelError
from equipoise.models import communication, travel_times
from equipoise.models.branches import VECTORS, Branches, cumulate, read_arrays, read_branches, read_sparse, read_stored
from equipoise.models.checks import check_integer, check_list, check_noise, check_pair
from equipoise.models.labels import Labels, check_labels
from equipoise.models.laws.laws import Laws
from equipoise.models.laws.validate import find_conflict
from equipoise.models.log import Source
from equipoise.models.outcome_rows import Rows, are_equal, compress, make_read_only, mask_rows, pack_rows, to_array
from equipoise.models.space import Space
from equipoise.models.world import Seed, World

__all__ = ["Model", "Space"]

_KIND: Final = "model"  # of a file
_VERSION: Final = 1


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Model:
    """A Markov model with vectors of outcomes; immutable.

    Made by `from_arrays`, `from_branches`, `from_sparse`, `estimate` or `load`, which check everything; its constructor
    and `dataclasses.replace` raise a `ModelError`. A model need not be communicating; see `require_communicating`.

    Attributes
    ----------
    n_states, n_pairs, n_outcomes, start, max_successors : int
        S, the number of state-action pairs, K, s_1, and Gamma: the largest number of next states of a pair.
    n_actions : tuple of int
        By state.
    space : Space
        All that an agent may know.
    noise : str
        "bernoulli" or "none".
    means, mean_rows : numpy.ndarray
        v, one row per pair. The second is a `scipy.sparse.csr_array` if it is large and nearly all zero, as for a
        large `visits`; the first is always an array, made on first use.
    labels : Labels
        The labels of states, actions and outcomes; empty unless given.
    known_mask : numpy.ndarray
        The pairs whose mean outcomes the agent knows in advance.
    first_pair : numpy.ndarray
        The pairs of state s are those from first_pair[s] to first_pair[s + 1].
    branch_first, branch_probability, branch_cumulative, branch_next, branch_row, rows, outcome_rows : numpy.ndarray
        What a step draws from. The branches of a pair begin at branch_first[pair]; each has a probability, the sum of
        it and those before, a next state, and the row of `rows` with its mean outcomes. `outcome_rows` are these rows
        too, sparse if they are large and nearly all zero.
    transition_first, transition_state, transition_probability : numpy.ndarray
        The distribution of the next state: for each pair, from transition_first[pair] on, the states that can follow,
        in increasing order, and their probabilities.
    laws, branch_case : Laws, numpy.ndarray, or None
        Of a model made by a `Mechanics`: its laws, and for each branch the case of the mechanics.

    Examples
    --------
    >>> model = Model.from_arrays(
    ...     transitions=[[[0.9, 0.1], [0, 1]], [[1, 0]]],
    ...     outcomes=[[[0.2, 0.0], [0.0, 0.5]], [[1.0, 1.0]]],
    ...     labels=Labels(states=["idle", "busy"], actions=["wait", "start"], outcomes=["work", "heat"]),
    ... )
    >>> model
    Model(2 states, 3 pairs, 2 outcomes, start=0, noise='bernoulli')
    >>> model.n_actions, model.max_successors, model.is_communicating()
    ((2, 1), 2, True)
    >>> model.diameter()
    2.0
    >>> model.labels.state_index("busy"), model.labels.name_pair(0, 1)
    (1, 'state 0 ("idle"), action 1 ("start")')
    """

    first_pair: Index
    branch_first: Index
    branch_probability: Vector
    branch_cumulative: Vector
    branch_next: Index
    branch_row: Index
    outcome_rows: Rows
    transition_first: Index
    transition_state: Index
    transition_probability: Vector
    mean_rows: Rows
    known_mask: Mask
    start: int
    noise: str
    labels: Labels
    laws: Laws | None = None
    branch_case: Index | None = None

    @classmethod
    def from_arrays(
        cls,
        transitions: ArrayLike | Sequence[Sequence[ArrayLike]],
        outcomes: ArrayLike | Sequence[Sequence[ArrayLike]],
        start: int = 0,
        noise: str = "bernoulli",
        known: Iterable[tuple[int, int]] = (),
        labels: Labels | None = None,
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
            Pairs whose mean outcomes the agent knows in advance.
        labels : Labels, optional
            The labels of states, actions and outcomes.
        """
        named = check_labels(labels)
        return cls.from_parts(read_arrays(transitions, outcomes, named), start, noise, known, named)

    @classmethod
    def from_branches(
        cls,
        branches: Sequence[Sequence[Sequence[tuple[float, int, ArrayLike]]]],
        start: int = 0,
        noise: str = "none",
        known: Iterable[tuple[int, int]] = (),
        labels: Labels | None = None,
    ) -> Model:
        """Build from joint distributions of the next state and the outcomes.

        Parameters
        ----------
        branches : nested sequence
            ``branches[s][a]`` lists ``(probability, next_state, outcome_vector)``.
        start, noise, known, labels
            As in `from_arrays`. With noise "none" the outcomes are the branch's vector itself.

        Examples
        --------
        A coin that pays exactly when it moves on:

        >>> coin = [(0.5, 0, [0.0]), (0.5, 1, [1.0])]
        >>> model = Model.from_branches([[coin], [[(1.0, 0, [0.0])]]])
        >>> model.means.ravel().tolist()
        [0.5, 0.0]
        """
        named = check_labels(labels)
        return cls.from_parts(read_branches(branches, named), start, noise, known, named)

    @classmethod
    def from_sparse(
        cls,
        first_pair: ArrayLike,
        transitions: csr_array,
        means: ArrayLike | csr_array,
        start: int = 0,
        noise: str = "bernoulli",
        known: Iterable[tuple[int, int]] = (),
        labels: Labels | None = None,
    ) -> Model:
        """Build a large model from sparse arrays over the pairs.

        Parameters
        ----------
        first_pair : array of int
            Of length S + 1; the pairs of state s are ``first_pair[s] ... first_pair[s + 1] - 1``.
        transitions : scipy.sparse.csr_array
            p, one row per pair and one column per state.
        means : array or scipy.sparse.csr_array
            v, one row per pair and one column per outcome.
        start, noise, known, labels
            As in `from_arrays`.

        Examples
        --------
        >>> model = Model.from_sparse([0, 1, 2], csr_array([[0.5, 0.5], [1.0, 0.0]]), [[0.0], [1.0]])
        >>> model.n_states, model.transitions().toarray().tolist()
        (2, [[0.5, 0.5], [1.0, 0.0]])
        """
        named = check_labels(labels)
        return cls.from_parts(read_sparse(first_pair, transitions, means, named), start, noise, known, named)

    @classmethod
    def estimate(cls, log: Source, space: Space | None = None) -> Model:
        """Estimate a model from a log: relative frequencies and mean outcomes.

        The model has only the states and actions that were tried; its labels then say which they are. It starts where
        the space does or, if nothing was tried there, where the log does. A `LogError` says if the log enters a state
        in which nothing was done. `eq.confidence.intervals` bounds the error of the estimates, and `eq.certify` says
        how good any policy could be, untried actions included.

        Parameters
        ----------
        log : frame or path
            A polars or pandas frame, or the path of a Parquet or CSV file, with the columns state, action, one for
            each outcome, and next_state.
        space : Space, optional
            Of the system; None: the states, actions and outcomes that occur in the log.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.riverswim(3)
        >>> old = eq.agents.baselines.StationaryAgent(model.space, eq.rewards.Linear([1.0]))
        >>> guess = Model.estimate(eq.simulate(model, old, 20_000, trace=True).trace, model.space)
        >>> float(abs(guess.transitions() - model.transitions()).max()) < 0.05
        True

        Of two actions one was tried:

        >>> import polars
        >>> log = polars.DataFrame({"state": [0, 0], "action": [1, 1], "outcome_0": [0.5, 1.0], "next_state": [0, 0]})
        >>> part = Model.estimate(log, eq.Space([2], 1))
        >>> part.n_actions, part.labels.actions, part.means.tolist()
        ((1,), [[1]], [[0.75]])
        """
        from equipoise.models.estimated_model import estimate

        return estimate(log, space)

    @classmethod
    def from_parts(
        cls, given: Branches, start: Any, noise: Any, known: Iterable[tuple[int, int]] | Mask, labels: Labels
    ) -> Model:
        """Build from branches: check everything, drop those of probability zero, and derive the rest.

        Parameters
        ----------
        given : Branches
            All that may follow each pair.
        start, noise, known, labels
            As in `from_arrays`.
        """
        first_pair = given.first_pair
        if first_pair.size < 2:
            raise ModelError("no states: at least one is needed")
        labels.check(np.diff(first_pair).tolist(), given.rows.shape[1])
        start = check_integer(start, "start", 0, first_pair.size - 2)
        noise = check_noise(noise)
        given.check(labels)
        known_mask = _known(known, first_pair, labels)
        law = given.taken()
        cumulative = np.empty(law.probability.size)
        cumulate(law.first, law.probability, cumulative)
        merged = law.merged()
        states, chances = merged.indices.astype(np.int64), merged.data
        if np.array_equal(states, law.next) and np.array_equal(chances, law.probability):
            states, chances = law.next, law.probability  # one array for both: a third of a large model's memory
        return cls._of(
            first_pair=make_read_only(first_pair.copy()),
            branch_first=make_read_only(law.first),
            branch_probability=make_read_only(law.probability),
            branch_cumulative=make_read_only(cumulative),
            branch_next=make_read_only(law.next),
            branch_row=make_read_only(law.row),
            outcome_rows=compress(law.rows),
            transition_first=make_read_only(merged.indptr.astype(np.int64)),
            transition_state=make_read_only(states),
            transition_probability=make_read_only(chances),
            mean_rows=compress(law.means()),
            known_mask=make_read_only(known_mask),
            start=start,
            noise=noise,
            labels=labels,
        )

    def with_laws(self, laws: Laws, branch_case: Index) -> Model:
        """Return the same model with the laws that its branches were made of; a `ModelError` if they do not fit.

        Parameters
        ----------
        laws : Laws
            Of the mechanics that made it.
        branch_case : int array
            The case of each branch.
        """
        cases, pair = np.asarray(branch_case), np.repeat(np.arange(self.n_pairs), np.diff(self.branch_first))
        if not (
            laws.fits(self.n_states, self.n_pairs, self.n_outcomes)
            and cases.dtype == np.int64
            and cases.shape == pair.shape
            and np.all((laws.first_case[pair] <= cases) & (cases < laws.first_case[pair + 1]))
            and np.array_equal(laws.case_next[cases], self.branch_next)
        ):
            raise ModelError(
                "with_laws: the laws are those of another model, or the cases are not those of its branches"
            )
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return self._of(**parts | {"laws": laws, "branch_case": make_read_only(cases.copy())})

    @classmethod
    def _of(cls, *, laws: Laws | None = None, branch_case: Index | None = None, **parts: Any) -> Model:
        """Build from fields that are known to be right."""
        model = object.__new__(cls)
        model.__dict__.update(parts, laws=laws, branch_case=branch_case)
        return model

    def __post_init__(self) -> None:
        """Raise: kernels follow these arrays unchecked, so all must go through `from_parts`."""
        raise ModelError(
            "Model: its fields cannot be given or replaced, as nothing would check that they fit together; make a "
            "model by from_arrays, from_branches, from_sparse, estimate or load"
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
        return int(self.outcome_rows.shape[1])

    @functools.cached_property
    def means(self) -> Vector:
        """V, one row per pair, as an array."""
        return make_read_only(to_array(self.mean_rows))

    @functools.cached_property
    def rows(self) -> Vector:
        """The mean outcomes of branches, as an array."""
        return make_read_only(to_array(self.outcome_rows))

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
        known_outcomes = mask_rows(self.mean_rows, self.known_mask)
        sparse = not isinstance(self.mean_rows, np.ndarray)
        return Space.from_arrays(
            self.first_pair, self.start, self.known_mask, known_outcomes, self.labels, sparse_outcomes=sparse
        )

    @functools.cached_property
    def mechanics_space(self) -> Space:
        """The space of an agent that knows the dynamics of this model; `space`, if it has no mechanics.

        >>> import equipoise as eq
        >>> shop = eq.mechanics.inventory()
        >>> shop.model().mechanics_space == shop.space, shop.model().space == shop.space
        (True, False)
        """
        space = self.space
        if self.laws is None:
            return space
        parts = (space.first_pair, space.start, space.known_mask, space.known_rows, space.labels)
        return Space.from_arrays(*parts, self.laws, space.sparse_outcomes)

    @functools.cached_property
    def mechanics_conflict(self) -> str:
        """How this model contradicts the given laws of its mechanics, in words; empty if it does not.

        >>> import equipoise as eq
        >>> coin = eq.Mechanics(lambda s, a, w: (s, [w]), 0, [0], ["x"], {"w": [0, 1]}, given={"w": [0.5, 0.5]})
        >>> coin.model().mechanics_conflict, len(coin.model(w=[0.3, 0.7]).mechanics_conflict) > 0
        ('', True)
        """
        laws = self.laws
        if laws is None or self.branch_case is None or laws.arrays.learnt == laws.arrays.first_value.size - 1:
            return ""  # no law is given
        return find_conflict(self, self.mechanics_space, self.branch_case)

    @functools.cached_property
    def max_successors(self) -> int:
        """Gamma, the largest number of next states that a pair has."""
        return int(np.diff(self.transition_first).max())

    def pair(self, state: int, action: int) -> int:
        """Return the flat number of a state-action pair, or raise a `ModelError` if there is no such pair.

        Parameters
        ----------
        state, action : int
            Their numbers; ``model.labels`` has the number of a label.
        """
        return self.space.pair(state, action)

    def transitions(self) -> csr_array:
        """Return p as a sparse array, one row per pair and one column per state."""
        return csr_array(
            (self.transition_probability, self.transition_state, self.transition_first),
            shape=(self.n_pairs, self.n_states),
        )

    def is_communicating(self) -> bool:
        """Whether some policy leads from any state to any other."""
        return self._communicating

    @functools.cached_property
    def _communicating(self) -> bool:
        return communication.is_communicating(self)

    def require_communicating(self) -> None:
        """Raise a `ModelError` naming who cannot reach whom, unless the model is communicating."""
        if not self.is_communicating():
            communication.require_communicating(self)

    def diameter(self, progress: bool | None = None, *, limit: float = travel_times.WORK) -> float:
        """Return D, the largest optimal expected travel time, computed once.

        Parameters
        ----------
        progress, limit
            As for `equipoise.models.diameter`.
        """
        if "_diameter" not in self.__dict__:
            self.__dict__["_diameter"] = travel_times.diameter(self, progress, limit=limit)
        longest: float = self.__dict__["_diameter"]
        return longest

    def visits(self) -> Model:
        """Return the same dynamics with V(s,a) = e_s, known in advance: the outcomes count the visits.

        K is then S, outcome k has the label of state k, and in large models the means are sparse.

        >>> from equipoise.models import ring
        >>> ring(2).visits().means.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        law = Branches(
            first_pair=self.first_pair,
            first=self.branch_first,
            probability=self.branch_probability,
            next=self.branch_next,
            row=np.repeat(self.state_of, np.diff(self.branch_first)),
            rows=eye_array(self.n_states, format="csr"),
        )
        known = np.ones(self.n_pairs, np.bool_)
        return Model.from_parts(law, self.start, "none", known, self.labels.visits())

    def restricted(self) -> Model:
        """Return the part of this model that decides its long-run averages; the model itself, if that is all of it.

        Left out are states that no policy reaches from the start, and states outside of the one class that is never
        left again, if no policy can stay outside of it: the optimum is the same. The new start is the first state of
        that class that is met. What is left need not be communicating. Laws of a mechanics are not kept.

        Examples
        --------
        State 2 is never reached, and state 0 is only passed.

        >>> ways = [[[0, 1, 0, 0]], [[0, 0.5, 0, 0.5]], [[1, 0, 0, 0]], [[0, 1, 0, 0]]]
        >>> model = Model.from_arrays(ways, [[[0.0]]] * 4, labels=Labels(states=["begin", "up", "never", "down"]))
        >>> model.is_communicating(), model.restricted().is_communicating(), model.restricted().labels.states
        (False, True, ('up', 'down'))
        """
        return communication.restricted(self)

    def world(self, seed: Seed, t: int = 1, state: int | None = None) -> World:
        """Return a simulator of this model that hides it; the seed decides all its randomness.

        ``model.world(seed, agent.t, agent.state)`` continues where a simulation with that seed stopped.

        Parameters
        ----------
        seed, t, state
            As for `equipoise.models.World`.
        """
        return World(self, seed, t, state)

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a file, without the labels: the numbers on which runs depend."""
        vectors = {name: getattr(self, name) for name in VECTORS}
        last = {"known_mask": vectors.pop("known_mask")}
        return {"start": self.start, "noise": self.noise}, vectors | pack_rows("rows", self.outcome_rows) | last

    @classmethod
    def unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Model:
        """Return the model that `pack` gave the parts of, all of them checked.

        Parameters
        ----------
        header, arrays : mapping
            What `pack` gave; the header may have ``labels.pack()`` under ``labels``.
        """
        law = read_stored(arrays)
        labels = Labels.unpack(header.get("labels") or {})
        try:
            model = cls.from_parts(law, header.get("start"), header.get("noise"), arrays["known_mask"], labels)
        except ModelError as error:
            raise FileError(str(error)) from None
        if "laws" not in header:
            return model
        parts = {name.removeprefix("laws."): part for name, part in arrays.items() if name.startswith("laws.")}
        laws = Laws.unpack(header["laws"], parts, model.n_states, model.n_pairs)
        n_outcomes = laws.arrays.rows.shape[1]
        ensure(n_outcomes == model.n_outcomes, f"the array 'laws.rows' has {n_outcomes} outcomes")
        cases = load_array(arrays, "branch_case", model.branch_next)
        try:
            return model.with_laws(laws, cases)
        except ModelError:
            raise FileError("the array 'branch_case' has cases of another model") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model with its labels to one file; the file is complete or not there at all.

        Parameters
        ----------
        path : str or PathLike
            Used as given: no suffix is added.
        """
        header, arrays = self.pack()
        labels = self.labels.pack()
        header |= {"labels": labels} if labels else {}
        if self.laws is not None and self.branch_case is not None:
            header["laws"], parts = self.laws.pack()
            arrays |= {f"laws.{name}": part for name, part in parts.items()} | {"branch_case": self.branch_case}
        write_npz(path, arrays, header, _KIND, _VERSION)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model that `save` wrote; a `FileError` if the file is missing, damaged, or something else.

        Parameters
        ----------
        path : str or PathLike
            The file.
        """
        header, arrays = read_npz(path, _KIND, _VERSION)
        with blaming(path, "holds no well-formed model"):
            return cls.unpack(header, arrays)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return (
            self.start == other.start
            and self.noise == other.noise
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in VECTORS)
            and are_equal(self.outcome_rows, other.outcome_rows)
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writeable again, and would be of another type for the kernels.
        header, arrays = self.pack()
        return _rebuilt, (header, arrays, self.labels, self.laws, self.branch_case)

    def __repr__(self) -> str:
        return (
            f"Model({self.n_states} states, {self.n_pairs} pairs, {self.n_outcomes} outcomes, "
            f"start={self.start}, noise={self.noise!r})"
        )


def _rebuilt(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], labels: Labels, laws: Laws | None, cases: Index | None
) -> Model:
    """Rebuild a model from a pickle; its labels may be of kinds that no file can hold."""
    law = read_stored(arrays)
    model = Model.from_parts(law, header["start"], header["noise"], arrays["known_mask"], labels)
    return model if laws is None or cases is None else model.with_laws(laws, cases)


def _known(known: Iterable[tuple[int, int]] | Mask, first_pair: Index, labels: Labels) -> Mask:
    P = int(first_pair[-1])
    if isinstance(known, np.ndarray) and known.dtype == np.bool_:
        if known.shape != (P,):
            raise ModelError(f"known: got a mask of shape {known.shape}; ({P},) is needed")
        return known.copy()
    mask = np.zeros(P, np.bool_)
    for i, key in enumerate(check_list(known, "known")):
        mask[check_pair(key, first_pair, f"known[{i}]", labels)] = True
    return mask
