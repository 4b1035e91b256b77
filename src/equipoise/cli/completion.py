"""What a shell may offer after a TAB: names of worlds, rewards and problems.

Each function takes what has been typed of a word and returns the names that begin with it, without those that a shell
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
from typing import Any, Final

import typer

_LINE: Final = 60  # columns: a line that is broken in two would be offered as two names

Offers = list[tuple[str, str]]  # names, each with a line about it, which not all shells show


def worlds(incomplete: str) -> Offers:
    """The named worlds."""
    from equipoise.agents import vocabulary

    return _match_makers(vocabulary.worlds(), incomplete)


def rewards(incomplete: str) -> Offers:
    """The named rewards."""
    from equipoise.agents import vocabulary

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
