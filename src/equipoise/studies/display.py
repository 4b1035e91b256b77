"""The display of a running study: a live table on a terminal, a line from time to time elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from equipoise.errors import FileError
from equipoise.studies.results import Optimum, label_agent
from equipoise.studies.runner import Progress, Show

_MAX_ROWS: Final = 12  # running runs that are listed
_LINE_SECONDS: Final = 10.0  # seconds between two lines
_REFRESH_SECONDS: Final = 0.4


@contextlib.contextmanager
def display(console: Console) -> Iterator[Show]:
    """A function that shows the progress it is called with."""
    if not console.is_terminal:
        yield _lines(console)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        last = 0.0

        def show(progress: Progress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _REFRESH_SECONDS or not progress.left:
                last = now
                live.update(_picture(progress), refresh=True)

        yield show


def summary(progress: Progress) -> str:
    """How far a study is, in a line."""
    words = [f"{progress.before + progress.done} of {progress.total} runs done"]
    if progress.before:
        words[0] += f" ({progress.before} of them before)"
    running = len(progress.running)
    for number, what in ((running, "running"), (progress.elsewhere, "in another program")):
        if number:
            words.append(f"{number} {what}")
    if progress.failures:
        words.append(f"{len(progress.failures)} failed")
    return ", ".join(words)


def duration(seconds: float) -> str:
    """A length of time for people."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _lines(console: Console) -> Show:
    last = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= _LINE_SECONDS:
            last = time.monotonic()
            console.print(f"{summary(progress)}{_left(progress, _part(progress))}", highlight=False, soft_wrap=True)

    return show


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
