"""From all rows of a study to the few numbers that a page shows: means over seeds with intervals, problem by problem.

Only these aggregates reach the page, so its size depends on the number of agents and checkpoints and not on the
number of runs.

**Final.** Agents are compared at the last checkpoint that all of them have. The loss is the regret, or minus the
value where there is no optimum: between two agents on one seed the two differ by a constant, so they order and test
alike. With constraints, violations are added at their prices (`violations`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from equipoise._statistics import Interval, mean_interval
from equipoise.reports.numbers.certificates import Proven, proven
from equipoise.reports.numbers.comparisons import Comparison, compare_all
from equipoise.reports.numbers.curves import Curves, on_linear_axis, on_log_axis, over_seeds
from equipoise.reports.numbers.laws import Learnt, learnt
from equipoise.reports.numbers.slopes import Slope, fit_window, slope_of_mean
from equipoise.reports.numbers.violations import PRICED, Violations, violated, with_priced
from equipoise.studies.record import ENDED
from equipoise.studies.results import Guarantee, ProblemRecord, Results, labelled

MOST_OUTCOMES: Final = 6  # shown one by one
CHOSEN_OUTCOMES: Final = 5  # of more than that, beside the distance


@dataclass(frozen=True)
class Speed:
    """Steps per second over the runs of an agent."""

    median: float
    slowest: float
    fastest: float


@dataclass(frozen=True, eq=False)
class AgentDigest:
    """One agent on one problem.

    Attributes
    ----------
    name : str
    t, final : int, Interval
        Where it is compared, and its regret (or value) there.
    slope : Slope or None
        Of the regret; None where there is no regret.
    rate : float or None
        The exponent of the theorem's bound, if one covers it.
    speed : Speed or None
    sweeps, episodes : float
        Means over runs at t: sweeps of the planner, and episodes begun.
    triggers : tuple of float
        Mean number of episodes ended by each of `ENDED`.
    outcomes : tuple of float
        The mean of the average outcome vector at t.
    caveat : str
        What is to be said wherever its results are shown; empty if nothing.
    guarantee : Guarantee or None
        The explicit bound on its regret.
    proven : Proven or None
        What its runs have certified.
    priced : Interval
        Its regret (or value) at t after violations of constraints are paid for: `final`, if there are none.
    """

    name: str
    t: int
    final: Interval
    slope: Slope | None
    rate: float | None
    speed: Speed | None
    sweeps: float
    episodes: float
    triggers: tuple[float, ...]
    outcomes: tuple[float, ...]
    caveat: str
    guarantee: Guarantee | None
    proven: Proven | None
    priced: Interval

    @property
    def label(self) -> str:
        """Its name, with its caveat."""
        return labelled(self.name, self.caveat)


@dataclass(frozen=True, eq=False)
class ProblemDigest:
    """One problem.

    Attributes
    ----------
    record : ProblemRecord
    measure : "regret" or "value"
        What the agents are judged by: the value if there is no certified optimum.
    agents : tuple of AgentDigest
        Those with results, in the order of the study; `absent` are the names of the others.
    end : int or None
        The last checkpoint that all agents share.
    best : str or None
        The agent with the lowest mean regret (highest mean value) there, violations of constraints paid for.
    comparisons : tuple of Comparison
        All pairs; of losses, so less is better; violations of constraints paid for.
    curves, episodes : Curves or None
        Of the measure, and of the number of episodes; None if there are none.
    outcomes : dict
        Of the entries that are shown, in order.
    distance : Curves or None
        Euclidean distance from the average outcome vector to the optimum's; for many outcomes only.
    certified : Curves or None
        Of the certified regret, on the axis of the regret if there is one.
    not_finite : int
        Rows left out because their value is no finite number.
    laws : Learnt or None
        What agents that were told mechanics have learnt of the laws.
    violations : Violations or None
        What the constraints lack, if there are some.
    """

    record: ProblemRecord
    measure: Literal["regret", "value"]
    agents: tuple[AgentDigest, ...]
    absent: tuple[str, ...]
    end: int | None
    best: str | None
    comparisons: tuple[Comparison, ...]
    curves: Curves | None
    episodes: Curves | None
    outcomes: dict[int, Curves]
    distance: Curves | None
    certified: Curves | None
    not_finite: int
    laws: Learnt | None
    violations: Violations | None

    @property
    def judged(self) -> str:
        """What the agents are compared by: the measure, or that with violations of constraints paid for."""
        return self.measure if self.violations is None else f"priced {self.measure}"

    def agent(self, name: str) -> AgentDigest:
        """The agent of that name."""
        return next(agent for agent in self.agents if agent.name == name)


def digest(results: Results) -> tuple[ProblemDigest, ...]:
    """All problems of a study, in its order."""
    frame = results.frame.with_columns(pl.col("problem", "agent").cast(pl.String)).filter(pl.col("t") >= 1)
    return tuple(
        _problem(record, frame.filter(pl.col("problem") == record.name), results) for record in results.problems
    )


def resolution(record: ProblemRecord) -> float:
    """How small a regret can be told from zero: the gap of the optimum's certificate."""
    gap = record.optimum.gap if record.optimum else 0.0
    return gap if gap > 0 and math.isfinite(gap) else 0.0


