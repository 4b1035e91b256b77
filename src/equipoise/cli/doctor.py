"""`equipoise doctor`: whether this installation works, and what to do if it does not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from equipoise._version import VERSION
from equipoise.cli.codes import Code
from equipoise.cli.health import Finding, drawing, kernels, libraries, machine, solvers
from equipoise.cli.problem import Json

CHECKS: Final[Mapping[str, Callable[[], list[Finding]]]] = {
    "libraries": libraries,
    "machine": machine,
    "kernels": kernels,
    "solvers": solvers,
    "drawing": drawing,
}
_COLOURS: Final = {"fine": "green", "note": "yellow", "wrong": "red"}
_COLUMN: Final = 20


def doctor(as_json: Json = False) -> None:
    """Examine this installation, and say what to do if it is not well.

    Versions of Python, of the package and of all that it needs; extras that are not installed; cores, threads and
    memory; where the cache of compiled kernels is, and whether a second process loads what a first has compiled;
    whether both solvers find an optimum that is known; whether figures can be drawn.

    Prints a line for each, and at the end one for each that is wrong. It takes some seconds, and leaves no files. With
    --json it is one object, to be put into a report of a bug.

        equipoise doctor
        equipoise doctor --json > doctor.json

    Exit codes: 0 if nothing is wrong, whatever is noted; 3 if something is.
    """
    console = Console(highlight=False)
    began = time.perf_counter()
    found: dict[str, list[Finding]] = {}
    for title, check in CHECKS.items():
        found[title] = examined(title, check)
        if not as_json:
            _print(title, found[title], console)
    wrong = [one for findings in found.values() for one in findings if one.verdict == "wrong"]
    if as_json:
        groups = {title: [asdict(one) for one in findings] for title, findings in found.items()}
        typer.echo(json.dumps({"version": VERSION, "well": not wrong, "findings": groups}, indent=1))
    else:
        console.print(_summary(wrong, time.perf_counter() - began), soft_wrap=True)
    if wrong:
        raise typer.Exit(Code.NOT_WELL)


def examined(title: str, check: Callable[[], list[Finding]]) -> list[Finding]:
    """What a check finds; one that fails itself is a finding too.

    >>> examined("division", lambda: [1 / 0])[0].seen
    'ZeroDivisionError: division by zero'
    """
    try:
        return check()
    except Exception as error:  # a broken library may raise anything
        advice = "install the package again, and report this if it stays"
        return [Finding(title, f"{type(error).__name__}: {error}", "wrong", advice)]


def _print(title: str, findings: list[Finding], console: Console) -> None:
    console.print(Text(title, "bold"))
    for one in findings:
        line = Text.assemble("  ", (f"{one.verdict:<6}", _COLOURS[one.verdict]), f"{one.about:<{_COLUMN}} {one.seen}")
        if one.verdict == "note":
            line.append(f": {one.advice}")
        console.print(line, soft_wrap=True)


def _summary(wrong: list[Finding], seconds: float) -> Text:
    if not wrong:
        return Text(f"\nnothing is wrong; examined in {seconds:.0f} s")
    lines = [f"wrong: {one.about}: {one.seen}; {one.advice}" for one in wrong]
    return Text("\n" + "\n".join(lines), _COLOURS["wrong"])
