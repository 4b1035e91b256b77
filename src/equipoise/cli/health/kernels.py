"""Compiled kernels: where they are kept, and whether what one process compiles the next one loads.

The last is tried out. Two processes, one after the other, ask a reward for a value that is known, with an empty cache
beside the real one. The first must leave files behind, and the second must leave them as they are: had it not been able
to load them, it would have compiled and written them anew.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from equipoise._cache import cache_root, source_hash
from equipoise.cli.health.finding import Finding

_PROBE: Final = """
import json, time
import equipoise as eq
began = time.perf_counter()
value = eq.rewards.Linear([1.0, 3.0]).value([0.5, 0.25])
print(json.dumps({"value": value, "seconds": time.perf_counter() - began}))
"""
_VALUE: Final = 1.25  # 1 x 0.5 + 3 x 0.25, without rounding
_PATIENCE: Final = 120.0  # seconds for a process of the probe
_ROOM: Final = (
    100 * 2**20
)  # bytes that must be free: the kernels of a version take some megabytes, and numba writes twice
_MOVE: Final = "set EQUIPOISE_CACHE_DIR to a folder that can be written"

Snapshot = Mapping[str, int]
"""The files of a cache, by their path in it, with when they were last written, in nanoseconds."""


def kernels() -> list[Finding]:
    """Where the cache is, whether it can be written, and whether it works."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        seen = "NUMBA_DISABLE_JIT is set, and without compilation nothing of this package runs"
        return [Finding("compiler", seen, "wrong", "unset NUMBA_DISABLE_JIT")]
    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        trial = Path(tempfile.mkdtemp(prefix="doctor-", dir=root))
    except OSError as error:
        seen = f"{root} cannot be written ({error.strerror}): every process compiles anew, which takes seconds"
        return [Finding("cache", seen, "wrong", _MOVE)]
    try:
        return [_place(root), owned(root), _room(root), tried(trial, dict(os.environ))]
    finally:
        shutil.rmtree(trial, ignore_errors=True)


def _place(root: Path) -> Finding:
    own = root / source_hash()
    size = sum(file.stat().st_size for file in own.rglob("*") if file.is_file())
    sets = sorted(marker.stem for marker in own.glob("*.compiled"))
    kept = f"{size / 2**20:.1f} MiB of this version" + (f", with those of the {' and the '.join(sets)}" if sets else "")
    return Finding("cache", f"{root}, can be written; {kept}")


def owned(root: Path) -> Finding:
    """Whether nobody else can write the cache: what is in it is run.

    Parameters
    ----------
    root : Path
        The folder.
    """
    about = root.stat()
    if os.name == "posix" and about.st_uid != os.geteuid():
        return Finding("cache's owner", f"another user owns {root}, and could have code of theirs run", "wrong", _MOVE)
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        seen = f"other users can write {root}, and so have code of theirs run"
        return Finding("cache's owner", seen, "wrong", f"chmod go-w {root}")
    return Finding("cache's owner", "nobody else can write it")


def _room(root: Path) -> Finding:
    free = shutil.disk_usage(root).free
    if free >= _ROOM:
        return Finding("disk", f"{free / 2**30:.1f} GiB free for the cache")
    return Finding("disk", f"{free / 2**20:.0f} MiB free for the cache, in {root}", "wrong", f"make room, or {_MOVE}")


def tried(folder: Path, environment: Mapping[str, str]) -> Finding:
    """Whether a second process loads what a first has compiled into an empty folder.

    Parameters
    ----------
    folder : Path
        The cache for the trial.
    environment : mapping
        The variables for both processes.
    """
    inside = {**environment, "EQUIPOISE_CACHE_DIR": str(folder), "EQUIPOISE_QUIET": "1"}
    first = answer(inside)
    if isinstance(first, str):
        return Finding("compiler", f"a small kernel could not be compiled: {first}", "wrong", "install numba again")
    after_first = snapshot(folder)
    second = answer(inside)
    if isinstance(second, str):
        return Finding("compiler", f"a kept kernel could not be loaded: {second}", "wrong", f"remove {folder.parent}")
    return judged(after_first, snapshot(folder), first, second)


def answer(environment: Mapping[str, str]) -> dict[str, Any] | str:
    """What a process of the probe says; or, if it fails, its last words."""
    command = [sys.executable, "-c", _PROBE]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer in {_PATIENCE:.0f} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    said: dict[str, Any] = json.loads(done.stdout)
    return said if said["value"] == _VALUE else f"the answer is {said['value']}, and {_VALUE} is right"


def snapshot(folder: Path) -> Snapshot:
    """The kernels in a cache: numba's index and code files."""
    files = (file for file in folder.rglob("*") if file.suffix in (".nbi", ".nbc"))
    return {str(file.relative_to(folder)): file.stat().st_mtime_ns for file in files}


def judged(before: Snapshot, after: Snapshot, first: Mapping[str, Any], second: Mapping[str, Any]) -> Finding:
    """What the files say after the first and after the second process, and what each of them said itself.

    >>> judged({"a.nbc": 1}, {"a.nbc": 1}, {"seconds": 0.5}, {"seconds": 0.1}).seen
    'a small kernel was compiled in 0.50 s, and loaded by a second process in 0.10 s'
    >>> judged({"a.nbc": 1}, {"a.nbc": 2}, {"seconds": 0.5}, {"seconds": 0.5}).verdict
    'wrong'
    """
    took = f"{first['seconds']:.2f} s, and {{}} by a second process in {second['seconds']:.2f} s"
    if not before:
        seen = f"a small kernel was compiled in {first['seconds']:.2f} s, and not kept"
        return Finding("compiler", seen, "wrong", _MOVE)
    if before != after:
        seen = f"a small kernel was compiled in {took.format('again')}: nothing kept is ever used"
        return Finding("compiler", seen, "wrong", f"{_MOVE}, whose clock and files stay as they are")
    return Finding("compiler", f"a small kernel was compiled in {took.format('loaded')}")
