"""The checks: every module of `paper.checks`, ordered by section and number of its statement.

A new check is one file in `paper/checks`. A check outside that folder is named by its path, which ends in ``.py``.
Either kind has a `STATEMENT` and a function `check(size)`.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Final

from equipoise._checks import suggest
from equipoise.errors import ParameterError
from paper import checks
from paper.findings import Check, Statement


def _place(statement: Statement) -> tuple[bool, str, int, str]:
    found = re.search(r"\b([A-Z]|\d+)\b(?:\.(\d+))?", statement.number)
    section, item = found.groups() if found else ("", None)
    return section.isalpha(), section, int(item or 0), statement.name


def _find_checks() -> dict[str, Check]:
    names = [found.name for found in pkgutil.iter_modules(checks.__path__, f"{checks.__name__}.")]
    modules = sorted(map(importlib.import_module, names), key=lambda module: _place(module.STATEMENT))
    return {module.STATEMENT.name: module.check for module in modules}


CHECKS: Final[Mapping[str, Check]] = _find_checks()


def get_check(name: str) -> Check:
    """The check of that name, or the one in that file.

    >>> get_check("growht")
    Traceback (most recent call last):
    ...
    equipoise.errors.ParameterError: 'growht' is no check of the paper (did you mean 'growth'?); there are ...
    """
    if name in CHECKS:
        return CHECKS[name]
    if name.endswith(".py") and Path(name).is_file():
        return _load_file(Path(name)).check  # type: ignore[no-any-return]
    raise ParameterError(f"{name!r} is no check of the paper{suggest(name, CHECKS)}; there are {', '.join(CHECKS)}")


def _load_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ParameterError(f"{path} cannot be imported as a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not isinstance(getattr(module, "STATEMENT", None), Statement) or not callable(getattr(module, "check", None)):
        raise ParameterError(f"{path} is no check: it needs a `STATEMENT` and a function `check(size)`")
    return module
