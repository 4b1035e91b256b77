"""What runs have learnt of the laws of a system whose mechanics are known, beside the truth: one table.

One row a run and value of a law, for all agents that were told the mechanics and learn laws:

| column | type | meaning |
|---|---|---|
| problem, agent | str | their names in the study |
| seed | int | of the world |
| law, value | str | of the mechanics, as they are written |
| visits | int | how often the law was seen by the end of the run |
| estimate | float | the share of these in which it had the value; null if it was never seen |
| low, high | float | the region of the agent at the end: equal where it is a point, such as a law that was drawn |
| truth | float | the probability in the world; null for a conditional law that never comes into play there |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from equipoise.studies.record import Record

if TYPE_CHECKING:
    import polars

LAWS: Final = "laws"
"""Under which name a result file holds them."""
_WHOLE: Final = ("seed", "visits")
_NUMBERS: Final = ("estimate", "low", "high", "truth")
_COLUMNS: Final = ("problem", "agent", "seed", "law", "value", "visits", *_NUMBERS)


def laws_frame(records: Iterable[Record]) -> polars.DataFrame:
    """The laws of all runs that have learnt some, in the order of the runs.

    Parameters
    ----------
    records : iterable of Record
        The results of runs.

    >>> laws_frame([]).columns
    ['problem', 'agent', 'seed', 'law', 'value', 'visits', 'estimate', 'low', 'high', 'truth']
    """
    import polars

    schema: dict[str, Any] = {
        name: polars.Int64 if name in _WHOLE else polars.Float64 if name in _NUMBERS else polars.String
        for name in _COLUMNS
    }
    rows: list[tuple[Any, ...]] = []
    for record in records:
        about = record.about
        columns = about.get(LAWS)
        if columns is not None:
            run = (about["problem"], about["agent"], about["seed"])
            rows += [(*run, *row) for row in zip(*(columns[name] for name in _COLUMNS[3:]), strict=True)]
    return polars.DataFrame(rows, schema=schema, orient="row")


def no_laws() -> polars.DataFrame:
    """The table of a study in which no agent was told mechanics."""
    return laws_frame([])
