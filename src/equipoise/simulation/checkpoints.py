"""When a run is recorded: at times given, or ten a decade, evenly on a log scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import counted
from equipoise.errors import ParameterError

_PER_DECADE: Final = 10


def log_spaced(first: int, last: int, per_decade: int = _PER_DECADE) -> NDArray[np.int64]:
    """Whole numbers evenly spaced on a log scale, powers of ten and `last` among them.

    Parameters
    ----------
    first, last : int
        The range, both ends included.
    per_decade : int
        How many between a power of ten and the next.

    Returns
    -------
    numpy.ndarray
        Increasing, without repetitions.

    Examples
    --------
    >>> log_spaced(1, 100, per_decade=3).tolist()
    [1, 2, 5, 10, 22, 46, 100]
    """
    decades = int(np.ceil(np.log10(last))) + 1
    grid = np.unique(np.rint(10 ** (np.arange(decades * per_decade + 1) / per_decade)).astype(np.int64))
    return np.unique(np.append(grid[(grid >= first) & (grid <= last)], last))


def checked_marks(checkpoints: Sequence[int] | NDArray[np.int64] | None, done: int, last: int) -> NDArray[np.int64]:
    """The times at which to record, or an error.

    Parameters
    ----------
    checkpoints : increasing ints, optional
        As given; None: `log_spaced`.
    done, last : int
        Steps taken before, and in the end.
    """
    if checkpoints is None:
        return log_spaced(done + 1, last)
    try:
        marks = np.array(
            [counted(mark, "checkpoints", 0, error=ParameterError) for mark in checkpoints], dtype=np.int64
        )
    except TypeError:
        raise ParameterError(f"checkpoints: got {checkpoints!r}; a sequence of whole numbers is needed") from None
    if marks.size and (np.any(np.diff(marks) <= 0) or marks[0] <= done or marks[-1] > last):
        raise ParameterError(f"checkpoints: they must increase and lie in {done + 1} to {last}")
    return marks
