"""The commands, put together; every error of ours is a line on stderr and an exit code, never a traceback.

| code | meaning |
|---|---|
| 0 | all is well |
| 1 | something is wrong with the input, or results cannot be written |
| 2 | the command line is not understood |
| 3 | some runs failed, or an optimum is not certified; everything else is done |
| 130 | interrupted |
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from equipoise._version import VERSION
from equipoise.cli.catalogue import catalogue
from equipoise.cli.certify import certify
from equipoise.cli.describe import describe
from equipoise.cli.export import export
from equipoise.cli.paper import paper
from equipoise.cli.report import report
from equipoise.cli.run import run
from equipoise.cli.solve import solve
from equipoise.errors import EquipoiseError

_ABOUT = """Control of unknown Markov systems whose outcomes must balance.

Compare agents on problems: write a study, run it, make a report of it.

    equipoise run studies/quick.toml --out out/quick
    equipoise report out/quick

What is a problem worth at best, and what is it like?

    equipoise solve --world star --reward '{kind = "BottomSum", kappa = 1}'
    equipoise describe --world '{kind = "riverswim", n = 20}'

How much could be had at most, by a log of what was done?

    equipoise certify log.parquet --reward '{kind = "BottomSum", kappa = 1}'

`equipoise list` shows every name that may stand in a study. `equipoise paper` runs the theory.
"""

app = typer.Typer(
    help=_ABOUT, no_args_is_help=True, add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False
)
app.command()(run)
app.command()(report)
app.command()(export)
app.command()(solve)
app.command()(certify)
app.command()(describe)
app.command("list")(catalogue)
app.command()(paper)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"equipoise {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program."""
    try:
        app()
    except EquipoiseError as error:
        console = Console(stderr=True, highlight=False)
        for line in str(error).splitlines():
            console.print(f"equipoise: {line}", style="red", markup=False, soft_wrap=True)
        sys.exit(1)