def aim(record: ProblemRecord, k: int) -> float | None:
    """Outcome k at the optimum, if there is one and it is a number."""
    return _finite(record.optimum.outcomes[k]) if record.optimum else None


def ceiling(record: ProblemRecord) -> float | None:
    """The value of the optimum, if there is one and it is a number."""
    return _finite(record.optimum.value) if record.optimum else None


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _problem(record: ProblemRecord, rows: pl.DataFrame, results: Results) -> ProblemDigest:
    certain = rows.height > 0 and rows["regret"].null_count() == 0
    measure: Literal["regret", "value"] = "regret" if certain else "value"
    finite = rows.filter(pl.col(measure).is_finite())
    present = set(finite["agent"])
    names = [agent.name for agent in results.agents if agent.name in present]
    rank = pl.DataFrame({"agent": names, "rank": range(len(names))}, schema={"agent": pl.String, "rank": pl.Int64})
    kept = with_priced(record, finite.join(rank, on="agent").sort("rank", "seed", "t"), measure)

    end = _shared_end(kept, names)
    agents = tuple(_agent(record, name, kept.filter(agent=name), end, measure, results) for name in names)
    sign = 1.0 if measure == "regret" else -1.0
    best: str | None = None
    pairs: tuple[Comparison, ...] = ()
    if end is not None:
        best = min(agents, key=lambda agent: sign * agent.priced.mean).name
        pairs = compare_all({name: _losses(kept.filter(agent=name, t=end), PRICED, sign) for name in names})

    curves, certified = _main_curves(record, kept, measure)
    busy = [agent.name for agent in agents if agent.episodes > 0]
    counted = kept.filter(pl.col("agent").is_in(busy))
    shown = _shown_outcomes(record, agents, best)
    return ProblemDigest(
        record=record,
        measure=measure,
        agents=agents,
        absent=tuple(
            agent.name
            for agent in results.agents
            if agent.name not in present and (not results.planned or (record.name, agent.name) in results.planned)
        ),
        end=end,
        best=best,
        comparisons=pairs,
        curves=curves,
        episodes=on_log_axis(over_seeds(counted, pl.col("episodes")), 0.0) if busy else None,
        outcomes={k: on_linear_axis(over_seeds(kept, pl.col("outcomes").list.get(k))) for k in shown},
        distance=_distance(record, kept) if names and record.n_outcomes > MOST_OUTCOMES else None,
        certified=certified,
        not_finite=rows.height - finite.height,
        laws=learnt(results, record.name),
        violations=violated(record, kept, [(agent.name, agent.t) for agent in agents]),
    )


def _main_curves(record: ProblemRecord, rows: pl.DataFrame, measure: str) -> tuple[Curves | None, Curves | None]:
    """The measure, and what is certified: on one axis if the measure is the regret."""
    proving = rows.filter(pl.col("certified").is_finite())
    certified = over_seeds(proving, pl.col("certified")) if proving.height else None
    if rows.is_empty():
        return None, None
    plain = over_seeds(rows, pl.col(measure))
    if measure != "regret":
        return on_linear_axis(plain), None if certified is None else on_log_axis(certified, 0.0)
    least = resolution(record)
    return on_log_axis(plain, least, certified), None if certified is None else on_log_axis(certified, least, plain)


