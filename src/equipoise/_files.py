"""Plain files for arrays: one zip of .npy members with a JSON header, written whole or not at all.

The file is an ordinary ``.npz`` (``numpy.load`` opens it) and holds no pickle. Its member ``header`` is a
JSON text with the keys ``format`` (``equipoise-`` and the kind), ``version``, ``arrays`` (the names of all
other members) and ``content`` (whatever the writer wants to say). Every member carries a checksum.

A file is written beside its destination under another name, flushed to the disk, and then renamed over
it: a reader, or a run that was killed, finds the old file or the new one and never a part.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from equipoise.errors import FileError

_HEADER: Final = "header"
_FORMAT: Final = "equipoise-"
# What the libraries raise on damaged files; a flipped bit may ask for a password (RuntimeError) or spoil a header.
_DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, NotImplementedError, RuntimeError,
    tokenize.TokenError, SyntaxError,
)  # fmt: skip
_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same content makes the same bytes


def write_npz(
    path: str | os.PathLike[str],
    arrays: Mapping[str, NDArray[Any]],
    header: Mapping[str, Any],
    kind: str,
    version: int,
) -> None:
    """Write named arrays and a header to exactly `path`, atomically.

    Parameters
    ----------
    path : str or PathLike
        Used as given: no suffix is added.
    arrays : mapping
        Arrays of numbers, booleans or strings by name; ``header`` is reserved.
    header : mapping
        Anything that JSON can hold.
    kind, version : str, int
        What the file is, to be asked for again by `read_npz`.

    Raises
    ------
    FileError
        When the file cannot be written; whatever was at `path` is then still there.
    """
    if _HEADER in arrays:
        raise ValueError(f"an array may not be called {_HEADER!r}")
    about = {
        "format": f"{_FORMAT}{kind}",
        "version": version,
        "arrays": sorted(arrays),
        "content": dict(header),
    }
    members = {_HEADER: np.array(json.dumps(about, sort_keys=True))} | dict(arrays)
    with atomically(path) as handle, zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy", _DATE), "w", force_zip64=True) as member:
                npy.write_array(member, np.asarray(array), allow_pickle=False)


@contextlib.contextmanager
def atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its name when it is complete: on an error whatever was at `path` is still there.

    Raises
    ------
    FileError
        When it cannot be written.
    """
    target = _checked_path(path)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        with partial.open("xb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        partial.replace(target)
    except OSError as error:
        raise FileError(f"{target}: cannot be written ({error.strerror or error})") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes to exactly `path`, atomically."""
    with atomically(path) as handle:
        handle.write(content)


@final
@dataclass(frozen=True)
class Saved:
    """What a file holds: its kind and version, the header and the arrays by name."""

    kind: str
    version: int
    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def read_npz(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_npz` wrote: the header and the arrays by name.

    Parameters
    ----------
    path : str or PathLike
        The file.
    kind, version : str, int
        What it must be, and the latest version of it.

    Raises
    ------
    FileError
        When the file is missing, cut short, damaged, of another kind, or of a later version.
    """
    saved = read_saved(path, {kind: version})
    return saved.header, saved.arrays


def read_saved(path: str | os.PathLike[str], kinds: Mapping[str, int]) -> Saved:
    """As `read_npz`, for a file that may be of several kinds; `kinds` has the latest version of each."""
    source = _checked_path(path)
    try:
        with zipfile.ZipFile(source) as archive:
            names = {Path(name).stem if name.endswith(".npy") else name for name in archive.namelist()}
            if _HEADER not in names:
                raise FileError(f"{source}: a zip file, but not one of Equipoise's: it has no header")
            about = _header(source, _member(archive, _HEADER))
            kind = about["format"].removeprefix(_FORMAT)
            if kind not in kinds or not about["format"].startswith(_FORMAT):
                raise FileError(f"{source}: holds {about['format']}; {_FORMAT}{next(iter(kinds))} is needed")
            if about["version"] > kinds[kind]:
                raise FileError(
                    f"{source}: of version {about['version']}, written by a later Equipoise; "
                    f"this one reads up to version {kinds[kind]}"
                )
            absent = sorted(set(about["arrays"]) - names)
            if absent:
                raise FileError(f"{source}: the array {absent[0]!r} is missing")
            arrays = {name: _member(archive, name) for name in about["arrays"]}
            return Saved(kind, about["version"], about["content"], arrays)
    except FileNotFoundError:
        raise FileError(f"{source}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{source}: cannot be read ({error.strerror or error})") from error
    except _DAMAGE as error:
        raise FileError(f"{source}: truncated, damaged, or not a file of Equipoise ({error})") from None


def _checked_path(path: str | os.PathLike[str]) -> Path:
    """The path of a file, or an error that names what was given."""
    try:
        checked = Path(os.fspath(path))
    except TypeError:
        raise FileError(f"path: got {path!r}; the path of a file is needed") from None
    if not checked.name or "\0" in str(checked):
        raise FileError(f"path: got {str(path)!r}; it names no file")
    return checked


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        if member.read(1):  # also makes zipfile verify the checksum
            raise ValueError(f"the member {name!r} is longer than its array")
    return array


def _header(source: Path, array: NDArray[Any]) -> dict[str, Any]:
    about: Any = json.loads(str(array))
    fits = (
        isinstance(about, dict)
        and isinstance(about.get("format"), str)
        and isinstance(about.get("version"), int)
        and isinstance(about.get("arrays"), list)
        and isinstance(about.get("content"), dict)
    )
    if not fits:
        raise FileError(f"{source}: its header is not one that Equipoise writes")
    return about  # type: ignore[no-any-return]
