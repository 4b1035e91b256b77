"""The long run of a stationary policy: its Markov chain, the recurrent classes, their distributions.

A chain is a sparse S x S array with rows of sum 1. In a recurrent class the share of time spent in each
state tends to the class's one stationary distribution, whether or not the class is periodic.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import connected_components

from equipoise._types import Index, Vector
from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.offline.elimination import eliminate
from equipoise.offline.evaluation import AFFORDABLE, factorisation_work
from equipoise.offline.sweeps import settle

SMALL: Final = 300  # states up to which the elimination is dense
_DIRECT: Final = 3000  # states up to which a sparse factorisation is used at once
_STEP: Final = 0.9  # of the way that a step of the power method goes
_CHUNK: Final = 100  # steps between two looks at how fast it settles
_CHUNKS: Final = 200
_FALLING: Final = 0.5  # a residual that does not fall by that factor in so many steps falls slowly
_EXACT: Final = 1e-14  # l1 norm of the residual at which it stops
_POOR: Final = 1e-8  # l1 residual at which a factorisation is not believed


def chain_of(model: Model, policy: Vector) -> csr_array:
    """Return the transition probabilities between states under a policy, one probability a pair."""
    P = model.n_pairs
    choose = csr_array((policy, np.arange(P), model.first_pair), shape=(model.n_states, P))
    return csr_array(choose @ model.transitions())


def recurrent_classes(chain: csr_array) -> list[Index]:
    """List the closed communicating classes of a chain, each as its states in order.

    >>> [c.tolist() for c in recurrent_classes(csr_array([[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]]))]
    [[1], [2]]
    """
    arcs = chain.tocoo()
    used = arcs.data > 0.0
    row, col = arcs.row[used], arcs.col[used]
    graph = csr_array((np.ones(row.size), (row, col)), shape=chain.shape)
    count, label = connected_components(graph, connection="strong")
    closed = np.ones(count, np.bool_)
    closed[label[row[label[row] != label[col]]]] = False
    order = np.argsort(label, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1])
    return sorted((groups[i].astype(np.int64) for i in np.flatnonzero(closed)), key=lambda states: int(states[0]))


def stationary_distribution(chain: csr_array) -> Vector:
    """Return the stationary distribution of an irreducible chain.

    Up to 300 states by elimination without subtractions (see `elimination`), which gets every entry right however
    small. Above that by the power method if it settles, or else by a sparse factorisation: as soon as it settles
    slowly, if that is cheap.

    >>> stationary_distribution(csr_array([[0.5, 0.5], [1.0, 0.0]])).round(6).tolist()
    [0.666667, 0.333333]
    """
    n = int(chain.shape[0])
    if n <= SMALL:
        weight = np.empty(n)
        eliminate(n, np.ascontiguousarray(chain.toarray(), dtype=np.float64), weight)
        return weight
    first, successor = chain.indptr.astype(np.int64), chain.indices.astype(np.int64)
    pi, after, states = np.full(n, 1.0 / n), np.empty(n), np.arange(n)
    residual, cheap = np.inf, None
    for _ in range(_CHUNKS):
        before = residual
        residual = settle(first, successor, chain.data, states, _STEP, _CHUNK, _EXACT, pi, after)
        if residual <= _EXACT:
            return pi
        if residual > _FALLING * before:
            cheap = n <= _DIRECT or factorisation_work(chain) <= AFFORDABLE if cheap is None else cheap
            if cheap:
                break
    weights = factorised_distribution(chain)
    if not np.isfinite(weights).all() or np.abs(chain.T @ weights - weights).sum() > _POOR:
        raise SolverError(f"the stationary distribution of a policy on {n} states could not be computed")
    return weights


def factorised_distribution(chain: csr_array) -> Vector:
    """Return the stationary distribution of a chain with one recurrent class, by a sparse factorisation.

    It solves A'x = e, where A is I - P with the column of one state replaced by ones and e that state's unit vector:
    its entries say that flow in is flow out in all other states, and that all is 1. However rarely the chain visits
    that state, the system is as well conditioned as the question itself.

    >>> factorised_distribution(csr_array([[0.5, 0.5], [1.0, 0.0]])).round(6).tolist()
    [0.666667, 0.333333]
    """
    from scipy.sparse.linalg import splu

    n = int(chain.shape[0])
    arcs = chain.tocoo()
    kept = arcs.col != 0
    states = np.arange(n)
    rows = np.concatenate([arcs.row[kept], states[1:], states])
    columns = np.concatenate([arcs.col[kept], states[1:], np.zeros(n, np.int64)])
    entries = np.concatenate([-arcs.data[kept], np.ones(2 * n - 1)])
    try:
        factors: Any = splu(csc_array((entries, (rows, columns)), shape=(n, n)))  # its types do not know `trans`
    except (RuntimeError, MemoryError) as error:  # singular to machine precision, or too large
        raise SolverError(f"the chain of a policy on {n} states could not be factorised ({error})") from None
    weights = np.maximum(factors.solve(np.eye(1, n).ravel(), trans="T"), 0.0)
    distribution: Vector = weights / weights.sum()
    return distribution


def long_run(model: Model, policy: Vector) -> list[tuple[Index, Vector]]:
    """List the recurrent classes of a policy, each with the occupancy (per pair) that it settles to.

    >>> from equipoise.models import star
    >>> loops = long_run(star(2, 2), np.array([0.5, 0.5, 1.0, 0.0, 1.0, 0.0]))
    >>> [(states.tolist(), x.tolist()) for states, x in loops]
    [([1], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), ([2], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0])]
    """
    chain = chain_of(model, policy)
    ends = []
    for states in recurrent_classes(chain):
        weight = np.zeros(model.n_states)
        weight[states] = stationary_distribution(csr_array(chain[states][:, states]))
        ends.append((states, weight[model.state_of] * policy))
    return ends
