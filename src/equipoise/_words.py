"""Words that a user mistyped, and what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: object, known: Iterable[str]) -> str:
    """The part of an error message that asks after the known word most like the given one; empty if none is.

    Parameters
    ----------
    word : object
        What was given; it may be no string at all.
    known : iterable of str
        What could have been given.

    >>> nearest("delay", ["tolerances", "delays"])
    " (did you mean 'delays'?)"
    >>> nearest("theorem", ["tolerances", "delays"])
    ''
    """
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
