"""From the table of all that can happen to the laws: what is learnt, what is seen, and the graph of what follows.

The graph is built from the leaves upward, and every part is looked up before it is made: a part that occurs in many
pairs has one number and is evaluated once per sweep. A node whose children are all the same is that child.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from equipoise._types import Index, Vector
from equipoise.errors import ModelError
from equipoise.models.labels import Label, text
from equipoise.models.laws.enumerate import Noise, StepTable
from equipoise.models.laws.identifiability import (
    Cell,
    Partition,
    ValueTree,
    build_trees,
    distinct_trees,
    find_partition,
    walk,
)
from equipoise.models.laws.laws import LawArrays, Laws

Key = tuple[int, int]  # a noise, and which of its laws
Trees = dict[Key, Mapping[tuple[Partition, ...], ValueTree]]  # of each law, by what a pair shows of it


class StepDescription(NamedTuple):
    """What is drawn at a step, and what of it is known and seen."""

    table: StepTable
    noises: tuple[Noise, ...]
    labels: list[tuple[Label, ...]]
    law_of: Index
    given: Mapping[tuple[str, Label], Vector]
    hidden: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each noise has."""
        return tuple(len(noise.support) for noise in self.noises)

    @property
    def values(self) -> Index:
        """The value of each noise in each combination, one row per noise."""
        n = self.table.next.shape[1]
        return np.array(np.unravel_index(np.arange(n), self.sizes)) if self.sizes else np.zeros((0, n), dtype=np.int64)


class SeenValues(NamedTuple):
    """What is seen in each case, where that begins, the units that can be seen in each pair, and those always seen."""

    seen: list[tuple[int, int]]
    first: Index
    tested: list[list[int]]
    always: bool = True  # whether nothing that is seen of a law in a pair depends on the other noises


