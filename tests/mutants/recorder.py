"""A plugin of pytest that writes down how long each test takes and which functions of the package it enters.

    MUTANTS_RECORD=map.json python -m pytest -p tests.mutants.recorder ...

Compiled functions cannot be seen to be entered; `references` finds the Python functions that lead to them. What a
fixture of a wider scope or the import of a test file enters counts for every test that uses it. The time that numba
takes to compile kernels, or to load them, is not part of a test's time, since only the first test that needs them
spends it; nor is what is entered meanwhile recorded.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from numba.core import event

import equipoise

_PACKAGE = os.path.dirname(equipoise.__file__) + os.sep  # noqa: PTH120  as in the code objects
_entered: dict[int, CodeType] = {}
_by_fixture: dict[int, set[str]] = {}
_by_file: dict[str, set[str]] = {}
_tests: dict[str, dict[str, Any]] = {}


def _processor_time() -> float:
    """Of this process and of the programs that it started and that have ended."""
    return sum(os.times()[:4])


class _CompileClock(event.Listener):  # type: ignore[misc]
    """Adds up the processor time between the outermost begin and end of compilations, which are not watched."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._began = 0.0
        self._trace: Any = None

    def on_start(self, event: object) -> None:
        if self._depth == 0:
            self._began = _processor_time()
            self._trace = sys.gettrace()
            sys.settrace(None)
        self._depth += 1

    def on_end(self, event: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += _processor_time() - self._began
            sys.settrace(self._trace)


_COMPILING = _CompileClock()
event.register("numba:compiler_lock", _COMPILING)


def _call(frame: FrameType, event: str, argument: object) -> None:
    _entered[id(frame.f_code)] = frame.f_code


def _watch() -> Iterator[set[str]]:
    """Collect what is entered until the next turn; then give it back to whoever watches outside."""
    global _entered
    outer, _entered = _entered, {}
    before = sys.gettrace()
    threading.settrace(_call)
    sys.settrace(_call)
    names: set[str] = set()
    try:
        yield names
    finally:
        sys.settrace(before)
        threading.settrace(before)
        for code in _entered.values():
            if code.co_filename.startswith(_PACKAGE):
                owner = code.co_qualname.partition(".<locals>")[0]
                names.add(f"{code.co_filename[len(_PACKAGE) :]}::{owner}")
        _entered = outer | _entered


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    watching = _watch()
    names = next(watching)
    try:
        return (yield)
    finally:
        watching.close()
        _by_file.setdefault(collector.nodeid.partition("::")[0], set()).update(names)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    watching = _watch()
    names = next(watching)
    try:
        return (yield)
    finally:
        watching.close()
        if request.scope != "function":
            _by_fixture.setdefault(id(fixturedef), set()).update(names)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    watching = _watch()
    names = next(watching)
    began = _processor_time() - _COMPILING.seconds  # processor time, whatever else runs
    try:
        return (yield)
    finally:
        seconds = _processor_time() - _COMPILING.seconds - began
        watching.close()
        fixtures = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        for fixture in (one for several in fixtures.values() for one in several):
            names |= _by_fixture.get(id(fixture), set())
        early = _by_file.get(item.nodeid.partition("::")[0], set())
        known = _tests.setdefault(item.nodeid, {"passed": True})
        _tests[item.nodeid] = known | {
            "seconds": round(seconds, 3), "entered": sorted(names | early), "early": sorted(early),
        }  # fmt: skip


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    known = _tests.setdefault(report.nodeid, {"passed": True})
    if report.outcome != "passed":
        known["passed"] = False


def pytest_sessionfinish() -> None:
    Path(os.environ["MUTANTS_RECORD"]).write_text(json.dumps(_tests), encoding="utf-8")
