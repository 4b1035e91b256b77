"""From all rows of a study to the numbers that a page shows: means over seeds with intervals, problem by problem.

**Final.** Agents are compared at the last checkpoint that all of them have. The loss is the regret, or minus the value
where there is no optimum.

**Constraints.** Regret leaves violations out and may then be negative. So with constraints agents are compared by the
*priced* measure: the regret plus each violation times its price, or the value minus them.

**Certificates.** The certified regret is the least proven bound on the optimum minus what the run achieved. Agents are
compared by the time from which it stays within the requested amount until the end of the run; a run that is not within
it at the end counts as infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from equipoise._statistics import Interval, mean_interval
from equipoise.reports.numbers.comparisons import Comparison, compare_all
from equipoise.reports.numbers.curves import (
    Curves,
    Slope,
    average_over_seeds,
    fit_slope,
    fit_window,
    place_on_linear_axis,
    place_on_log_axis,
)
from equipoise.reports.numbers.laws import LawSummary, summarise_laws
from equipoise.studies.record import ENDED, VIOLATIONS
from equipoise.studies.results import Guarantee, ProblemRecord, Results, label_agent, steps_until_certified

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
    """One agent on one problem."""

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
    proven: CertifiedRegret | None
    priced: Interval

    @property
    def label(self) -> str:
        """Its name, with its caveat."""
        return label_agent(self.name, self.caveat)


@dataclass(frozen=True, eq=False)
class ProblemDigest:
    """One problem."""

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
    laws: LawSummary | None
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
    return tuple(_problem(record, frame.filter(problem=record.name), results) for record in results.problems)


def resolution(record: ProblemRecord) -> float:
    """How small a regret can be told from zero: the gap of the optimum's certificate."""
    gap = record.optimum.gap if record.optimum else 0.0
    return gap if 0 < gap < math.inf else 0.0


def optimal_outcome(record: ProblemRecord, k: int) -> float | None:
    """Outcome k at the optimum, if there is one and it is a number."""
    return _finite(record.optimum.outcomes[k]) if record.optimum else None


def optimal_value(record: ProblemRecord) -> float | None:
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
    kept = add_priced(record, finite.join(rank, on="agent").sort("rank", "seed", "t"), measure)

    counts = kept.group_by("t").agg(pl.col("agent").n_unique()).filter(pl.col("agent") == len(names))
    end = int(counts["t"].max()) if counts.height else None  # type: ignore[arg-type]
    agents = tuple(_agent(record, name, kept.filter(agent=name), end, measure, results) for name in names)
    sign = 1.0 if measure == "regret" else -1.0
    best: str | None = None
    pairs: tuple[Comparison, ...] = ()
    if end is not None:
        best = min(agents, key=lambda agent: sign * agent.priced.mean).name
        last = {name: kept.filter(agent=name, t=end).select("seed", sign * pl.col(PRICED)) for name in names}
        pairs = compare_all({name: dict(rows.iter_rows()) for name, rows in last.items()})

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
        episodes=place_on_log_axis(average_over_seeds(counted, pl.col("episodes")), 0.0) if busy else None,
        outcomes={k: place_on_linear_axis(average_over_seeds(kept, pl.col("outcomes").list.get(k))) for k in shown},
        distance=_distance(record, kept) if names and record.n_outcomes > MOST_OUTCOMES else None,
        certified=certified,
        not_finite=rows.height - finite.height,
        laws=summarise_laws(results, record.name),
        violations=summarise_violations(record, kept, [(agent.name, agent.t) for agent in agents]),
    )


def _main_curves(record: ProblemRecord, rows: pl.DataFrame, measure: str) -> tuple[Curves | None, Curves | None]:
    """The measure, and what is certified: on one axis if the measure is the regret."""
    proving = rows.filter(pl.col("certified").is_finite())
    certified = average_over_seeds(proving, pl.col("certified")) if proving.height else None
    if rows.is_empty():
        return None, None
    plain = average_over_seeds(rows, pl.col(measure))
    if measure != "regret":
        return place_on_linear_axis(plain), None if certified is None else place_on_log_axis(certified, 0.0)
    least = resolution(record)
    shown = None if certified is None else place_on_log_axis(certified, least, plain)
    return place_on_log_axis(plain, least, certified), shown


