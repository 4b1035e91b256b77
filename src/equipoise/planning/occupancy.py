"""Where an optimistic plan leads, for small tables: its chain, the recurrent class that pays most, its outcomes.

The compiled, dense form of `optimistic_model`, in a few microseconds for ten states. All matrices are S x S; `SMALL`
says up to which S that is sensible.

Transitions below `cut` may be left out. In a model that is drawn from a posterior every state follows every other with
some small probability, and classes that the system keeps apart would leak into each other. What happens less than once
in the time that is planned for has no part in that plan.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import inlined, kernel
from equipoise.offline.chains import eliminate
from equipoise.planning.kernels import iterate, optimistic_rewards, rank_states

SMALL: Final = 300  # states up to which everything is dense


class Dense(NamedTuple):
    """Scratch for S states."""

    chain: NDArray[np.float64]
    matrix: NDArray[np.float64]
    upper: NDArray[np.float64]
    weight: NDArray[np.float64]
    listed: NDArray[np.int64]
    members: NDArray[np.int64]
    forward: NDArray[np.int64]
    backward: NDArray[np.int64]
    done: NDArray[np.int64]


def dense_scratch(n_states: int) -> Dense:
    """Scratch for so many states."""
    chain, matrix = np.zeros((2, n_states, n_states))
    upper, weight = np.zeros((2, n_states))
    listed, members, forward, backward, done = np.zeros((5, n_states), dtype=np.int64)
    return Dense(chain, matrix, upper, weight, listed, members, forward, backward, done)


@inlined
def _fill_row(region, pair, order, cut, dense, row):
    """The transitions of a pair that an optimistic sweep uses, best states first; see `optimistic_transitions`."""
    n = order.shape[0]
    upper, listed = dense.upper, dense.listed
    begin, end = region.first[pair], region.first[pair + 1]
    radius = region.radius[pair]
    total = 0.0
    for s in range(n):
        row[s] = 0.0
        upper[s] = region.rest[pair]
        listed[s] = 0
    for i in range(begin, end):
        state = region.successor[i]
        row[state] = region.lo[i]
        upper[state] = region.hi[i]
        listed[state] = 1
        total += region.lo[i]
    if radius > 0.0:
        best = order[0]
        more = min(1.0 - row[best], 0.5 * (radius + 1.0 - total))
        row[best] += more
        excess = max(0.0, total + more - 1.0)
        for i in range(n - 1, 0, -1):
            state = order[i]
            less = min(row[state], excess)
            row[state] -= less
            excess -= less
    else:
        free = max(0.0, 1.0 - total)
        together = region.rest_sum[pair]
        for i in range(n):
            if free <= 0.0:
                break
            state = order[i]
            if listed[state] == 1:
                more = min(upper[state] - row[state], free)
            else:
                more = min(min(upper[state], together), free)
                together -= more
            row[state] += more
            free -= more
    largest = 0.0
    for s in range(n):
        largest = max(largest, row[s])
    total = 0.0
    for s in range(n):
        if row[s] < min(cut, largest):
            row[s] = 0.0
        total += row[s]
    for s in range(n):
        row[s] /= total


@inlined
def _reach(chain, start, members, forward):
    """List the states that can be reached from `start`, and mark them; returns how many there are."""
    n = chain.shape[0]
    for s in range(n):
        forward[s] = 0
    members[0] = start
    forward[start] = 1
    count = 1
    looked = 0
    while looked < count:
        state = members[looked]
        looked += 1
        for s in range(n):
            if forward[s] == 0 and chain[state, s] > 0.0:
                forward[s] = 1
                members[count] = s
                count += 1
    return count


@inlined
def _one_that_does_not_return(chain, members, count, backward):
    """A state among those reached from the first of them from which it cannot be reached; -1 if there is none."""
    for s in range(chain.shape[0]):
        backward[s] = 0
    backward[members[0]] = 1
    found = 1
    grown = True
    while grown and found < count:
        grown = False
        for i in range(count):
            state = members[i]
            if backward[state] == 0:
                for j in range(count):
                    if backward[members[j]] == 1 and chain[state, members[j]] > 0.0:
                        backward[state] = 1
                        found += 1
                        grown = True
                        break
    for i in range(count):
        if backward[members[i]] == 0:
            return members[i]
    return np.int64(-1)


@kernel
def evaluate(first_pair, region, theta, u, policy, cut, work, dense, share, column):
    """Fill `share` and `column` with the long run of a policy in the model that the region allows and u prefers."""
    n, n_outcomes = u.shape[0], theta.shape[0]
    for s in range(n):
        work.order[s] = s
        dense.done[s] = 0
    rank_states(u, work)
    for s in range(n):
        _fill_row(region, first_pair[s] + policy[s], work.order, cut, dense, dense.chain[s])
    best = -np.inf
    for origin in range(n):
        if dense.done[origin] == 1:
            continue
        start = np.int64(origin)
        count = _reach(dense.chain, start, dense.members, dense.forward)
        for i in range(count):
            dense.done[dense.members[i]] = 1
        while True:
            other = _one_that_does_not_return(dense.chain, dense.members, count, dense.backward)
            if other < 0:
                break
            count = _reach(dense.chain, other, dense.members, dense.forward)
        for i in range(count):
            for j in range(count):
                dense.matrix[i, j] = dense.chain[dense.members[i], dense.members[j]]
        eliminate(count, dense.matrix, dense.weight)
        pays = 0.0
        for i in range(count):
            pair = first_pair[dense.members[i]] + policy[dense.members[i]]
            for k in range(n_outcomes):
                mean = region.v_hi[pair, k] if theta[k] < 0.0 else region.v_lo[pair, k]
                pays -= dense.weight[i] * theta[k] * mean
        if pays > best:
            best = pays
            for s in range(n):
                share[s] = 0.0
            for k in range(n_outcomes):
                column[k] = 0.0
            for i in range(count):
                state = dense.members[i]
                share[state] = dense.weight[i]
                pair = first_pair[state] + policy[state]
                for k in range(n_outcomes):
                    mean = region.v_hi[pair, k] if theta[k] < 0.0 else region.v_lo[pair, k]
                    column[k] += dense.weight[i] * mean


@kernel
def respond(
    first_pair, region, theta, bonus, tolerance, limit, relaxation, cut, u, policy, reward, work, dense, share, column
):
    """Plan for (-theta).v plus a bonus per pair, and evaluate the plan; returns how the iteration ended."""
    optimistic_rewards(theta, region.v_lo, region.v_hi, reward)
    for pair in range(reward.shape[0]):
        reward[pair] += bonus[pair]
    ended = iterate(None, first_pair, region, reward, tolerance, limit, relaxation, u, policy, work, limit + 1)
    evaluate(first_pair, region, theta, u, policy, cut, work, dense, share, column)
    return ended
