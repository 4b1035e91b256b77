"""Components as plain data: what a saved file says of a reward, an oracle or a confidence.

A component is described by its class name and its constructor's arguments (`arguments()`), which are
numbers, strings, lists, None, other components, or models. Models go into arrays beside the description.
Only the classes that this package exports can be rebuilt; nothing is ever imported by name from a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from equipoise.errors import FileError
from equipoise.models.model import Model


@runtime_checkable
class Component(Protocol):
    """Anything that can say how it was made."""

    def arguments(self) -> Mapping[str, Any]:
        """The constructor's arguments."""
        ...


def describe(component: Component, arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, Any]:
    """The description of a component; the arrays of its models are added to `arrays` under `prefix`."""
    return {
        "kind": type(component).__name__,
        "arguments": {name: _plain(value, arrays, f"{prefix}.{name}") for name, value in component.arguments().items()},
    }


def build(description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], room: Mapping[str, Any]) -> Any:
    """The component that was described; `room` holds the classes that may be built, by name."""
    kind = str(description.get("kind"))
    if kind not in room:
        raise FileError(f"it holds a {kind!r}, which this package does not know how to build")
    values = {name: _rich(value, arrays, room) for name, value in description["arguments"].items()}
    return room[kind](**values)


def _plain(value: Any, arrays: dict[str, NDArray[Any]], prefix: str) -> Any:
    if isinstance(value, Model):
        header, parts = value.stored()
        arrays.update({f"{prefix}.{name}": part for name, part in parts.items()})
        return {"model": prefix, "header": header}
    if isinstance(value, Component):
        return describe(value, arrays, prefix)
    return value


def _rich(value: Any, arrays: Mapping[str, NDArray[Any]], room: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping) and "model" in value:
        prefix = f"{value['model']}."
        parts = {name[len(prefix) :]: part for name, part in arrays.items() if name.startswith(prefix)}
        return Model.from_stored(value["header"], parts)
    if isinstance(value, Mapping) and "kind" in value:
        return build(value, arrays, room)
    return value
