"""Run the quick checks on a copy of the sources with one piece replaced, and say which verdicts changed.

All checks of one mutation run in one process, so that what it compiles is compiled once; its kernels go into a cache of
their own, which is thrown away. A check that is not over in time has noticed too: "no answer", and the next goes on in
a process of its own.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from tests.mutations.catalogue import SOURCES, Mutation

PATIENCE = 400.0  # seconds for one check; compiling is part of it, and the slowest takes some twenty otherwise
NO_ANSWER = "no answer"


class Verdict(NamedTuple):
    """Of one check; `on` is the first finding that fails."""

    check: str
    verdict: str
    on: str


def verdicts(mutation: Mutation | None, checks: Sequence[str], stop: threading.Event | None = None) -> list[Verdict]:
    """What the checks say, in their order; of the sources as they are if there is no mutation."""
    with tempfile.TemporaryDirectory(prefix="equipoise-mutation-") as folder:
        copy = SOURCES if mutation is None else mutation.apply(Path(folder))
        cache = {} if mutation is None else {"EQUIPOISE_CACHE_DIR": str(Path(folder) / "kernels")}
        environment = {
            **os.environ,
            **cache,
            "PYTHONPATH": f"{copy}{os.pathsep}{SOURCES.parent}",
            "EQUIPOISE_QUIET": "1",
        }
        answers: list[Verdict] = []
        while len(answers) < len(checks) and not (stop and stop.is_set()):
            rest = checks[len(answers) :]
            got = _some(rest, environment, stop)
            if len(got) < len(rest) and not (stop and stop.is_set()):
                got.append(Verdict(rest[len(got)], NO_ANSWER, ""))
            answers += got
        return answers


def _some(checks: Sequence[str], environment: dict[str, str], stop: threading.Event | None) -> list[Verdict]:
    """Those that one process answers, up to the first that it does not."""
    command = [sys.executable, str(Path(__file__).with_name("verdicts.py")), *checks]
    running = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    lines: queue.Queue[str] = queue.Queue()
    assert running.stdout is not None
    reader = threading.Thread(target=_read, args=(running.stdout, lines), daemon=True)
    reader.start()
    answers: list[Verdict] = []
    waited = 0.0
    try:
        while len(answers) < len(checks) and waited < PATIENCE and not (stop and stop.is_set()):
            try:
                line = lines.get(timeout=1.0)
            except queue.Empty:
                waited += 1.0
                continue
            if not line:  # it is gone
                break
            answers.append(Verdict(**json.loads(line)))
            waited = 0.0
    finally:
        running.kill()
        running.wait()
        reader.join()
        running.stdout.close()
    return answers


def _read(stream: IO[str], lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")
