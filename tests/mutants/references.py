"""Which functions mention which: from a compiled function or a constant up to the Python functions that lead to it.

A node is a name at the top of a module, or a method, as ``file::owner``; an edge goes from what is mentioned to where
it is mentioned. Names are followed through imports.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from tests.mutants.sites import is_compiled


class Reach(NamedTuple):
    """Where a change can be felt: the Python functions to look for, and whether compiled code is changed."""

    functions: frozenset[str]
    compiled: bool


class References:
    """The graph of a package."""

    def __init__(self, package: Path) -> None:
        self._files = {
            path.relative_to(package).as_posix(): ast.parse(path.read_bytes()) for path in package.rglob("*.py")
        }
        self._imports = {file: self._imported(package.name, tree) for file, tree in self._files.items()}
        self._compiled: set[str] = set()
        self._functions: set[str] = set()
        self._users: dict[str, set[str]] = {}
        for file, tree in self._files.items():
            self._read(file, tree.body, ())

    def reach(self, file: str, owner: str) -> Reach:
        """Of a change in a function, a constant or the body of a class."""
        start = f"{file}::{owner}"
        if self._is_python(start):
            return Reach(frozenset({start}), compiled=False)
        seen, waiting, functions = {start}, [start], set[str]()
        while waiting:
            node = waiting.pop()
            if self._is_python(node):
                functions.add(node)
                continue
            for user in self._users.get(node, ()):
                if user not in seen:
                    seen.add(user)
                    waiting.append(user)
        return Reach(frozenset(functions), compiled=any(node in self._compiled for node in seen))

    def _is_python(self, node: str) -> bool:
        """Whether a node is a Python function, and none that makes a part of compiled code."""
        return node in self._functions and self._compiled.isdisjoint(self._users.get(node, ()))

    def importers(self, file: str) -> set[str]:
        """The files that import one, directly or not, and itself."""
        found, waiting = {file}, [file]
        while waiting:
            one = waiting.pop()
            for other, names in self._imports.items():
                if other not in found and any(target.partition("::")[0] == one for target in names.values()):
                    found.add(other)
                    waiting.append(other)
        return found

    def _file(self, dotted: str) -> str | None:
        path = "/".join(dotted.split("."))
        for file in (f"{path}.py", f"{path}/__init__.py" if path else "__init__.py"):
            if file in self._files:
                return file
        return None

    def _imported(self, package: str, tree: ast.Module) -> dict[str, str]:
        """What names that are imported from the package stand for."""
        names = {}
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or node.module is None or node.level:
                continue
            root, _, inside = node.module.partition(".")
            if root != package:
                continue
            for alias in node.names:
                whole = self._file(f"{inside}.{alias.name}" if inside else alias.name)
                part = self._file(inside)
                if whole is not None:
                    names[alias.asname or alias.name] = f"{whole}::"
                elif part is not None:
                    names[alias.asname or alias.name] = f"{part}::{alias.name}"
        return names

    def _read(self, file: str, body: list[ast.stmt], path: tuple[str, ...]) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                self._add(file, (*path, node.name), node)
                own = f"{file}::{'.'.join((*path, node.name))}"
                (self._compiled if is_compiled(node) else self._functions).add(own)
            elif isinstance(node, ast.ClassDef):
                self._read(file, node.body, (*path, node.name))
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in (one for one in targets if isinstance(one, ast.Name)):
                    self._add(file, (*path, target.id), node)
                    if path:  # an attribute of a class is felt by every instance
                        attribute = f"{file}::{'.'.join((*path, target.id))}"
                        self._users.setdefault(attribute, set()).add(f"{file}::{'.'.join((*path, '__init__'))}")
            elif isinstance(node, ast.If | ast.With):
                self._read(file, node.body, path)

    def _add(self, file: str, path: tuple[str, ...], node: ast.stmt) -> None:
        user = f"{file}::{'.'.join(path)}"
        for used in ast.walk(node):
            target = self._target(file, used, path)
            if target is not None and target != user:
                self._users.setdefault(target, set()).add(user)

    def _target(self, file: str, used: ast.AST, path: tuple[str, ...]) -> str | None:
        if isinstance(used, ast.Name):
            return self._resolved(self._imports[file].get(used.id, f"{file}::{used.id}"))
        if isinstance(used, ast.Attribute) and isinstance(used.value, ast.Name):
            if used.value.id in ("self", "cls") and len(path) > 1:
                return f"{file}::{'.'.join((*path[:-1], used.attr))}"
            module = self._imports[file].get(used.value.id, "")
            return f"{module}{used.attr}" if module.endswith("::") else None
        return None

    def _resolved(self, target: str) -> str:
        """Through the names that a package's own ``__init__`` passes on."""
        for _ in range(5):
            file, _, name = target.partition("::")
            further = self._imports.get(file, {}).get(name)
            if further is None:
                return target
            target = further
        return target
