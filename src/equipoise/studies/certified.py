"""Steps until certified: how long each run took to prove, from what it saw alone, that little is lost.

A run is certified within x at the first checkpoint at which its certified regret is at most x. What is achieved may
fall again afterwards, as luck turns, and the certified regret rise above x: `since` is the checkpoint from which on it
never did. Both are known to the next checkpoint only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from equipoise._numbers import real
from equipoise.errors import ParameterError

if TYPE_CHECKING:
    import polars


def steps_until_certified(frame: polars.DataFrame, within: float) -> polars.DataFrame:
    """For each run the steps until it was certified that no more than so much is lost.

    Parameters
    ----------
    frame : polars.DataFrame
        From `load_results`.
    within : float
        How much, above 0.

    Returns
    -------
    polars.DataFrame
        One row a run, in the order of the frame: problem, agent, seed, run; `proves`, whether it has a certificate at
        all; `first`, the first checkpoint at which what is certified is at most `within`; and `since`, the one from
        which on it always is. Both are null if there is none.

    Examples
    --------
    >>> import polars
    >>> rows = [(10, 0.5), (100, 0.009), (1000, 0.02), (10_000, 0.003)]
    >>> frame = polars.DataFrame(rows, schema=["t", "certified"], orient="row").with_columns(
    ...     problem=polars.lit("star"), agent=polars.lit("A"), seed=0, run=polars.lit("8f3a"))
    >>> steps_until_certified(frame, 0.01).select("proves", "first", "since").rows()
    [(True, 100, 10000)]
    >>> steps_until_certified(frame, 0.001).select("proves", "first", "since").rows()
    [(True, None, None)]
    """
    import polars as pl

    amount = regret_to_certify(within)
    enough = pl.col("certified").is_finite().fill_null(value=False) & (pl.col("certified") <= amount)
    later = enough.sort_by("t").reverse().cast(pl.Int8).cum_min().reverse().cast(pl.Boolean)
    return frame.group_by("problem", "agent", "seed", "run", maintain_order=True).agg(
        proves=pl.col("certified").is_finite().fill_null(value=False).any(),
        first=pl.col("t").filter(enough).min(),
        since=pl.col("t").sort().filter(later).min(),
    )


def regret_to_certify(amount: float) -> float:
    """A regret that can be certified: a number above 0.

    Parameters
    ----------
    amount : float
        As given.

    >>> regret_to_certify(1)
    1.0
    """
    number = real(amount, "certified within", error=ParameterError)
    if not 0.0 < number < math.inf:
        raise ParameterError(f"certified within: got {amount}; a number above 0 is needed")
    return number
