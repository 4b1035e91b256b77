"""Report on stderr that kernels are being compiled, wherever that takes long enough to be noticed.

Every compilation of the package's kernels, and of user functions, is timed here; once those of one subject (a layer of
the package, a module, a `Custom` reward) have taken a second together, one line says so, once per process.
``EQUIPOISE_QUIET=1`` silences it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Final

from numba.core import event

YOURS: Final = "your functions"
ANNOUNCE_AFTER_SECONDS: Final = 1.0  # seconds that a subject may compile before a line is written
_PACKAGE: Final = __name__.partition(".")[0]

_SPENT: Final[dict[str, float]] = {}  # seconds, by subject
_ANNOUNCED: Final[set[str]] = set()


class _Nesting(threading.local):
    """How many compilations this thread is inside of, and the timers of those that numba has begun, innermost last."""

    depth = 0

    def __init__(self) -> None:
        self.timers: list[contextlib.AbstractContextManager[None]] = []


_NESTING: Final = _Nesting()


def quiet() -> bool:
    """Whether the user asked for silence."""
    return os.environ.get("EQUIPOISE_QUIET", "") not in ("", "0")


def say(text: str) -> None:
    """Write a line to stderr, unless silence was asked for."""
    if not quiet():
        print(f"equipoise: {text}", file=sys.stderr, flush=True)


def describe_subject(module: str) -> str:
    """What a message calls the code of a module, after the room of the package it is in or the module itself."""
    parts = module.split(".")
    return f"the kernels of {'.'.join(parts[:2]) if parts[0] == _PACKAGE else module}"


@contextlib.contextmanager
def nested() -> Iterator[None]:
    """Announce nothing for what is compiled within: a message about it has been written already."""
    _NESTING.depth += 1
    try:
        yield
    finally:
        _NESTING.depth -= 1


@contextlib.contextmanager
def compiling(subject: str, *, kept: bool) -> Iterator[None]:
    """Time a compilation, and announce it as soon as its subject has taken a second; `kept`: on disk, for later."""
    if _NESTING.depth or subject in _ANNOUNCED:
        with nested():
            yield
        return
    began = time.perf_counter()

    def announce() -> None:
        if subject not in _ANNOUNCED:
            _ANNOUNCED.add(subject)
            say(f"compiling {subject}, {'once for this version' if kept else 'anew in every process'} ...")

    watch = threading.Timer(max(0.0, ANNOUNCE_AFTER_SECONDS - _SPENT.get(subject, 0.0)), announce)
    watch.daemon = True
    watch.start()
    try:
        with nested():
            yield
    finally:
        watch.cancel()
        _SPENT[subject] = _SPENT.get(subject, 0.0) + time.perf_counter() - began


class _Listener(event.Listener):  # type: ignore[misc]
    """Called by numba for every function that it compiles; those of this package are timed."""

    def on_start(self, event: Any) -> None:
        module = getattr(event.data["dispatcher"].py_func, "__module__", None) or ""
        own = module.partition(".")[0] == _PACKAGE
        timed = compiling(describe_subject(module), kept=True) if own else contextlib.nullcontext()
        timed.__enter__()
        _NESTING.timers.append(timed)

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        if _NESTING.timers:
            _NESTING.timers.pop().__exit__(None, None, None)


event.register("numba:compile", _Listener())
