"""User-written parts: which modules may be imported because a file names something in them.

A file names such a part "package.module:Name". The user must have allowed the module, with `allow` in Python or
``--with package.module`` on the command line. Even then a file can name only what that module itself defines and what
fits the place: a class of the kind that is needed, or a function that is annotated to return it.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from equipoise._checks import suggest
from equipoise.errors import EquipoiseError, ParameterError

_allowed: Final[set[str]] = set()


def allow(*modules: str) -> None:
    """Let files and studies name parts in these modules, as "package.module:Name"; they are imported now.

    Without this, no module that a study, a saved agent or a report names is imported, since a file that can import can
    run anything. A package that is allowed allows the modules within it.

    Parameters
    ----------
    *modules : str
        Names of modules, such as "my_package.agents".

    Examples
    --------
    >>> import equipoise as eq
    >>> eq.allow("fractions")
    >>> eq.allow("no_such_module")
    Traceback (most recent call last):
    ...
    equipoise.errors.ParameterError: no_such_module: there is no module of that name
    """
    for module in modules:
        if not isinstance(module, str) or not all(part.isidentifier() for part in module.split(".")):
            raise ParameterError(f"{module!r}: the name of a module is needed, such as 'package.module'")
        _loaded(module, module, ParameterError)
        _allowed.add(module)


def allow_local(modules: Iterable[str]) -> None:
    """As `allow`, for the command line: modules in the present folder are found too, as with ``python -m``."""
    here = str(Path.cwd())
    modules = list(modules)
    if modules and here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    allow(*modules)


def find_allowed(*specs: Any) -> tuple[str, ...]:
    """The modules that specs name and that are allowed here, for a worker to allow them too."""
    modules: dict[str, None] = {}
    for part in specs:
        if isinstance(part, Mapping):
            kind = part.get("kind")
            if isinstance(kind, str) and is_external(kind) and _is_allowed(kind.partition(":")[0]):
                modules[kind.partition(":")[0]] = None
            part = list(part.values())
        if isinstance(part, list):
            modules |= dict.fromkeys(find_allowed(*part))
    return tuple(modules)


def _is_allowed(module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in _allowed)


def load_function(kind: str, where: str, error: type[EquipoiseError]) -> Any:
    """The function that "package.module:name" names, if its module is allowed and defines it, such as a section."""
    if not is_external(kind):
        raise error(f'{where}: got {kind!r}; "package.module:name" is needed')
    return load_external(kind, None, where, error)


def is_external(kind: str) -> bool:
    """Whether a kind names a part written elsewhere."""
    return ":" in kind


def load_external(
    kind: str, base: type | None, where: str, error: type[EquipoiseError], *, derived: bool = False
) -> Any:
    """What "package.module:Name" names: a class `derived` from `base`, a function that returns one, or (None) any."""
    module, _, name = kind.partition(":")
    if not _is_allowed(module):
        raise error(
            f"{where}: {kind!r} is not of this package, and its module is imported only if you allow it: "
            f"--with {module} on the command line, equipoise.allow({module!r}) in Python"
        )
    if not name.isidentifier() or module.endswith(".__main__"):
        raise error(f'{where}: got {kind!r}; "package.module:Name" is needed, with one name after the colon')
    loaded = _loaded(module, f"{where}: {module}", error)
    if name not in vars(loaded):
        own = {other: None for other, part in vars(loaded).items() if _defines(loaded, part)}
        raise error(f"{where}: {module} has no {name!r}{suggest(name, own)}")
    part, wanted = vars(loaded)[name], _wanted(base, derived)
    if (inspect.isclass(part) or inspect.isfunction(part)) and not _defines(loaded, part):
        raise error(f"{where}: {kind} is defined in {part.__module__}; {wanted} that {module} itself defines is needed")
    if not _fits(part, base, derived):
        found = "another function" if inspect.isfunction(part) else f"of type {type(part).__name__}"
        found = "a class of another kind" if inspect.isclass(part) else found
        raise error(f"{where}: {kind} is {found}; {wanted} is needed")
    return part


def _defines(module: Any, part: Any) -> bool:
    """Whether a class or a function was written in a module, and not imported by it."""
    written = inspect.isclass(part) or inspect.isfunction(part)
    return written and sys.modules.get(part.__module__) is module


def _fits(part: Any, base: type | None, derived: bool) -> bool:
    if base is None:
        return inspect.isfunction(part)
    if derived:
        return inspect.isclass(part) and issubclass(part, base)
    returned = part.__annotations__.get("return") if inspect.isfunction(part) else None
    name = returned if isinstance(returned, str) else getattr(returned, "__name__", "")
    return name.strip("'\"").rpartition(".")[2] == base.__name__  # the source may say eq.Model, or "Model"


def _wanted(base: type | None, derived: bool) -> str:
    if base is None:
        return "a function"
    if derived:
        return f"a class derived from {base.__name__}"
    return f"a function annotated to return it, `-> {base.__name__}`,"


def _loaded(module: str, said: str, error: type[EquipoiseError]) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as trouble:
        if trouble.name is not None and (module == trouble.name or module.startswith(f"{trouble.name}.")):
            raise error(f"{said}: there is no module of that name") from None
        raise error(f"{said}: it cannot be imported ({trouble})") from trouble
    except (Exception, SystemExit) as trouble:  # whatever the module itself raises
        raise error(f"{said}: importing it raised {type(trouble).__name__}: {trouble}") from trouble
