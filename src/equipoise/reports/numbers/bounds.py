"""What the theory says of the regret: explicit bounds, and guides with the slope that a theorem gives.

An explicit bound is about the worst model of the same size and diameter. It is typically far above the curve, and for
long above the largest possible regret, L ||1_K||. A guide is a line on log-log axes of which only the slope means
something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from equipoise.reports.numbers.curves import Curves, fit_window, place_on_log_axis
from equipoise.reports.numbers.digest import AgentDigest, ProblemDigest, resolution
from equipoise.studies.results import Guarantee


@dataclass(frozen=True, eq=False)
class BoundedRegret:
    """The regret of the agents that have a bound, and the bounds."""

    curves: Curves
    bounds: tuple[tuple[str, int, float], ...]
    largest: float


def agents_with_bound(problem: ProblemDigest) -> list[tuple[AgentDigest, Guarantee]]:
    """The agents whose regret was measured and has a bound, with it."""
    if problem.measure != "regret":
        return []
    covered = [(agent, agent.guarantee) for agent in problem.agents if agent.guarantee is not None]
    return [(agent, guarantee) for agent, guarantee in covered if agent.t in dict(guarantee.bounds)]


def bounded_regret(problem: ProblemDigest) -> BoundedRegret | None:
    """What is drawn of the bounds; None if there are none."""
    covered = agents_with_bound(problem)
    if not covered or problem.curves is None:
        return None
    names = [agent.name for agent, _ in covered]
    frame = problem.curves.frame.filter(pl.col("agent").is_in(names)).drop("y", "y_low", "y_high", "below")
    first, last = int(frame["t"].min()), int(frame["t"].max())  # type: ignore[arg-type]
    bounds = tuple(
        (agent.name, t, bound) for agent, guarantee in covered for t, bound in guarantee.bounds if first <= t <= last
    )
    largest = max(guarantee.largest for _, guarantee in covered)
    return BoundedRegret(place_on_log_axis(frame, resolution(problem.record)), bounds, largest)


def agents_with_unknown_bound(problem: ProblemDigest) -> list[str]:
    """The agents that have a bound which was not computed, by name."""
    if problem.measure != "regret":
        return []
    return [agent.name for agent in problem.agents if agent.guarantee is not None and not agent.guarantee.bounds]


def agents_without_bound(problem: ProblemDigest) -> list[str]:
    """The agents for whose regret neither a rate nor an explicit bound is known, by name."""
    return [agent.name for agent in problem.agents if agent.rate is None and agent.guarantee is None]


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
    """A guide for each rate that a theorem gives, over the window of the fit, just above the curves that it covers."""
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