def _shared_end(rows: pl.DataFrame, names: Sequence[str]) -> int | None:
    counts = rows.group_by("t").agg(pl.col("agent").n_unique()).filter(pl.col("agent") == len(names))
    return int(counts["t"].max()) if counts.height else None  # type: ignore[arg-type]


def _losses(rows: pl.DataFrame, measure: str, sign: float) -> dict[int, float]:
    return dict(zip(rows["seed"].to_list(), (sign * rows[measure]).to_list(), strict=True))


def _agent(
    record: ProblemRecord, name: str, rows: pl.DataFrame, end: int | None, measure: str, results: Results
) -> AgentDigest:
    t = int(rows["t"].max()) if end is None else end  # type: ignore[arg-type]
    last = rows.filter(t=t)
    slope = None
    if measure == "regret":
        slope = _slope(rows, t, resolution(record))
    made = next(agent for agent in results.agents if agent.name == name)
    means = last.select(pl.col("sweeps", "episodes", *ENDED).cast(pl.Float64).fill_null(0).mean()).row(0, named=True)
    return AgentDigest(
        name=name,
        t=t,
        final=mean_interval(last[measure].to_numpy()),
        slope=slope,
        rate=results.rates.get((record.name, name)),
        speed=_speed(rows),
        sweeps=means["sweeps"],
        episodes=means["episodes"],
        triggers=tuple(means[trigger] for trigger in ENDED),
        outcomes=tuple(_entry_mean(last, k) for k in range(record.n_outcomes)),
        caveat=made.caveat,
        guarantee=results.guarantees.get((record.name, name)),
        proven=proven(rows, t, results.certified_within, made.certainty),
        priced=mean_interval(last[PRICED].to_numpy()),
    )


def _slope(rows: pl.DataFrame, end: int, floor: float) -> Slope:
    """Over the checkpoints in the window that every run has."""
    first, last = fit_window(end)
    wide = (
        rows.filter(pl.col("t").is_between(first, last))
        .pivot("seed", index="t", values="regret")
        .drop_nulls()
        .sort("t")
    )
    return slope_of_mean(wide["t"].to_numpy(), wide.drop("t").to_numpy().T, floor)


def _entry_mean(rows: pl.DataFrame, k: int) -> float:
    return float(rows.select(pl.col("outcomes").list.get(k).mean()).item())


def _speed(rows: pl.DataFrame) -> Speed | None:
    runs = rows.unique("run", maintain_order=True).filter(pl.col("seconds") > 0)
    if runs.is_empty():
        return None
    speeds = (runs["steps"] / runs["seconds"]).to_numpy()
    return Speed(float(np.median(speeds)), float(speeds.min()), float(speeds.max()))


def _shown_outcomes(record: ProblemRecord, agents: Sequence[AgentDigest], best: str | None) -> tuple[int, ...]:
    """All outcomes, or of many those that tell most: furthest from the optimum, or without one, from agent to agent."""
    if not agents:
        return ()
    if record.n_outcomes <= MOST_OUTCOMES:
        return tuple(range(record.n_outcomes))
    averages = np.array([agent.outcomes for agent in agents])
    if record.optimum is not None and np.isfinite(record.optimum.outcomes).all():
        chosen = next((agent for agent in agents if agent.name == best), agents[0])
        spread = np.abs(np.array(chosen.outcomes) - record.optimum.outcomes)
    else:
        spread = averages.max(axis=0) - averages.min(axis=0)
    return tuple(sorted(int(k) for k in np.argsort(-spread, kind="stable")[:CHOSEN_OUTCOMES]))


def _distance(record: ProblemRecord, rows: pl.DataFrame) -> Curves | None:
    if record.optimum is None or not np.isfinite(record.optimum.outcomes).all():
        return None
    vectors = rows["outcomes"].explode().cast(pl.Float64).to_numpy().reshape(-1, record.n_outcomes)
    far = pl.Series("far", np.linalg.norm(vectors - record.optimum.outcomes, axis=1))
    return on_log_axis(over_seeds(rows.with_columns(far), pl.col("far")), 0.0)
