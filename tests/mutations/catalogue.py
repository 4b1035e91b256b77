"""What is broken: the mutations, read from the files of this folder.

A mutation replaces one piece of the sources, which must be there exactly once, by another; it names the checks whose
verdict it must change.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOURCES = HERE.parent.parent / "src"
PACKAGE = "equipoise"


class Mutation(NamedTuple):
    name: str
    says: str
    file: str
    old: str
    new: str
    aimed: tuple[str, ...]

    def fits(self) -> bool:
        """Whether the sources have the piece, once."""
        return (SOURCES / PACKAGE / self.file).read_text(encoding="utf-8").count(self.old) == 1

    def apply(self, folder: Path) -> Path:
        """Copy the sources into a folder, with the piece replaced; the copy's path."""
        copy = folder / "src"
        shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
        path = copy / PACKAGE / self.file
        path.write_text(path.read_text(encoding="utf-8").replace(self.old, self.new), encoding="utf-8")
        return copy


def mutations() -> list[Mutation]:
    """All of them, file by file."""
    return [
        Mutation(**{**entry, "aimed": tuple(entry["aimed"])})
        for path in sorted(HERE.glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]
    ]
