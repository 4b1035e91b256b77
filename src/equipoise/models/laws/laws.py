r"""The unknown laws of a space: what is drawn at a step, what follows from it, and what of it is seen.

**Laws** are distributions over finitely many values, unknown or given in advance. At a step in the pair (s, a) some
laws are drawn from, one after the other and independently; the draws decide the next state and the outcomes.

**The graph.** What may follow a pair is a tree: an inner node draws from a law, its children are the values, and a leaf
is a next state with a row of outcomes. Equal parts are kept once, so that all trees together are one acyclic graph. A
node whose children are all the same is replaced by that child.

**Cases** are the possible results of a step in a pair, one for each combination of values. Each says which laws are
seen, and with which value. Whether a law is seen depends on the pair and on what was seen before in the same step,
never on what is hidden; so the values seen of a law are a sample of it (docs/mechanics.md).

**Units** are what is counted and has a region of its own: the laws to be learnt, then the rows of outcomes whose means
are unknown. A confidence sees a table whose pairs are the units and whose states are the values.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import LARGEST
from equipoise._files import ensure, load_array, require_pointer, require_range
from equipoise._types import Index
from equipoise.errors import FileError, ModelError
from equipoise.models.labels import Label, decode_label, encode_label


class LawArrays(NamedTuple):
    """What kernels read of the laws. "Place" is a number among leaves and nodes: leaves first, then nodes."""

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
@dataclass(frozen=True, eq=False, repr=False)
class Laws:
    """The laws of a space; immutable. Made by `Mechanics`, or by a `Space` with known transitions."""

    names: tuple[str, ...]
    values: tuple[tuple[Label, ...], ...]
    noises: tuple[str, ...]
    supports: tuple[tuple[Label, ...], ...]
    hidden: tuple[str, ...]
    always: bool
    arrays: LawArrays
    cases: InitVar[tuple[Index, Index, Index]]
    first_case: Index = field(init=False)
    case_next: Index = field(init=False)
    case_row: Index = field(init=False)

    def __post_init__(self, cases: tuple[Index, Index, Index]) -> None:
        """Keep read-only copies of the arrays, after a check that they fit together."""
        kept: dict[str, Any] = {name: _sealed(getattr(self.arrays, name), name in _FLOATS) for name in _ARRAYS}
        try:
            _check(self.arrays, cases)
        except FileError as error:
            raise ModelError(f"Laws: {error}") from None
        self.__dict__["arrays"] = self.arrays._replace(**kept)
        self.__dict__.update({name: _sealed(part, False) for name, part in zip(_CASES, cases, strict=True)})

    @property
    def n_units(self) -> int:
        """The number of laws to be learnt, and of rows of outcomes with unknown means."""
        return self.arrays.learnt + int(np.count_nonzero(self.arrays.row_unit >= 0))

    @functools.cached_property
    def revealing(self) -> bool:
        """Whether every law is seen in all pairs in which it matters."""
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

    def fits(self, n_states: int, n_pairs: int, n_outcomes: int) -> bool:
        """Whether they can be those of a space of that size."""
        arrays, most = self.arrays, max(int(part.max(initial=-1)) for part in (self.arrays.leaf_next, self.case_next))
        return arrays.root.size == n_pairs and most < n_states and arrays.rows.shape[1] == n_outcomes

    def seen_supports(self) -> dict[str, tuple[Label, ...]]:
        """The values of each noise that is seen."""
        named = zip(self.noises, self.supports, strict=True)
        return {name: support for name, support in named if name not in self.hidden}

    def seen_in(self, case: int) -> list[tuple[int, int]]:
        """The units that are seen in a case, each with its value."""
        part = slice(self.arrays.seen_first[case], self.arrays.seen_first[case + 1])
        return list(zip(self.arrays.seen_unit[part].tolist(), self.arrays.seen_value[part].tolist(), strict=True))

    def values_of(self, places: Index | int) -> tuple[Any, ...]:
        """For each noise the number of its value in cases, which are counted from the first of their pair."""
        sizes = tuple(len(support) for support in self.supports)
        return np.unravel_index(places, sizes) if sizes else ()

    def noise_of(self, case: int, pair: int) -> dict[str, Label]:
        """The values of all noises in a case."""
        places = self.values_of(case - int(self.first_case[pair]))
        return {name: support[int(i)] for name, support, i in zip(self.noises, self.supports, places, strict=True)}

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return a header and arrays, as a file holds them."""
        header = {
            "names": list(self.names),
            "values": [[encode_label(one) for one in row] for row in self.values],
            "noises": list(self.noises),
            "supports": [[encode_label(one) for one in row] for row in self.supports],
            "hidden": list(self.hidden),
            "always": self.always,
            **{name: getattr(self.arrays, name) for name in _COUNTS},
        }
        return header, self.pack_arrays()

    @classmethod
    def unpack(cls, header: Any, arrays: Mapping[str, NDArray[Any]], n_states: int, n_pairs: int) -> Laws:
        """Return the laws that `pack` gave, checked: kernels follow every index unchecked."""
        named = {f"laws.{name}": part for name, part in arrays.items()}  # as in files, for messages
        parts: dict[str, Any] = {}
        for name in (*_ARRAYS, *_CASES):
            like = np.zeros((0,) * (2 if name == "rows" else 1), np.float64 if name in _FLOATS else np.int64)
            parts[name] = load_array(named, f"laws.{name}", like, grows=True)
        cases = (parts.pop("first_case"), parts.pop("case_next"), parts.pop("case_row"))
        try:
            numbers = LawArrays(**{name: header[name] for name in _COUNTS}, **parts)
            rows = [
                tuple(tuple(decode_label(one) for one in row) for row in header[name])
                for name in ("values", "supports")
            ]
            always = header["always"]
            texts = [tuple(header[name]) for name in ("names", "noises", "hidden")]
        except (KeyError, TypeError, ModelError) as error:
            raise FileError(f"the header of its laws is damaged ({error})") from None
        ensure(numbers.root.size == n_pairs, f"the array 'laws.root' has {numbers.root.size} pairs, not {n_pairs}")
        for name, part in (("leaf_next", numbers.leaf_next), ("case_next", cases[1])):
            require_range(part, part.size, 0, n_states, f"laws.{name}")
        try:
            laws = cls(texts[0], rows[0], texts[1], rows[1], texts[2], always, numbers, cases)
        except ModelError as error:
            raise FileError(str(error)) from None
        sizes = np.diff(numbers.first_value)
        ensure(
            type(always) is bool
            and all(isinstance(one, str) for row in texts for one in row)
            and (len(texts[0]), [len(row) for row in rows[0]]) == (numbers.learnt, sizes[: numbers.learnt].tolist()),
            "the header of its laws does not name the laws and values of its arrays",
        )
        each = math.prod(len(row) for row in rows[1])
        ensure(
            len(rows[1]) == len(texts[1])
            and set(texts[2]) <= set(texts[1])
            and (not texts[1] or bool(np.all(np.diff(cases[0]) == min(each, LARGEST)))),
            "the header of its laws does not have the noises of its cases",
        )
        return laws

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Laws):
            return NotImplemented
        mine, theirs = self.pack_arrays(), other.pack_arrays()
        return (
            (self.noises, self.supports, self.hidden) == (other.noises, other.supports, other.hidden)
            and self.arrays.learnt == other.arrays.learnt
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        )

    __hash__ = None  # type: ignore[assignment]

    def pack_arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        arrays = {name: getattr(self.arrays, name) for name in _ARRAYS}
        return arrays | {name: getattr(self, name) for name in _CASES}

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


