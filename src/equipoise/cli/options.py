"""What several commands share: options, the problem that they give, and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from equipoise._checks import suggest
from equipoise._plugins import allow_local
from equipoise.cli import completion
from equipoise.errors import StudyError
from equipoise.studies.spec import Problem, parse_toml, read_study


def _allow(modules: list[str]) -> list[str]:
    allow_local(modules)
    return modules


_ABOUT_REWARD = "A reward: its name, or a TOML table."

Source = Annotated[Path | None, typer.Argument(help="Take the problem from this study.", metavar="STUDY.toml")]
Which = Annotated[
    str | None,
    typer.Option("--problem", help="Which of its problems.", metavar="NAME", autocompletion=completion.problems),
]
World = Annotated[
    str | None,
    typer.Option(
        help="A world: its name, or a TOML table of its kind (or mechanics) and parameters.",
        metavar="WORLD",
        autocompletion=completion.worlds,
    ),
]
Reward = Annotated[str | None, typer.Option(help=_ABOUT_REWARD, metavar="REWARD", autocompletion=completion.rewards)]
NeededReward = Annotated[
    str, typer.Option("--reward", help=_ABOUT_REWARD, metavar="REWARD", autocompletion=completion.rewards)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.", metavar="")]  # flags take no word
With = Annotated[
    list[str],
    typer.Option(
        "--with",
        help='Import this module, so that its parts can be named as "package.module:Name"; may be repeated.',
        metavar="MODULE",
        callback=_allow,
        show_default=False,
    ),
]


def parse_part(text: str, where: str) -> Any:
    """Parse a world or a reward of the command line: a name, or a TOML table."""
    return parse_toml(f"x = {text}", where)["x"] if text.lstrip().startswith("{") else text


def read_problem(source: Path | None, which: str | None, world: str | None, reward: str | None) -> tuple[Problem, str]:
    """Return the problem that the options give, and what precedes its parts in a message."""
    if source is None:
        if which is not None:
            raise StudyError("--problem: it names a problem of a study, and no study is given")
        if world is None or reward is None:
            raise StudyError(f"--{'world' if world is None else 'reward'}: it is missing; or give a study")
        return Problem(world=parse_part(world, "--world"), reward=parse_part(reward, "--reward")), "--"
    if world or reward:
        raise StudyError("give a study, or --world and --reward, not both")
    study = read_study(source)
    titles = [problem.title() for problem in study.problems]
    if which is None and len(titles) == 1:
        which = titles[0]
    if which not in titles:
        complaint = "say which problem with --problem" if which is None else f"--problem: there is no {which!r}"
        complaint += suggest(which, titles) if which is not None else ""
        raise StudyError(f"{source}: {complaint}; it has {', '.join(repr(title) for title in titles)}")
    index = titles.index(which)
    return study.problems[index], f"{source}: problems[{index}]."


def make_table(*columns: tuple[str, Literal["left", "right"]]) -> Table:
    """Make a table with these headings, and the side to which each column is aligned."""
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for name, side in columns:
        table.add_column(name, justify=side)
    return table
