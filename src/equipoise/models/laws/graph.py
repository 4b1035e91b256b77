"""The graph of all that may follow: leaves and nodes, equal ones kept once.

Parts are made from the leaves upward and looked up before they are made, so that a part that occurs in many pairs has
one number and is evaluated once in a sweep. A node whose children are all the same is that child.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from equipoise._types import Index


class GraphArrays(NamedTuple):
    """The parts of `LawArrays` that describe the graph, and where each part that was made has gone."""

    leaf_next: Index
    leaf_row: Index
    node_law: Index
    node_first: Index
    child: Index
    root: Index


class Graph:
    """A graph that grows.

    Examples
    --------
    >>> graph = Graph()
    >>> heads, tails = graph.leaf(0, 0), graph.leaf(1, 0)
    >>> coin = graph.node(0, [heads, tails])
    >>> graph.node(0, [heads, tails]) == coin, graph.node(1, [coin, coin]) == coin
    (True, True)
    >>> graph.arrays([coin, tails]).root.tolist()
    [2, 1]
    """

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

    def arrays(self, roots: Sequence[int]) -> GraphArrays:
        """The finished graph: leaves are numbered first, nodes after them."""
        leaves = np.array(list(self._leaves), dtype=np.int64).reshape(-1, 2)
        children = [place for _, places in self._nodes for place in places]
        sizes = [len(places) for _, places in self._nodes]
        return GraphArrays(
            leaf_next=leaves[:, 0],
            leaf_row=leaves[:, 1],
            node_law=np.array([law for law, _ in self._nodes], dtype=np.int64),
            node_first=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
            child=self._numbered(children),
            root=self._numbered(roots),
        )

    def _numbered(self, places: Sequence[int]) -> Index:
        given = np.array(places, dtype=np.int64)
        return np.where(given < 0, -1 - given, given + len(self._leaves))
