"""The commands, put together; every error of ours is a line on stderr and an exit code, never a traceback."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer
from rich.console import Console

from equipoise._start import hear_interrupts
from equipoise._version import VERSION
from equipoise.cli.catalogue import catalogue
from equipoise.cli.certify import certify
from equipoise.cli.codes import Code
from equipoise.cli.describe import describe
from equipoise.cli.doctor import doctor
from equipoise.cli.export import export
from equipoise.cli.report import report
from equipoise.cli.run import run
from equipoise.cli.solve import solve
from equipoise.errors import EquipoiseError

_ABOUT: Final = """Control of unknown Markov systems whose outcomes must balance.

Compare agents on problems: write a study, run it, make a report of it.

    equipoise run studies/quick.toml --out out/quick
    equipoise report out/quick

What is a problem worth at best, and what is it like?

    equipoise solve --world star --reward '{kind = "BottomSum", kappa = 1}'
    equipoise describe --world '{kind = "riverswim", n = 20}'

How much could be had at most, by a log of what was done?

    equipoise certify log.parquet --reward '{kind = "BottomSum", kappa = 1}'

Every command has a page: `equipoise run --help`. After `equipoise --install-completion` the shell completes names.

Exit codes: 0 if all is well; 1 if the input is wrong or results cannot be written; 2 if the command line is not
understood; 3 if all was done and some of it is not well (runs failed, a bound is not certified); 130 if interrupted.
"""
_STUDIES: Final = "Studies: agents x problems x seeds"
_PROBLEMS: Final = "Problems: a world and a reward"
_REST: Final = "This program"

app = typer.Typer(help=_ABOUT, no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)
app.command(rich_help_panel=_STUDIES)(run)
app.command(rich_help_panel=_STUDIES)(report)
app.command(rich_help_panel=_STUDIES)(export)
app.command(rich_help_panel=_PROBLEMS)(solve)
app.command(rich_help_panel=_PROBLEMS)(describe)
app.command(rich_help_panel=_PROBLEMS)(certify)
app.command("list", rich_help_panel=_PROBLEMS)(catalogue)
app.command(rich_help_panel=_REST)(doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"equipoise {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.", metavar=""),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program."""
    hear_interrupts()
    try:
        app(prog_name="equipoise")  # however it was started: usage and completion go by this name
    except EquipoiseError as error:
        console = Console(stderr=True, highlight=False)
        for line in str(error).splitlines():
            console.print(f"equipoise: {line}", style="red", markup=False, soft_wrap=True)
        sys.exit(Code.INPUT)
