"""Who does what, when several programs work in one folder: a claim on each run, which dies with the program.

A claim is a lock on one byte of the file ``.claims``, at an offset made from the run's id (POSIX record locks, as
`fcntl.lockf` gives them). The system frees it when the process ends, however that comes about, so nothing has to be
cleaned up after `kill -9`. On a system without such locks every claim succeeds: work may then be done twice, and no
harm comes of that, because results are written whole and are the same.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from pathlib import Path
from typing import Any, Final, final

from equipoise.errors import FileError

_fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None
_DIGITS: Final = 15  # of the id in base 16: 60 bits of offset


@final
class Claims:
    """The claims of this process on the runs of a folder; a context."""

    def __init__(self, folder: Path) -> None:
        path = folder / ".claims"
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise FileError(f"{path}: cannot be written ({error.strerror or error})") from error

    def take(self, identity: str) -> bool:
        """Claim a run; False if another process has it."""
        if _fcntl is None:
            return True
        try:
            _fcntl.lockf(self._file, _fcntl.LOCK_EX | _fcntl.LOCK_NB, 1, _offset(identity))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def drop(self, identity: str) -> None:
        """Give a run back."""
        if _fcntl is not None:
            with contextlib.suppress(OSError):
                _fcntl.lockf(self._file, _fcntl.LOCK_UN, 1, _offset(identity))

    def __enter__(self) -> Claims:
        return self

    def __exit__(self, *_reason: object) -> None:
        os.close(self._file)


def _offset(identity: str) -> int:
    return int(identity[:_DIGITS], 16)
