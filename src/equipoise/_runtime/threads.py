"""Threads inside one sweep: the states are cut into parts, one per thread.

Kernels run without the interpreter's lock, so Python's own threads suffice, which survive a fork. A part writes only
its own states, and parts are combined by sums of integers, minima and maxima: results do not depend on the number of
threads, to the last bit. Starting a part takes some tens of microseconds, so a sweep is cut only if each part visits
`MIN_SUCCESSORS` successors or more.

There are as many threads as cores that this process may use; in a worker process, its share of them.
``EQUIPOISE_THREADS`` sets another number; 1 turns threads off.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import resource_tracker
from typing import Final, TypeVar

from equipoise.errors import ParameterError

THREADS_VARIABLE: Final = "EQUIPOISE_THREADS"
MIN_SUCCESSORS: Final = 100_000  # successors that a part visits, at least
_MOST: Final = 64

Answer = TypeVar("Answer")
Part = tuple[int, int]  # the first state, and the one after the last


def core_count() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count() -> int:
    """How many threads a sweep may use."""
    told = os.environ.get(THREADS_VARIABLE, "").strip()
    if told:
        if not told.isdecimal() or int(told) < 1:
            raise ParameterError(f"{THREADS_VARIABLE}: got {told!r}; a whole number from 1 is needed")
        return min(int(told), _MOST)
    return 1 if multiprocessing.parent_process() is not None else min(core_count(), _MOST)


def limit_threads(processes: int) -> None:
    """Let this process, one of so many that work side by side, use its share of the cores, unless told otherwise."""
    os.environ.setdefault(THREADS_VARIABLE, str(max(1, core_count() // processes)))


def cut_states(n_states: int, successors: int) -> list[Part]:
    """Cut the states into parts of a sweep, one a thread; into one if it is not worth it."""
    count = max(1, min(successors // MIN_SUCCESSORS, n_states))
    count = count if count == 1 else min(count, thread_count())
    return [(n_states * i // count, n_states * (i + 1) // count) for i in range(count)]


def parallel_map(function: Callable[[int, int], Answer], parts: Sequence[Part]) -> list[Answer]:
    """What a function says of each part; of the first in this thread, of the others in threads of their own."""
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


@contextlib.contextmanager
def hold_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while processes are started, so that they never hear it; this process does, right after."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would release it when the first process is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
