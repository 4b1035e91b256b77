"""`equipoise run`: a study from one file, with a live table on a terminal, or a line from time to time elsewhere."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from equipoise.cli.codes import Code
from equipoise.cli.options import With
from equipoise.errors import FileError
from equipoise.studies.results import Optimum, label_agent
from equipoise.studies.runner import EVERY, Progress, Show, run_study
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
    lines = [(f"done again: {reason}", "yellow") for reason in progress.repeated]
    lines += [(f"failed: {x.problem}, {x.agent}, seed {x.seed}: {x.error}", "red") for x in progress.failures]
    lines += [(f"no optimum: {reason}", "red") for reason in progress.unsolved]
    for line, colour in lines:
        console.print(line, style=colour, highlight=False, markup=False, soft_wrap=True)
    typer.echo(f"{summary(progress)} in {duration(progress.seconds)}: {out}")
    if progress.interrupted:
        typer.echo("interrupted; run the same command again to go on")
        raise typer.Exit(Code.INTERRUPTED)
    if progress.failures or progress.unsolved:
        raise typer.Exit(Code.NOT_WELL)
    typer.echo(f"now: equipoise report {out}")


_MAX_ROWS: Final = 12  # running runs that are listed
_LINE_SECONDS: Final = 10.0  # seconds between two lines
_REFRESH_SECONDS: Final = 0.4


@contextlib.contextmanager
def display(console: Console) -> Iterator[Show]:
    """A function that shows the progress it is called with."""
    last = 0.0 if console.is_terminal else time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if live is not None and (now - last >= _REFRESH_SECONDS or not progress.left):
            last = now
            live.update(_picture(progress), refresh=True)
        elif live is None and now - last >= _LINE_SECONDS:
            last = now
            console.print(f"{summary(progress)}{_left(progress, _part(progress))}", highlight=False, soft_wrap=True)

    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    with live or contextlib.nullcontext():
        yield show


def summary(progress: Progress) -> str:
    """How far a study is, in a line."""
    words = [f"{progress.before + progress.done} of {progress.total} runs done"]
    if progress.before:
        words[0] += f" ({progress.before} of them before)"
    counts = {"running": len(progress.running), "in another program": progress.elsewhere}
    counts |= {"failed": len(progress.failures)}
    return ", ".join(words + [f"{number} {what}" for what, number in counts.items() if number])


def duration(seconds: float) -> str:
    """A length of time for people."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _picture(progress: Progress) -> RenderableType:
    beats = {run: progress.folder.read_beat(run) for run in list(progress.running)[:_MAX_ROWS]}
    part = _part(progress)
    bar = Table.grid(padding=(0, 1))
    done = progress.before + progress.done + len(progress.failures)
    bar.add_row(
        Text(progress.plan.study.name, "bold"),
        ProgressBar(total=max(1, progress.total), completed=done + part, width=40),
        Text(summary(progress) + _left(progress, part)),
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("problem", "agent", "seed", "done", "steps/s", "regret", "certified"):
        table.add_column(column, justify="left" if column in ("problem", "agent") else "right", no_wrap=True)
    optima = {problem.name: _optimum(progress, problem.id) for problem in progress.plan.problems}
    for run, beat in beats.items():
        task = progress.running[run]
        optimum = optima[task.problem]
        table.add_row(
            Text(task.problem),
            Text(label_agent(task.agent, progress.plan.agents[task.problem, task.agent].caveat)),
            str(task.seed),
            f"{beat['t'] / task.steps:.0%}" if beat else "",
            _speed(beat["speed"]) if beat else "",
            f"{optimum.value - beat['value']:.3g}" if beat and optimum is not None else "",
            f"{beat['certified']:.3g}" if "certified" in beat else "",
        )
    rest = len(progress.running) - len(beats)
    more: list[RenderableType] = [Text(f"and {rest} more", "dim")] if rest > 0 else []
    if progress.solving:
        more.append(Text(f"solving {progress.solving} offline program{'s' * (progress.solving > 1)}", "dim"))
    failed = [Text(f"failed: {f.problem}, {f.agent}, seed {f.seed}: {f.error}", "red") for f in progress.failures[-3:]]
    return Group(bar, *([table] if beats else []), *more, *failed)


def _optimum(progress: Progress, problem: str) -> Optimum | None:
    with contextlib.suppress(FileError):
        optimum = progress.folder.read_optimum(problem)
        return optimum if optimum is not None and optimum.status == "optimal" else None
    return None


def _part(progress: Progress) -> float:
    beats = ((progress.folder.read_beat(run), task) for run, task in progress.running.items())
    return sum(float(beat["t"]) / task.steps for beat, task in beats if beat)


def _left(progress: Progress, part: float) -> str:
    """The time left, if it can be estimated yet; all runs are assumed to take equally long."""
    now = progress.done + len(progress.failures) + part
    if now < 1e-3 or not progress.left:
        return ""
    return f", {duration(progress.seconds * (progress.left - part) / now)} left"


def _speed(steps: float) -> str:
    return f"{steps / 1e6:.1f} M" if steps >= 1e6 else f"{steps / 1e3:.0f} k"
