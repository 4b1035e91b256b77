"""Means of independent numbers with their intervals, and slopes on log-log axes.

For n numbers with mean m and standard deviation s (divisor n - 1), Student's interval at level p is

    m ± t_{n-1, (1+p)/2} s / sqrt(n).

If y = c t^a then a is the slope of log y against log t, fitted by least squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL: Final = 0.95
SAME: Final = 1e-9  # half-widths below this share of the mean are rounding: the numbers are the same


@dataclass(frozen=True)
class Interval:
    """A mean over n independent numbers, and the half-width of its interval."""

    mean: float
    half: float | None
    n: int

    @property
    def low(self) -> float:
        """The lower end; the mean itself if there is no interval."""
        return self.mean - (self.half or 0.0)

    @property
    def high(self) -> float:
        """The upper end; the mean itself if there is no interval."""
        return self.mean + (self.half or 0.0)

    @property
    def without_chance(self) -> bool:
        """Whether several numbers are the same, to within rounding."""
        return self.half is not None and self.half <= SAME * abs(self.mean)


def half_widths(deviations: ArrayLike, counts: ArrayLike, level: float = LEVEL) -> NDArray[np.float64]:
    """Half-widths t_{n-1} s / sqrt(n) of many intervals at once; NaN where n < 2."""
    from scipy import stats  # which takes long to import, and is not needed to load the package

    s = np.asarray(deviations, dtype=float)
    n = np.asarray(counts, dtype=float)
    several = n >= 2
    safe = np.where(several, n, 2.0)
    widths = stats.t.ppf((1 + level) / 2, safe - 1) * s / np.sqrt(safe)
    return np.where(several, widths, np.nan)


def mean_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """The mean of independent numbers, with Student's interval."""
    x = np.asarray(values, dtype=float)
    if x.size == 0:
        raise ValueError("values: empty; a mean needs at least one")
    if x.size == 1:
        return Interval(float(x[0]), None, 1)
    half = half_widths([x.std(ddof=1)], [x.size], level)[0]
    return Interval(float(x.mean()), float(half), x.size)


def log_slope(t: ArrayLike, y: ArrayLike) -> float:
    """The slope of log y against log t, by least squares."""
    x = np.log(np.asarray(t, dtype=float))
    x = x - x.mean()
    return float(x @ np.log(np.asarray(y, dtype=float)) / (x @ x))
