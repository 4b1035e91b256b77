"""`equipoise paper`: the theory, run."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from equipoise._progress import progress_display
from equipoise._threads import cores
from equipoise.cli import completing
from equipoise.cli.codes import Code

if TYPE_CHECKING:
    from equipoise.paper import Outcome

_COLOURS = {"holds": "green", "holds as corrected": "yellow", "not reached": "dim", "fails": "red", "error": "red"}


def paper(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which to run, by name.", metavar="NAME", show_default="all", autocompletion=completing.statements
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Less of each: all in under three minutes.", metavar="")
    ] = False,
    jobs: Annotated[int | None, typer.Option(help="Processes.", metavar="N", show_default="one a core", min=1)] = None,
    out: Annotated[Path, typer.Option(help="The page to write.", metavar="FILE")] = Path("paper.html"),
    markdown: Annotated[
        Path | None, typer.Option(help="Write a table for documentation too.", metavar="FILE", show_default=False)
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print every finding, not the one nearest to its bound.", metavar="")
    ] = False,
    show: Annotated[bool, typer.Option("--list", help="Print the names and leave.", metavar="")] = False,
) -> None:
    """Run the statements of the paper, and say whether they hold.

    Each theorem, lemma and claim is measured on instances and set against its bound. What is with certainty must hold
    on every run at every time; what is in expectation or with some probability may be off by no more than an interval
    at 99.9 %. A statement that is wrong as written is shown so, with the corrected one beside it. What the theory
    promises for large T only, and was not seen at the T that was run, is "not reached".

    Prints a table, and writes a page with pictures. Ctrl-C ends it at once; what is done by then is on the page.

        equipoise paper --quick
        equipoise paper rate-frank-wolfe --details --out rate.html

    Exit codes: 0 if all holds, 1 if there is no such NAME, 3 if something does not hold (corrected or not), 130 if
    interrupted.
    """
    from equipoise.paper import (
        CHECKS,
        ChecksInterrupted,
        Size,
        run_checks,
    )  # a third of a second, for this command only

    if show:
        for name in CHECKS:
            typer.echo(name)
        return
    # With it comes Altair, which the other commands can do without; and now, so that Ctrl-C need not wait for it.
    from equipoise.reports import write_paper, write_table
    from equipoise.reports.writing.statements import page

    size = Size.QUICK if quick else Size.FULL
    threading.Thread(target=page, args=([], size), daemon=True).start()  # which loads all that the page will need
    console = Console(stderr=True)
    done = 0
    with progress_display("checking", len(names or CHECKS)) as display:

        def told(name: str, outcome: Outcome | None) -> None:
            nonlocal done
            if outcome is not None:
                done += 1
                display.done(done)
                display.tell(f"{name}: {outcome.verdict}")
                if not console.is_terminal:
                    console.print(f"{name}: {outcome.verdict} ({outcome.seconds:.1f} s)", highlight=False)

        interrupted = False
        try:
            outcomes = run_checks(names, size, jobs or cores(), told)
        except ChecksInterrupted as stopped:
            outcomes, interrupted = stopped.outcomes, True
    if interrupted:
        console.print(f"interrupted: {len(outcomes)} of {len(names or CHECKS)} are done", highlight=False)
    if not outcomes:
        raise typer.Exit(Code.INTERRUPTED)
    _print(outcomes, details)
    typer.echo(write_paper(outcomes, out, size))
    if interrupted:
        raise typer.Exit(Code.INTERRUPTED)  # and the table for the documentation stays what it was
    if markdown is not None:
        typer.echo(write_table(outcomes, markdown, size))
    if any(outcome.verdict in ("fails", "error") for outcome in outcomes):
        raise typer.Exit(Code.NOT_WELL)


def _print(outcomes: list[Outcome], details: bool) -> None:
    from equipoise.paper import nearest

    console = Console()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("statement", "instance", "measured", "", "bound", "verdict"):
        number = column in ("measured", "bound")
        table.add_column(column, justify="right" if number else "left", no_wrap=number or column == "verdict")
    for outcome in outcomes:
        if outcome.checked is None:
            table.add_row(Text(outcome.name, "bold"), Text(outcome.error.splitlines()[-1]), "", "", "", _said("error"))
            continue
        statement, checked = outcome.checked.statement, outcome.checked
        title = Text.assemble((statement.number, "bold"), " ", statement.title)
        for label, findings in (("", checked.written), ("corrected: ", checked.corrected)):
            for finding in findings if details else findings and [nearest(findings)]:
                error = f" ± {finding.error:.2g}" if finding.error else ""
                table.add_row(
                    title,
                    Text(f"{label}{finding.instance}"),
                    f"{finding.measured:.4g}{error}",
                    "≤" if finding.relation == "<=" else "≥",
                    f"{finding.bound:.4g}",
                    _said(finding.verdict),
                )
                title = Text("")
        table.add_row("", Text(f"of all findings: {checked.tally}", "dim"), "", "", "", _said(outcome.verdict))
    console.print(table)


def _said(verdict: str) -> Text:
    return Text(verdict, _COLOURS[verdict])
