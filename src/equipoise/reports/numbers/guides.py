"""Guides: straight lines on log-log axes with the slope that a theorem gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from equipoise.reports.numbers.digest import ProblemDigest
from equipoise.reports.numbers.slopes import fit_window

_ABOVE: Final = 1.5  # how many times as high as the curves a guide is drawn, to be seen apart from them


@dataclass(frozen=True)
class Guide:
    """A straight line on log-log axes: y = y0 (t / t0)^rate from t0 to t1."""

    rate: float
    t0: float
    t1: float
    y0: float

    @property
    def y1(self) -> float:
        """Its height at t1."""
        return float(self.y0 * (self.t1 / self.t0) ** self.rate)


def rate_guides(problem: ProblemDigest) -> tuple[Guide, ...]:
    """A guide for each rate that a theorem gives, over the window of the fit, just above the curves that it covers.

    A bound holds up to a constant, so only the slope of the guide means something.
    """
    if problem.measure != "regret" or problem.curves is None or problem.end is None:
        return ()
    first, last = fit_window(problem.end)
    guides = []
    for rate in sorted({agent.rate for agent in problem.agents if agent.rate is not None}):
        covered = [agent.name for agent in problem.agents if agent.rate == rate]
        inside = problem.curves.frame.filter(
            pl.col("agent").is_in(covered), pl.col("t") >= first, pl.col("t") <= last, ~pl.col("below")
        )
        start = float(min(inside["t"], default=last))
        if start < last:
            height = inside.select((pl.col("y") * (pl.col("t") / start) ** -rate).max()).item()
            guides.append(Guide(rate, start, last, _ABOVE * float(height)))
    return tuple(guides)
