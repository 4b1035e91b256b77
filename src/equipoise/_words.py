"""Words for messages: the known name that somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def nearest(word: Any, known: Iterable[str]) -> str:
    """A question to put behind a name that is not known; empty if nothing is like it.

    Parameters
    ----------
    word : object
        What was given.
    known : iterable of str
        What would have been accepted.

    Examples
    --------
    >>> nearest("Quadrtic", ["Linear", "Quadratic"])
    " (did you mean 'Quadratic'?)"
    >>> nearest("x", ["Linear"])
    ''
    """
    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
