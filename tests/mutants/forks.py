"""A plugin of pytest that tries many mutants of Python functions in one process, each in a fork of its own.

    MUTANTS_TRIALS=trials.json MUTANTS_RESULTS=results.jsonl python -m pytest -p tests.mutants.forks ...

Everything is imported and collected once. A fork puts the code of the changed function into the function that is
there, runs the tests of that mutant, and ends with the first that fails. What cannot be changed so, such as the
default of an argument, is left to a process with changed files.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

import equipoise

_PACKAGE = Path(equipoise.__file__).parent
NEEDS_FILES = "needs files"
NO_ANSWER = "no answer in time"


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    items = {item.nodeid: item for item in session.items}
    with Path(os.environ["MUTANTS_RESULTS"]).open("w", encoding="utf-8") as results:
        for trial in json.loads(Path(os.environ["MUTANTS_TRIALS"]).read_text(encoding="utf-8")):
            importlib.import_module(_module(trial["file"]))
            patches = list(_patches(trial["file"], trial["owner"], trial["source"]))
            chosen = [items[name] for name in trial["tests"]]
            killer = _forked(chosen, patches, trial["seconds"]) if patches else NEEDS_FILES
            results.write(json.dumps(killer) + "\n")
            results.flush()
    return True


def _module(file: str) -> str:
    return ".".join(["equipoise", *Path(file).with_suffix("").parts]).removesuffix(".__init__")


def _patches(file: str, owner: str, source: str) -> Iterator[tuple[FunctionType, CodeType]]:
    """The functions to change, and their code when changed."""
    path = str(_PACKAGE / file)
    changed = {code.co_firstlineno: code for code in _codes(compile(source, path, "exec", dont_inherit=True), owner)}
    for function in [one for one in gc.get_objects() if isinstance(one, FunctionType)]:
        code = function.__code__
        if code.co_filename != path or code.co_qualname != owner:
            continue
        new = changed.get(code.co_firstlineno)
        if new is not None and new != code and len(new.co_freevars) == len(code.co_freevars):
            yield function, new


def _codes(code: CodeType, owner: str) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == owner:
                yield constant
            yield from _codes(constant, owner)


def _forked(items: Sequence[pytest.Item], patches: Sequence[tuple[FunctionType, CodeType]], seconds: float) -> str:
    """The first test that fails, or ""."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reading)
        _run(items, patches, writing)
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], seconds)
        return os.read(reading, 10_000).decode(errors="replace").removesuffix("\n") if ready else NO_ANSWER
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class _Failures:
    """Ends the process with the first test that fails."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            tell = getattr(report.longrepr, "reprcrash", None)
            os.write(self._pipe, f"{report.nodeid} {getattr(tell, 'message', '')}"[:500].replace("\n", " ").encode())
            os._exit(1)


def _run(items: Sequence[pytest.Item], patches: Sequence[tuple[FunctionType, CodeType]], pipe: int) -> None:
    try:
        items[0].config.pluginmanager.register(_Failures(pipe))
        for function, code in patches:
            function.__code__ = code
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        os.write(pipe, b"\n")
    except BaseException as error:  # such as the end of the session
        os.write(pipe, f"ended by {type(error).__name__}".encode())
    finally:
        os._exit(0)