class LawBuilder:
    """The laws of a space while they are collected: those to be learnt, those that are given, and the graph."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.graph = Graph()
        self._values: list[tuple[Label, ...]] = []
        self._given: list[Vector] = []
        self._units: dict[tuple[Hashable, object], int] = {}
        self._given_number: dict[Hashable, int] = {}
        self._trees: dict[Hashable, Sequence[ValueTree]] = {}

    def add_unknown(self, key: Hashable, name: str, support: Sequence[Label], trees: Sequence[ValueTree]) -> None:
        """Number a law to be learnt: its conditional laws in each of its trees, those that two trees share once."""
        self._trees[key] = trees
        for node in (node for tree in trees for node in tree.inner()):
            if (key, node.parts) in self._units:
                continue
            self._units[key, node.parts] = len(self.names)
            whole = len(node.cell) == len(support)
            called = name if whole else f"{name} among {join_labels(support[i] for i in sorted(node.cell))}"
            if called in self.names:  # two trees choose from other parts of it
                called += f", as {' | '.join(join_labels(support[i] for i in part) for part in node.parts)}"
            self.names.append(called)
            self._values.append(tuple(_set_label(support, child.cell) for child in node.children))

    def add_given(self, key: Hashable, probabilities: Vector) -> None:
        """Number a law of which nothing is learnt."""
        self._given_number[key] = len(self._given)
        self._given.append(probabilities)

    def draw(self, key: Hashable, tree: ValueTree | None, after: Sequence[int]) -> int:
        """The place in the graph where a value is drawn; `after` are the places that follow the values."""
        if tree is None:
            return self.graph.node(len(self.names) + self._given_number[key], after)
        if not tree.children:
            return after[min(tree.cell)]
        return self.graph.node(self._units[key, tree.parts], [self.draw(key, child, after) for child in tree.children])

    def find_seen(self, key: Hashable, cells: Partition, value: int) -> list[tuple[int, int]]:
        """The units that are seen when a value is drawn where these cells can be told apart, each with its value."""
        steps = (step for tree in self._trees.get(key, ()) for step in walk(tree, cells, value))
        return list(dict.fromkeys((self._units[key, node.parts], child) for node, child in steps))

    def require_learnable(self, tested: Iterable[Sequence[int]], why: str) -> None:
        """A law that matters must be seen somewhere, or the agent would be optimistic about it indefinitely."""
        seen = {unit for units in tested for unit in units}
        lost = sorted(law for law in self.graph.laws() if law < len(self.names) and law not in seen)
        if lost:
            raise ModelError(why.format(self.names[lost[0]]))

    def build(
        self,
        roots: Sequence[int],
        rows: Vector,
        row_unit: Index,
        sight: SeenValues,
        cases: tuple[Index, Index, Index],
        noises: Sequence[Noise] = (),
        hidden: tuple[str, ...] = (),
    ) -> Laws:
        """The laws as arrays."""
        sizes = [len(values) for values in self._values]
        unit_and_value = np.array(sight.seen, dtype=np.int64).reshape(-1, 2)
        first_value = np.cumsum([0, *sizes, *(law.size for law in self._given)], dtype=np.int64)
        arrays = LawArrays(
            learnt=len(self.names),
            n_values=max([1, *sizes]),
            first_value=first_value,
            probability=np.concatenate([np.zeros(sum(sizes)), *self._given]),
            rows=rows,
            row_unit=row_unit,
            seen_first=sight.first,
            seen_unit=unit_and_value[:, 0],
            seen_value=unit_and_value[:, 1],
            outcome_unit=row_unit[cases[2]],
            tested_first=np.cumsum([0, *map(len, sight.tested)], dtype=np.int64),
            tested=np.array([unit for units in sight.tested for unit in units], dtype=np.int64),
            **self.graph.arrays(roots),
        )
        return Laws(
            names=tuple(self.names),
            values=tuple(self._values),
            noises=tuple(noise.name for noise in noises),
            supports=tuple(noise.support for noise in noises),
            hidden=hidden,
            always=sight.always,
            arrays=arrays,
            cases=cases,
        )


def build_laws(drawn: StepDescription) -> Laws:
    """The laws of mechanics as arrays."""
    P, N = drawn.table.next.shape
    cells = [_partitions(drawn, j) for j in range(len(drawn.noises))]
    builder, trees = LawBuilder(), Trees()
    for j, ((noise, support), labels) in enumerate(zip(drawn.noises, drawn.labels, strict=True)):
        for number, label in enumerate(labels):
            key = j, number
            if len(support) == 1 or (noise, label) in drawn.given:  # nothing to learn
                builder.add_given(key, np.asarray(drawn.given.get((noise, label), np.ones(1))))
                continue
            trees[key] = build_trees(len(support), [cells[j][p] for p in np.flatnonzero(drawn.law_of[:, j] == number)])
            builder.add_unknown(key, law_name(noise, label, labels), support, distinct_trees(trees[key]))
    roots = [_add_to_graph(drawn, builder, cells, trees, pair, 0, 0) for pair in range(P)]
    sight = _find_seen(drawn, cells, builder)
    builder.require_learnable(
        sight.tested,
        "hidden: {} can never be learnt: in no pair do next states, outcomes and the noises that are seen tell which "
        "of its values was drawn, whatever the other noises are. Give its law (given=), let it be seen, or show more "
        "in the outcomes",
    )
    table = drawn.table
    cases = (np.arange(P + 1, dtype=np.int64) * N, table.next.ravel(), table.row.ravel())
    no_unit = np.full(table.rows.shape[0], -1, dtype=np.int64)
    return builder.build(roots, table.rows, no_unit, sight, cases, drawn.noises, drawn.hidden)


def law_name(noise: str, label: Label, labels: Sequence[Label]) -> str:
    """What a law is called: as its noise, with its label if there are several."""
    return noise if tuple(labels) == (None,) else f"{noise} ({text(label)})"


def join_labels(labels: Iterable[Label]) -> str:
    """Labels in a message."""
    return ", ".join(text(label) for label in labels)


def _set_label(support: Sequence[Label], cell: Cell) -> Label:
    inside = tuple(support[i] for i in sorted(cell))
    return inside[0] if len(inside) == 1 else inside


def _number_shown(drawn: StepDescription) -> Index:
    """A number for the values of all noises that are seen, in each combination; from 0."""
    code = np.zeros(drawn.table.next.shape[1], dtype=np.int64)
    for noise, values in zip(drawn.noises, drawn.values, strict=True):
        if noise.name not in drawn.hidden:
            code = code * len(noise.support) + values
    return code


def _partitions(drawn: StepDescription, j: int) -> list[tuple[Partition, ...]]:
    """For each pair, and each combination of the noises that are seen, the cells of noise j that can be told apart."""
    table, shown, size = drawn.table, _number_shown(drawn), drawn.sizes[j]
    codes = int(shown.max()) + 1
    if drawn.noises[j].name not in drawn.hidden:
        return [(tuple(frozenset([value]) for value in range(size)),) * codes] * table.next.shape[0]
    cases = [np.flatnonzero(shown == code) for code in range(codes)]
    values = [drawn.values[j][places].tolist() for places in cases]
    partitions: list[tuple[Partition, ...]] = []
    for following, paid in zip(table.next, table.row, strict=True):
        here: list[Partition] = []
        for places, drawn_values in zip(cases, values, strict=True):
            _, observation = np.unique(np.stack([following[places], paid[places]]), axis=1, return_inverse=True)
            here.append(find_partition(observation.ravel().tolist(), drawn_values, size))
        partitions.append(tuple(here))
    return partitions


def _find_seen(
    drawn: StepDescription, cells: Sequence[Sequence[tuple[Partition, ...]]], builder: LawBuilder
) -> SeenValues:
    P, N = drawn.table.next.shape
    values, shown, J = drawn.values.T.tolist(), _number_shown(drawn).tolist(), len(drawn.noises)
    walks: dict[tuple[Key, Partition], list[list[tuple[int, int]]]] = {}

    def walked(key: Key, cell: Partition) -> list[list[tuple[int, int]]]:
        if (key, cell) not in walks:
            walks[key, cell] = [builder.find_seen(key, cell, value) for value in range(drawn.sizes[key[0]])]
        return walks[key, cell]

    seen: list[tuple[int, int]] = []
    first = np.zeros(P * N + 1, dtype=np.int64)
    tested: list[list[int]] = []
    always = True
    for pair in range(P):
        here = [[walked((j, int(drawn.law_of[pair, j])), cell) for cell in cells[j][pair]] for j in range(J)]
        for n in range(N):
            for j in range(J):
                seen.extend(here[j][shown[n]][values[n][j]])
            first[pair * N + n + 1] = len(seen)
        units = [[{unit for steps in walks for unit, _ in steps} for walks in noise] for noise in here]
        always = always and all(one == noise[0] for noise in units for one in noise)
        tested.append(sorted({unit for noise in units for one in noise for unit in one}))
    return SeenValues(seen, first, tested, always)


def _add_to_graph(
    drawn: StepDescription,
    builder: LawBuilder,
    cells: Sequence[Sequence[tuple[Partition, ...]]],
    trees: Trees,
    pair: int,
    j: int,
    case: int,
) -> int:
    """The part of the graph that follows in a pair, when the noises before number j are those of `case`."""
    if j == len(drawn.noises):
        return builder.graph.leaf(int(drawn.table.next[pair, case]), int(drawn.table.row[pair, case]))
    key, size = (j, int(drawn.law_of[pair, j])), drawn.sizes[j]
    after = [_add_to_graph(drawn, builder, cells, trees, pair, j + 1, case * size + value) for value in range(size)]
    return builder.draw(key, trees[key][cells[j][pair]] if key in trees else None, after)


class Graph:
    """A graph that grows."""

    def __init__(self) -> None:
        self._leaves: dict[tuple[int, int], int] = {}
        self._nodes: dict[tuple[int, tuple[int, ...]], int] = {}

    def leaf(self, next_state: int, row: int) -> int:
        """A next state with a row of outcomes; leaves have numbers below zero until the graph is complete."""
        return -1 - self._leaves.setdefault((next_state, row), len(self._leaves))

    def node(self, law: int, children: Sequence[int]) -> int:
        """A draw from a law, with what follows each value."""
        first = children[0]
        if all(child == first for child in children):
            return first
        return self._nodes.setdefault((law, tuple(children)), len(self._nodes))

    def laws(self) -> set[int]:
        """Those that some node draws from: the others do not matter."""
        return {law for law, _ in self._nodes}

    def arrays(self, roots: Sequence[int]) -> dict[str, Index]:
        """The parts of `LawArrays` that describe the graph: leaves are numbered first, nodes after them."""
        leaves = np.array(list(self._leaves), dtype=np.int64).reshape(-1, 2)
        children = [place for _, places in self._nodes for place in places]
        sizes = [len(places) for _, places in self._nodes]
        return {
            "leaf_next": leaves[:, 0],
            "leaf_row": leaves[:, 1],
            "node_law": np.array([law for law, _ in self._nodes], dtype=np.int64),
            "node_first": np.cumsum([0, *sizes], dtype=np.int64),
            "child": self._number_places(children),
            "root": self._number_places(roots),
        }

    def _number_places(self, places: Sequence[int]) -> Index:
        given = np.array(places, dtype=np.int64)
        return np.where(given < 0, -1 - given, given + len(self._leaves))
