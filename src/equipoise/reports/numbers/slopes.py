"""The slope of regret over time, over seeds. The seed is the unit: runs are independent, points within one are not.

If regret falls as c t^a then log(regret) = log(c) + a log(t), and a is the slope of a straight line on log-log axes.
The line is fitted by least squares to the mean regret over runs, at the checkpoints in the last two decades of t:
earlier ones belong to another regime, in which regret is still near its largest value.

Neighbouring points of one run are averages of almost the same steps, so the residuals of the fit say nothing of its
error. The error comes from leaving out one run at a time (the jackknife): with a_i the slope without run i, and b
their mean,

    a ± t_{n-1, 0.975} sqrt((n - 1) / n  sum_i (a_i - b)^2).

Why not a slope for each run, and then their mean? Because the regret of a single run often is negative: the average
of t noisy outcomes strays by 1 / sqrt(t), as much as the regret itself, and may lie above the optimum. It has no
logarithm then, and to keep only the runs that have one is to keep those that did worst. The mean over runs does not
have that fault. A mean regret that is not above the gap of the optimum's certificate cannot be told from zero; then
there is no slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._statistics import Interval, half_widths, log_slope

_ROUNDING: Final = 1e-9  # relative: a mean without one run that is smaller is taken for zero
DECADES: Final = 2
FEWEST_POINTS: Final = 3  # in the window, for a line to mean anything


def fit_window(end: float) -> tuple[float, float]:
    """The last two decades before `end`, or what there is of them.

    >>> fit_window(10**6)
    (10000.0, 1000000.0)
    >>> fit_window(50)
    (1.0, 50.0)
    """
    return max(1.0, end / 10**DECADES), float(end)


@dataclass(frozen=True)
class Slope:
    """The slope of the mean over runs, or why there is none: "too few checkpoints" or "regret reaches zero"."""

    interval: Interval | None
    reason: str = ""


def slope_of_mean(t: ArrayLike, runs: ArrayLike, floor: float = 0.0) -> Slope:
    """The slope of log(mean over runs) against log t, with its jackknife interval.

    Parameters
    ----------
    t : array
        The checkpoints in the window.
    runs : matrix
        The regret of each run, one row a run.
    floor : float
        A mean that is not above it counts as zero.

    >>> t = np.array([100.0, 1000, 10000])
    >>> slope_of_mean(t, [3 * t**-0.5, 5 * t**-0.5])
    Slope(interval=Interval(mean=-0.5..., half=..., n=2), reason='')
    >>> slope_of_mean(t, [[0.3, 0.2, -0.1]])
    Slope(interval=None, reason='regret reaches zero')
    """
    x, y = np.asarray(t, dtype=float), np.atleast_2d(np.asarray(runs, dtype=float))
    n = y.shape[0]
    if x.size < FEWEST_POINTS:
        return Slope(None, "too few checkpoints")
    mean = y.mean(axis=0)
    without = (n * mean - y) / (n - 1) if n > 1 else y  # one row for each run left out
    if mean.min() <= floor or without.min() <= max(0.0, _ROUNDING * mean.min()):
        return Slope(None, "regret reaches zero")
    slope = log_slope(x, mean)
    if n == 1:
        return Slope(Interval(slope, None, 1))
    error = math.sqrt(n - 1) * np.std([log_slope(x, row) for row in without])
    return Slope(Interval(slope, float(half_widths([math.sqrt(n) * error], [n])[0]), n))
