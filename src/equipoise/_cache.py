"""Where compiled kernels are kept: a folder for exactly these sources.

numba keys a cached function on its own file only: after an edit of a kernel in one file, callers cached from another
would go on returning old answers. So the folder's name is a hash of every source file that a kernel may come from.
Folders of other versions are forgotten after a month without use.

Environment: ``EQUIPOISE_CACHE_DIR`` moves the cache; the default is the user's cache folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

ROOMS_WITHOUT_KERNELS: Final = frozenset({"adapters", "cli", "mechanics", "paper", "reports", "studies"})
"""They compile nothing, and nothing that is compiled imports them: an edit there leaves the kernels as they are."""
_FORGET_AFTER: Final = 30 * 24 * 3600.0


def source_hash() -> str:
    """Hash of every source file that a kernel may come from: it changes whenever one might."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in ROOMS_WITHOUT_KERNELS:
            continue
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """The folder of all versions, which need not exist yet."""
    chosen = os.environ.get("EQUIPOISE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "equipoise"


@functools.cache
def cache_folder() -> Path:
    """The folder of compiled kernels for exactly these sources; a temporary one if none can be written."""
    folder = cache_root() / source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.touch()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="equipoise-"))
    with contextlib.suppress(OSError):
        _forget_old(folder.parent, folder)
    return folder


def _forget_old(root: Path, current: Path) -> None:
    horizon = time.time() - _FORGET_AFTER
    for sibling in root.iterdir():
        if sibling != current and sibling.is_dir() and sibling.stat().st_mtime < horizon:
            shutil.rmtree(sibling, ignore_errors=True)
