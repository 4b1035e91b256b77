"""Curves over t: means over seeds with their bands, and how they stand on an axis.

A mean regret may be zero or negative: the average of few steps can beat the optimum by luck, and an agent may reach
it to within rounding. Such a mean has no place on a log axis. Every log axis therefore has a floor, the largest of

- the gap of the optimum's certificate: below it regret cannot be told from zero,
- 1e-8 of the largest mean, far below anything that matters,
- a little less than the smallest lower end of a band, or than a quarter of its mean if that is larger, among the
  means that are larger than their standard errors. (A mean that happens to cross zero may come as close to it as it
  likes; the axis should not follow it there.)

Means below the floor are drawn on it, and marked; lower ends of bands are cut there. The numbers themselves are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from equipoise._statistics import half_widths

_NEGLIGIBLE: Final = 1e-8  # part of the largest mean: what is smaller is not shown
_FLOOR: Final = 1e-12  # of an axis on which no mean is positive


@dataclass(frozen=True, eq=False)
class Curves:
    """Means over seeds along t, ready to be drawn.

    Attributes
    ----------
    frame : polars.DataFrame
        agent, t, n, mean, error (its standard error), low, high, and what is drawn of them: y, y_low, y_high, and
        below (the floor).
    floor : float or None
        Of a log axis; None for a linear one.
    """

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


def over_seeds(rows: pl.DataFrame, what: pl.Expr) -> pl.DataFrame:
    """Mean over seeds and its interval, for each agent and t; rows have a column rank, the order of the agents."""
    groups = (
        rows.with_columns(what.cast(pl.Float64).alias("mean"))
        .group_by("rank", "agent", "t")
        .agg(pl.len().alias("n"), pl.col("mean").mean(), pl.col("mean").std().alias("s"))
        .filter(pl.col("mean").is_finite())
        .sort("rank", "t")
    )
    s, n = groups["s"].fill_null(0.0).to_numpy(), groups["n"].to_numpy()
    half = pl.Series("half", half_widths(s, n)).fill_nan(None)
    return groups.with_columns(half).select(
        "agent",
        "t",
        "n",
        "mean",
        error=pl.col("s") / pl.col("n").sqrt(),
        low=pl.col("mean") - pl.col("half"),
        high=pl.col("mean") + pl.col("half"),
    )


def on_linear_axis(frame: pl.DataFrame) -> Curves:
    """All of it can be drawn as it is."""
    drawn = frame.with_columns(y=pl.col("mean"), y_low=pl.col("low"), y_high=pl.col("high"), below=pl.lit(value=False))
    return Curves(drawn, None)


def on_log_axis(frame: pl.DataFrame, resolution: float, beside: pl.DataFrame | None = None) -> Curves:
    """What lies below the floor is drawn on it; `beside` are other curves on the same axis."""
    floor = axis_floor(frame if beside is None else pl.concat([frame, beside]), resolution)
    drawn = frame.with_columns(
        *(
            pl.col(name).clip(floor).alias(drawn)
            for name, drawn in (("mean", "y"), ("low", "y_low"), ("high", "y_high"))
        ),
        (pl.col("mean") < floor).alias("below"),
    )
    return Curves(drawn, floor)


def axis_floor(frame: pl.DataFrame, resolution: float) -> float:
    """Where a log axis begins; see the module.

    >>> means = {"mean": [0.1, 0.04, 0.0001, -0.01], "low": [0.08, 0.001, -0.02, -0.03], "error": [0.01] * 4}
    >>> axis_floor(pl.DataFrame(means), resolution=1e-9)
    0.0085
    """
    least = max(resolution, _NEGLIGIBLE * float(frame["mean"].max() or 0.0), 0.0)  # type: ignore[arg-type]
    above = frame.filter(pl.col("mean") > least)
    if above.is_empty():
        return least or _FLOOR
    mean, low = pl.col("mean"), pl.col("low")
    sure = above.filter(pl.col("error").is_null() | (mean > pl.col("error")))
    clear = above if sure.is_empty() else sure
    return max(least, 0.85 * float(clear.select(pl.max_horizontal(low.fill_null(mean / 2), mean / 4).min()).item()))
