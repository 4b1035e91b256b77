"""`equipoise export`: the results of a study as one table for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from equipoise.studies.reader import export_results, open_results


def export(
    folder: Annotated[Path, typer.Argument(help="The folder of a study that has been run.", metavar="DIR")],
    file: Annotated[Path, typer.Argument(help="The file to write: .csv, .parquet or .jsonl.", metavar="FILE")],
) -> None:
    """Write the results of a study as one table, for other programs.

    One row a run and checkpoint, one column an outcome: named by its label if the problem has labels, else outcome_0,
    outcome_1 and so on.

    Writes FILE, whose ending says what it becomes: .csv, .parquet, or .jsonl (a JSON object a line).

        equipoise export out/quick results.csv

    Exit codes: 0, or 1 if DIR holds no study or FILE cannot be written.
    """
    results = open_results(folder)
    typer.echo(export_results(results, file))
    console = Console(stderr=True)
    for reason in results.damaged:
        console.print(f"not read: {reason}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    if results.missing or results.failures:
        left = f"without a result: {results.missing + len(results.failures)} runs"
        console.print(left, style="yellow", highlight=False)
