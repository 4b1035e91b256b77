"""Processes that run one call after another, can be stopped at once, and may die without taking the others along.

The pools of the standard library wait for the call that is under way when they are told to stop, which for a check may
be minutes; and one worker that dies breaks them. Here a worker is a process with a pipe. Ctrl-C is the parent's alone:
the workers are begun with the signal blocked, and are ended by it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections import deque
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Generic, NamedTuple, TypeVar

from equipoise._runtime.threads import hold_interrupts

_GRACE: Final = 1.0  # seconds for a process to go when it is asked to, before it is made to

Argument = TypeVar("Argument")
Result = TypeVar("Result")


class Done(NamedTuple, Generic[Argument, Result]):
    """A call that is over: what it was asked, and what it gave; None if its process died."""

    argument: Argument
    result: Result | None


class _Worker(NamedTuple):
    process: SpawnProcess
    pipe: Connection


def each(
    function: Callable[[Argument], Result], arguments: Sequence[Argument], jobs: int
) -> Generator[Done[Argument, Result], None, None]:
    """Call a function of a module with each argument, so many at a time, and give the results as they come.

    Closing the iterator, or an exception that is raised while it waits, ends the processes at once.
    """
    waiting = deque(arguments)
    busy: dict[Any, tuple[_Worker, Argument]] = {}
    try:
        for _ in range(min(jobs, len(waiting))):
            _give(_begin(function), waiting, busy)
        while busy:
            for pipe in wait(list(busy)):
                worker, argument = busy.pop(pipe)
                result = None
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):  # it died
                    _end([worker])
                    if waiting:
                        _give(_begin(function), waiting, busy)
                else:
                    _give(worker, waiting, busy)
                yield Done(argument, result)
    finally:
        _end([worker for worker, _ in busy.values()])


def _begin(function: Callable[[Any], Any]) -> _Worker:
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_work, args=(function, there), daemon=True)
    with hold_interrupts():
        process.start()
    there.close()  # the worker has the only other one, so that its death is the end of the pipe
    return _Worker(process, here)


def _work(function: Callable[[Any], Any], pipe: Connection) -> None:
    # The parent has nothing more to do, or is gone: while this process waits, or before it could answer.
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            pipe.send(function(pipe.recv()))


def _give(worker: _Worker, waiting: deque[Argument], busy: dict[Any, tuple[_Worker, Argument]]) -> None:
    if not waiting:
        worker.pipe.close()
        worker.process.join()
        return
    argument = waiting.popleft()
    worker.pipe.send(argument)
    busy[worker.pipe] = worker, argument


def _end(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
        worker.pipe.close()
    for worker in workers:
        worker.process.join(_GRACE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
