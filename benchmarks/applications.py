"""The tables of docs/applications/measured.md: mean regret of every agent of the four studies of applications.

    make applications                            # the studies, their reports, and this
    python -m benchmarks.applications out        # the tables alone, from the results in out/kpis, out/fairness, ...

Means over seeds ± two standard errors. A season of budgets is a study of its own: out/budgets-10000 and so on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from benchmarks.leaderboard import table
from benchmarks.pages import put
from equipoise.studies import open_results

PAGE: Final = Path(__file__).parents[1] / "docs" / "applications" / "measured.md"
TIMES: Final = {10_000: "10⁴", 100_000: "10⁵", 1_000_000: "10⁶"}
ONE_RUN: Final = ("kpis", "fairness", "coverage")  # judged at each time of one run
SEASONS: Final = {10_000: "budgets-10000", 100_000: "budgets-100000", 1_000_000: "budgets"}


def regrets(folder: Path) -> pl.DataFrame:
    """The rows of a study's results, with problem, agent, t and regret."""
    return open_results(folder).frame.select("problem", "agent", "t", "regret")


def seasons(folder: Path) -> pl.DataFrame:
    """The last rows of the three seasons of budgets, the longest first, as it has the order of the agents."""
    parts = [regrets(folder / name).filter(pl.col("t") == steps) for steps, name in reversed(SEASONS.items())]
    return pl.concat(parts)


def cell(values: np.ndarray) -> str:
    """Mean ± two standard errors, without a leading zero."""
    numbers = (values.mean(), 2.0 * values.std(ddof=1) / np.sqrt(values.size))
    return " ± ".join(f"{number:.5f}".removeprefix("0") for number in numbers)


def rows(frame: pl.DataFrame) -> Iterator[list[str]]:
    """One an agent and problem; the first agent of a problem, whose application it is, in bold letters."""
    for problem in frame["problem"].unique(maintain_order=True).to_list():
        part = frame.filter(pl.col("problem") == problem)
        for i, agent in enumerate(part["agent"].unique(maintain_order=True).to_list()):
            own = part.filter(pl.col("agent") == agent)
            cells = [cell(own.filter(pl.col("t") == t)["regret"].to_numpy()) for t in TIMES]
            yield ["" if i else problem, agent if i else f"**{agent}**", *cells]


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.applications", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the results of the studies are")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args()
    frames = {name: regrets(chosen.folder / name) for name in ONE_RUN} | {"budgets": seasons(chosen.folder)}
    source = PAGE
    for name, frame in frames.items():
        each = "T = " if name == "budgets" else ""
        put(
            name,
            table(["problem", "agent", *(each + time for time in TIMES.values())], list(rows(frame)), names=2),
            source,
            chosen.out,
        )
        source = chosen.out


if __name__ == "__main__":
    main()
