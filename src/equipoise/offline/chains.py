r"""Stationary policies and their Markov chains: recurrent classes, stationary distributions, values.

A policy has one probability per pair, or if it is deterministic the pair of each state. Its chain is a sparse S x S
array with rows of sum 1. In a recurrent class the share of time spent in each state tends to the class's one stationary
distribution, whether or not the class is periodic. For a small class it is computed by elimination without subtractions
(Grassmann, Taksar, Heyman): states are struck out from the last to the second, and when k goes, the chain is watched
only while it is in 0 ... k - 1:

    p(i,j) becomes p(i,j) + p(i,k) p(k,j) / (p(k,0) + ... + p(k,k-1)).

The weights then follow from the first to the last. Nothing is ever subtracted, so every entry is right to a few units
in its last place, however small it is. Larger classes go by the power method, or by a sparse factorisation.

`discounted_values` solves u = r + (1 - epsilon) P u by a sparse factorisation. For a small epsilon that is the bias of
the policy, up to a constant and to epsilon times its square, and unlike the equations of the bias it has one solution
whatever the recurrent classes are: one, several, or several that all but communicate, where the bias is huge.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array

from equipoise._runtime.compiler import kernel
from equipoise._types import Index, Vector
from equipoise.errors import SolverError
from equipoise.models.communication import components
from equipoise.models.model import Model
from equipoise.rewards.base import Reward

AFFORDABLE: Final = 3e10  # multiplications that a factorisation may take, by the estimate of `factorisation_work`
_LARGE: Final = 1e200  # a weight above it is scaled down, and all before it with it
SMALL: Final = 300  # states up to which the elimination is dense
_DIRECT: Final = 3000  # states up to which a sparse factorisation is used at once
_STEP: Final = 0.9  # of the way that a step of the power method goes
_CHUNK: Final = 100  # steps between two looks at how fast it settles
_CHUNKS: Final = 200
_FALLING: Final = 0.5  # a residual that does not fall by that factor in so many steps falls slowly
_EXACT: Final = 1e-14  # l1 norm of the residual at which it stops
_POOR: Final = 1e-8  # l1 residual at which a factorisation is not believed


def occupancy_policy(model: Model, occupancy: Vector) -> Vector:
    """Read the randomised stationary policy off an occupancy; uniform where nothing is visited."""
    first = model.first_pair[:-1]
    total = np.add.reduceat(occupancy, first)[model.state_of]
    uniform = 1.0 / np.diff(model.first_pair)[model.state_of]
    return np.where(total > 0.0, np.divide(occupancy, total, where=total > 0.0, out=np.zeros_like(total)), uniform)


def policy_ends(model: Model, pairs: Index) -> list[tuple[Index, Vector]]:
    """List the recurrent classes of a deterministic policy, given as one pair per state."""
    policy = np.zeros(model.n_pairs)
    policy[pairs] = 1.0
    return long_run(model, policy)


def lead_to(model: Model, pairs: Index, states: Index) -> Index:
    """Change a policy outside of `states` so that it leads there from everywhere."""
    pairs = pairs.copy()
    reached = np.zeros(model.n_states, np.bool_)
    reached[states] = True
    p = model.transitions()
    while not reached.all():
        able = np.flatnonzero((p @ reached.astype(np.float64) > 0.0) & ~reached[model.state_of])[::-1]
        pairs[model.state_of[able]] = able  # of several the lowest, which is written last
        reached[model.state_of[able]] = True
    return pairs


def greedy(model: Model, q: Vector) -> Index:
    """Return in every state the first pair with the largest entry of q."""
    most = np.maximum.reduceat(q, model.first_pair[:-1])
    attained = np.flatnonzero(q == most[model.state_of])[::-1]
    pairs = np.empty(model.n_states, np.int64)
    pairs[model.state_of[attained]] = attained
    return pairs


def occupancy_value(model: Model, reward: Reward, x: Vector) -> float:
    """The reward of the average outcomes of an occupancy."""
    return reward.value(np.clip(model.mean_rows.T @ x, 0.0, 1.0))


def policy_chain(model: Model, policy: Vector) -> csr_array:
    """Return the transition probabilities between states under a policy, one probability a pair."""
    P = model.n_pairs
    choose = csr_array((policy, np.arange(P), model.first_pair), shape=(model.n_states, P))
    return csr_array(choose @ model.transitions())


def recurrent_classes(chain: csr_array) -> list[Index]:
    """List the closed communicating classes of a chain, each as its states in order."""
    used = chain.copy()
    used.eliminate_zeros()
    return Moves(used.indptr.astype(np.int64), used.indices.astype(np.int64), used.data).classes()


def stationary_distribution(chain: csr_array) -> Vector:
    """Return the stationary distribution of an irreducible chain."""
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
    """Return the stationary distribution of a chain with one recurrent class, by a sparse factorisation."""
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
    """List the recurrent classes of a policy, each with the occupancy (per pair) that it settles to."""
    chain = policy_chain(model, policy)
    ends = []
    for states in recurrent_classes(chain):
        weight = np.zeros(model.n_states)
        weight[states] = stationary_distribution(csr_array(chain[states][:, states]))
        ends.append((states, weight[model.state_of] * policy))
    return ends


class Moves(NamedTuple):
    """The transitions of a deterministic policy, side by side."""

    first: Index
    successor: Index
    probability: Vector

    def chain(self) -> csr_array:
        """Return them as a sparse array, one row per state."""
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


def empty_moves(model: Model) -> Moves:
    """Room for the transitions of any deterministic policy; `policy_moves` fills it."""
    most = int(np.maximum.reduceat(np.diff(model.transition_first), model.first_pair[:-1]).sum())
    return Moves(np.zeros(model.n_states + 1, np.int64), np.zeros(most, np.int64), np.zeros(most))


def policy_moves(model: Model, pairs: Index, room: Moves | None = None) -> Moves:
    """The transitions of a deterministic policy, one pair per state; written into `room`, if there is any."""
    room = empty_moves(model) if room is None else room
    restrict(model.transition_first, model.transition_state, model.transition_probability, pairs, *room)
    return room


def discounted_values(chain: csr_array, values: Vector, epsilon: float) -> Vector:
    """Solve u = values + (1 - epsilon) P u."""
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
    """Estimate the multiplications of a factorisation: squared widths of the envelope after Cuthill-McKee."""
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
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = int(graph.shape[0])
    arcs = graph.tocoo()
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    row, column = place[arcs.row], place[arcs.col]
    width = np.zeros(n)
    np.maximum.at(width, np.maximum(row, column), np.abs(row - column).astype(np.float64))
    return float((width**2).sum())


@kernel
def eliminate(n, matrix, weight):  # type: ignore[no-untyped-def]
    """Fill ``weight[:n]`` with the stationary distribution of the chain ``matrix[:n, :n]``, which is overwritten."""
    for k in range(n - 1, 0, -1):
        out = 0.0
        for j in range(k):
            out += matrix[k, j]
        for i in range(k):
            matrix[i, k] /= out
            for j in range(k):
                matrix[i, j] += matrix[i, k] * matrix[k, j]
    weight[0] = 1.0
    for k in range(1, n):
        weight[k] = 0.0
        for i in range(k):
            weight[k] += weight[i] * matrix[i, k]
        if weight[k] > _LARGE:
            largest = weight[k]
            for i in range(k + 1):
                weight[i] /= largest
    total = 0.0
    for k in range(n):
        total += weight[k]
    for k in range(n):
        weight[k] /= total


@kernel
def restrict(first, successor, probability, pairs, own_first, own_successor, own_probability):  # type: ignore[no-untyped-def]
    """Copy the transitions of a policy: those from state s begin at ``own_first[s]``."""
    end = 0
    for s in range(pairs.shape[0]):
        own_first[s] = end
        for i in range(first[pairs[s]], first[pairs[s] + 1]):
            own_successor[end] = successor[i]
            own_probability[end] = probability[i]
            end += 1
    own_first[pairs.shape[0]] = end


@kernel
def settle(first, successor, probability, states, step, count, enough, weight, after):  # type: ignore[no-untyped-def]
    """Up to `count` relaxed steps of the distribution `weight` under a policy, on a closed set of `states`."""
    residual = np.inf
    for _ in range(count):
        for s in states:
            after[s] = 0.0
        for s in states:
            for i in range(first[s], first[s + 1]):
                after[successor[i]] += weight[s] * probability[i]
        residual = 0.0
        total = 0.0
        for s in states:
            residual += abs(after[s] - weight[s])
            weight[s] += step * (after[s] - weight[s])
            total += weight[s]
        for s in states:
            weight[s] /= total
        if residual <= enough:
            break
    return residual


@kernel
def peel(first, neighbour, degree, queue, inside):  # type: ignore[no-untyped-def]
    """Take the nodes of a graph that have one neighbour at most away, again and again; `inside` tells which remain."""
    n = degree.shape[0]
    end = 0
    for s in range(n):
        degree[s] = 0
        for i in range(first[s], first[s + 1]):
            degree[s] += neighbour[i] != s
        inside[s] = degree[s] > 1
        if not inside[s]:
            queue[end] = s
            end += 1
    begin = 0
    while begin < end:
        s = queue[begin]
        begin += 1
        for i in range(first[s], first[s + 1]):
            other = neighbour[i]
            if inside[other]:
                degree[other] -= 1
                if degree[other] <= 1:
                    inside[other] = False
                    queue[end] = other
                    end += 1
