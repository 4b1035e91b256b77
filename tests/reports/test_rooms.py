"""Inside the room: numbers know of neither charts nor pages, charts of no pages."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from equipoise import reports

ROOT = Path(reports.__file__).parent
ORDER = ["numbers", "charts", "pages"]
MODULES = sorted(path for folder in ORDER for path in (ROOT / folder).rglob("*.py"))


def used(path):
    """The folders of the room that a module imports anything from, in functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {folder for folder in ORDER for name in names if name.startswith(f"equipoise.reports.{folder}")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    own = path.relative_to(ROOT).parts[0]
    assert used(path) <= set(ORDER[: ORDER.index(own) + 1])


def test_there_is_something_in_each_folder():
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == set(ORDER)


@pytest.mark.parametrize("path", [path for path in MODULES if "pages" in path.parts], ids=lambda path: path.name)
def test_no_markup_is_written_in_python(path):
    """Elements are in the templates: no string of the program holds a tag."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert not [text for text in texts if text not in docs and any(tag in text for tag in ("</", "<p", "<div", "<li"))]
