"""The option `--with package.module`: permission to import modules of the user."""

from __future__ import annotations

from typing import Annotated

import typer

from equipoise._plugins import allow_local


def _allow(modules: list[str]) -> list[str]:
    allow_local(modules)
    return modules


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
