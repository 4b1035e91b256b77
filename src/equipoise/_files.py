"""Plain files for arrays: one zip of .npy members with a JSON header, written whole or not at all.

The file is an ordinary ``.npz`` without pickle. Its member ``header`` is a JSON text with the keys ``format``
(``equipoise-`` and the kind), ``version``, ``arrays`` (the names of all other members) and ``content``.

A file is written next to its destination as ``.NAME.<12 hexadecimal digits>.part``, flushed to the disk, and then
renamed: a reader finds the old file or the new one, never a part. Its writer holds a lock on the part; the next write
of the same file removes the parts that nobody holds.

Files may come from strangers. What is read must be a regular file of at most `MOST_BYTES`, whose members are not
compressed and exactly as long as their headers say, so the size of the file bounds the memory. In CSV files a text
that a spreadsheet would run as a formula has an apostrophe before it (`escape_formula`).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import re
import secrets
import stat
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from equipoise.errors import EquipoiseError, FileError

if TYPE_CHECKING:
    import polars


_fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None
MOST_BYTES: Final = 16 << 30  # the largest file that is read or written: 16 GiB
_MOST_HEADER_BYTES: Final = 256 << 20  # of the JSON text; numpy keeps four bytes per character
_HEADER: Final = "header"
_FORMAT: Final = "equipoise-"
_HEADER_READERS: Final = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_KINDS: Final = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same content makes the same bytes


def write_npz(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any], kind: str, version: int
) -> None:
    """Write named arrays and a header to exactly `path`, atomically."""
    if _HEADER in arrays:
        raise ValueError(f"an array may not be called {_HEADER!r}")
    about = {"format": f"{_FORMAT}{kind}", "version": version, "arrays": sorted(arrays), "content": dict(header)}
    members = {_HEADER: np.array(json.dumps(about, sort_keys=True))} | dict(arrays)
    size = sum(np.asarray(array).nbytes for array in members.values())
    if size > MOST_BYTES or members[_HEADER].nbytes > _MOST_HEADER_BYTES:
        raise FileError(f"{path}: not written; its {size:,} bytes are more than can be read again ({MOST_BYTES:,})")
    with atomically(path) as handle, zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy", _DATE), "w", force_zip64=True) as member:
                npy.write_array(member, np.asarray(array), allow_pickle=False)


@contextlib.contextmanager
def atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its name when it is complete: on an error whatever was at `path` is still there."""
    named = _checked_path(path)
    try:
        target = Path(os.path.realpath(named))
        before = _regular(target)
        _remove_abandoned(target)
        partial, handle = _new_part(target, before)
        try:
            with handle:
                yield handle
                handle.flush()
                os.fsync(handle.fileno())
                partial.replace(target)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        _sync_folder(target.parent)
    except OSError as error:
        raise FileError(f"{named}: cannot be written ({error.strerror or error})") from error


def _regular(target: Path) -> os.stat_result | None:
    """What is at a path that will be written: a regular file, or nothing yet."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise FileError(f"{target}: cannot be written; {_kind_of(found)} is there, and a regular file is needed")
    return found


def _kind_of(found: os.stat_result) -> str:

    return next((kind for test, kind in _KINDS.items() if test(found.st_mode)), "something else")


def _new_part(target: Path, before: os.stat_result | None) -> tuple[Path, BinaryIO]:
    """A new file next to `target`, held by a lock, with the permissions of the file that it will replace."""
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        handle = os.fdopen(os.open(part, flags, 0o666 if before is None else 0o600), "wb")
        _lock(handle)
        if os.fstat(handle.fileno()).st_nlink:  # else another writer took it for abandoned before it was locked
            if before is not None:
                _take_permissions(part, before)
            return part, handle
        handle.close()


def _take_permissions(part: Path, before: os.stat_result) -> None:
    """Owner, group and mode of another file; without the bits of a group that cannot be given."""
    mode = stat.S_IMODE(before.st_mode)
    if hasattr(os, "chown"):
        for ids in ((before.st_uid, -1), (-1, before.st_gid)):
            with contextlib.suppress(OSError):
                os.chown(part, *ids)
        if part.stat().st_gid != before.st_gid:
            mode &= ~stat.S_IRWXG
    part.chmod(mode)


def _lock(handle: BinaryIO) -> bool:
    """Hold a part while its writer lives; False if somebody else holds it, or if there are no such locks here."""
    if _fcntl is None:
        return False
    try:
        _fcntl.flock(handle, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove the parts of a file whose writers were killed: those of its name that nobody holds."""
    part = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{12}\.part")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if part.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError), Path(entry.path).open("rb") as handle:
                    if _lock(handle):
                        Path(entry.path).unlink()