def _check(arrays: LawArrays, cases: tuple[Index, Index, Index]) -> None:
    """Raise an error for arrays that kernels could not follow, or that are no distributions."""
    first_case, case_next, case_row = cases
    n_pairs, n_states = arrays.root.size, 1 + max(int(part.max(initial=0)) for part in (arrays.leaf_next, case_next))
    leaves, nodes, rows = arrays.leaf_next.size, arrays.node_law.size, arrays.rows.shape[0]
    learnt, n_laws = arrays.learnt, arrays.first_value.size - 1
    ensure(type(learnt) is int and 0 <= learnt <= n_laws, f"the header of its laws has {learnt!r} laws to be learnt")
    pointers = {
        "first_value": (arrays.first_value, n_laws, arrays.probability.size),
        "node_first": (arrays.node_first, nodes, arrays.child.size),
        "seen_first": (arrays.seen_first, case_next.size, arrays.seen_unit.size),
        "tested_first": (arrays.tested_first, n_pairs, arrays.tested.size),
        "first_case": (first_case, n_pairs, case_next.size),
    }
    for name, (pointer, count, size) in pointers.items():
        require_pointer(pointer, count, size, f"laws.{name}")
    for name in ("first_value", "first_case"):
        pointer = pointers[name][0]
        ensure(np.all(pointer[1:] > pointer[:-1]), f"the array 'laws.{name}' has a part without entries")
    unknown = arrays.row_unit[arrays.row_unit >= 0]
    units = learnt + unknown.size
    ranges = {
        "leaf_next": (arrays.leaf_next, leaves, 0, n_states),
        "leaf_row": (arrays.leaf_row, leaves, 0, rows),
        "row_unit": (arrays.row_unit, rows, -1, units),
        "node_law": (arrays.node_law, nodes, 0, n_laws),
        "root": (arrays.root, n_pairs, 0, leaves + nodes),
        "seen_unit": (arrays.seen_unit, arrays.seen_unit.size, 0, learnt),
        "tested": (arrays.tested, arrays.tested.size, 0, units),
        "case_next": (case_next, case_next.size, 0, n_states),
        "case_row": (case_row, case_next.size, 0, rows),
        "outcome_unit": (arrays.outcome_unit, case_next.size, -1, units),
        "child": (arrays.child, arrays.child.size, 0, leaves + nodes),
    }
    for name, (part, size, low, high) in ranges.items():
        require_range(part, size, low, high, f"laws.{name}")
    sizes = np.diff(arrays.first_value)
    before = leaves + np.repeat(np.arange(nodes), np.diff(arrays.node_first))
    given = arrays.first_value[learnt:-1]
    totals = np.add.reduceat(arrays.probability, given) if given.size else np.ones(0)
    case = np.repeat(np.arange(case_next.size), np.diff(arrays.seen_first))
    order = np.lexsort((arrays.seen_unit, case))
    twice = (case[order][1:] == case[order][:-1]) & (arrays.seen_unit[order][1:] == arrays.seen_unit[order][:-1])
    leaf, cell = arrays.leaf_next * rows + arrays.leaf_row, case_next * rows + case_row
    found = {
        "row_unit": np.array_equal(unknown, learnt + np.arange(unknown.size)),
        "outcome_unit": np.array_equal(arrays.outcome_unit, arrays.row_unit[case_row]),
        "node_first": np.array_equal(np.diff(arrays.node_first), sizes[arrays.node_law]),
        "child": np.all(arrays.child < before),
        "seen_unit": not twice.any(),
        "seen_value": arrays.seen_value.size == case.size
        and np.all((arrays.seen_value >= 0) & (arrays.seen_value < sizes[arrays.seen_unit])),
        "rows": np.all((arrays.rows >= 0.0) & (arrays.rows <= 1.0)),
        "probability": np.all((arrays.probability >= 0.0) & (arrays.probability <= 1.0))
        and np.all(np.abs(totals - 1.0) < 1e-6),
        "case_next": np.isin(cell, leaf).all(),
    }
    for name, sound in found.items():
        ensure(sound, f"the array 'laws.{name}' does not fit the other arrays of its laws")
    most = int(sizes[:learnt].max(initial=1))
    ensure(
        type(arrays.n_values) is int and arrays.n_values == most, f"the header of its laws does not say {most} values"
    )
