r"""The chain of a deterministic policy on a known model: its recurrent classes, its values, what they cost to compute.

`discounted_values` solves u = r + (1 - epsilon) P u by a sparse factorisation. For a small epsilon that is the bias of
the policy, up to a constant and to epsilon times its square, and unlike the equations of the bias it has one solution
whatever the recurrent classes are: one, several, or several that all but communicate, where the bias is huge.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from equipoise._types import Index, Vector
from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.models.structure import components
from equipoise.offline.sweeps import peel, restrict

AFFORDABLE: Final = 3e10  # multiplications that a factorisation may take, by the estimate of `factorisation_work`


class Moves(NamedTuple):
    """The transitions of a deterministic policy, side by side.

    Attributes
    ----------
    first : int array
        Those from state s are first[s] ... first[s + 1] - 1.
    successor, probability : int array, float array
        Where they lead, and how probable they are; longer than is needed.
    """

    first: Index
    successor: Index
    probability: Vector

    def chain(self) -> csr_array:
        """Return them as a sparse array, one row a state."""
        n, end = self.first.size - 1, int(self.first[-1])
        return csr_array((self.probability[:end], self.successor[:end], self.first), shape=(n, n))

    def classes(self) -> list[Index]:
        """List the recurrent classes, each as its states; the class of the lowest state first."""
        begin, end = self.first[:-1], self.first[1:]
        count, label = components(begin, end, self.successor)
        source, target = np.repeat(label, end - begin), label[self.successor[: self.first[-1]]]
        closed = np.ones(count, np.bool_)
        closed[source[source != target]] = False
        recurrent = np.flatnonzero(closed[label])
        order = recurrent[np.argsort(label[recurrent], kind="stable")]
        classes = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
        return sorted(classes, key=lambda states: int(states[0]))


def room_for_moves(model: Model) -> Moves:
    """Room for the transitions of any deterministic policy; `moves_of` fills it."""
    most = int(np.maximum.reduceat(np.diff(model.transition_first), model.first_pair[:-1]).sum())
    return Moves(np.zeros(model.n_states + 1, np.int64), np.zeros(most, np.int64), np.zeros(most))


def moves_of(model: Model, pairs: Index, room: Moves | None = None) -> Moves:
    """The transitions of a deterministic policy, one pair a state; written into `room`, if there is any.

    >>> from equipoise.models import star
    >>> moves = moves_of(star(2, 2), np.array([0, 2, 4]))
    >>> moves.successor.tolist(), [states.tolist() for states in moves.classes()]
    ([1, 1, 2], [[1], [2]])
    """
    room = room_for_moves(model) if room is None else room
    restrict(model.transition_first, model.transition_state, model.transition_probability, pairs, *room)
    return room


def discounted_values(chain: csr_array, values: Vector, epsilon: float) -> Vector:
    """Solve u = values + (1 - epsilon) P u.

    Parameters
    ----------
    chain : csr_array
        P, one row a state.
    values : float array
        One a state; with the gain subtracted, u is about the bias.
    epsilon : float
        Above 0.

    Raises
    ------
    SolverError
        When the factorisation fails.

    Examples
    --------
    >>> discounted_values(csr_array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, -0.5]), 1e-12).round(6).tolist()
    [0.25, -0.25]
    """
    from scipy.sparse.linalg import splu

    n = int(chain.shape[0])
    system = csc_array(eye_array(n, format="csr") - (1.0 - epsilon) * chain)
    try:  # the matrix is diagonally dominant: no pivots are needed, and the order may be that of the pattern
        factors = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except (RuntimeError, MemoryError) as error:
        raise SolverError(f"the values of a policy on {n} states could not be computed ({error})") from None
    u: Vector = factors.solve(values)
    if not np.isfinite(u).all():
        raise SolverError(f"the values of a policy on {n} states could not be computed: they are not finite")
    return u


def factorisation_work(chain: csr_array) -> float:
    """Estimate the multiplications of a factorisation: squared widths of the envelope after Cuthill-McKee.

    States with one neighbour are eliminated first, again and again, at no cost: all of a policy whose transitions are
    certain, but for its cycles. Of the rest, long and thin worlds (lines, queues, grids) have a narrow envelope; that
    of random ones is as wide as they are.

    >>> path, ring = np.eye(100, k=1) + np.diag([0.0] * 99 + [1.0]), np.eye(100, k=1) + np.eye(100, k=-99)
    >>> factorisation_work(csr_array(path)), factorisation_work(csr_array(ring)) < 1000.0
    (100.0, True)
    """
    n = int(chain.shape[0])
    arcs = chain.tocoo()
    graph = csr_array((np.ones(arcs.nnz), (arcs.row, arcs.col)), shape=(n, n))
    graph = csr_array(graph + graph.T)
    inside = np.empty(n, np.bool_)
    peel(graph.indptr, graph.indices, np.empty(n, np.int64), np.empty(n, np.int64), inside)
    core = np.flatnonzero(inside)
    if core.size == 0:
        return float(n)
    inner = csr_array(graph[core][:, core])
    return n + _envelope(inner)


def _envelope(graph: csr_array) -> float:
    """Squared widths of the rows of a symmetric matrix, summed, in the order of Cuthill and McKee."""
    n = int(graph.shape[0])
    arcs = graph.tocoo()
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    row, column = place[arcs.row], place[arcs.col]
    width = np.zeros(n)
    np.maximum.at(width, np.maximum(row, column), np.abs(row - column).astype(np.float64))
    return float((width**2).sum())
