"""From a table of all that can happen to the laws: what is learnt, what is seen, and the graph of what follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from equipoise._types import Index, Vector
from equipoise.errors import ModelError
from equipoise.models._label_rows import Label, text
from equipoise.models.laws.evaluating import Noise, Table
from equipoise.models.laws.graph import Graph, GraphArrays
from equipoise.models.laws.laws import LawArrays, Laws
from equipoise.models.laws.seeing import Cell, Partition, ValueTree, partition_of, value_tree, walk

Key = tuple[int, int]  # a noise, and which of its laws


class Drawn(NamedTuple):
    """What is drawn at a step, and what of it is known and seen.

    Attributes
    ----------
    table : Table
        All that can happen.
    noises : tuple of Noise
        What is drawn, in that order.
    labels : list of tuples
        The labels of the laws of each noise.
    law_of : int array, pairs by noises
        Which of these a noise has in a pair.
    given : mapping
        The laws that are known, by noise and label.
    hidden : tuple of str
        The noises that are not seen.
    """

    table: Table
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
        """The value of each noise in each combination, one row a noise."""
        n = self.table.next.shape[1]
        return np.array(np.unravel_index(np.arange(n), self.sizes)) if self.sizes else np.zeros((0, n), dtype=np.int64)

    def keys(self) -> list[Key]:
        """All laws."""
        return [(j, number) for j, labels in enumerate(self.labels) for number in range(len(labels))]

    def name(self, key: Key) -> str:
        """What a law is called."""
        labels = self.labels[key[0]]
        return law_name(self.noises[key[0]].name, labels[key[1]], labels)

    def is_given(self, key: Key) -> bool:
        """Whether there is nothing to learn of it."""
        noise = self.noises[key[0]]
        return len(noise.support) == 1 or (noise.name, self.labels[key[0]][key[1]]) in self.given


class _Numbers:
    """Numbers for the laws: first those to be learnt, the conditional ones among them, then those that are given."""

    def __init__(self, drawn: Drawn, trees: Mapping[Key, ValueTree]) -> None:
        self._learnt: dict[tuple[Key, Cell], int] = {}
        self._given: dict[Key, int] = {}
        self.names: list[str] = []
        self.values: list[tuple[Label, ...]] = []
        self.given: list[Vector] = []
        for key, tree in trees.items():
            support = drawn.noises[key[0]].support
            for node in tree.inner():
                self._learnt[key, node.cell] = len(self.names)
                among = "" if node is tree else f" among {listed(support[i] for i in sorted(node.cell))}"
                self.names.append(drawn.name(key) + among)
                self.values.append(tuple(_set_label(support, child.cell) for child in node.children))
        for key in drawn.keys():  # noqa: SIM118 - a method, no mapping
            if key not in trees:
                self._given[key] = len(self.given)
                name, label = drawn.noises[key[0]].name, drawn.labels[key[0]][key[1]]
                self.given.append(np.asarray(drawn.given.get((name, label), np.ones(1))))

    def learnt(self, key: Key, node: ValueTree) -> int:
        return self._learnt[key, node.cell]

    def known(self, key: Key) -> int:
        return len(self.names) + self._given[key]

    @property
    def sizes(self) -> list[int]:
        return [len(values) for values in self.values] + [law.size for law in self.given]


def assembled(drawn: Drawn) -> Laws:
    """The laws as arrays.

    Parameters
    ----------
    drawn : Drawn
        All that can happen, and what of it is known and seen.
    """
    cells = [_partitions(drawn, j) for j in range(len(drawn.noises))]
    trees = {
        key: value_tree(
            drawn.sizes[key[0]],
            [cell for p in np.flatnonzero(drawn.law_of[:, key[0]] == key[1]) for cell in cells[key[0]][p]],
        )
        for key in drawn.keys()  # noqa: SIM118
        if not drawn.is_given(key)
    }
    numbers = _Numbers(drawn, trees)
    graph = Graph()
    roots = [_grown(drawn, graph, trees, numbers, pair, 0, 0) for pair in range(drawn.table.next.shape[0])]
    sight = _seen(drawn, cells, trees, numbers)
    _check_learnable(graph, sight.tested, numbers)
    return _finished(drawn, graph.arrays(roots), numbers, sight)


def law_name(noise: str, label: Label, labels: Sequence[Label]) -> str:
    """What a law is called: as its noise, with its label if there are several."""
    return noise if tuple(labels) == (None,) else f"{noise} ({text(label)})"


def listed(labels: Iterable[Label]) -> str:
    """Labels in a message."""
    return ", ".join(text(label) for label in labels)


def _set_label(support: Sequence[Label], cell: Cell) -> Label:
    inside = tuple(support[i] for i in sorted(cell))
    return inside[0] if len(inside) == 1 else inside


def _shown(drawn: Drawn) -> Index:
    """A number for the values of all noises that are seen, in each combination; from 0."""
    code = np.zeros(drawn.table.next.shape[1], dtype=np.int64)
    for noise, values in zip(drawn.noises, drawn.values, strict=True):
        if noise.name not in drawn.hidden:
            code = code * len(noise.support) + values
    return code


def _partitions(drawn: Drawn, j: int) -> list[tuple[Partition, ...]]:
    """For each pair, and each combination of the noises that are seen, the cells of noise j that can be told apart.

    The noises are independent, so that what the seen ones are decides nothing about the hidden ones.
    """
    table, shown, size = drawn.table, _shown(drawn), drawn.sizes[j]
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
            here.append(partition_of(observation.ravel().tolist(), drawn_values, size))
        partitions.append(tuple(here))
    return partitions


class _Sight(NamedTuple):
    """What is seen in each case, where that begins, the units that can be seen in each pair, and those always seen."""

    seen: list[tuple[int, int]]
    first: Index
    tested: list[list[int]]
    always: bool  # whether nothing that is seen of a law in a pair depends on the other noises


def _seen(
    drawn: Drawn,
    cells: Sequence[Sequence[tuple[Partition, ...]]],
    trees: Mapping[Key, ValueTree],
    numbers: _Numbers,
) -> _Sight:
    P, N = drawn.table.next.shape
    values, shown, J = drawn.values.T.tolist(), _shown(drawn).tolist(), len(drawn.noises)
    walks: dict[tuple[Key, Partition], list[list[tuple[int, int]]]] = {}

    def walked(key: Key, cell: Partition) -> list[list[tuple[int, int]]]:
        if (key, cell) not in walks:
            tree = trees.get(key)
            steps = [[] if tree is None else walk(tree, cell, value) for value in range(drawn.sizes[key[0]])]
            walks[key, cell] = [[(numbers.learnt(key, node), child) for node, child in row] for row in steps]
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
    return _Sight(seen, first, tested, always)


def _grown(
    drawn: Drawn, graph: Graph, trees: Mapping[Key, ValueTree], numbers: _Numbers, pair: int, j: int, case: int
) -> int:
    """The part of the graph that follows in a pair, when the noises before number j are those of `case`."""
    if j == len(drawn.noises):
        return graph.leaf(int(drawn.table.next[pair, case]), int(drawn.table.row[pair, case]))
    key = (j, int(drawn.law_of[pair, j]))
    size = drawn.sizes[j]
    after = [_grown(drawn, graph, trees, numbers, pair, j + 1, case * size + value) for value in range(size)]
    if key not in trees:
        return graph.node(numbers.known(key), after)

    def part(node: ValueTree) -> int:
        if not node.children:
            return after[min(node.cell)]
        return graph.node(numbers.learnt(key, node), [part(child) for child in node.children])

    return part(trees[key])


def _check_learnable(graph: Graph, tested: Sequence[Sequence[int]], numbers: _Numbers) -> None:
    """A law that matters must be seen somewhere, or the agent would be optimistic about it for ever."""
    seen = {unit for units in tested for unit in units}
    lost = sorted(law for law in graph.laws() if law < len(numbers.names) and law not in seen)
    if lost:
        raise ModelError(
            f"hidden: {numbers.names[lost[0]]} can never be learnt: next states, outcomes and the noises that are "
            "seen never tell its values apart. Give its law (given=), let it be seen, or show more in the outcomes"
        )


def _finished(drawn: Drawn, graph: GraphArrays, numbers: _Numbers, sight: _Sight) -> Laws:
    table, learnt, sizes, tested = drawn.table, len(numbers.names), numbers.sizes, sight.tested
    P, N = table.next.shape
    pairs = np.array(sight.seen, dtype=np.int64).reshape(-1, 2)
    arrays = LawArrays(
        learnt=learnt,
        n_values=max([1, *sizes[:learnt]]),
        first_value=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
        probability=np.concatenate([np.zeros(sum(sizes[:learnt])), *numbers.given]),
        rows=table.rows,
        row_unit=np.full(table.rows.shape[0], -1, dtype=np.int64),
        seen_first=sight.first,
        seen_unit=pairs[:, 0],
        seen_value=pairs[:, 1],
        outcome_unit=np.full(P * N, -1, dtype=np.int64),
        tested_first=np.concatenate([[0], np.cumsum([len(units) for units in tested])]).astype(np.int64),
        tested=np.array([unit for units in tested for unit in units], dtype=np.int64),
        leaf_next=graph.leaf_next,
        leaf_row=graph.leaf_row,
        node_law=graph.node_law,
        node_first=graph.node_first,
        child=graph.child,
        root=graph.root,
    )
    return Laws(
        names=tuple(numbers.names),
        values=tuple(numbers.values),
        noises=tuple(noise.name for noise in drawn.noises),
        supports=tuple(noise.support for noise in drawn.noises),
        hidden=drawn.hidden,
        always=sight.always,
        arrays=arrays,
        cases=(np.arange(P + 1, dtype=np.int64) * N, table.next.ravel(), table.row.ravel()),
    )