def _agent(
    record: ProblemRecord, name: str, rows: pl.DataFrame, end: int | None, measure: str, results: Results
) -> AgentDigest:
    t = int(rows["t"].max()) if end is None else end  # type: ignore[arg-type]
    last = rows.filter(t=t)
    made = next(agent for agent in results.agents if agent.name == name)
    means = last.select(pl.col("sweeps", "episodes", *ENDED).cast(pl.Float64).fill_null(0).mean()).row(0, named=True)
    return AgentDigest(
        name=name,
        t=t,
        final=mean_interval(last[measure].to_numpy()),
        slope=_slope(rows, t, resolution(record)) if measure == "regret" else None,
        rate=results.rates.get((record.name, name)),
        speed=_speed(rows),
        sweeps=means["sweeps"],
        episodes=means["episodes"],
        triggers=tuple(means[trigger] for trigger in ENDED),
        outcomes=tuple(float(last["outcomes"].list.get(k).mean()) for k in range(record.n_outcomes)),  # type: ignore[arg-type]
        caveat=made.caveat,
        guarantee=results.guarantees.get((record.name, name)),
        proven=summarise_certificates(rows, t, results.certified_within, made.certainty),
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
    return fit_slope(wide["t"].to_numpy(), wide.drop("t").to_numpy().T, floor)


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
    return place_on_log_axis(average_over_seeds(rows.with_columns(far), pl.col("far")), 0.0)


@dataclass(frozen=True, eq=False)
class CertifiedRegret:
    """What an agent has certified on one problem."""

    within: float
    certainty: float | None
    final: Interval
    runs: int
    since: tuple[int, ...]

    @property
    def half(self) -> int | None:
        """The checkpoint from which on half of the runs stay within the amount; None if fewer do."""
        return next(iter(self.since[(self.runs + 1) // 2 - 1 :]), None)

    @property
    def all(self) -> int | None:
        """The checkpoint from which on all runs stay within the amount; None if some do not."""
        return next(iter(self.since[self.runs - 1 :]), None)


def summarise_certificates(
    rows: pl.DataFrame, t: int, within: float, certainty: float | None
) -> CertifiedRegret | None:
    """What the runs of one agent on one problem have certified; None if that is nothing."""
    rows = rows.filter(pl.col("t") <= t)
    last = rows.filter(pl.col("certified").is_finite(), t=t)
    if last.is_empty():
        return None
    found = steps_until_certified(rows, within).filter("proves")
    final, since = mean_interval(last["certified"].to_numpy()), sorted(found["since"].drop_nulls().to_list())
    return CertifiedRegret(within, certainty, final, found.height, tuple(since))


PRICED = "priced"


@dataclass(frozen=True, eq=False)
class Violations:
    """What the constraints of a problem lack."""

    final: dict[str, tuple[Interval, ...]]
    met: dict[str, tuple[int, ...]]
    curves: tuple[Curves, ...]


def add_priced(record: ProblemRecord, rows: pl.DataFrame, measure: str) -> pl.DataFrame:
    """The rows of a problem, with the measure in the column `priced` after violations are paid for."""
    paid: pl.Expr = pl.lit(0.0)
    if VIOLATIONS in rows.columns:
        for j, price in enumerate(record.prices):
            paid = paid + price * pl.col(VIOLATIONS).list.get(j)
    return rows.with_columns((pl.col(measure) + (paid if measure == "regret" else -paid)).alias(PRICED))


def summarise_violations(
    record: ProblemRecord, rows: pl.DataFrame, agents: Sequence[tuple[str, int]]
) -> Violations | None:
    """What the constraints lack; None if the problem has none, or nothing has been run."""
    if not record.constraints or VIOLATIONS not in rows.columns or rows.is_empty():
        return None
    places = range(len(record.constraints))
    entries = [pl.col(VIOLATIONS).list.get(j) for j in places]
    final, met = {}, {}
    for name, t in agents:
        last = rows.filter(agent=name, t=t).select(entry.alias(str(j)) for j, entry in enumerate(entries))
        final[name] = tuple(mean_interval(last[str(j)].to_numpy()) for j in places)
        met[name] = tuple(int((last[str(j)] <= 0.0).sum()) for j in places)
    return Violations(final, met, tuple(place_on_log_axis(average_over_seeds(rows, entry), 0.0) for entry in entries))
