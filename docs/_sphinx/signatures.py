"""What the reference shows of functions beside their docstrings.

- A class is made by its constructor; `__new__`, which Sphinx would show of a component, takes anything.
- A function returns something of the type that it declares. Types of parameters are in the docstring.
- A method that overrides another takes the same parameters: sections that its docstring leaves to the first one are
  taken from there.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import pairwise

from sphinx.application import Sphinx
from sphinx.util.inspect import signature, stringify_signature

from docs._sphinx.rooms import public_objects
from equipoise._spec import Component

_UNDERLINE = re.compile(r"-{3,}")
_SHARED = ("Parameters", "Returns", "Raises")


def _is_made_here(cls: type) -> bool:
    """Whether a constructor of ours makes it, whatever `__new__` or the library that it derives from shows."""
    return issubclass(cls, Component) or inspect.isfunction(vars(cls).get("__init__"))


def _signature(
    _app: Sphinx, what: str, _name: str, value: object, _options: object, shown: str | None, _returned: str | None
) -> tuple[str | None, str | None] | None:
    if what == "class" and shown is not None and isinstance(value, type) and _is_made_here(value):
        constructor = signature(value.__init__, bound_method=True)  # type: ignore[misc] # it is that of the class itself
        return stringify_signature(constructor, show_annotation=False), None
    if what in ("function", "method") and callable(value):
        returned = getattr(inspect.unwrap(value), "__annotations__", {}).get("return")
        return shown, returned if isinstance(returned, str) else None
    return None


def sections(lines: list[str]) -> dict[str, list[str]]:
    """The sections of a docstring in numpydoc's form, each with its title and underline."""
    titles = [at for at, line in enumerate(lines[1:]) if _UNDERLINE.fullmatch(line)]
    return {lines[at]: lines[at:end] for at, end in pairwise([*titles, len(lines)])}


def overridden(owner: type, name: str) -> Iterator[list[str]]:
    """The docstrings of a method in the classes of the package that an owner inherits from, the nearest first."""
    for base in owner.__mro__:
        if name in vars(base) and base.__module__.startswith("equipoise"):
            yield (inspect.getdoc(getattr(base, name)) or "").splitlines()


def _docstring(_app: Sphinx, what: str, name: str, _value: object, _options: object, lines: list[str]) -> None:
    owner, _, method = name.rpartition(".")
    cls = public_objects().get(owner)
    if what != "method" or not isinstance(cls, type):
        return
    for title in _SHARED:
        found = [have[title] for base in overridden(cls, method) if title in (have := sections(base))]
        if found and title not in sections(lines):
            lines += ["", *found[0]]


def setup(app: Sphinx) -> dict[str, bool]:
    """Ask to be heard on signatures, and on docstrings before numpydoc is."""
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