def _sync_folder(folder: Path) -> None:
    """Flush a rename to the disk, where folders can be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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
    """Read what `write_npz` wrote: the header and the arrays by name."""
    saved = read_saved(path, {kind: version})
    if saved.version != version:
        raise FileError(f"{path}: of version {saved.version}; version {version} is needed")
    return saved.header, saved.arrays


def read_saved(path: str | os.PathLike[str], kinds: Mapping[str, int]) -> Saved:
    """As `read_npz`, for a file that may be of several kinds; `kinds` has the latest version of each."""
    source = _checked_path(path)
    try:
        with open_regular(source) as handle, zipfile.ZipFile(handle) as archive:
            names = _checked_members(archive, os.fstat(handle.fileno()).st_size)
            if _HEADER not in names:
                raise FileError(f"{source}: a zip file, but not one of Equipoise's: it has no header")
            about = _header(source, _member(archive, _HEADER, _MOST_HEADER_BYTES))
            kind = about["format"].removeprefix(_FORMAT)
            if kind not in kinds or not about["format"].startswith(_FORMAT):
                raise FileError(f"{source}: holds {about['format']}; {_FORMAT}{next(iter(kinds))} is needed")
            if about["version"] > kinds[kind]:
                later = f"of version {about['version']}, written by a later Equipoise"
                raise FileError(f"{source}: {later}; this one reads version {kinds[kind]}")
            absent = sorted(set(about["arrays"]) - names)
            if absent:
                raise FileError(f"{source}: the array {absent[0]!r} is missing")
            arrays = {name: _member(archive, name, MOST_BYTES) for name in about["arrays"]}
            return Saved(kind, about["version"], about["content"], arrays)
    except FileError:
        raise
    except FileNotFoundError:
        raise FileError(f"{source}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{source}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # whatever the libraries raise on damaged or crafted files
        reason = str(error) or type(error).__name__
        raise FileError(f"{source}: truncated, damaged, or not a file of Equipoise ({reason})") from None


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file of at most `MOST_BYTES` to read it."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    number = os.open(path, flags)
    found = os.fstat(number)
    if stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES:
        return os.fdopen(number, "rb")
    os.close(number)
    if stat.S_ISREG(found.st_mode):
        raise FileError(f"{path}: cannot be read; its {found.st_size:,} bytes are more than {MOST_BYTES:,}")
    raise FileError(f"{path}: cannot be read; {_kind_of(found)} is there, and a regular file is needed")


@contextlib.contextmanager
def blaming(path: str | os.PathLike[str], otherwise: str) -> Iterator[None]:
    """Name the file, and what it does not hold, in whatever making something of its content raises."""
    try:
        yield
    except EquipoiseError as error:
        raise FileError(f"{path}: {otherwise} ({error})") from error
    except Exception as error:  # whatever a damaged file, or a part of somebody's, may raise
        raise FileError(f"{path}: {otherwise} ({type(error).__name__}: {error})") from error


def load_array(arrays: Mapping[str, Any], name: str, like: NDArray[Any], grows: bool = False) -> NDArray[Any]:
    """A saved array of the type and the shape of `like`, or of another length if it `grows`: kernels know no other."""
    part = arrays.get(name)
    if not isinstance(part, np.ndarray):
        raise FileError(f"the array {name!r} is missing")
    if part.dtype != like.dtype or part.ndim != like.ndim or not (grows or part.shape == like.shape):
        raise FileError(f"the array {name!r} is of type {part.dtype} and shape {part.shape}")
    return np.array(part, order="C")  # kernels are compiled for arrays laid out row by row


def ensure(condition: Any, otherwise: str) -> None:
    """Refuse what cannot have come about; `otherwise` says what is wrong."""
    if not condition:
        raise FileError(otherwise)


def require_pointer(pointer: NDArray[np.int64], count: int, size: int, name: str) -> None:
    """Refuse a pointer unless it says where each of `count` parts of `size` entries begins and the last ends."""
    wanted = f"must have {count + 1} entries, begin with 0, never fall, and end with {size}"
    fits = pointer.size == count + 1 and pointer[0] == 0 and int(pointer[-1]) == size
    ensure(fits and np.all(pointer[1:] >= pointer[:-1]), f"the array {name!r} {wanted}")


def require_range(part: NDArray[Any], size: int, low: int, high: int, name: str) -> None:
    """Refuse an array that has not `size` entries, all of them from `low` to below `high`."""
    ensure(part.size == size, f"the array {name!r} has {part.size} entries; {size} are needed")
    fits = size == 0 or (part.min() >= low and part.max() < high)
    ensure(fits, f"the array {name!r} has entries outside of {low} to {high - 1}")


def _checked_path(path: str | os.PathLike[str]) -> Path:
    try:
        checked = Path(os.fspath(path))
    except TypeError:
        raise FileError(f"path: got {path!r}; the path of a file is needed") from None
    if not checked.name or "\0" in str(checked):
        raise FileError(f"path: got {str(path)!r}; it names no file")
    return checked


def _checked_members(archive: zipfile.ZipFile, size: int) -> set[str]:
    """The names of the members, all of them stored plainly, each once, and together no longer than the file."""
    members = archive.infolist()
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            raise ValueError(f"the member {member.filename!r} is compressed or encrypted; Equipoise writes neither")
    if sum(member.file_size for member in members) > size:
        raise ValueError("its members are together longer than the file")
    names = [member.filename.removesuffix(".npy") for member in members]
    if len(set(names)) != len(names):
        raise ValueError("two of its members have one name")
    return set(names)


def _member(archive: zipfile.ZipFile, name: str, most: int) -> NDArray[Any]:
    """The array in a member; its size is compared with that of the member before anything is allocated."""
    found = archive.getinfo(f"{name}.npy")
    if found.file_size > most:
        raise ValueError(f"the member {name!r} has {found.file_size:,} bytes, more than {most:,}")
    with archive.open(found) as member:
        version = npy.read_magic(member)
        if version not in _HEADER_READERS:
            raise ValueError(f"the member {name!r} is of the version {version} of .npy")
        shape, fortran, dtype = _HEADER_READERS[version](member)
        left = found.file_size - member.tell()
        if dtype.hasobject:
            raise ValueError(f"the member {name!r} holds Python objects")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > left:
            raise ValueError(f"the member {name!r} is shorter than its array, {dtype} of shape {shape}")
        content = bytearray(member.read(left))  # zipfile verifies the checksum where a member ends
        if len(content) != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"the member {name!r} is longer than its array, {dtype} of shape {shape}")
        return np.ndarray(shape, dtype, content, order="F" if fortran else "C")


def _header(source: Path, array: NDArray[Any]) -> dict[str, Any]:
    about: Any = json.loads(str(array))
    fits = (
        isinstance(about, dict)
        and isinstance(about.get("format"), str)
        and type(about.get("version")) is int
        and isinstance(about.get("arrays"), list)
        and all(isinstance(name, str) for name in about["arrays"])
        and isinstance(about.get("content"), dict)
    )
    if not fits:
        raise FileError(f"{source}: its header is not one that Equipoise writes")
    return about  # type: ignore[no-any-return]


def escape_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def escape_formulas(frame: polars.DataFrame) -> polars.DataFrame:
    """Do so in the texts and the column names of a table that is to be written as CSV."""
    import polars

    texts = [name for name, kind in frame.schema.items() if isinstance(kind, polars.String | polars.Categorical)]
    cells = (polars.col(name).cast(polars.String) for name in texts)
    escaped = frame.with_columns(cell.map_elements(escape_formula, polars.String) for cell in cells)
    names: dict[str, str] = {}
    for name in frame.columns:
        new = escape_formula(name)
        while new != name and (new in frame.columns or new in names.values()):
            new = f"'{new}"
        names[name] = new
    return escaped.rename(names)
