"""What agents with known dynamics have learnt of the unknown distributions ("laws"), compared with the truth.

The estimates and intervals shown are those of one seed, the first that all these agents have run. Over all seeds it is
counted in how many runs every interval contains the truth. Of many laws those with the fewest visits are shown, of many
values those with the widest intervals; laws that never come into play have no true value, and come last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from equipoise.studies.results import Results

MOST_LAWS: Final = 12  # in one picture
MOST_VALUES: Final = 12  # of one law
_BOUNDS: Final = 1e-12  # a truth this close to the end of an interval is within: both are rounded


@dataclass(frozen=True, eq=False)
class Law:
    """A law that is shown."""

    name: str
    rows: pl.DataFrame
    values: tuple[str, ...]
    left: int

    @property
    def visits(self) -> tuple[int, int]:
        """The fewest and the most, over agents."""
        return int(self.rows["visits"].min()), int(self.rows["visits"].max())  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class LawAccuracy:
    """How well an agent knows the laws."""

    agent: str
    values: int
    held: int
    furthest: float | None
    points: bool
    whole: int
    runs: int


@dataclass(frozen=True, eq=False)
class LawSummary:
    """What is shown of the laws of a problem."""

    seed: int
    rows: pl.DataFrame
    laws: tuple[Law, ...]
    left: int
    agents: tuple[LawAccuracy, ...]
    absent: tuple[str, ...]


def summarise_laws(results: Results, problem: str) -> LawSummary | None:
    """What was learnt of the laws of a problem; None if no agent was told mechanics."""
    every = results.laws.filter(pl.col("problem") == problem)
    if every.is_empty():
        return None
    every = _numbered(every)
    told = [agent.name for agent in results.agents if agent.name in set(every["agent"])]
    counts = every.group_by("seed").agg(pl.col("agent").n_unique()).sort("seed")
    seed = int((counts.filter(agent=len(told))["seed"].to_list() or counts["seed"].to_list())[0])
    shown = every.filter(seed=seed)
    there = [name for name in told if name in set(shown["agent"])]
    columns = ["agent", "law", "place", "value", "visits", "seen", "estimate", "low", "high", "truth"]
    rows = pl.concat([shown.filter(agent=name).select(columns) for name in there])
    names = _chosen_laws(rows)
    return LawSummary(
        seed=seed,
        rows=rows,
        laws=tuple(_law(name, rows.filter(law=name)) for name in names),
        left=rows["law"].n_unique() - len(names),
        agents=tuple(_held(name, every.filter(agent=name), seed) for name in there),
        absent=tuple(name for name in told if name not in there),
    )


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """With the place of each value in its law, how often it was seen, and values that are told apart by name."""
    run = ("agent", "seed", "law")
    alike = pl.len().over(*run, "value") > 1  # such as 1 and "1", which are written alike
    return rows.with_columns(
        place=pl.int_range(pl.len()).over(*run),
        seen=(pl.col("estimate") * pl.col("visits")).round().fill_null(0).cast(pl.Int64),
    ).with_columns(value=pl.when(alike).then(pl.format("{} (value {})", "value", "place")).otherwise("value"))


def _chosen_laws(rows: pl.DataFrame) -> list[str]:
    """All laws, or of many those that were seen least, in their order."""
    idle = pl.col("truth").is_null().all()
    laws = rows.group_by("law", maintain_order=True).agg(pl.col("visits").min(), idle=idle).with_row_index("order")
    return laws.sort("idle", "visits", "order").head(MOST_LAWS).sort("order")["law"].to_list()


def _law(name: str, rows: pl.DataFrame) -> Law:
    """All values of a law, or of many those with the widest intervals, in their order."""
    widths = rows.group_by("place").agg(width=(pl.col("high") - pl.col("low")).max())
    kept = widths.sort(-pl.col("width"), "place").head(MOST_VALUES)["place"]
    shown = rows.filter(pl.col("place").is_in(kept.to_list())).drop("law")
    values = shown.unique("place").sort("place")["value"].to_list()
    return Law(name, shown, tuple(values), widths.height - len(values))


def _held(name: str, rows: pl.DataFrame, seed: int) -> LawAccuracy:
    truth = pl.col("truth")
    within = truth.is_between(pl.col("low") - _BOUNDS, pl.col("high") + _BOUNDS)
    known = rows.filter(truth.is_not_null()).with_columns(held=within, off=(pl.col("estimate") - truth).abs())
    runs = known.group_by("seed").agg(pl.col("held").all())
    here = known.filter(seed=seed)
    furthest = here["off"].drop_nulls().max()
    return LawAccuracy(
        agent=name,
        values=here.height,
        held=int(here["held"].sum()),
        furthest=None if furthest is None else float(furthest),  # type: ignore[arg-type]
        points=bool((rows["low"] == rows["high"]).all()),
        whole=int(runs["held"].sum()),
        runs=runs.height,
    )
