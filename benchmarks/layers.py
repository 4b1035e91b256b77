"""The layers of the package with their sizes: `python -m benchmarks.layers` writes the table of docs/architecture.md.

The layers and their order are those of the import-linter contract in `pyproject.toml`; a layer is described by the
first sentence of its module. Lines include documentation and blank lines.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.pages import put

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "src" / "equipoise"
PAGE: Final = ROOT / "docs" / "architecture.md"


class Layer(NamedTuple):
    """A layer: its modules, and how many files and lines they have."""

    name: str
    description: str
    files: int
    lines: int


def read_layers() -> list[Layer]:
    """Count every layer, from the one that may import all others to the foundations."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    layers = [_count([name.strip() for name in line.split(":")]) for line in contract["layers"]]
    return [layer for layer in layers if layer.name != "__main__"]


def table(layers: list[Layer]) -> str:
    """The table in Markdown, with a last row for the whole."""
    rows = [f"| `{one.name}` | {one.description} | {one.files} | {one.lines:,} |" for one in layers]
    rows.append(f"| all | | {sum(one.files for one in layers)} | {sum(one.lines for one in layers):,} |")
    return "\n".join(["| layer | what is in it | files | lines |", "|---|---|---:|---:|", *rows])


def _count(names: list[str]) -> Layer:
    """One layer, or the foundations, which are several modules at one level."""
    files = [file for name in names for file in _files(name)]
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    if len(names) > 1:
        return Layer(
            "_runtime", "Foundations for all, with `errors`, `_spec`, `_files` and `_checks`.", len(files), lines
        )
    text = ast.get_docstring(ast.parse(files[0].read_text(encoding="utf-8"))) or ""
    return Layer(names[0], text.partition("\n\n")[0].replace("\n", " "), len(files), lines)


def _files(name: str) -> list[Path]:
    """The files of a module or a folder; the one with its docstring first."""
    file = PACKAGE / f"{name}.py"
    return (
        [file] if file.is_file() else sorted((PACKAGE / name).rglob("*.py"), key=lambda path: path.stem != "__init__")
    )


if __name__ == "__main__":
    put("layers", table(read_layers()), PAGE)
