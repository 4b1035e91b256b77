"""What crosses from one room of the package into another although its name says that it is private.

A room is a folder of `equipoise`, or a module beside them. A private name begins with one underscore. The modules that
do so and stand beside the rooms (`equipoise._files`) are foundations, for all to import; what is private in them is so.

Found are, inside functions too:

- imports of a private name of another room, and of a private module of it or anything in one;
- private attributes, `thing._name` or by their name in `getattr` and its like, of what was imported from another room,
  or where no class of the same room has such a member and a class of another room does.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PACKAGE = "equipoise"
BY_NAME = {"getattr", "setattr", "hasattr", "delattr"}
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


class Crossing(NamedTuple):
    file: str
    name: str


class Import(NamedTuple):
    """Something of the package that a file imports: its full name there, and its name here."""

    origin: str
    name: str

    @property
    def room(self) -> str:
        return [*self.origin.split("."), ""][1]


def sources(root: Path) -> dict[str, str]:
    """The package's files, by their path in it."""
    return {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*.py"))}


def crossings(files: Mapping[str, str]) -> set[Crossing]:
    """All that crosses, in a package given as the text of its files."""
    trees = {file: ast.parse(text) for file, text in files.items()}
    homes: dict[str, set[str]] = defaultdict(set)  # of a private member: the rooms that have a class with it
    private_names: set[str] = set()
    for file, tree in trees.items():
        for name in members(tree):
            homes[name].add(room(file))
        private_names |= members(tree) | globals_of(tree)
    return {
        Crossing(file, name)
        for file, tree in trees.items()
        for name in (*private_imports(tree, file), *private_attributes(tree, file, homes, private_names))
    }


def room(file: str) -> str:
    return Path(file).parts[0].removesuffix(".py")


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def imports(tree: ast.Module, file: str) -> Iterator[Import]:
    package = [PACKAGE, *Path(file).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == PACKAGE:
                    yield Import(alias.name, alias.asname or PACKAGE)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base.split(".")[0] == PACKAGE:
                for alias in node.names:
                    yield Import(f"{base}.{alias.name}", alias.asname or alias.name)


def private_imports(tree: ast.Module, file: str) -> Iterator[str]:
    for thing in imports(tree, file):
        if thing.room != room(file) and any(private(part) for part in thing.origin.split(".")[2:]):
            yield thing.origin


def private_attributes(
    tree: ast.Module, file: str, homes: Mapping[str, set[str]], private_names: set[str]
) -> Iterator[str]:
    own = room(file)
    rooms = {thing.name: thing.room for thing in imports(tree, file)}
    for node in ast.walk(tree):
        name, owner = attribute(node)
        if not private(name):
            continue
        home = rooms.get(owner.id) if isinstance(owner, ast.Name) else None
        if home is not None:  # of something imported; `_replace` and its like are defined nowhere in the package
            if home != own and name in private_names:
                yield name
        elif name in homes and own not in homes[name]:
            yield name


def attribute(node: ast.AST) -> tuple[str, ast.expr | None]:
    """The attribute that a node reads, writes or asks for, and of what; an empty name if it does none of these."""
    if isinstance(node, ast.Attribute):
        return node.attr, node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_NAME:
        name = node.args[1] if len(node.args) > 1 else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return name.value, node.args[0]
    return "", None


def members(tree: ast.Module) -> set[str]:
    """The private names that classes define, in their body or by assigning to `self` or `cls`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names |= bound(node.body)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            names |= {node.attr} if node.value.id in ("self", "cls") else set()
    return {name for name in names if private(name)}


def globals_of(tree: ast.Module) -> set[str]:
    return {name for name in bound(tree.body) if private(name)}


def bound(body: list[ast.stmt]) -> set[str]:
    """The names that statements define or assign to."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, FUNCTION | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return names
