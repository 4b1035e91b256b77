"""What the constraints of a problem lack: of each agent at the end, and over time, means over seeds with intervals.

Regret leaves violations out, and an agent that violates a constraint may well have a negative one. So where there are
constraints agents are compared by what is *priced*: the regret plus each violation times its price, or the value less
them. With a price above the multiplier it is never negative in the long run, and vanishes only if both do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from equipoise._statistics import Interval, mean_interval
from equipoise.reports.numbers.curves import Curves, on_log_axis, over_seeds
from equipoise.studies.record import VIOLATIONS
from equipoise.studies.results import ProblemRecord

PRICED = "priced"


@dataclass(frozen=True, eq=False)
class Violations:
    """What the constraints of a problem lack.

    Attributes
    ----------
    final : dict
        By agent: an interval for each constraint, where the agents are compared.
    met : dict
        By agent: for each constraint, in how many runs it is met there.
    curves : tuple of Curves
        Of each constraint, on log axes.
    """

    final: dict[str, tuple[Interval, ...]]
    met: dict[str, tuple[int, ...]]
    curves: tuple[Curves, ...]


def with_priced(record: ProblemRecord, rows: pl.DataFrame, measure: str) -> pl.DataFrame:
    """The rows of a problem, with the measure in the column `priced` after violations are paid for.

    Parameters
    ----------
    record : ProblemRecord
        The problem; without constraints nothing is to be paid.
    rows : polars.DataFrame
        Its results.
    measure : "regret" or "value"
        What it is judged by.
    """
    paid: pl.Expr = pl.lit(0.0)
    if VIOLATIONS in rows.columns:
        for j, price in enumerate(record.prices):
            paid = paid + price * pl.col(VIOLATIONS).list.get(j)
    return rows.with_columns((pl.col(measure) + (paid if measure == "regret" else -paid)).alias(PRICED))


def violated(record: ProblemRecord, rows: pl.DataFrame, agents: Sequence[tuple[str, int]]) -> Violations | None:
    """What the constraints lack; None if the problem has none, or nothing has been run.

    Parameters
    ----------
    record : ProblemRecord
        The problem.
    rows : polars.DataFrame
        Its results, with a column rank.
    agents : sequence of (str, int)
        Those with results, and where each is compared.
    """
    if not record.constraints or VIOLATIONS not in rows.columns or rows.is_empty():
        return None
    places = range(len(record.constraints))
    entries = [pl.col(VIOLATIONS).list.get(j) for j in places]
    final, met = {}, {}
    for name, t in agents:
        last = rows.filter(agent=name, t=t).select(entry.alias(str(j)) for j, entry in enumerate(entries))
        final[name] = tuple(mean_interval(last[str(j)].to_numpy()) for j in places)
        met[name] = tuple(int((last[str(j)] <= 0.0).sum()) for j in places)
    return Violations(final, met, tuple(on_log_axis(over_seeds(rows, entry), 0.0) for entry in entries))
