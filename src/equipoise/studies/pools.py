"""Where the work is done: processes of this machine, or a Dask cluster; both are executors of `concurrent.futures`.

A process that dies breaks the whole pool of the standard library, so a `LocalPool` can be opened anew. A Dask scheduler
gives the work of a dead worker to another by itself.
"""

from __future__ import annotations

import abc
import concurrent.futures
import contextlib
import importlib.metadata
import multiprocessing
import time
from typing import Any, Final, final

from equipoise._numbers import whole
from equipoise._threads import cores
from equipoise._version import VERSION
from equipoise.errors import ParameterError, StudyError
from equipoise.studies.work import in_pool

MOST_JOBS: Final = 4096
_GRACE: Final = 5.0  # seconds for workers to save and leave
_CONNECT: Final = 10.0
_PATIENCE: Final = 20.0  # seconds for a first worker to come


class Pool(abc.ABC):
    """Workers, and how much work they should have at hand."""

    executor: concurrent.futures.Executor

    @abc.abstractmethod
    def capacity(self) -> int:
        """How many tasks to have submitted at once."""

    @abc.abstractmethod
    def reopen(self) -> None:
        """Go on after the pool has broken."""

    @abc.abstractmethod
    def close(self, now: bool) -> None:
        """Let the workers go; with `now`, without waiting for what they are doing."""


@final
class LocalPool(Pool):
    """Processes of this machine; None: one a core.

    They are spawned, because libraries with threads of their own do not survive a fork. A script that opens a pool must
    therefore guard what it does with ``if __name__ == "__main__":``.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = cores() if jobs is None else whole(jobs, "jobs", 1, MOST_JOBS, error=ParameterError)
        self._open()

    def _open(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.executor = concurrent.futures.ProcessPoolExecutor(self.jobs, spawn, in_pool, (self.jobs,))

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
            children = list(
                (getattr(self.executor, "_processes", None) or {}).values()
            )  # the processes of this pool only
            for child in children:
                child.terminate()
            deadline = time.monotonic() + _GRACE
            for child in children:
                child.join(max(0.0, deadline - time.monotonic()))
            for child in children:
                if child.is_alive():
                    child.kill()
        self.executor.shutdown(wait=True, cancel_futures=True)


@final
class ClusterPool(Pool):
    """A Dask scheduler's workers, which must have this version of the package installed."""

    def __init__(self, address: str) -> None:
        self._address = address
        try:
            from distributed import Client
        except ImportError:
            raise StudyError('cluster: Dask is not installed; pip install "equipoise[cluster]"') from None
        try:
            self._client: Any = Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error) or type(error).__name__
            raise StudyError(f"cluster: no scheduler answers at {address!r} ({reason})") from None
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
            versions = set(self._client.run(importlib.metadata.version, "equipoise").values())
        except TimeoutError:
            self._client.close()
            raise StudyError(f"cluster: the scheduler at {address!r} has no workers; start some") from None
        except Exception as error:
            self._client.close()
            raise StudyError(f"cluster: a worker has no Equipoise ({type(error).__name__}: {error})") from None
        if versions != {VERSION}:
            self._client.close()
            raise StudyError(f"cluster: the workers have Equipoise {', '.join(sorted(versions))}; here it is {VERSION}")
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
