"""Run every benchmark and print one table."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarks import expressions, learning, many_outcomes, planning, solving, starting, stepping, threads


def main() -> None:
    console = Console()
    table = Table(title="Equipoise, measured in this run")
    for column in ("what", "measured", "asked"):
        table.add_column(column)
    for part in (stepping, planning, learning, many_outcomes, threads, solving, starting, expressions):
        with console.status(f"{part.__name__} ..."):
            for row in part.report():
                table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()
