"""Entries: what they take, what they are called, and what compiled code can do with raw pointers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numba import types

from equipoise._runtime.compiler import (
    ENTRY_SIGNATURE,
    Entry,
    bits_of,
    call_for_two,
    entry,
    float_pointer,
    invoke,
    kernel,
    move_within,
    pointer_at,
    stack_floats,
)
from equipoise.confidence.base import ConfidenceFrame
from equipoise.errors import ContractError
from equipoise.oracles.frame import OracleFrame


@entry
def weighted(t, n, x, params, out):
    """sum_k params_k x_k + t, and n."""
    out[0] = t
    for k in range(n):
        out[0] += params[k] * x[k]
    out[1] = n


def nothing(frame):
    pass


def half(x, bounds):
    bounds[0] = 0.5 * x


def test_an_entry_has_one_signature_or_takes_one_frame():
    other = types.void(types.float64, types.CPointer(types.float64))
    assert weighted.has(ENTRY_SIGNATURE)
    assert not weighted.has(other)
    assert not weighted.takes(ConfidenceFrame)
    framed = Entry(nothing, frame=ConfidenceFrame)
    assert framed.takes(ConfidenceFrame)
    assert not framed.takes(OracleFrame)
    assert not framed.has(ENTRY_SIGNATURE)  # its signature is that of the frame
    assert Entry(half, signature=other).has(other)


def test_an_entry_is_called_through_its_address():
    out = np.zeros(2)
    invoke(weighted.address, 100, np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 0.5]), out)
    assert out.tolist() == [122.5, 3.0]
    assert weighted.address == weighted.address


def test_a_copy_is_the_entry_itself_and_a_pickle_finds_it():
    assert copy.copy(weighted) is weighted
    assert copy.deepcopy([weighted])[0] is weighted
    assert pickle.loads(pickle.dumps(weighted)) is weighted
    twin = pickle.loads(pickle.dumps(Entry(half, cached=False)))  # under no name of its own
    assert type(twin) is Entry
    assert (twin._function, twin._cached) == (half, False)
    assert repr(weighted) == "Entry(tests._runtime.test_compiler.weighted)"


def test_what_cannot_be_compiled_is_named():
    def wrong(t, n, x, params, out):
        out[0] = no_such_name  # noqa: F821

    with pytest.raises(ContractError, match=r"Entry\(.*wrong\) cannot be compiled: line \d+ of test_compiler\.py"):
        _ = Entry(wrong, cached=False).address


def test_two_numbers_come_back_and_what_is_not_written_is_nan():
    @kernel
    def both(address, x):
        return call_for_two(address, (x,))

    one = Entry(half, cached=False, signature=types.void(types.float64, types.CPointer(types.float64)))
    first, second = both(one.address, 3.0)
    assert first == 1.5
    assert np.isnan(second)


def test_pointers():
    @kernel
    def kept(address, n):
        """The sum of entries 1 to n behind a pointer, through numbers on the stack."""
        numbers = pointer_at(float_pointer(address), 1)
        room = stack_floats(n)
        for k in range(n):
            room[k] = numbers[k]
        total = 0.0
        for k in range(n):
            total += room[k] * 10.0**k
        return total

    x = np.array([9.0, 1.0, 2.0, 3.0])
    assert kept(x.ctypes.data, 3) == 321.0


def test_bits_of_a_float():
    @kernel
    def bits(x):
        return bits_of(x)

    for x in (0.0, -0.0, 1.5, -np.inf, 5e-324):
        assert bits(x) == np.float64(x).view(np.uint64)


@pytest.mark.parametrize(("to", "start", "count"), [(1, 0, 4), (0, 2, 3), (2, 2, 1), (3, 0, 2), (0, 3, 0)])
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_entries_that_overlap_are_moved_as_if_they_were_copied_first(to, start, count, dtype):
    @kernel
    def move(array, to, start, count):
        move_within(array, to, start, count)

    array = np.arange(1, 7).astype(dtype)
    expected = array.copy()
    expected[to : to + count] = array[start : start + count].copy()
    move(array, to, start, count)
    assert array.tolist() == expected.tolist()
