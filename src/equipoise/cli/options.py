"""What several commands share: options with what a shell completes, the problem that they give, and tables.

A completion takes what has been typed of a word and returns the names that begin with it, without those that a shell
would take apart. Errors give no offers and no messages.
"""

from __future__ import annotations

import contextlib
import inspect
import shlex
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from rich.table import Table

from equipoise._checks import suggest
from equipoise._plugins import allow_local
from equipoise.agents import vocabulary
from equipoise.errors import StudyError
from equipoise.studies.spec import Problem, parse_toml, read_study

_LINE: Final = 60  # columns: a line that is broken in two would be offered as two names

Offers = list[tuple[str, str]]  # names, each with a line about it, which not all shells show


def worlds(incomplete: str) -> Offers:
    """The named worlds."""
    return _match_makers(vocabulary.worlds(), incomplete)


def rewards(incomplete: str) -> Offers:
    """The named rewards."""
    return _match_makers(vocabulary.reward_families(), incomplete)


def problems(context: typer.Context, incomplete: str) -> Offers:
    """The problems of the study on the line, by their names."""
    study = next((word for word in (context.params.get("study"), *context.args) if word), None)
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        found = tomllib.loads(Path(study or "").read_text(encoding="utf-8"))["problems"]
        return _match(((one["name"], "") for one in found if "name" in one), incomplete)
    return []


def _match_makers(makers: Mapping[str, Any], incomplete: str) -> Offers:
    lines = {name: (inspect.getdoc(maker) or "").partition("\n")[0] for name, maker in sorted(makers.items())}
    return _match(((name, textwrap.shorten(line, _LINE)) for name, line in lines.items()), incomplete)


def _match(names: Iterable[tuple[str, str]], incomplete: str) -> Offers:
    return [(name, about) for name, about in names if name.startswith(incomplete) and shlex.quote(name) == name]


def _allow(modules: list[str]) -> list[str]:
    allow_local(modules)
    return modules


_ABOUT_REWARD = "A reward: its name, or a TOML table."

Source = Annotated[Path | None, typer.Argument(help="Take the problem from this study.", metavar="STUDY.toml")]
Which = Annotated[
    str | None,
    typer.Option("--problem", help="Which of its problems.", metavar="NAME", autocompletion=problems),
]
World = Annotated[
    str | None,
    typer.Option(
        help="A world: its name, or a TOML table of its kind (or mechanics) and parameters.",
        metavar="WORLD",
        autocompletion=worlds,
    ),
]
Reward = Annotated[str | None, typer.Option(help=_ABOUT_REWARD, metavar="REWARD", autocompletion=rewards)]
NeededReward = Annotated[str, typer.Option("--reward", help=_ABOUT_REWARD, metavar="REWARD", autocompletion=rewards)]
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
