"""The reference has a page for every public name: the names of `__all__` against the lists in `docs/api`."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from docs._sphinx.rooms import ROOMS, names_of, public_objects

PAGES = sorted((Path(__file__).parent.parent / "docs" / "api").glob("*.md"))
MODULE = re.compile(r"\.\. (?:current)?module:: (\S+)")
DATA = re.compile(r"\.\. py:data:: (\S+)")
NAME = re.compile(r"   (\w+)")


def entries(page: str) -> Iterator[tuple[str, bool]]:
    """The names that a page lists, each with whether it has its place there: a page of its own, or a paragraph."""
    module, inside, own = "", False, False
    for line in page.splitlines():
        if found := MODULE.fullmatch(line):
            module = found[1]
        elif found := DATA.fullmatch(line):
            yield f"{module}.{found[1]}", True
        elif line == ".. autosummary::":
            inside, own = True, False
        elif line.startswith("```"):
            inside = False
        elif line.startswith("   :toctree:"):
            own = True
        elif inside and (found := NAME.fullmatch(line)):
            yield f"{module}.{found[1]}", own


LISTED = [entry for page in PAGES for entry in entries(page.read_text(encoding="utf-8"))]
SHOWN = {path: [name for name, _ in entries(path.read_text(encoding="utf-8"))] for path in PAGES}


def target(name: str) -> object:
    module, _, word = name.rpartition(".")
    return getattr(importlib.import_module(module), word)


def test_every_public_object_has_one_place():
    places = Counter(id(target(name)) for name, own in LISTED if own and installed(name))
    missing = [
        name for name, value in public_objects().items() if not isinstance(value, ModuleType) and places[id(value)] != 1
    ]
    assert missing == []


def installed(name: str) -> bool:
    return not name.startswith("equipoise.adapters.deep.") or find_spec("stable_baselines3") is not None


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_of_a_room_lists_all_of_it(room):
    (page,) = [path for path in PAGES if f".. module:: {room}\n" in path.read_text(encoding="utf-8")]
    shown = {id(target(name)) for name in SHOWN[page]}
    values = {name: getattr(importlib.import_module(room), name) for name in names_of(room)}
    assert [name for name, value in values.items() if not inspect.ismodule(value) and id(value) not in shown] == []


def test_rooms_in_rooms_have_pages():
    """A module that a room exports is a room itself."""
    modules = {value.__name__ for value in public_objects().values() if isinstance(value, ModuleType)}
    assert modules <= set(ROOMS)


def test_what_needs_an_extra_is_listed_too():
    """Read without importing it, where the extra is missing."""
    source = Path(importlib.import_module("equipoise.adapters").__path__[0], "deep.py").read_text()
    (names,) = re.findall(r"__all__ = \[(.*?)\]", source, flags=re.DOTALL)
    wanted = {f"equipoise.adapters.deep.{name}" for name in re.findall(r'"(\w+)"', names)}
    assert wanted == {name for name, _ in LISTED if name.startswith("equipoise.adapters.deep.")}
