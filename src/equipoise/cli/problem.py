"""A problem on the command line: in the notation of a study, from a study or by itself."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.errors import StudyError
from equipoise.studies.spec import Problem, read_study

Source = Annotated[Path | None, typer.Argument(help="Take the problem from this study.", metavar="STUDY.toml")]
Which = Annotated[str | None, typer.Option("--problem", help="Which of its problems.", metavar="NAME")]
World = Annotated[
    str | None, typer.Option(help="A world: its name, or a TOML table of its kind and parameters.", metavar="WORLD")
]
Reward = Annotated[str | None, typer.Option(help="A reward, written in the same way.", metavar="REWARD")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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


def from_study(source: Path, which: str | None) -> Problem:
    """One of the problems of a study; which, if it has several, must be said."""
    problems = {problem.title(): problem for problem in read_study(source).problems}
    if which is None and len(problems) == 1:
        return next(iter(problems.values()))
    if which not in problems:
        asked = "say which problem with --problem" if which is None else f"--problem: there is no {which!r}"
        raise StudyError(f"{source}: {asked}; it has {', '.join(repr(name) for name in problems)}")
    return problems[which]


def given(source: Path | None, which: str | None, world: str | None, reward: str | None) -> Problem:
    """The problem that a command line asks for."""
    if source is not None and (world or reward):
        raise StudyError("give a study, or --world and --reward, not both")
    if source is not None:
        return from_study(source, which)
    if world is None or reward is None:
        raise StudyError(f"--{'world' if world is None else 'reward'}: it is missing; or give a study")
    return Problem(world=notation(world, "--world"), reward=notation(reward, "--reward"))
