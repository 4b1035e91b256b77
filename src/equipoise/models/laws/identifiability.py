r"""What an observation proves about a law whose value is not seen.

In a pair, for given values of the noises that are seen, next state and outcomes tell the value of a hidden one up to a
cell of a partition of its support: two values are in one cell if some observation is possible under both, directly or
through values between them. The partition is there before the hidden noise is drawn.

All cells of all pairs in which a law is drawn are put into one tree of sets, from the whole support down to single
values: the children of a node are disjoint, and together are it. Given that the value lies in a node, which child it
lies in has a law of its own, the conditional one. In a pair the walk from the root goes on for as long as no cell lies
in two children at once, and every step of it is an observation of a conditional law. So a law seen in part becomes a
few smaller laws that are seen whole. With lost sales the nodes are "at least d", and the conditional laws the hazards.

Cells may cross: neither lie apart, nor one within the other. Then there are several trees, see `build_trees`, with
conditional laws in each, so that the cells of a pair are all in one of them. With several noises the cells of one pair
may cross; some are then left out: the pair is taken to show less than it does, which is sound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Cell = frozenset[int]
Partition = tuple[Cell, ...]


class ValueTree(NamedTuple):
    """A set of values of a law, and how it falls into smaller ones."""

    cell: Cell
    children: tuple[ValueTree, ...]

    def inner(self) -> list[ValueTree]:
        """All nodes that have children, parents first."""
        if not self.children:
            return []
        return [self, *(node for child in self.children for node in child.inner())]

    @property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """What it chooses from, as values: nodes of two trees that have the same are one conditional law."""
        return tuple(tuple(sorted(child.cell)) for child in self.children)


def find_partition(observations: Sequence[int], values: Sequence[int], size: int) -> Partition:
    """The cells of a noise's support that the observations of a pair tell apart."""
    joined = list(range(size))

    def find(value: int) -> int:
        while joined[value] != value:
            joined[value] = joined[joined[value]]
            value = joined[value]
        return value

    first: dict[int, int] = {}
    for seen, value in zip(observations, values, strict=True):
        one, other = find(first.setdefault(seen, value)), find(value)
        joined[max(one, other)] = min(one, other)
    cells: dict[int, set[int]] = {}
    for value in range(size):
        cells.setdefault(find(value), set()).add(value)
    return tuple(frozenset(cell) for _, cell in sorted(cells.items()))


def build_tree(size: int, partitions: Iterable[Partition]) -> ValueTree:
    """The tree of all cells that do not cross; where some do, those of more pairs go first."""
    uses = Counter(cell for partition in partitions for cell in partition if 1 < len(cell) < size)
    kept: list[Cell] = []
    for cell, _ in sorted(uses.items(), key=lambda item: (-item[1], -len(item[0]), sorted(item[0]))):
        if all(cell <= other or other <= cell or not cell & other for other in kept):
            kept.append(cell)
    return _tree(frozenset(range(size)), sorted(kept, key=lambda cell: (-len(cell), sorted(cell))))


def build_trees(size: int, pairs: Iterable[tuple[Partition, ...]]) -> dict[tuple[Partition, ...], ValueTree]:
    """For the partitions of each pair, the tree that they are in: the same for all pairs if no cells cross."""
    uses = Counter(pairs)
    groups: list[tuple[set[Cell], list[tuple[Partition, ...]]]] = []
    for shown in sorted(uses, key=lambda one: (-uses[one], [[sorted(cell) for cell in part] for part in one])):
        cells = {cell for partition in shown for cell in partition if 1 < len(cell) < size}
        group = next((each for each in groups if not _cross(cells, each[0])), None)
        if group is None:
            group = (set(), [])
            groups.append(group)
        group[0].update(cells)
        group[1].append(shown)
    trees: dict[tuple[Partition, ...], ValueTree] = {}
    for _, members in groups:
        tree = build_tree(size, [part for shown in members for part in shown * uses[shown]])
        trees |= dict.fromkeys(members, tree)
    return trees


def distinct_trees(trees: Mapping[tuple[Partition, ...], ValueTree]) -> list[ValueTree]:
    """The trees that `build_trees` made, each once."""
    return list({id(tree): tree for tree in trees.values()}.values())


def _cross(cells: Iterable[Cell], others: Iterable[Cell]) -> bool:
    """Whether a cell of one kind and one of the other are neither apart nor one within the other."""
    return any(not (a <= b or b <= a or a.isdisjoint(b)) for a in cells for b in others)


def _tree(cell: Cell, below: Sequence[Cell]) -> ValueTree:
    """`below` are sets within the cell, larger ones first."""
    if len(cell) == 1:
        return ValueTree(cell, ())
    parts: list[tuple[Cell, list[Cell]]] = []
    for other in below:
        home = next((within for part, within in parts if other <= part), None)
        if home is None:
            parts.append((other, []))
        else:
            home.append(other)
    rest = cell.difference(*(part for part, _ in parts)) if parts else cell
    children = [_tree(part, within) for part, within in parts] + [_tree(frozenset([one]), ()) for one in rest]
    return ValueTree(cell, tuple(sorted(children, key=lambda child: min(child.cell))))


def walk(tree: ValueTree, partition: Partition, value: int) -> list[tuple[ValueTree, int]]:
    """The nodes whose choice of child is seen when the value is drawn, with the number of that child."""
    steps: list[tuple[ValueTree, int]] = []
    node = tree
    while node.children:
        apart = all(sum(bool(cell & child.cell) for child in node.children) <= 1 for cell in partition)
        if not apart:
            break
        number = next(i for i, child in enumerate(node.children) if value in child.cell)
        steps.append((node, number))
        node = node.children[number]
    return steps
