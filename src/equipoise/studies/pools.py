"""Where the work is done: processes of this machine, or a Dask cluster; both are executors of `concurrent.futures`.

A process that dies breaks the whole pool of the standard library, so a `LocalPool` can be reopened. A Dask scheduler
gives the work of a dead worker to another by itself.

Several programs may work in one folder: each run is claimed by one of them, with a POSIX record lock on one byte of the
file ``.claims``, at an offset made from the run's id. The system frees it when the process ends. Without such locks
every claim succeeds: work may then be done twice, with the same results.
"""

from __future__ import annotations

import abc
import concurrent.futures
import contextlib
import importlib
import importlib.metadata
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from equipoise._checks import check_int
from equipoise._runtime.threads import core_count, hold_interrupts
from equipoise._version import VERSION
from equipoise.errors import FileError, ParameterError, StudyError
from equipoise.studies.worker import in_pool

MOST_JOBS: Final = 4096
_SAVE_SECONDS: Final = 5.0  # seconds for workers to save and leave
_CONNECT_SECONDS: Final = 10.0
_WORKER_SECONDS: Final = 20.0  # seconds for a first worker to come


class Pool(abc.ABC):
    """Workers, and how much work they should have at hand."""

    executor: concurrent.futures.Executor

    def submit(self, function: Callable[..., Any], *arguments: Any) -> concurrent.futures.Future[Any]:
        """Give work to a worker."""
        return self.executor.submit(function, *arguments)

    @abc.abstractmethod
    def capacity(self) -> int:
        """How many tasks to have submitted at once."""

    @abc.abstractmethod
    def reopen(self) -> None:
        """Go on after the pool has broken."""

    @abc.abstractmethod
    def close(self, now: bool) -> None:
        """Let the workers go; with `now`, without waiting for what they are doing."""


class LocalPool(Pool):
    """Processes of this machine; None: one a core."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = core_count() if jobs is None else check_int(jobs, "jobs", 1, MOST_JOBS, error=ParameterError)
        self._open()

    def _open(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.executor = concurrent.futures.ProcessPoolExecutor(self.jobs, spawn, in_pool, (self.jobs,))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> concurrent.futures.Future[Any]:
        """Give work to a worker; processes that are started for it never hear Ctrl-C, which this program handles."""
        with hold_interrupts():
            return super().submit(function, *arguments)

    def capacity(self) -> int:
        """One task a process."""
        return self.jobs

    def reopen(self) -> None:
        """Replace all processes."""
        self.close(now=True)
        self._open()

    def close(self, now: bool) -> None:
        """Wait for the processes, or ask them to save what they are doing and to leave."""
        if now:
            processes = getattr(self.executor, "_processes", None) or {}
            children = list(processes.values())  # of this pool only
            for child in children:
                child.terminate()
            deadline = time.monotonic() + _SAVE_SECONDS
            for child in children:
                child.join(max(0.0, deadline - time.monotonic()))
            for child in children:
                if child.is_alive():
                    child.kill()
        self.executor.shutdown(wait=True, cancel_futures=True)


class ClusterPool(Pool):
    """A Dask scheduler's workers, which must have this version of the package installed."""

    def __init__(self, address: str) -> None:
        self._address = address
        try:
            from distributed import Client
        except ImportError:
            raise StudyError('cluster: Dask is not installed; pip install "equipoise[cluster]"') from None
        try:
            self._client: Any = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error) or type(error).__name__
            raise StudyError(f"cluster: no scheduler answers at {address!r} ({reason})") from None
        try:
            self._client.wait_for_workers(1, timeout=_WORKER_SECONDS)
            versions = set(self._client.run(importlib.metadata.version, "equipoise").values())
            wrong = f"the workers have Equipoise {', '.join(sorted(versions))}; here it is {VERSION}"
        except TimeoutError:
            versions, wrong = set(), f"the scheduler at {address!r} has no workers; start some"
        except Exception as error:
            versions, wrong = set(), f"a worker has no Equipoise ({type(error).__name__}: {error})"
        if versions != {VERSION}:
            self._client.close()
            raise StudyError(f"cluster: {wrong}")
        self.executor = self._client.get_executor(pure=False)

    def capacity(self) -> int:
        """Two tasks a thread, so that none waits for the network."""
        try:
            threads = sum(int(number) for number in self._client.nthreads().values())
        except (OSError, RuntimeError) as error:
            raise StudyError(
                f"cluster: the scheduler at {self._address!r} does not answer any more ({error}); what was done is "
                "kept: run the same command again to go on"
            ) from error
        return max(2, 2 * threads)

    def reopen(self) -> None:
        """Nothing to do: the scheduler replaces its workers."""

    def close(self, now: bool) -> None:
        """Leave the cluster as it was."""
        with contextlib.suppress(OSError, TimeoutError):
            self.executor.shutdown(wait=not now)  # which cancels what is not done, unless it waits
        self._client.close()


_fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None
_DIGITS: Final = 15  # of the id in base 16: 60 bits of offset


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
        except OSError as error:  # any other is that of a file system without locks
            return not isinstance(error, BlockingIOError | PermissionError)
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
