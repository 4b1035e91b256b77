"""The public rooms of the package, and the names in them."""

from __future__ import annotations

import importlib
import inspect

ROOMS = (
    "equipoise",
    "equipoise.adapters",
    "equipoise.agents",
    "equipoise.agents.baselines",
    "equipoise.confidence",
    "equipoise.errors",
    "equipoise.mechanics",
    "equipoise.models",
    "equipoise.offline",
    "equipoise.oracles",
    "equipoise.planning",
    "equipoise.reports",
    "equipoise.rewards",
    "equipoise.simulation",
    "equipoise.studies",
    "equipoise.testing",
    "equipoise.theory",
    "equipoise.theory.bounds",
    "equipoise.theory.printed",
)


def names_of(room: str) -> list[str]:
    """What a room gives to its users: its `__all__`, or the functions and classes that were written in it."""
    module = importlib.import_module(room)
    written = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == room]
    return list(getattr(module, "__all__", [name for name in written if not name.startswith("_")]))


def public_objects() -> dict[str, object]:
    """Every public name with its object, those of the package itself first."""
    return {f"{room}.{name}": getattr(importlib.import_module(room), name) for room in ROOMS for name in names_of(room)}


def short_classes() -> dict[str, str]:
    """Classes by their last word, for the types in docstrings; without words that mean several."""
    found: dict[str, dict[int, str]] = {}
    for name, value in public_objects().items():
        if inspect.isclass(value):
            found.setdefault(name.rpartition(".")[2], {}).setdefault(id(value), name)
    return {word: next(iter(names.values())) for word, names in found.items() if len(names) == 1}
