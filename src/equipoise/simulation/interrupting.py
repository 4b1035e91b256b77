"""Ctrl-C while something runs that must not be left half done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Turn Ctrl-C into an event while it lasts, so that it stops a run between two steps only.

    A second Ctrl-C, when a step takes too long, is raised at once.

    Examples
    --------
    >>> with interruptible() as stop:
    ...     stop.is_set()
    False
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
