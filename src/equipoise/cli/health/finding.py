"""A finding: one thing that was looked at, what was seen, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

Verdict = Literal["fine", "note", "wrong"]


@final
@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes
    ----------
    about : str
        What was looked at.
    seen : str
        What was seen there.
    verdict : "fine", "note" or "wrong"
        A note is worth knowing, and the program works with it; what is wrong keeps some of it from working.
    advice : str
        What to do; empty if all is well.

    Examples
    --------
    >>> Finding("numpy", "1.20.0; >=2.0 is needed", "wrong", "pip install 'numpy>=2.0'").verdict
    'wrong'
    """

    about: str
    seen: str
    verdict: Verdict = "fine"
    advice: str = ""
