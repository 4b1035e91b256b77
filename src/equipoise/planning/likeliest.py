"""The transitions that an optimistic sweep used, of many pairs at once: the compiled part of `response`.

Of one pair the mass that its lower bounds leave free goes to the states in decreasing order of u: to a listed state up
to its upper bound, to one that is not listed up to `rest`, and to all of these together up to `rest_sum`. In a ball,
half the radius is moved from the worst states to the best one. Only states that may get some are looked at, so that the
work is that of what was seen.
"""

from __future__ import annotations

import numpy as np

from equipoise._compile import kernel
from equipoise._types import Index, Vector
from equipoise.confidence.region import Region


def likeliest_rows(region: Region, pairs: Index, bias: Vector) -> tuple[Index, Index, Vector]:
    """The distributions that pairs use, one after the other, as the arrays of a sparse matrix.

    Parameters
    ----------
    region : Region
        Of all pairs.
    pairs : int array
        Which.
    bias : float array
        u, one number a state.

    Returns
    -------
    first, successor, probability : int array, int array, float array
        Row i has the entries first[i] ... first[i + 1] - 1.
    """
    order = np.argsort(-bias, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    room = np.zeros(pairs.size, np.int64)
    most = _measure(region, pairs, order.size, room)
    successor, probability = np.empty(room.sum(), np.int64), np.empty(room.sum())
    first = np.zeros(pairs.size + 1, np.int64)
    listed_at, scratch = np.full(order.size, -1, np.int64), (np.empty(most, np.int64), np.empty(most))
    end = _fill(region, pairs, order, rank, listed_at, *scratch, first, successor, probability)
    return first, successor[:end], probability[:end]


@kernel
def _others(region, pair):  # type: ignore[no-untyped-def]
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
def _measure(region, pairs, n_states, room):  # type: ignore[no-untyped-def]
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
def _fill(region, pairs, order, rank, listed_at, states, mass, first, successor, probability):  # type: ignore[no-untyped-def]
    """Write the rows; return where they end."""
    end = 0
    for row in range(pairs.shape[0]):
        pair = pairs[row]
        begin, listed = region.first[pair], region.first[pair + 1] - region.first[pair]
        for i in range(listed):  # the listed states by rank, best first
            state, low = region.successor[begin + i], region.lo[begin + i]
            j = i
            while j > 0 and rank[states[j - 1]] > rank[state]:
                states[j], mass[j] = states[j - 1], mass[j - 1]
                j -= 1
            states[j], mass[j] = state, low
        if region.radius[pair] > 0.0:
            after = _ball(order[0], region.radius[pair], listed, states, mass, end, successor, probability)
        else:
            for i in range(listed):
                listed_at[region.successor[begin + i]] = begin + i
            after = _box(region, pair, order, rank, listed_at, listed, states, mass, end, successor, probability)
            for i in range(listed):
                listed_at[region.successor[begin + i]] = -1
        total = 0.0
        for i in range(end, after):
            total += probability[i]
        for i in range(end, after):
            probability[i] /= total
        end = after
        first[row + 1] = end
    return end


@kernel
def _box(region, pair, order, rank, listed_at, listed, states, mass, end, successor, probability):  # type: ignore[no-untyped-def]
    """Fill up from the lower bounds: the next of the listed or of the other states, whichever has the better rank."""
    others, free = _others(region, pair)
    each, together = region.rest[pair], region.rest_sum[pair]
    i = 0
    place = 0
    while i < listed or others > 0.0:
        while place < order.shape[0] and listed_at[order[place]] >= 0:
            place += 1
        if place == order.shape[0]:
            others = 0.0
            if i == listed:
                break
        if others > 0.0 and (i == listed or place < rank[states[i]]):
            state, low, more = order[place], 0.0, min(each, together)
            together -= more
            others -= 1.0
            place += 1
        else:
            state, low = states[i], mass[i]
            more = region.hi[listed_at[state]] - low
            i += 1
        more = min(more, free)
        free -= more
        if low + more > 0.0:
            successor[end] = state
            probability[end] = low + more
            end += 1
    return end


@kernel
def _ball(best, radius, listed, states, mass, end, successor, probability):  # type: ignore[no-untyped-def]
    """Half the radius more for the best state, and what is then too much taken from the worst."""
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
