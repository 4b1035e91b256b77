"""`equipoise report`: the results of a study as a page, and as figures."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from equipoise.studies.loading import open_results


class Format(enum.StrEnum):
    """How a figure can be had."""

    svg = "svg"
    png = "png"
    pdf = "pdf"


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a study that has been run.", metavar="DIR")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write.", show_default="DIR/report.html", metavar="FILE")
    ] = None,
    figures: Annotated[
        Format | None, typer.Option(help="Write every chart to DIR/figures too, in this format.", metavar="FORMAT")
    ] = None,
) -> None:
    """Make a report of a study: one HTML file that needs no network.

    For each problem: regret against time with bands over seeds, fitted slopes and the theorem's rate; the explicit
    bounds beside it; the average outcomes against the optimum; episodes and what ended them; a table of final regret
    with paired tests; speeds; the exact specification. A study that is still running can be reported on too.
    """
    from equipoise.reports import write_figures, write_report

    results = open_results(folder)
    typer.echo(write_report(results, out or folder / "report.html"))
    if figures is not None:
        for path in write_figures(results, folder / "figures", figures.value):
            typer.echo(path)
