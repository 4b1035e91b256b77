"""Every public name is documented: what it is, each of its parameters, and an example that runs.

The names are those in `__all__` of the package and of its rooms. The doctests themselves are run with the rest of the
suite; here their presence is asked for. The sections are those of numpydoc: a title, and a line of hyphens of the same
length below it.
"""

import enum
import importlib
import inspect
import itertools
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib.util import find_spec

import pydantic
import pytest

from docs._sphinx.rooms import ROOMS, names_of

pytestmark = pytest.mark.docs

if find_spec("stable_baselines3") is not None:
    ROOMS = (*ROOMS, "equipoise.adapters.deep")
TITLES = {
    "Parameters",
    "Other Parameters",
    "Attributes",
    "Methods",
    "Returns",
    "Yields",
    "Raises",
    "Warns",
    "See Also",
    "Notes",
    "References",
    "Examples",
}
UNDERLINE = re.compile(r"-{3,}")
ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .+)?")


def public_objects() -> dict[str, object]:
    """The public functions and classes, each once, under the name that it was defined with."""
    objects = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in names_of(room):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                objects[f"{value.__module__}.{value.__qualname__}"] = value
    return objects


def public_methods(cls: type) -> Iterator[tuple[str, object, bool]]:
    """The public methods and properties that a class defines: name, function, and whether it overrides another's."""
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if inspect.isfunction(function) or isinstance(function, property):
            overrides = any(getattr(base, name, None) is not None for base in cls.__mro__[1:])
            yield name, function, overrides


OBJECTS = public_objects()
METHODS = {
    f"{cls.__module__}.{cls.__qualname__}.{name}": (function, overrides)
    for top in OBJECTS.values()
    if inspect.isclass(top)
    for cls in top.__mro__
    if cls.__module__.partition(".")[0] == "equipoise"
    for name, function, overrides in public_methods(cls)
}


def sections(docstring: str) -> dict[str, list[str]]:
    """The lines below each title."""
    lines = docstring.splitlines()
    titles = [n for n in range(len(lines) - 1) if lines[n] and UNDERLINE.fullmatch(lines[n + 1])]
    return {lines[n]: lines[n + 2 : end] for n, end in itertools.pairwise([*titles, len(lines)])}


def malformed(docstring: str) -> list[str]:
    """What is wrong with the sections of a docstring."""
    lines = docstring.splitlines()
    wrong = []
    for number, line in enumerate(lines):
        if UNDERLINE.search(line) and not UNDERLINE.fullmatch(line) and not line.lstrip().startswith(("|", ">>>")):
            wrong.append(f"an underline that is no line of its own: {line!r}")
        if UNDERLINE.fullmatch(line):
            title = lines[number - 1] if number else ""
            if title not in TITLES:
                wrong.append(f"no such section: {title!r}")
            elif len(title) != len(line):
                wrong.append(f"{title}: its underline has {len(line)} hyphens")
            elif number < 2 or lines[number - 2]:
                wrong.append(f"{title}: an empty line is missing above it")
        if line in TITLES and (number + 1 == len(lines) or not UNDERLINE.fullmatch(lines[number + 1])):
            wrong.append(f"{line}: its underline is missing")
    for title in ("Parameters", "Attributes"):
        entries = [line for line in sections(docstring).get(title, []) if line and not line.startswith(" ")]
        strange = [line for line in entries if not ENTRY.fullmatch(line)]
        wrong += [f"{title}: {line!r} is not of the form 'name : type'" for line in strange]
    return wrong


def documented(docstring: str, title: str) -> list[str]:
    """The names that a section of parameters or attributes lists."""
    entries = [line for line in sections(docstring).get(title, []) if line and not line.startswith(" ")]
    matches = [ENTRY.fullmatch(line) for line in entries]
    return [name.lstrip("*") for match in matches if match for name in match["names"].split(", ")]


def parameter_names(target: object) -> list[str]:
    """The parameters of a function, or of the constructor of a class, without self and cls."""
    if inspect.isclass(target) and (issubclass(target, enum.Enum) or target.__init__ is object.__init__):
        return [] if not issubclass(target, tuple) else list(target._fields)
    if inspect.isclass(target) and issubclass(target, pydantic.BaseModel):
        return list(target.model_fields)
    return [name for name in inspect.signature(target).parameters if name not in ("self", "cls")]


def is_record(target: object) -> bool:
    """Whether the parameters of a class are its attributes, and may be documented as such."""
    return inspect.isclass(target) and (is_dataclass(target) or issubclass(target, tuple | pydantic.BaseModel))


def is_error(target: object) -> bool:
    return inspect.isclass(target) and issubclass(target, BaseException)


def own_docstring(target: object) -> str:
    """The docstring, without one that a dataclass made of its signature, or one that a base class wrote."""
    text = inspect.cleandoc(getattr(target, "__doc__", None) or "")
    return "" if inspect.isclass(target) and text.startswith(f"{target.__name__}(") else text


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_public_names_document_every_parameter(name):
    target, text = OBJECTS[name], own_docstring(OBJECTS[name])
    assert text, f"{name}: a docstring is missing"
    assert malformed(text) == [], name
    wanted = [] if is_error(target) else parameter_names(target)
    listed = documented(text, "Parameters")
    assert len(listed) == len(set(listed)), f"{name}: a parameter is documented twice"
    either = listed + (documented(text, "Attributes") if is_record(target) else [])
    assert [one for one in wanted if one not in either] == [], f"{name}: not documented"
    assert is_error(target) or [one for one in listed if one not in wanted] == [], f"{name}: no such parameter"


@pytest.mark.parametrize("name", sorted(METHODS))
def test_public_methods_document_every_parameter(name):
    function, overrides = METHODS[name]
    text = inspect.cleandoc(function.__doc__ or "")
    if isinstance(function, property):
        assert text or overrides, f"{name}: a docstring is missing"
        assert malformed(text) == [], name
        return
    assert text or overrides, f"{name}: a docstring is missing"
    assert malformed(text) == [], name
    wanted, listed = parameter_names(function), documented(text, "Parameters")
    assert [one for one in listed if one not in wanted] == [], f"{name}: no such parameter"
    assert overrides or [one for one in wanted if one not in listed] == [], f"{name}: not documented"


@pytest.mark.parametrize(
    "name", sorted(name for name, one in OBJECTS.items() if not (is_error(one) or inspect.isabstract(one)))
)
def test_public_names_have_an_example(name):
    assert ">>> " in own_docstring(OBJECTS[name]), f"{name}: an example is missing"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("It is.\n\nParameters ---------- n_outcomes", "no line of its own"),
        ("It is.\n\nParameters\n-------\nx : int\n    The x.", "7 hyphens"),
        ("It is.\n\nParameter\n---------\nx : int\n    The x.", "no such section"),
        ("It is.\nParameters\n----------\nx : int\n    The x.", "empty line"),
        ("It is.\n\nParameters\n\nx : int\n    The x.", "underline is missing"),
        ("It is.\n\nParameters\n----------\nx: int\n    The x.", "not of the form"),
    ],
)
def test_broken_sections_are_seen(text, complaint):
    assert any(complaint in line for line in malformed(text))


def test_shared_and_starred_entries_are_read():
    text = "It is.\n\nParameters\n----------\na, b : int\n    Two.\n*c : str\n    More.\n\nReturns\n-------\nd\n    It."
    assert malformed(text) == []
    assert documented(text, "Parameters") == ["a", "b", "c"]
