r"""The unknown laws of a space: what is drawn at a step, what follows from it, and what of it is seen.

**Laws.** A law is an unknown distribution over finitely many values. At a step in the pair (s, a) some laws are drawn
from, one after the other and independently. What was drawn decides the next state and the outcomes, by mechanics that
are known. Laws that are given in advance are among them; there is nothing to learn of these.

**The graph.** What may follow a pair is a tree: an inner node draws from a law, and its children are the values. A leaf
is a next state with a row of outcomes. Equal parts are kept once, within a pair and from pair to pair, so that all
trees together are one graph without cycles. A node whose children are all the same is replaced by that child: what is
drawn there does not matter.

**Cases.** The possible results of a step in a pair, one for each combination of values, are its cases. Of each it is
known which laws are seen, and with which value. Whether a law is seen at all depends on the pair and on what was seen
before in the same step, never on what is hidden; so the values seen of a law are a sample of it (docs/mechanics.md).

**Units** are what is counted and has a region of its own: first the laws to be learnt, then the rows of outcomes whose
means are unknown. A confidence sees a table whose pairs are the units and whose states are the values.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from equipoise._types import Index
from equipoise.errors import FileError, ModelError
from equipoise.models._label_rows import Label, plain, rich


class LawArrays(NamedTuple):
    """What kernels read of the laws. "Place" is a number among leaves and nodes: leaves first, then nodes.

    Attributes
    ----------
    learnt : int
        How many laws are to be learnt: these come first, those given after them.
    n_values : int
        The most values that any of those to be learnt has.
    first_value : int array, one entry a law and one more
        Where its values begin in `probability`.
    probability : float array
        Of each value of a given law; zero for the others.
    leaf_next, leaf_row : int arrays, one entry a leaf
        The next state, and the row of outcomes.
    rows : float array
        The outcomes, one row each; of a row whose means are unknown, zeros.
    row_unit : int array, one entry a row
        The unit of a row whose means are unknown, else -1.
    node_law, node_first : int arrays, one entry a node (and one more)
        The law that it draws from, and where its children begin.
    child : int array
        The places of the children, one for each value of the law; a node comes after its children.
    root : int array, one entry a pair
        The place where a step in it begins.
    seen_first, seen_unit, seen_value : int arrays
        What is seen in a case, from seen_first[case] on: units and values.
    outcome_unit : int array, one entry a case
        The unit to which its outcomes belong, or -1 if they are known.
    tested_first, tested : int arrays
        From tested_first[pair] on, the units that can be seen in a pair: their visits may end an episode.
    """

    learnt: int
    n_values: int
    first_value: NDArray[np.int64]
    probability: NDArray[np.float64]
    leaf_next: NDArray[np.int64]
    leaf_row: NDArray[np.int64]
    rows: NDArray[np.float64]
    row_unit: NDArray[np.int64]
    node_law: NDArray[np.int64]
    node_first: NDArray[np.int64]
    child: NDArray[np.int64]
    root: NDArray[np.int64]
    seen_first: NDArray[np.int64]
    seen_unit: NDArray[np.int64]
    seen_value: NDArray[np.int64]
    outcome_unit: NDArray[np.int64]
    tested_first: NDArray[np.int64]
    tested: NDArray[np.int64]


_COUNTS: Final = ("learnt", "n_values")
_FLOATS: Final = ("probability", "rows")
_ARRAYS: Final = tuple(name for name in LawArrays._fields if name not in _COUNTS)
_CASES: Final = ("first_case", "case_next", "case_row")


@final
class Laws:
    """The laws of a space; immutable. Made by `Mechanics`, or by a `Space` that is told about its transitions.

    Attributes
    ----------
    names : tuple of str
        Of the laws to be learnt.
    values : tuple of tuples
        The labels of the values of each.
    noises : tuple of str
        The names of what is drawn at a step, in the order in which it is drawn.
    supports : tuple of tuples
        The values that each noise can have.
    hidden : tuple of str
        Those that are not seen, but inferred from the next state, the outcomes and the others.
    always : bool
        Whether what is seen of a law in a pair never depends on the other noises.
    arrays : LawArrays
        What kernels read.
    first_case : int array, one entry a pair and one more
        Where the cases of a pair begin.
    case_next, case_row : int arrays, one entry a case
        What follows.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Label, ...], ...]
    noises: tuple[str, ...]
    supports: tuple[tuple[Label, ...], ...]
    hidden: tuple[str, ...]
    always: bool
    arrays: LawArrays
    first_case: Index
    case_next: Index
    case_row: Index

    def __init__(
        self,
        names: tuple[str, ...],
        values: tuple[tuple[Label, ...], ...],
        noises: tuple[str, ...],
        supports: tuple[tuple[Label, ...], ...],
        hidden: tuple[str, ...],
        always: bool,
        arrays: LawArrays,
        cases: tuple[Index, Index, Index],
    ) -> None:
        kept: dict[str, Any] = {name: _sealed(getattr(arrays, name), name in _FLOATS) for name in _ARRAYS}
        first_case, case_next, case_row = (_sealed(part, False) for part in cases)
        self.__dict__.update(
            names=names,
            values=values,
            noises=noises,
            supports=supports,
            hidden=hidden,
            always=always,
            arrays=arrays._replace(**kept),
            first_case=first_case,
            case_next=case_next,
            case_row=case_row,
        )

    @property
    def n_units(self) -> int:
        """How many units are counted: laws to be learnt, and rows of outcomes with unknown means."""
        return self.arrays.learnt + int(np.count_nonzero(self.arrays.row_unit >= 0))

    @functools.cached_property
    def revealing(self) -> bool:
        """Whether every law is seen in all pairs in which it matters, so that what is not known is learnt by using it.

        It is so unless a noise is hidden and there are others: then an observation may leave open which of them had
        which value.
        """
        arrays = self.arrays
        if not self.always:
            return False
        matters = [0] * (arrays.leaf_next.size + arrays.node_law.size)  # sets of laws, as bits
        for node, law in enumerate(arrays.node_law.tolist()):
            bits = 1 << law if law < arrays.learnt else 0
            for place in arrays.child[arrays.node_first[node] : arrays.node_first[node + 1]].tolist():
                bits |= matters[place]
            matters[arrays.leaf_next.size + node] = bits
        for pair, root in enumerate(arrays.root.tolist()):
            seen = 0
            for unit in arrays.tested[arrays.tested_first[pair] : arrays.tested_first[pair + 1]].tolist():
                seen |= 1 << unit
            if matters[root] & ~seen:
                return False
        return True

    def seen_supports(self) -> dict[str, tuple[Label, ...]]:
        """The values of each noise that is seen."""
        named = zip(self.noises, self.supports, strict=True)
        return {name: support for name, support in named if name not in self.hidden}

    def noise_of(self, case: int, pair: int) -> dict[str, Label]:
        """The values of all noises in a case.

        Parameters
        ----------
        case : int
            Its number.
        pair : int
            The pair that it belongs to.
        """
        sizes = tuple(len(support) for support in self.supports)
        places = np.unravel_index(case - int(self.first_case[pair]), sizes) if sizes else ()
        return {name: support[int(i)] for name, support, i in zip(self.noises, self.supports, places, strict=True)}

    # -- in files ----------------------------------------------------------------------------------------------

    def stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return a header and arrays, as a file holds them."""
        header = {
            "names": list(self.names),
            "values": [[plain(one) for one in row] for row in self.values],
            "noises": list(self.noises),
            "supports": [[plain(one) for one in row] for row in self.supports],
            "hidden": list(self.hidden),
            "always": self.always,
            **{name: getattr(self.arrays, name) for name in _COUNTS},
        }
        arrays = {name: getattr(self.arrays, name) for name in _ARRAYS}
        return header, arrays | {name: getattr(self, name) for name in _CASES}

    @classmethod
    def from_stored(cls, header: Any, arrays: Mapping[str, NDArray[Any]], n_states: int, n_pairs: int) -> Laws:
        """Return the laws that `stored` gave, checked: kernels follow every index without looking.

        Parameters
        ----------
        header, arrays
            What `stored` returned.
        n_states, n_pairs : int
            Of the space that they belong to.
        """
        try:
            parts: dict[str, Any] = {name: header[name] for name in _COUNTS}
            for name in (*_ARRAYS, *_CASES):
                part = arrays[name]
                wanted = np.dtype(np.float64 if name in _FLOATS else np.int64)
                if part.dtype != wanted or part.ndim != (2 if name == "rows" else 1):
                    raise FileError(f"the array {name!r} of its laws is not one that Equipoise writes")
                parts[name] = part
            cases = (parts.pop("first_case"), parts.pop("case_next"), parts.pop("case_row"))
            numbers = LawArrays(**parts)
            rows = [tuple(tuple(rich(one) for one in row) for row in header[name]) for name in ("values", "supports")]
            always = bool(header["always"])
            texts = [tuple(str(one) for one in header[name]) for name in ("names", "noises", "hidden")]
        except (KeyError, TypeError, ModelError) as error:
            raise FileError(f"its laws are damaged ({error})") from None
        if not _sound(numbers, cases, n_states, n_pairs):
            raise FileError("its laws are damaged")
        return cls(texts[0], rows[0], texts[1], rows[1], texts[2], always, numbers, cases)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Laws):
            return NotImplemented
        mine, theirs = self.stored_numbers(), other.stored_numbers()
        return (
            (self.noises, self.supports, self.hidden) == (other.noises, other.supports, other.hidden)
            and self.arrays.learnt == other.arrays.learnt
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        )

    __hash__ = None  # type: ignore[assignment]

    def stored_numbers(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        arrays = {name: getattr(self.arrays, name) for name in _ARRAYS}
        return arrays | {name: getattr(self, name) for name in _CASES}

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Laws is immutable: {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writeable again, and would be of another type for the kernels.
        cases = (self.first_case, self.case_next, self.case_row)
        words = (self.names, self.values, self.noises, self.supports, self.hidden)
        return Laws, (*words, self.always, self.arrays, cases)

    def __repr__(self) -> str:
        given = self.arrays.first_value.size - 1 - self.arrays.learnt
        return f"Laws({', '.join(self.names)}{f'; {given} given' if given else ''})"


def _sealed(array: NDArray[Any], floats: bool) -> NDArray[Any]:
    kept = np.ascontiguousarray(array, dtype=np.float64 if floats else np.int64)
    kept.setflags(write=False)
    return kept


def _sound(arrays: LawArrays, cases: Any, n_states: int, n_pairs: int) -> bool:
    """Whether every index that kernels will follow is in range, and the given laws are distributions."""
    first_case, case_next, case_row = cases
    leaves, nodes, rows = arrays.leaf_next.size, arrays.node_law.size, arrays.rows.shape[0]
    n_laws = arrays.first_value.size - 1
    if not (isinstance(arrays.learnt, int) and isinstance(arrays.n_values, int) and 0 <= arrays.learnt <= n_laws):
        return False
    pointers = (
        (arrays.first_value, n_laws, arrays.probability.size),
        (arrays.node_first, nodes, arrays.child.size),
        (arrays.seen_first, case_next.size, arrays.seen_unit.size),
        (arrays.tested_first, n_pairs, arrays.tested.size),
        (first_case, n_pairs, case_next.size),
    )
    for pointer, count, size in pointers:
        if pointer.size != count + 1 or pointer[0] != 0 or pointer[-1] != size or np.any(np.diff(pointer) < 0):
            return False
    unknown = arrays.row_unit[arrays.row_unit >= 0]
    units = arrays.learnt + unknown.size
    ranges = (
        (arrays.leaf_next, leaves, 0, n_states),
        (arrays.leaf_row, leaves, 0, rows),
        (arrays.row_unit, rows, -1, units),
        (arrays.node_law, nodes, 0, n_laws),
        (arrays.root, n_pairs, 0, leaves + nodes),
        (arrays.seen_unit, arrays.seen_value.size, 0, arrays.learnt),
        (arrays.tested, arrays.tested.size, 0, units),
        (arrays.outcome_unit, case_next.size, -1, units),
        (case_next, case_row.size, 0, n_states),
        (case_row, case_row.size, 0, rows),
    )
    for part, size, low, high in ranges:
        if part.size != size or (size and not low <= part.min() <= part.max() < high):
            return False
    sizes = np.diff(arrays.first_value)
    before = leaves + np.repeat(np.arange(nodes), np.diff(arrays.node_first))
    given = arrays.first_value[arrays.learnt : -1]
    totals = np.add.reduceat(arrays.probability, given) if given.size else np.ones(0)
    return bool(
        np.all(sizes >= 1)
        and arrays.n_values == (sizes[: arrays.learnt].max() if arrays.learnt else 1)
        and np.all(np.diff(arrays.node_first) == sizes[arrays.node_law])
        and np.all((arrays.child >= 0) & (arrays.child < before))
        and np.all((arrays.seen_value >= 0) & (arrays.seen_value < sizes[arrays.seen_unit]))
        and np.all((arrays.rows >= 0.0) & (arrays.rows <= 1.0))
        and np.all((arrays.probability >= 0.0) & (arrays.probability <= 1.0))
        and np.all(np.abs(totals - 1.0) < 1e-6)
    )
