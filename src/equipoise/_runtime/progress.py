"""The progress display: a line on stderr, on a terminal or on request, for what takes longer than a second.

It appears after a second, even while the work is inside a library without callbacks, and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any, Final

_SHOW_AFTER: Final = 1.0  # seconds


class Progress:
    """What a long computation reports to; one without a display does nothing with it."""

    def done(self, amount: float) -> None:
        """Report how much is done, in the units of the total."""

    def tell(self, words: str) -> None:
        """Report what is being done now."""


class _Display(Progress):
    """A bar, or without a total a spinner, that starts after a second."""

    def __init__(self, bar: Any, words: str, total: float | None, unit: str) -> None:
        self._bar, self._unit = bar, unit
        self._task = bar.add_task(words, total=total, speed="")
        self._began = time.perf_counter()
        self._lock = threading.Lock()
        self._started = self._stopped = False
        self._timer = threading.Timer(_SHOW_AFTER, self._start)
        self._timer.daemon = True
        self._timer.start()

    def done(self, amount: float) -> None:
        elapsed = time.perf_counter() - self._began
        if elapsed > _SHOW_AFTER:
            self._start()
        speed = f"{_short(amount / elapsed)}{self._unit}/s" if self._unit and elapsed > 0.0 else ""
        self._bar.update(self._task, completed=amount, speed=speed)

    def tell(self, words: str) -> None:
        self._bar.update(self._task, description=words)

    def stop(self) -> None:
        """Remove the display, and keep a timer that fires later from starting it again."""
        self._timer.cancel()
        with self._lock:
            self._stopped = True
            if self._started:
                self._bar.stop()

    def _start(self) -> None:
        with self._lock:
            if not self._started and not self._stopped:
                self._bar.start()
                self._started = True


@contextlib.contextmanager
def progress_display(
    words: str, total: float | None = None, *, wanted: bool | None = None, unit: str = ""
) -> Iterator[Progress]:
    """Show how far a computation has come while the block lasts."""
    if wanted is False:
        yield Progress()
        return
    from rich.console import Console

    console = Console(stderr=True, force_terminal=wanted or None)
    if wanted is None and not console.is_terminal:
        yield Progress()
        return
    from rich import progress as rich

    about, speed = rich.TextColumn("{task.description}"), rich.TextColumn("{task.fields[speed]}")
    columns = [about, rich.BarColumn(), rich.TaskProgressColumn(), speed, rich.TimeRemainingColumn()]
    if total is None:
        columns = [rich.SpinnerColumn(), about, rich.TimeElapsedColumn()]
    display = _Display(rich.Progress(*columns, console=console, transient=True), words, total, unit)
    try:
        yield display
    finally:
        display.stop()


def _short(rate: float) -> str:
    for size, letter, digits in ((1e6, "M", 2), (1e3, "k", 1)):
        if rate >= size:
            return f"{rate / size:.{digits}f} {letter} "
    return f"{rate:.0f} "
