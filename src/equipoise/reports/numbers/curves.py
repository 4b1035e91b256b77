"""Curves over t: means over seeds with their bands, how they stand on an axis, and the slope of the regret.

**Axes.** A mean regret may be zero or negative, so every log axis has a floor, the largest of

- the gap of the optimum's certificate: below it regret cannot be told from zero,
- 1e-8 of the largest mean,
- 0.85 times the smallest lower end of a band, or a quarter of its mean if that is larger, among the means that exceed
  their standard errors.

Means below the floor are drawn on it, and marked; lower ends of bands are cut there. The numbers themselves are kept.

**Slopes.** If regret falls as c t^a, then a is the slope of log(regret) against log(t), fitted by least squares to the
mean over runs at the checkpoints in the last two decades of t. Points of one run are correlated, so the interval comes
from leaving out one run at a time (the jackknife): with a_i the slope without run i, and b their mean,

    a ± t_{n-1, 0.975} sqrt((n - 1) / n  sum_i (a_i - b)^2).

Single runs often have a negative regret, which has no logarithm; a mean that is not above the gap of the optimum's
certificate has no slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from equipoise._statistics import Interval, half_widths, log_slope

_NEGLIGIBLE: Final = 1e-8  # part of the largest mean: what is smaller is not shown
_FLOOR: Final = 1e-12  # of an axis on which no mean is positive


@dataclass(frozen=True, eq=False)
class Curves:
    """Means over seeds along t, ready to be drawn."""

    frame: pl.DataFrame
    floor: float | None

    @property
    def below(self) -> int:
        """How many means lie below the floor."""
        return int(self.frame["below"].sum())

    @property
    def cut(self) -> int:
        """How many bands are cut at the floor, their means being above it."""
        return 0 if self.floor is None else self.frame.filter(~pl.col("below") & (pl.col("low") < self.floor)).height


def average_over_seeds(rows: pl.DataFrame, what: pl.Expr) -> pl.DataFrame:
    """Mean over seeds and its interval, for each agent and t; rows have a column rank, the order of the agents."""
    groups = (
        rows.with_columns(what.cast(pl.Float64).alias("mean"))
        .group_by("rank", "agent", "t")
        .agg(pl.len().alias("n"), pl.col("mean").mean(), pl.col("mean").std().alias("s"))
        .filter(pl.col("mean").is_finite())
        .sort("rank", "t")
    )
    s, n = groups["s"].fill_null(0.0).to_numpy(), groups["n"].to_numpy()
    half = pl.lit(pl.Series("half", half_widths(s, n)).fill_nan(None))
    error, low, high = pl.col("s") / pl.col("n").sqrt(), pl.col("mean") - half, pl.col("mean") + half
    return groups.select("agent", "t", "n", "mean", error=error, low=low, high=high)


def place_on_linear_axis(frame: pl.DataFrame) -> Curves:
    """All of it can be drawn as it is."""
    drawn = frame.with_columns(y=pl.col("mean"), y_low=pl.col("low"), y_high=pl.col("high"), below=pl.lit(value=False))
    return Curves(drawn, None)


def place_on_log_axis(frame: pl.DataFrame, resolution: float, beside: pl.DataFrame | None = None) -> Curves:
    """What lies below the floor is drawn on it; `beside` are other curves on the same axis."""
    floor = axis_floor(frame if beside is None else pl.concat([frame, beside]), resolution)
    mean, low, high = (pl.col(name).clip(floor) for name in ("mean", "low", "high"))
    return Curves(frame.with_columns(y=mean, y_low=low, y_high=high, below=pl.col("mean") < floor), floor)


def axis_floor(frame: pl.DataFrame, resolution: float) -> float:
    """Where a log axis begins; see the module."""
    least = max(resolution, _NEGLIGIBLE * float(frame["mean"].max() or 0.0), 0.0)  # type: ignore[arg-type]
    above = frame.filter(pl.col("mean") > least)
    if above.is_empty():
        return least or _FLOOR
    mean, low = pl.col("mean"), pl.col("low")
    sure = above.filter(pl.col("error").is_null() | (mean > pl.col("error")))
    clear = above if sure.is_empty() else sure
    return max(least, 0.85 * float(clear.select(pl.max_horizontal(low.fill_null(mean / 2), mean / 4).min()).item()))


_ROUNDING: Final = 1e-9  # relative: a mean without one run that is smaller is taken for zero
DECADES: Final = 2
FEWEST_POINTS: Final = 3  # in the window, for a line to mean anything


def fit_window(end: float) -> tuple[float, float]:
    """The last two decades before `end`, or what there is of them."""
    return max(1.0, end / 10**DECADES), float(end)


@dataclass(frozen=True)
class Slope:
    """The slope of the mean over runs, or why there is none: "too few checkpoints" or "regret reaches zero"."""

    interval: Interval | None
    reason: str = ""


def fit_slope(t: ArrayLike, runs: ArrayLike, floor: float = 0.0) -> Slope:
    """The slope of log(mean over runs) against log t, with its jackknife interval."""
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
