"""Putting the states in decreasing order of u: quickly if they nearly are, in linear time if they are not.

From one sweep to the next the order hardly changes, so that an insertion sort takes little more than a look. It gives
up after some shifts for each state, or is not begun where the first of them are in no order at all, and then the order
is made again: digit by digit, the lowest first, with eight bits of the number per digit (radix sort). The upper five
digits do for nearly all numbers, and another insertion sort for the rest; if that gives up, all digits are sorted by.
All of it is stable: states of equal u stay in the order in which they were.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import bits_of, inlined, kernel

_DIGITS: Final = 8  # of eight bits each
_UPPER: Final = 3  # the lowest of those that tell most numbers apart
_LOOK: Final = 128  # states that tell whether there is any order
_SIGN: Final = np.uint64(1 << 63)
_ALL: Final = np.uint64((1 << 64) - 1)
_BYTE: Final = np.uint64(255)
_EIGHT: Final = np.uint64(8)


class SortScratch(NamedTuple):
    """Scratch: the order and the keys of a pass, and how often each digit occurs."""

    order: NDArray[np.int64]
    keys: NDArray[np.uint64]
    moved: NDArray[np.uint64]
    occurs: NDArray[np.int64]


def sort_scratch(n: int) -> SortScratch:
    """Scratch for so many states."""
    return SortScratch(
        np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64),
        np.zeros((_DIGITS, 256), dtype=np.int64),
    )  # fmt: skip


@kernel
def _insert(u, order, limit):
    """Insertion sort of `order` by decreasing u; gives up (False) after `limit` shifts."""
    shifts = 0
    for i in range(1, order.shape[0]):
        state = order[i]
        key = u[np.uint64(state)]  # unsigned, so that numba leaves out the code for negative ones
        j = i
        while j > 0 and u[np.uint64(order[np.uint64(j - 1)])] < key:
            order[np.uint64(j)] = order[np.uint64(j - 1)]
            j -= 1
        order[j] = state
        shifts += i - j
        if shifts > limit:
            return False
    return True


@inlined
def _key(x):
    """A whole number that falls as x rises; -0 and 0 have the same."""
    bits = bits_of(x + 0.0)
    return bits if bits & _SIGN else ~(bits | _SIGN) & _ALL


@inlined
def _passes(lowest, keys, order, moved, moved_order, occurs):
    """One pass a digit, from `lowest` up, to and fro; says whether the last one ended in `moved_order`."""
    n = keys.shape[0]
    there = False
    for digit in range(lowest, _DIGITS):
        shift = np.uint64(8 * digit)
        if occurs[digit, (keys[0] >> shift) & _BYTE] == n:
            continue  # all have it alike
        place = 0
        for value in range(256):
            count = occurs[digit, value]
            occurs[digit, value] = place
            place += count
        if there:
            _move(shift, moved, moved_order, keys, order, occurs[digit])
        else:
            _move(shift, keys, order, moved, moved_order, occurs[digit])
        there = not there
    return there


@inlined
def _move(shift, keys, order, to, to_order, next_place):
    for i in range(keys.shape[0]):
        value = (keys[i] >> shift) & _BYTE
        place = next_place[value]
        next_place[value] = place + 1
        to[place] = keys[i]
        to_order[place] = order[i]


@kernel
def _radix_sort(u, order, scratch, lowest):
    """Sort `order` by decreasing u, as far as the digits from `lowest` up tell."""
    n = order.shape[0]
    keys, occurs = scratch.keys, scratch.occurs
    for digit in range(_DIGITS):
        for value in range(256):
            occurs[digit, value] = 0
    for i in range(n):
        key = _key(u[order[i]])
        keys[i] = key
        key >>= _EIGHT * np.uint64(lowest)
        for digit in range(lowest, _DIGITS):
            occurs[digit, key & _BYTE] += 1
            key >>= _EIGHT
    if _passes(lowest, keys, order, scratch.moved, scratch.order, occurs):
        for i in range(n):
            order[i] = scratch.order[i]


@inlined
def _in_no_order(u, order):
    """Whether so many of the first neighbours are the wrong way round that an insertion sort is bound to give up."""
    if order.shape[0] <= _LOOK:
        return False
    wrong = 0
    for i in range(1, _LOOK):
        wrong += u[order[i - 1]] < u[order[i]]
    return 4 * wrong > _LOOK


@inlined
def put_in_order(u, order, scratch):
    """Put `order` in decreasing order of u; from one sweep to the next the order hardly changes."""
    limit = 4 * order.shape[0] + 64
    if _in_no_order(u, order) or not _insert(u, order, limit):
        _radix_sort(u, order, scratch, _UPPER)
        if not _insert(u, order, limit):
            _radix_sort(u, order, scratch, 0)
