"""`equipoise run`: a study, from one file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from equipoise.cli.codes import Code
from equipoise.cli.options import With
from equipoise.studies.display import display, duration, summary
from equipoise.studies.runner import EVERY, run_study
from equipoise.studies.spec import override, read_study


def run(
    study: Annotated[Path, typer.Argument(help="The study, a TOML file.", metavar="STUDY.toml")],
    out: Annotated[Path, typer.Option(help="The folder for the results; made if need be.", metavar="DIR")],
    jobs: Annotated[int | None, typer.Option(help="Processes.", metavar="N", show_default="one a core", min=1)] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Send the work to a Dask scheduler instead, such as tcp://host:8786.", metavar="ADDRESS"),
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Instead of the study's.", metavar="N", min=1)] = None,
    seeds: Annotated[int | None, typer.Option(help="Instead of the study's.", metavar="N", min=1)] = None,
    every: Annotated[
        float, typer.Option(help="Save long runs every so many seconds, so that they can go on.", metavar="SECONDS")
    ] = EVERY,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="End a run that takes longer, and record it as failed.", metavar="SECONDS", show_default="the study's"
        ),
    ] = None,
    modules: With = [],  # noqa: ARG001, B006 - allowed by its callback
) -> None:
    """Run all of a study that has not been run yet.

    A study lists problems (a world and a reward) and agents; every agent meets every problem with every seed. Each run
    leaves one Parquet file in DIR/runs.

    It can be stopped at any time, and run again: what is done is not done again, and long runs go on from where they
    were last saved, with the same numbers as if never stopped. More seeds, or another agent, run only what is new.
    Several programs may work on the same folder at once, and share the work.

    Parts of your own, in a module that Python finds, are named as "package.module:Name" in the study and allowed with
    --with package.module: a file alone never makes the program import anything.

    After an edit of such a module, or of one that it imports, its runs are done again.

    Writes the study as it was run (DIR/study.toml), the optima of its problems, the runs, and in DIR/failed those that
    failed, which do not stop the others.

        equipoise run studies/quick.toml --out out/quick
        equipoise run studies/quick.toml --out out/quick --seeds 40 --jobs 2

    Exit codes: 0 if all is done, 1 if the study is wrong or DIR cannot be written, 3 if runs failed, 130 if
    interrupted.
    """
    console = Console(stderr=True)
    plan = override(read_study(study), steps, seeds, time_limit)
    if cluster is not None:
        logging.disable()  # Dask's log entries would repeat the errors that are reported below
    with display(console) as show:
        progress = run_study(plan, out, jobs=jobs, cluster=cluster, every=every, origin=study, show=show)
    for reason in progress.repeated:
        console.print(f"done again: {reason}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    for failure in progress.failures:
        line = f"failed: {failure.problem}, {failure.agent}, seed {failure.seed}: {failure.error}"
        console.print(line, style="red", highlight=False, markup=False, soft_wrap=True)
    for reason in progress.unsolved:
        console.print(f"no optimum: {reason}", style="red", highlight=False, markup=False, soft_wrap=True)
    typer.echo(f"{summary(progress)} in {duration(progress.seconds)}: {out}")
    if progress.interrupted:
        typer.echo("interrupted; run the same command again to go on")
        raise typer.Exit(Code.INTERRUPTED)
    if progress.failures or progress.unsolved:
        raise typer.Exit(Code.NOT_WELL)
    typer.echo(f"now: equipoise report {out}")
