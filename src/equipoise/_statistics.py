"""Statistics that more than one room needs: Student's half-width of a mean, and the slope on log-log axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def half_widths(deviations: ArrayLike, counts: ArrayLike, level: float) -> NDArray[np.float64]:
    """Half-widths t_{n-1} s / sqrt(n) of many intervals of a mean at once; NaN where n < 2.

    Parameters
    ----------
    deviations : array
        Standard deviations s, with divisor n - 1.
    counts : array
        How many independent numbers n each mean is taken over.
    level : float
        The probability that an interval holds the expectation, if the numbers are normal.

    >>> half_widths([1.0, 1.0, 1.0], [2, 4, 1], 0.95).round(3)
    array([8.985, 1.591,   nan])
    """
    from scipy import stats  # half a second, which those who only import the package need not wait for

    s = np.asarray(deviations, dtype=float)
    n = np.asarray(counts, dtype=float)
    several = n >= 2
    safe = np.where(several, n, 2.0)
    widths = stats.t.ppf((1 + level) / 2, safe - 1) * s / np.sqrt(safe)
    return np.where(several, widths, np.nan)


def log_slope(t: ArrayLike, y: ArrayLike) -> float:
    """The slope of log y against log t, by least squares.

    Parameters
    ----------
    t, y : array
        Of one length, and positive; two different t at least.

    >>> round(log_slope([1, 10, 100], [1, 0.1, 0.01]), 9)
    -1.0
    """
    x = np.log(np.asarray(t, dtype=float))
    x = x - x.mean()
    return float(x @ np.log(np.asarray(y, dtype=float)) / (x @ x))
