"""Names of files and anchors, made from names of any kind."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

_LONGEST: Final = 60


def stems(names: Sequence[str], nameless: str = "section") -> list[str]:
    """Plain letters, digits and hyphens for names of any kind, each different.

    Parameters
    ----------
    names : sequence of str
        Of any kind.
    nameless : str
        What to call one of which nothing is left.

    >>> stems(["Star, D = 4", "star d 4", "Überfluß/../x", "日本"])
    ['star-d-4', 'star-d-4-2', 'uberflu-x', 'section']
    """
    unique: list[str] = []
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].strip("-") or nameless
        candidate, n = stem, 1
        while candidate in unique:
            n += 1
            candidate = f"{stem}-{n}"
        unique.append(candidate)
    return unique
