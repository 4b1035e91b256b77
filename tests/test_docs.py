"""Every test that the page on the paper names exists, and so does every module."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "paper.md").read_text()


def test_named_tests_exist():
    named = set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE))
    assert len(named) > 50
    for file, test in named:
        tree = ast.parse((ROOT / "tests" / file).read_text())
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert test in functions, f"{file}::{test}"


def test_named_code_exists():
    places = re.findall(r"`(\w[\w/]*\.py): ([\w, .]+)`", PAGE)
    assert len(places) > 50
    for file, names in places:
        path = ROOT / ("" if file.startswith("tests/") else "src/equipoise") / file
        source = path.read_text()
        for name in names.split(","):
            assert re.search(rf"\b{re.escape(name.strip().split('.')[-1])}\b", source), f"{file}: {name}"
