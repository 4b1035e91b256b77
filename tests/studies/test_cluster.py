"""The same study on a real Dask scheduler with two workers on loopback, one of which is killed at work."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.studies.common import LONG, data, equipoise, start, written

LOOPBACK = ["--host", "127.0.0.1", "--no-dashboard"]


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler, itself, and its two workers."""
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", *LOOPBACK, "--port", "0"]
    processes = [_started(scheduler, tmp_path)]
    try:
        address = _said(processes[0], r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)")
        for name in ("one", "two"):
            worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, *LOOPBACK, "--no-nanny"]
            processes.append(_started([*worker, "--nthreads", "1", "--name", name], tmp_path))
        for process in processes[1:]:
            _said(process, r"(Registered to)")
        yield address, *processes
    finally:
        for process in processes:
            process.kill()
            process.communicate(timeout=30)


def _started(command, folder):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder)


def _said(process, pattern) -> str:
    """Wait until a process has said something."""
    for line in process.stderr:
        found = re.search(pattern, line)
        if found:
            _drain(process)
            return found.group(1)
    raise AssertionError(f"it never said {pattern!r}")


def _drain(process) -> None:
    import threading

    threading.Thread(target=process.stderr.read, daemon=True).start()


@pytest.mark.slow
def test_a_cluster_gives_the_same_data_though_a_worker_dies(cluster, long, tmp_path):
    address, _, *workers = cluster
    path = written(tmp_path, LONG)
    process = start("run", path, "--out", "far", "--cluster", address, "--every", "0.05", cwd=tmp_path)
    deadline = time.monotonic() + 120
    while not list((tmp_path / "far").glob("partial/*.beat")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(workers[0].pid, signal.SIGKILL)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert workers[0].wait(10) == -signal.SIGKILL
    assert workers[1].poll() is None
    assert "4 of 4 runs done" in out
    assert data(tmp_path / "far").equals(data(long))


@pytest.mark.slow
def test_no_scheduler_is_a_clear_error(tmp_path):
    result = equipoise("run", written(tmp_path, LONG), "--out", tmp_path / "out", "--cluster", "tcp://127.0.0.1:9")
    assert result.returncode == 1
    assert "no scheduler answers at 'tcp://127.0.0.1:9'" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_scheduler_that_goes_away(cluster, tmp_path):
    address, scheduler, *_ = cluster
    out = tmp_path / "out"
    process = start("run", written(tmp_path, LONG), "--out", out, "--cluster", address)
    deadline = time.monotonic() + 120
    while not list(out.glob("partial/*.beat")) and time.monotonic() < deadline:
        time.sleep(0.01)
    scheduler.kill()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "does not answer any more" in err
    assert "run the same command again to go on" in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_cluster_without_workers(cluster, tmp_path):
    address, _, *workers = cluster
    for worker in workers:
        worker.kill()
        worker.wait(10)
    result = equipoise("run", written(tmp_path, LONG), "--out", tmp_path / "out", "--cluster", address)
    assert result.returncode == 1
    assert "has no workers; start some" in result.stderr
