"""What was measured beside what is guaranteed: the agents whose regret has an explicit bound, and which have none.

A bound is about the worst world of the same size and diameter, so it is typically far above the curve, and for long
above any regret there can be: L ||1_K||, by the Lipschitz constant of the reward on the box.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from equipoise.reports.numbers.curves import Curves, on_log_axis
from equipoise.reports.numbers.digest import AgentDigest, ProblemDigest, resolution
from equipoise.studies.results import Guarantee


@dataclass(frozen=True, eq=False)
class Bounded:
    """The regret of the agents that have a bound, and the bounds.

    Attributes
    ----------
    curves : Curves
        The regret of those agents.
    bounds : tuple of tuple
        agent, t and the bound there, at the times of the curves.
    largest : float
        No regret is larger. It is the same for all agents: it is that of the reward, which is the problem's.
    """

    curves: Curves
    bounds: tuple[tuple[str, int, float], ...]
    largest: float


def guaranteed(problem: ProblemDigest) -> list[tuple[AgentDigest, Guarantee]]:
    """The agents whose regret was measured and has a bound, with it."""
    if problem.measure != "regret":
        return []
    covered = [(agent, agent.guarantee) for agent in problem.agents if agent.guarantee is not None]
    return [(agent, guarantee) for agent, guarantee in covered if agent.t in dict(guarantee.bounds)]


def bounded(problem: ProblemDigest) -> Bounded | None:
    """What is drawn of the bounds; None if there are none."""
    covered = guaranteed(problem)
    if not covered or problem.curves is None:
        return None
    names = [agent.name for agent, _ in covered]
    frame = problem.curves.frame.filter(pl.col("agent").is_in(names)).drop("y", "y_low", "y_high", "below")
    first, last = int(frame["t"].min()), int(frame["t"].max())  # type: ignore[arg-type]
    bounds = tuple(
        (agent.name, t, bound) for agent, guarantee in covered for t, bound in guarantee.bounds if first <= t <= last
    )
    largest = max(guarantee.largest for _, guarantee in covered)
    return Bounded(on_log_axis(frame, resolution(problem.record)), bounds, largest)


def not_computed(problem: ProblemDigest) -> list[str]:
    """The agents that have a bound which was not computed, by name."""
    if problem.measure != "regret":
        return []
    return [agent.name for agent in problem.agents if agent.guarantee is not None and not agent.guarantee.bounds]


def without_bound(problem: ProblemDigest) -> list[str]:
    """The agents for whose regret neither a rate nor an explicit bound is known, by name."""
    return [agent.name for agent in problem.agents if agent.rate is None and agent.guarantee is None]
