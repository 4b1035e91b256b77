"""The program `equipoise`: one file a command."""

from equipoise.cli.main import main

__all__ = ["main"]
