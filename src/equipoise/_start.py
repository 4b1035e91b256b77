"""Ctrl-C while the program `equipoise` is being imported ends it at once; this is imported before all else."""

import signal
import sys
from pathlib import Path


def is_program() -> bool:
    """Whether this process was started as `equipoise` or `python -m equipoise`."""
    return Path(sys.argv[0]).stem == "equipoise" or sys.orig_argv[1:3] == ["-m", "equipoise"]


def hear_interrupts() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` again, once there is a program to handle it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if is_program() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
