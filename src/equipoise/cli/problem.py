"""A problem on the command line: in the notation of a study, from a study or by itself."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise._words import nearest
from equipoise.cli import completing
from equipoise.errors import StudyError
from equipoise.studies.spec import Problem, read_study

Source = Annotated[Path | None, typer.Argument(help="Take the problem from this study.", metavar="STUDY.toml")]
Which = Annotated[
    str | None,
    typer.Option("--problem", help="Which of its problems.", metavar="NAME", autocompletion=completing.problems),
]
World = Annotated[
    str | None,
    typer.Option(
        help="A world: its name, or a TOML table of its kind (or mechanics) and parameters.",
        metavar="WORLD",
        autocompletion=completing.worlds,
    ),
]
Reward = Annotated[
    str | None,
    typer.Option(help="A reward: its name, or a TOML table.", metavar="REWARD", autocompletion=completing.rewards),
]
NeededReward = Annotated[
    str,
    typer.Option(
        "--reward", help="A reward: its name, or a TOML table.", metavar="REWARD", autocompletion=completing.rewards
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.", metavar="")]  # flags take no word


def notation(text: str, where: str) -> Any:
    """What a word on the command line says: a name, or a TOML table.

    >>> notation("star", "world"), notation('{kind = "star", branches = 2}', "world")
    ('star', {'kind': 'star', 'branches': 2})
    """
    if not text.lstrip().startswith("{"):
        return text
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{where}: got {text!r}, which is no TOML table: {error}") from None


def from_study(source: Path, which: str | None) -> tuple[Problem, str]:
    """One of the problems of a study, and its place; which, if it has several, must be said."""
    study = read_study(source)
    titles = [problem.title() for problem in study.problems]
    if which is None and len(titles) == 1:
        which = titles[0]
    if which not in titles:
        complaint = "say which problem with --problem" if which is None else f"--problem: there is no {which!r}"
        complaint += nearest(which, titles) if which is not None else ""
        raise StudyError(f"{source}: {complaint}; it has {', '.join(repr(title) for title in titles)}")
    index = titles.index(which)
    return study.problems[index], f"{source}: problems[{index}]."


def given(source: Path | None, which: str | None, world: str | None, reward: str | None) -> tuple[Problem, str]:
    """The problem that a command line asks for, and what to put before its parts in a message."""
    if source is not None and (world or reward):
        raise StudyError("give a study, or --world and --reward, not both")
    if source is not None:
        return from_study(source, which)
    if which is not None:
        raise StudyError("--problem: it names a problem of a study, and no study is given")
    if world is None or reward is None:
        raise StudyError(f"--{'world' if world is None else 'reward'}: it is missing; or give a study")
    return Problem(world=notation(world, "--world"), reward=notation(reward, "--reward")), "--"
