r"""The chain of a deterministic policy on a known model: its recurrent classes, its values, what they cost to compute.

`discounted_values` solves u = r + (1 - epsilon) P u by a sparse factorisation. For a small epsilon that is the bias of
the policy, up to a constant and to epsilon times its square, and unlike the equations of the bias it has one solution
whatever the recurrent classes are: one, several, or several that all but communicate, where the bias is huge.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from equipoise._types import Index, Vector
from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.models.structure import components

AFFORDABLE: Final = 3e10  # multiplications that a factorisation may take, by the estimate of `factorisation_work`


def recurrent_classes_of(model: Model, pairs: Index) -> list[Index]:
    """List the recurrent classes of a policy, one pair a state, each as its states; the class of the lowest state first.

    >>> from equipoise.models import star
    >>> [states.tolist() for states in recurrent_classes_of(star(2, 2), np.array([0, 2, 4]))]
    [[1], [2]]
    """
    begin, end = model.transition_first[pairs], model.transition_first[pairs + 1]
    count, label = components(begin, end, model.transition_state)
    source = np.repeat(label, end - begin)
    target = label[model.transition_state[_within(begin, end)]]
    closed = np.ones(count, np.bool_)
    closed[source[source != target]] = False
    recurrent = np.flatnonzero(closed[label])
    order = recurrent[np.argsort(label[recurrent], kind="stable")]
    classes = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    return sorted(classes, key=lambda states: int(states[0]))


def chain_of_pairs(model: Model, pairs: Index) -> csr_array:
    """The chain of a deterministic policy, one row a state."""
    begin, end = model.transition_first[pairs], model.transition_first[pairs + 1]
    used = _within(begin, end)
    first = np.concatenate([[0], np.cumsum(end - begin)])
    parts = (model.transition_probability[used], model.transition_state[used], first)
    return csr_array(parts, shape=(model.n_states, model.n_states))


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

    Long and thin worlds (lines, queues, grids) have a narrow envelope; that of random ones is as wide as they are large.

    >>> path = csr_array(np.eye(100, k=1) + np.eye(100)[:, ::-1] * 0.0 + np.diag([0.0] * 99 + [1.0]))
    >>> factorisation_work(path)
    99.0
    """
    n = int(chain.shape[0])
    arcs = chain.tocoo()
    graph = csr_array((np.ones(arcs.nnz), (arcs.row, arcs.col)), shape=(n, n))
    order = reverse_cuthill_mckee(csr_array(graph + graph.T), symmetric_mode=True)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    row, column = place[arcs.row], place[arcs.col]
    width = np.zeros(n)
    np.maximum.at(width, np.maximum(row, column), np.abs(row - column).astype(np.float64))
    return float((width**2).sum())


def _within(begin: Index, end: Index) -> Index:
    """All the numbers begin[i] ... end[i] - 1, one range after the other."""
    sizes = end - begin
    starts = np.repeat(begin - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    return starts + np.arange(starts.size)
