"""Several files in one folder, all of them made before the first is written."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from equipoise import _files
from equipoise.errors import FileError, ParameterError


def checked_format(format: str, known: Collection[str]) -> str:
    """The format, if it is known.

    Parameters
    ----------
    format : str
        What was asked for.
    known : collection of str
        What can be had.
    """
    if format not in known:
        raise ParameterError(f"format: got {format!r}; {', '.join(map(repr, known))} are accepted")
    return format


def save_all(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder, which is made if it is not there; each is written whole or not at all.

    Parameters
    ----------
    folder : str or PathLike
        Where to.
    files : mapping
        Name to content.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{target}: cannot be made ({error.strerror or error})") from error
    paths = []
    for name, content in files.items():
        _files.write_bytes(target / name, content)
        paths.append(target / name)
    return paths
