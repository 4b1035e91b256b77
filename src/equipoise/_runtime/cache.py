"""The folder of compiled kernels for exactly these sources.

numba keys a cached function on its own file only: after an edit of a kernel in one file, callers cached from another
would go on returning old answers. So the folder's name is a hash of every source file that a kernel may come from.
Kernels of a user's module are in a folder within it, named by a hash of the sources of the module and of all modules
that it imports (`hash_module`); installed packages and the standard library are left out, unless the module itself is
part of one. Folders of other versions are removed after a month without use, if they have such a name and hold
`MARKER`.

``EQUIPOISE_CACHE_DIR`` moves the cache from the user's cache folder. Where that cannot be written, it is in the
system's temporary folder, in a folder that belongs to the user and that nobody else can write; failing that, each
process has a folder of its own, and removes it when it ends.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import functools
import hashlib
import importlib.util
import os
import re
import shutil
import stat
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOMS_WITHOUT_KERNELS: Final = frozenset({"adapters", "cli", "reports", "studies"})
"""They compile nothing, and nothing that is compiled imports them: an edit there leaves the kernels as they are."""
MARKER: Final = "equipoise-kernels"
"""The empty file in each folder of the cache, which tells it from other folders; written at every use of the folder."""
_NAME: Final = re.compile("[0-9a-f]{16}")
_UNUSED_SECONDS: Final = 30 * 24 * 3600.0
_PACKAGE: Final = __name__.partition(".")[0]
_STANDARD: Final = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
_INSTALLED: Final = ("site-packages", "dist-packages")


def source_hash() -> str:
    """Hash of every source file that a kernel may come from: it changes whenever one might."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in ROOMS_WITHOUT_KERNELS:
            continue
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path | None:
    """The folder of all versions, which need not exist yet; None if the user has no home folder."""
    chosen = os.environ.get("EQUIPOISE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "equipoise"
    except RuntimeError:  # no HOME, and a user id that the system does not know
        return None


@functools.cache
def cache_folder() -> Path:
    """The folder of compiled kernels for exactly these sources; a temporary one if none can be written."""
    for find_root in (cache_root, _temporary_root):
        root = find_root()
        if root is not None and _is_usable(root / source_hash()):
            with contextlib.suppress(OSError):
                _remove_unused(root)
            return root / source_hash()
    own = tempfile.mkdtemp(prefix="equipoise-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return Path(own)


def _is_usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).touch()
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _temporary_root() -> Path | None:
    """A folder for temporary files, the same for all processes of this user, which nobody else can write."""
    if os.name != "posix":
        return None
    root = Path(tempfile.gettempdir()) / f"equipoise-{os.getuid()}"
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        about = root.lstat()  # somebody else may have made it, or a link of that name
    except OSError:
        return None
    own = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()
    return root if own and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


def _remove_unused(root: Path) -> None:
    horizon = time.time() - _UNUSED_SECONDS
    for folder in root.iterdir():
        own = _NAME.fullmatch(folder.name) and not folder.is_symlink() and (folder / MARKER).is_file()
        if own and (folder / MARKER).stat().st_mtime < horizon:
            shutil.rmtree(folder, ignore_errors=True)


def hash_module(module: str) -> str:
    """Hash the source of a module and of the modules that it imports; it changes whenever one of them does."""
    found: dict[str, str] = {}
    top, waiting = module.partition(".")[0], [module]
    while waiting:
        name = waiting.pop()
        path = None if name in found or name.partition(".")[0] == _PACKAGE else _file_of(name)
        if path is None or (name.partition(".")[0] != top and _is_installed(path)):
            continue
        about = path.stat()
        found[name], imported = _read(path, name, about.st_mtime_ns, about.st_size)
        waiting += imported
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()[:16]


@functools.lru_cache(maxsize=1024)
def _read(path: Path, name: str, _modified: int, _size: int) -> tuple[str, tuple[str, ...]]:
    content = path.read_bytes()
    return hashlib.sha256(content).hexdigest(), tuple(_imports(name, path, content))


def _imports(name: str, path: Path, content: bytes) -> Iterator[str]:
    """The names of modules that a file may import, and of the packages around these and around itself."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    try:
        nodes = list(ast.walk(ast.parse(content)))
    except (SyntaxError, ValueError):  # compiled code
        nodes = []
    names = [name]
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            base = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level]) if node.level else ""
            base = ".".join(part for part in (base, node.module) if part)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    for one in names:
        parts = one.split(".")
        yield from (".".join(parts[: i + 1]) for i in range(len(parts)))


def _file_of(name: str) -> Path | None:
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        top, *rest = name.split(".")
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            return None
        if spec is None:
            return None
        folder = next(iter(spec.submodule_search_locations or ()), None)
        if rest and folder is None:
            return None
        file = spec.origin if not rest else str(Path(folder or "", *rest).with_suffix(".py"))
        if rest and not Path(file or "").is_file():
            file = str(Path(folder or "", *rest, "__init__.py"))
    return Path(file) if file is not None and Path(file).is_file() else None


def _is_installed(path: Path) -> bool:
    return any(part in _INSTALLED for part in path.parts) or any(path.is_relative_to(one) for one in _STANDARD)
