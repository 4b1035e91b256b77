"""`python -m paper`: run checks, print a table and write a page with pictures."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from equipoise._runtime.progress import progress_display
from equipoise._runtime.threads import core_count
from equipoise.cli.codes import Code
from equipoise.errors import EquipoiseError
from paper.catalogue import CHECKS
from paper.findings import Size, nearest
from paper.running import ChecksInterrupted, Outcome, run_checks

_COLOURS = {"holds": "green", "holds as corrected": "yellow", "not reached": "dim", "fails": "red", "error": "red"}


def main(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names of checks, or paths of files with a check.", metavar="NAME", show_default="all"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Do less work: all checks in under three minutes.")] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Number of processes.", metavar="N", show_default="one per core", min=1)
    ] = None,
    out: Annotated[Path, typer.Option(help="HTML page to write.", metavar="FILE")] = Path("paper.html"),
    markdown: Annotated[
        Path | None, typer.Option(help="Markdown table to write.", metavar="FILE", show_default=False)
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print every finding, not only the one nearest to its bound.")
    ] = False,
    show: Annotated[bool, typer.Option("--list", help="Print the names of the checks and exit.")] = False,
) -> None:
    """Measure the statements of the paper and compare them with their bounds.

    What is claimed with certainty must hold in every run at every time. What is claimed in expectation or with some
    probability is tested with an interval at 99.9 %. A statement that is wrong as printed is shown with its correction.
    What the theory claims for large T only, and was not seen at the T that was run, is "not reached". Ctrl-C stops at
    once and writes the page with what has finished.

    Exit codes: 0 if everything holds, 1 if there is no such NAME, 3 if a statement fails, 130 if interrupted.
    """
    if show:
        for name in CHECKS:
            typer.echo(name)
        return
    # Altair takes long to load: now, so that Ctrl-C need not wait for it, and not before `--list`.
    from paper.page import page, write_paper, write_table

    size = Size.QUICK if quick else Size.FULL
    threading.Thread(target=page, args=([], size), daemon=True).start()  # loads all that the page will need
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
            outcomes = run_checks(names, size, jobs or core_count(), told)
        except ChecksInterrupted as stopped:
            outcomes, interrupted = stopped.outcomes, True
        except EquipoiseError as error:
            console.print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)
            raise typer.Exit(Code.INPUT) from None
    if interrupted:
        console.print(f"interrupted: {len(outcomes)} of {len(names or CHECKS)} checks finished", highlight=False)
    if not outcomes:
        raise typer.Exit(Code.INTERRUPTED)
    _print(outcomes, details)
    typer.echo(write_paper(outcomes, out, size))
    if interrupted:
        raise typer.Exit(Code.INTERRUPTED)  # the table in the documentation stays as it was
    if markdown is not None:
        typer.echo(write_table(outcomes, markdown, size))
    if any(outcome.verdict in ("fails", "error") for outcome in outcomes):
        raise typer.Exit(Code.NOT_WELL)


def _print(outcomes: list[Outcome], details: bool) -> None:
    console = Console()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("statement", "instance", "measured", "", "bound", "verdict"):
        number = column in ("measured", "bound")
        table.add_column(column, justify="right" if number else "left", no_wrap=number or column == "verdict")
    for outcome in outcomes:
        if outcome.checked is None:
            table.add_row(
                Text(outcome.name, "bold"), Text(outcome.error.splitlines()[-1]), "", "", "", _coloured("error")
            )
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
                    _coloured(finding.verdict),
                )
                title = Text("")
        table.add_row("", Text(f"of all findings: {checked.tally}", "dim"), "", "", "", _coloured(outcome.verdict))
    console.print(table)


def _coloured(verdict: str) -> Text:
    return Text(verdict, _COLOURS[verdict])


if __name__ == "__main__":
    sys.argv[0] = "python -m paper"
    typer.run(main)
