r"""What an observation proves about a law whose value is not seen.

In a pair, for given values of the noises that are seen, next state and outcomes tell the value of a hidden one up to a
cell of a partition of its support: two values are in one cell if some observation is possible under both, directly or
through values between them. The partition is there before the hidden noise is drawn.

All cells of all pairs in which a law is drawn are put into one tree of sets, from the whole support down to single
values: the children of a node are disjoint, and together are it. Given that the value lies in a node, which child it
lies in has a law of its own, the conditional one. In a pair the walk from the root goes on for as long as no cell lies
in two children at once, and every step of it is an observation of a conditional law. So a law seen in part becomes a
few smaller laws that are seen whole, and every region that is made for those will do. Lost sales are the common case:
the nodes are "at least d", and the conditional laws are the chances of d given at least d, the hazards.

Cells that cross others of the tree (neither apart nor within) are left out; a pair with such a cell is then taken to
show less than it does, which is sound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Cell = frozenset[int]
Partition = tuple[Cell, ...]


class ValueTree(NamedTuple):
    """A set of values of a law, and how it falls into smaller ones.

    Attributes
    ----------
    cell : frozenset of int
        The values.
    children : tuple of ValueTree
        The parts, in the order of their least values; none for a single value.
    """

    cell: Cell
    children: tuple[ValueTree, ...]

    def inner(self) -> list[ValueTree]:
        """All nodes that have children, parents first."""
        if not self.children:
            return []
        return [self, *(node for child in self.children for node in child.inner())]


def partition_of(observations: Sequence[int], values: Sequence[int], size: int) -> Partition:
    """The cells of a noise's support that the observations of a pair tell apart.

    Parameters
    ----------
    observations : sequence of int
        What is seen in each case of the pair.
    values : sequence of int
        The value of the noise in it.
    size : int
        How many values there are.

    Examples
    --------
    Two units in stock, demand 0 to 3: two and three look the same.

    >>> [sorted(cell) for cell in partition_of([0, 1, 2, 2], [0, 1, 2, 3], 4)]
    [[0], [1], [2, 3]]
    """
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


def value_tree(size: int, partitions: Iterable[Partition]) -> ValueTree:
    """The tree of all cells that do not cross; where some do, those of more pairs go first.

    Parameters
    ----------
    size : int
        How many values there are.
    partitions : iterable of partitions
        One for each pair.

    Examples
    --------
    >>> whole = [frozenset([d]) for d in range(4)]
    >>> tree = value_tree(4, [tuple(whole), (*whole[:2], frozenset([2, 3])), (whole[0], frozenset([1, 2, 3]))])
    >>> [sorted(node.cell) for node in tree.inner()]
    [[0, 1, 2, 3], [1, 2, 3], [2, 3]]
    """
    uses = Counter(cell for partition in partitions for cell in partition if 1 < len(cell) < size)
    kept: list[Cell] = []
    for cell, _ in sorted(uses.items(), key=lambda item: (-item[1], -len(item[0]), sorted(item[0]))):
        if all(cell <= other or other <= cell or not cell & other for other in kept):
            kept.append(cell)
    return _tree(frozenset(range(size)), sorted(kept, key=lambda cell: (-len(cell), sorted(cell))))


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
    """The nodes whose choice of child is seen when the value is drawn, with the number of that child.

    Parameters
    ----------
    tree : ValueTree
        Of the law.
    partition : partition
        Of the pair.
    value : int
        What was drawn.

    Examples
    --------
    >>> tree = value_tree(3, [(frozenset([0]), frozenset([1, 2]))])
    >>> [(sorted(node.cell), child) for node, child in walk(tree, (frozenset([0]), frozenset([1, 2])), 2)]
    [([0, 1, 2], 1)]
    """
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
