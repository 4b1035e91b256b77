"""The distributions that an optimistic sweep used: a maximiser of p.u over the region of a pair, or of a law at a node.

The mass that the lower bounds leave free goes to the states in decreasing order of u: to a listed state up to its upper
bound, to one that is not listed up to `rest`, and to all of these together up to `rest_sum`. In a ball, half the radius
is moved from the worst states to the best one. Only states that may get some are looked at, so that the work is
proportional to what was seen. A node of known mechanics is such a problem of its own: the values of its law are the
states, and u the values of its children.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equipoise._runtime.compiler import kernel
from equipoise._types import Index, Vector
from equipoise.confidence.region import Region
from equipoise.models.laws.laws import LawArrays
from equipoise.planning.laws import LawWork


class Scratch(NamedTuple):
    """Where one distribution is made."""

    order: Index
    rank: Index
    listed_at: Index
    states: Index
    mass: Vector


def optimistic_transitions(region: Region, pairs: Index, bias: Vector) -> tuple[Index, Index, Vector]:
    """The distributions that pairs use, one after the other, as the arrays of a sparse matrix."""
    order = np.argsort(-bias, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    room = np.zeros(pairs.size, np.int64)
    most = _measure(region, pairs, order.size, room)
    successor, probability = np.empty(room.sum(), np.int64), np.empty(room.sum())
    first = np.zeros(pairs.size + 1, np.int64)
    work = Scratch(order, rank, np.full(order.size, -1, np.int64), np.empty(most, np.int64), np.empty(most))
    end = _fill_rows(region, pairs, work, first, successor, probability)
    return first, successor[:end], probability[:end]


def optimistic_shares(laws: LawArrays, region: Region, work: LawWork) -> Vector:
    """The distribution over its children that each node used, one after the other."""
    shares = np.zeros(laws.child.size)
    widest = int(np.diff(laws.node_first).max(initial=0))
    order, rank, states, successor = (np.empty(widest + 1, np.int64) for _ in range(4))
    scratch = Scratch(order, rank, np.full(widest, -1, np.int64), states, np.empty(widest + 1))
    _fill_shares(laws, region, work.value, scratch, successor, np.empty(widest + 1), shares)
    return shares


@kernel
def _others(region, pair):
    """How many states that are not listed may get mass, if there are so many; and the mass that is free."""
    low = 0.0
    for i in range(region.first[pair], region.first[pair + 1]):
        low += region.lo[i]
    free = max(0.0, 1.0 - low)
    each, together = region.rest[pair], region.rest_sum[pair]
    if min(free, each, together) <= 0.0:
        return 0.0, free
    return np.floor(min(free, together) / each) + 1.0, free


@kernel
def _measure(region, pairs, n_states, room):
    """Write into `room` how many entries each row has at most; return the largest number of listed states."""
    most = 1
    for row in range(pairs.shape[0]):
        pair = pairs[row]
        listed = region.first[pair + 1] - region.first[pair]
        most = max(most, listed + 1)
        if region.radius[pair] > 0.0:
            room[row] = listed + 1
        else:
            others, _ = _others(region, pair)
            room[row] = min(float(n_states), listed + others)
    return most


@kernel
def _fill_rows(region, pairs, work, first, successor, probability):
    """Write the rows of some pairs; return where they end."""
    end = 0
    for row in range(pairs.shape[0]):
        end = _fill_row(region, pairs[row], work.order.shape[0], work, end, successor, probability)
        first[row + 1] = end
    return end


@kernel
def _fill_shares(laws, region, value, work, successor, probability, shares):
    """Write the distribution of every node over its children."""
    for node in range(laws.node_law.shape[0]):
        law, begin = laws.node_law[node], laws.node_first[node]
        size = laws.node_first[node + 1] - begin
        if law >= laws.learnt:
            for i in range(size):
                shares[begin + i] = laws.probability[laws.first_value[law] + i]
            continue
        for i in range(size):  # stable, the largest value first
            j = i
            while j > 0 and value[laws.child[begin + work.order[j - 1]]] < value[laws.child[begin + i]]:
                work.order[j] = work.order[j - 1]
                j -= 1
            work.order[j] = i
        for i in range(size):
            work.rank[work.order[i]] = i
        for i in range(_fill_row(region, law, size, work, 0, successor, probability)):
            shares[begin + successor[i]] = probability[i]


@kernel
def _fill_row(region, pair, n_states, work, end, successor, probability):
    """Write one distribution from `end` on, the best states first; return where it ends."""
    begin, listed = region.first[pair], region.first[pair + 1] - region.first[pair]
    states, mass = work.states, work.mass
    for i in range(listed):  # the listed states by rank, best first
        state, low = region.successor[begin + i], region.lo[begin + i]
        j = i
        while j > 0 and work.rank[states[j - 1]] > work.rank[state]:
            states[j], mass[j] = states[j - 1], mass[j - 1]
            j -= 1
        states[j], mass[j] = state, low
    if region.radius[pair] > 0.0:
        after = _over_ball(work.order[0], region.radius[pair], listed, work, end, successor, probability)
    else:
        for i in range(listed):
            work.listed_at[region.successor[begin + i]] = begin + i
        after = _over_box(region, pair, n_states, listed, work, end, successor, probability)
        for i in range(listed):
            work.listed_at[region.successor[begin + i]] = -1
    total = 0.0
    for i in range(end, after):
        total += probability[i]
    for i in range(end, after):
        probability[i] /= total
    return after


@kernel
def _over_box(region, pair, n_states, listed, work, end, successor, probability):
    """Fill up from the lower bounds: the next of the listed or of the other states, whichever has the better rank."""
    order, states = work.order, work.states
    others, free = _others(region, pair)
    each, together = region.rest[pair], region.rest_sum[pair]
    i = 0
    place = 0
    while i < listed or others > 0.0:
        while place < n_states and work.listed_at[order[place]] >= 0:
            place += 1
        if place == n_states:
            others = 0.0
            if i == listed:
                break
        if others > 0.0 and (i == listed or place < work.rank[states[i]]):
            state, low, more = order[place], 0.0, min(each, together)
            together -= more
            others -= 1.0
            place += 1
        else:
            state, low = states[i], work.mass[i]
            more = region.hi[work.listed_at[state]] - low
            i += 1
        more = min(more, free)
        free -= more
        if low + more > 0.0:
            successor[end] = state
            probability[end] = low + more
            end += 1
    return end


@kernel
def _over_ball(best, radius, listed, work, end, successor, probability):
    """Half the radius more for the best state, and what is then too much taken from the worst."""
    states, mass = work.states, work.mass
    if listed == 0 or states[0] != best:
        for i in range(listed, 0, -1):
            states[i], mass[i] = states[i - 1], mass[i - 1]
        states[0], mass[0] = best, 0.0
        listed += 1
    total = 0.0
    for i in range(listed):
        total += mass[i]
    more = min(1.0 - mass[0], 0.5 * (radius + 1.0 - total))
    mass[0] += more
    excess = max(0.0, total + more - 1.0)
    for i in range(listed - 1, 0, -1):
        less = min(mass[i], excess)
        mass[i] -= less
        excess -= less
    for i in range(listed):
        if mass[i] > 0.0:
            successor[end] = states[i]
            probability[end] = mass[i]
            end += 1
    return end
