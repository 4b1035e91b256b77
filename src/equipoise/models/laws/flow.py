"""Where a step leads by the graph of its mechanics, when every node shares out what reaches it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Index, Vector
from equipoise.models.laws.laws import LawArrays


class Flow(NamedTuple):
    """Where a mass of one goes from each root.

    Attributes
    ----------
    leaves : sparse array, roots by leaves
        What arrives at each leaf.
    nodes : sparse array, roots by nodes
        What passes through each node.
    """

    leaves: csr_array
    nodes: csr_array


def flow(laws: LawArrays, roots: Index, shares: Vector) -> Flow:
    """Send a mass of one from each root down the graph.

    Parameters
    ----------
    laws : LawArrays
        The graph.
    roots : int array
        Where it begins: places of the graph.
    shares : float array, as long as `laws.child`
        Which part of what passes a node goes to each child.
    """
    n_leaves, n_nodes, n = laws.leaf_next.size, laws.node_law.size, roots.size
    places = n_leaves + n_nodes
    down = csr_array((shares, laws.child, laws.node_first), shape=(n_nodes, places))
    here = csr_array((np.ones(n), (np.arange(n), roots)), shape=(n, places))
    leaves, nodes = csr_array((n, n_leaves)), csr_array((n, n_nodes))
    while here.nnz:
        leaves = leaves + here[:, :n_leaves]
        passing = csr_array(here[:, n_leaves:])
        nodes = nodes + passing
        here = csr_array(passing @ down)
        here.eliminate_zeros()
    return Flow(csr_array(leaves), csr_array(nodes))
