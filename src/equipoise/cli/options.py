"""Options that several commands share, and the problem that they give: from a study, or by world and reward."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise._checks import suggest
from equipoise.cli import completion
from equipoise.errors import StudyError
from equipoise.studies.spec import Problem, parse_toml, read_study

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
Reward = Annotated[
    str | None,
    typer.Option(help="A reward: its name, or a TOML table.", metavar="REWARD", autocompletion=completion.rewards),
]
NeededReward = Annotated[
    str,
    typer.Option(
        "--reward", help="A reward: its name, or a TOML table.", metavar="REWARD", autocompletion=completion.rewards
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.", metavar="")]  # flags take no word


def parse_part(text: str, where: str) -> Any:
    """Parse a world or a reward of the command line: a name, or a TOML table.

    >>> parse_part("star", "world"), parse_part('{kind = "star", branches = 2}', "world")
    ('star', {'kind': 'star', 'branches': 2})
    """
    if not text.lstrip().startswith("{"):
        return text
    return parse_toml(f"x = {text}", where)["x"]


def _problem_of_study(source: Path, which: str | None) -> tuple[Problem, str]:
    """Return a problem of a study, and its place; `which` names it if the study has several."""
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


def read_problem(source: Path | None, which: str | None, world: str | None, reward: str | None) -> tuple[Problem, str]:
    """Return the problem that the options give, and what precedes its parts in a message."""
    if source is not None and (world or reward):
        raise StudyError("give a study, or --world and --reward, not both")
    if source is not None:
        return _problem_of_study(source, which)
    if which is not None:
        raise StudyError("--problem: it names a problem of a study, and no study is given")
    if world is None or reward is None:
        raise StudyError(f"--{'world' if world is None else 'reward'}: it is missing; or give a study")
    return Problem(world=parse_part(world, "--world"), reward=parse_part(reward, "--reward")), "--"
