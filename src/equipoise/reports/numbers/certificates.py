"""What the runs of an agent have certified: how much is lost at most, and when that became little.

A certificate is the least bound on the optimum that the plans of a run have proven, less what the run achieved. It
needs no optimum, and so is there where regret is not. Agents are compared by the steps until it is within the amount
that the study asks for; a run that never gets there counts as one that takes for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from equipoise._statistics import Interval, mean_interval
from equipoise.studies.certified import steps_until_certified


@dataclass(frozen=True, eq=False)
class Proven:
    """What an agent has certified on one problem.

    Attributes
    ----------
    within : float
        The regret that was to be certified.
    certainty : float or None
        The probability with which all certificates of a run hold; None if it is not known.
    final : Interval
        The certified regret where the agents are compared, over seeds.
    runs : int
        Those with certificates.
    first : tuple of int
        The first checkpoint within the amount, of each run that has one, in order.
    since : int or None
        The checkpoint from which on all runs are within it; None if there is none.
    """

    within: float
    certainty: float | None
    final: Interval
    runs: int
    first: tuple[int, ...]
    since: int | None

    @property
    def half(self) -> int | None:
        """The checkpoint by which half of the runs were within the amount; None if fewer ever were."""
        place = (self.runs + 1) // 2
        return self.first[place - 1] if len(self.first) >= place else None


def proven(rows: pl.DataFrame, t: int, within: float, certainty: float | None) -> Proven | None:
    """What the runs of one agent on one problem have certified; None if that is nothing.

    Parameters
    ----------
    rows : polars.DataFrame
        Those of `load_results` for agent and problem.
    t : int
        Where the agents are compared.
    within : float
        The regret that was to be certified.
    certainty : float or None
        The probability with which the certificates hold.
    """
    last = rows.filter(pl.col("certified").is_finite(), t=t)
    if last.is_empty():
        return None
    found = steps_until_certified(rows, within).filter("proves")
    since = found["since"].drop_nulls().to_list()
    return Proven(
        within=within,
        certainty=certainty,
        final=mean_interval(last["certified"].to_numpy()),
        runs=found.height,
        first=tuple(sorted(found["first"].drop_nulls().to_list())),
        since=max(since) if len(since) == found.height else None,
    )
