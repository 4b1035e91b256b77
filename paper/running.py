"""Running the checks, several at a time, in processes; what comes back is plain data."""

from __future__ import annotations

import contextlib
import functools
import math
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from paper.catalogue import CHECKS, get_check
from paper.findings import Checked, Size
from paper.workers import each

Told = Callable[[str, "Outcome | None"], None]


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """A check that has run.

    Attributes
    ----------
    name : str
        Of the check.
    checked : Checked or None
        What it says; None if it ended in an error.
    error : str
        The traceback of the error; empty if there was none.
    seconds : float
        How long it took.

    >>> Outcome("growth", None, "Traceback ...", 0.1).verdict
    'error'
    """

    name: str
    checked: Checked | None
    error: str
    seconds: float

    @property
    def verdict(self) -> str:
        """The check's, or "error"."""
        return "error" if self.checked is None else self.checked.verdict


@final
class ChecksInterrupted(KeyboardInterrupt):
    """Ctrl-C was pressed; the checks that were under way have been ended.

    Attributes
    ----------
    outcomes : list of Outcome
        Of the checks that were done, in the order of the paper.

    >>> ChecksInterrupted([]).outcomes
    []
    """

    def __init__(self, outcomes: list[Outcome]) -> None:
        super().__init__()
        self.outcomes = outcomes


def run_checks(
    names: Sequence[str] | None = None, size: Size = Size.QUICK, jobs: int = 2, told: Told | None = None
) -> list[Outcome]:
    """Run checks by name, all of them by default, and give what they say in the order of the paper.

    Each check runs in a process of its own, so a script that calls this guards it by ``if __name__ == "__main__":``.
    A name is looked up before anything runs:

    >>> run_checks(["growht"])
    Traceback (most recent call last):
    ...
    equipoise.errors.ParameterError: 'growht' is no check of the paper (did you mean 'growth'?); there are ...
    """
    chosen = list(CHECKS) if names is None else list(names)
    for name in chosen:
        get_check(name)
    tell = told or (lambda _name, _outcome: None)
    outcomes: dict[str, Outcome] = {}
    for name in chosen:
        tell(name, None)
    try:
        with contextlib.closing(each(functools.partial(run_check, size=size), chosen, jobs)) as answers:
            for name, outcome in answers:
                outcomes[name] = outcome or Outcome(name, None, "its process died\n", math.nan)
                tell(name, outcomes[name])
    except KeyboardInterrupt:
        raise ChecksInterrupted([outcomes[name] for name in chosen if name in outcomes]) from None
    return [outcomes[name] for name in chosen]


def run_check(name: str, size: Size) -> Outcome:
    """Run one check in this process; an error of any kind is an outcome too.

    >>> run_check("growth", Size.QUICK).verdict
    'holds'
    """
    began = time.perf_counter()
    try:
        checked, error = get_check(name)(size), ""
    except Exception:  # a check that breaks must not hide the others
        checked, error = None, traceback.format_exc()
    return Outcome(name, checked, error, time.perf_counter() - began)
