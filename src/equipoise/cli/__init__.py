"""The program `equipoise`: one file per command."""

from equipoise import _start  # noqa: F401 - before all else, which takes a second

# isort: split
from equipoise.cli.main import main

__all__ = ["main"]
