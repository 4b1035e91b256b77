"""`equipoise list`: every name that may stand in a study, with its parameters."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from equipoise._spec import Maker
from equipoise._spec import parameters as parameters_of
from equipoise.agents import vocabulary
from equipoise.cli.options import Json
from equipoise.errors import StudyError

_REQUIRED: Final = "needed"
_FILLED: Final = {
    "n_outcomes": "the world's",
    "n_states": "the world's",
    "outcomes": "the world's",
    "horizon": "the study's",
    "model": "the problem's",
    "budget": "the reward's",
    "seed": "the run's",
}
_WORLDS: Final = ("worlds", "mechanics")  # for which nothing is filled in
_SHELVES: Final[Mapping[str, Callable[[], dict[str, Maker]]]] = {
    "worlds": vocabulary.worlds,
    "mechanics": vocabulary.systems,
    "rewards": vocabulary.reward_families,
    "constraints": vocabulary.constraints,
    "target-sets": vocabulary.target_sets,
    "oracles": vocabulary.oracle_kinds,
    "mirror-maps": vocabulary.mirror_maps,
    "confidences": vocabulary.confidences,
    "schedules": vocabulary.schedules,
    "planners": vocabulary.planners,
    "agents": vocabulary.agent_kinds,
}


def catalogue(
    shelf: Annotated[
        str | None,
        typer.Argument(
            help=f"One of {', '.join(_SHELVES)}.",
            metavar="WHAT",
            show_default="all",
            autocompletion=lambda incomplete: [name for name in _SHELVES if name.startswith(incomplete)],
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List every part that a study may name, with its parameters.

    What a problem or a study decides may be left out: the number of outcomes of a reward, the horizon of an oracle, the
    model that a confidence is told. A parameter that is needed must be given. Mechanics are systems whose agents learn
    laws alone: world = { mechanics = "inventory" }.

    Prints a line for each part, and writes no files.

        equipoise list
        equipoise list rewards --json

    Exit codes: 0, or 1 if there is no such WHAT.
    """
    if shelf is not None and shelf not in _SHELVES:
        raise StudyError(f"got {shelf!r}; one of {', '.join(_SHELVES)} is needed")
    data = {
        name: {kind: _about(maker, name not in _WORLDS) for kind, maker in sorted(kinds().items())}
        for name, kinds in _SHELVES.items()
        if shelf in (None, name)
    }
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    console = Console(highlight=False)
    for name, kinds in data.items():
        table = Table(title=name, title_justify="left", box=None, show_header=False, padding=(0, 2, 0, 0))
        for kind, about in kinds.items():
            listing = ", ".join(f"{word}={value}" for word, value in about["parameters"].items())
            table.add_row(f"[bold]{kind}[/bold]", about["summary"], f"[dim]{listing}[/dim]")
        console.print(table)
        console.print()


def _about(maker: Maker, filled: bool) -> dict[str, Any]:
    lines = (inspect.getdoc(maker) or "").splitlines()
    parameters: dict[str, str] = {}
    for name, parameter in parameters_of(maker).items():
        if filled and name in _FILLED:
            parameters[name] = _FILLED[name]
        else:
            parameters[name] = _REQUIRED if parameter.default is inspect.Parameter.empty else repr(parameter.default)
    return {"summary": lines[0] if lines else "", "parameters": parameters}
