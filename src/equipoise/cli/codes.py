"""What the program returns: the same number means the same in every command."""

from __future__ import annotations

import enum


class Code(enum.IntEnum):
    """An exit code; 2, a command line that is not understood, is typer's."""

    FINE = 0
    INPUT = 1  # something is wrong with the input, or results cannot be written
    NOT_WELL = 3  # all was done, and some of it is not well: runs failed, a bound is not certified, a statement fails
    INTERRUPTED = 130
