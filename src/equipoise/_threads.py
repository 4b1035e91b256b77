"""Threads inside one sweep: the states are cut into parts, one a thread.

Kernels run without the interpreter's lock, so Python's own threads run them side by side, and no threading layer of a
compiler is needed, which would not survive a fork or a second thread that calls it. A part writes what belongs to its
own states, and what parts say together is a sum of whole numbers, a least or a largest: so nothing depends on how many
there are, to the last bit.

To hand a part over and to hear of its end takes some tens of microseconds (`benchmarks/threads.py` measures what is
gained). So a sweep is cut only if each part visits `LEAST` successors or more, several times as long; smaller worlds
never come here.

How many: as many as there are cores that this process may use; in a worker process, which is one of several, its share
of them. ``EQUIPOISE_THREADS`` says another number; 1 turns threads off.
"""

from __future__ import annotations

import concurrent.futures
import functools
import multiprocessing
import os
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from equipoise.errors import ParameterError

VARIABLE: Final = "EQUIPOISE_THREADS"
LEAST: Final = 100_000  # successors that a part visits, at least
_MOST: Final = 64

Answer = TypeVar("Answer")
Part = tuple[int, int]  # the first state, and the one after the last


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """How many threads a sweep may use.

    Raises
    ------
    ParameterError
        When ``EQUIPOISE_THREADS`` is not a whole number from 1.
    """
    told = os.environ.get(VARIABLE, "").strip()
    if told:
        if not told.isdecimal() or int(told) < 1:
            raise ParameterError(f"{VARIABLE}: got {told!r}; a whole number from 1 is needed")
        return min(int(told), _MOST)
    return 1 if multiprocessing.parent_process() is not None else min(cores(), _MOST)


def share_cores(processes: int) -> None:
    """Let this process, one of so many that work side by side, use its share of the cores, unless told otherwise.

    Parameters
    ----------
    processes : int
        How many there are.
    """
    os.environ.setdefault(VARIABLE, str(max(1, cores() // processes)))


def parts_of(n_states: int, successors: int) -> list[Part]:
    """Cut the states into parts of a sweep, one a thread; into one if it is not worth it.

    Parameters
    ----------
    n_states : int
        How many there are.
    successors : int
        How many a sweep visits.

    Examples
    --------
    >>> parts_of(10, 30)
    [(0, 10)]
    """
    count = max(1, min(successors // LEAST, n_states))
    count = count if count == 1 else min(count, threads())
    return [(n_states * i // count, n_states * (i + 1) // count) for i in range(count)]


def side_by_side(function: Callable[[int, int], Answer], parts: Sequence[Part]) -> list[Answer]:
    """What a function says of each part; of the first in this thread, of the others in threads of their own.

    Parameters
    ----------
    function : callable
        Called with the first state of a part, and the one after its last.
    parts : sequence of pairs
        See `parts_of`.

    Examples
    --------
    >>> side_by_side(lambda begin, end: end - begin, [(0, 3), (3, 10)])
    [3, 7]
    """
    others = [_pool(os.getpid()).submit(function, *part) for part in parts[1:]]
    try:
        first = function(*parts[0])
    finally:
        concurrent.futures.wait(others)  # they write into what the caller goes on with, or leaves by Ctrl-C
    return [first, *(other.result() for other in others)]


@functools.cache
def _pool(process: int) -> concurrent.futures.ThreadPoolExecutor:  # noqa: ARG001
    """The threads of a process: a child has none of its parent's."""
    return concurrent.futures.ThreadPoolExecutor(_MOST, thread_name_prefix="equipoise")
