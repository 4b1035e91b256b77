"""`--with package.module`: leave to import parts that the user wrote."""

from __future__ import annotations

from typing import Annotated

import typer

from equipoise._component import allow_beside


def _allow(modules: list[str]) -> list[str]:
    allow_beside(modules)
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
