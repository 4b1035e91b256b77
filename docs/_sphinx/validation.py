"""The docstrings of all public names under numpydoc's rules: `python -m docs._sphinx.validation`, part of `make lint`.

Asked for are all of numpydoc's checks but those that are listed here, each with its reason. That links in "See Also"
lead somewhere is asked by `make docs`, and that examples run by `make test`.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
from collections.abc import Iterator
from typing import Final

import pydantic
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

from docs._sphinx.rooms import public_objects

ANYWHERE: Final = {
    "ES01": "a summary may say all that there is to say",
    "SA01": "where it helps",
    "SS02": "a summary may begin with a symbol of the paper",
    "SS05": "a summary may say what a thing is",
    "PR04": "the signature has the type",
    "PR08": "so may a description",
    "RT01": "the summary says what comes back, and the signature of which type",
}
OF_A_METHOD: Final = {
    "EX01": "the example is that of the class",
}
OF_AN_OVERRIDE: Final = {"PR01": "the reference shows the parameters of what it overrides"}
OF_AN_ERROR: Final = {"EX01": "it is raised, not made", "PR01": "likewise"}
CATCH_ALL: Final = ("_arguments", "_more", "extra_data")  # of components without parameters, and of pydantic
OF_AN_ABSTRACT_CLASS: Final = {"EX01": "those who derive from it have one"}


class Signed(Validator):  # type: ignore[misc] # numpydoc has no types
    """A class takes what its constructor takes; the fields of a record are documented as parameters or attributes."""

    def __init__(self, obj_name: str) -> None:
        super().__init__(get_doc_object(self._load_obj(obj_name)))

    @property
    def signature_parameters(self) -> tuple[str, ...]:
        """The names that must be documented, in order."""
        names: tuple[str, ...] = super().signature_parameters
        if not inspect.isclass(self.obj):
            return names
        if issubclass(self.obj, enum.Enum):
            return ()
        is_record = dataclasses.is_dataclass(self.obj) or issubclass(self.obj, tuple | pydantic.BaseModel)
        attributes = {name for entry in self.doc["Attributes"] for name in entry.name.split(", ") if is_record}
        anything = [name for name in names if name.lstrip("*") in CATCH_ALL]
        return tuple(name for name in names if name not in {*attributes, *anything} - {*self.doc_parameters})


def methods(cls: type) -> Iterator[tuple[str, object, bool]]:
    """The public methods and properties of a class that the package wrote: name, function, and whether it overrides."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("equipoise")]
    names = dict.fromkeys(name for base in ours for name in vars(base) if not name.startswith("_"))
    for name in names:
        owners = [base for base in cls.__mro__ if name in vars(base)]
        member = vars(owners[0])[name]
        function = getattr(member, "__func__", member)
        if owners[0] in ours and (inspect.isfunction(function) or isinstance(function, property)):
            yield name, function, len(owners) > 1


def subjects() -> Iterator[tuple[str, dict[str, str]]]:
    """Everything that is looked at, once, with what is not asked of it."""
    seen: set[int] = set()
    for name, value in public_objects().items():
        if not (inspect.isclass(value) or inspect.isfunction(value)) or id(value) in seen:
            continue
        seen.add(id(value))
        is_error = inspect.isclass(value) and issubclass(value, BaseException)
        is_abstract = inspect.isabstract(value)
        yield name, ANYWHERE | (OF_AN_ERROR if is_error else {}) | (OF_AN_ABSTRACT_CLASS if is_abstract else {})
        for method, function, overrides in methods(value) if inspect.isclass(value) else ():
            if id(function) not in seen:
                seen.add(id(function))
                yield f"{name}.{method}", ANYWHERE | OF_A_METHOD | (OF_AN_OVERRIDE if overrides else {})


def complaints() -> Iterator[str]:
    """What is wrong, a line each."""
    for name, not_asked in subjects():
        found = validate(name, validator_cls=Signed)
        yield from (f"{name}: {code} {text}" for code, text in found["errors"] if code not in not_asked)


if __name__ == "__main__":
    sys.exit("\n".join(complaints()) or None)
