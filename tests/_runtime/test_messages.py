"""Compilation that takes a while says so: once, also where stderr is no terminal, and not when silence is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numba
import pytest

from equipoise._runtime import messages


@pytest.fixture
def fresh(monkeypatch):
    monkeypatch.setattr(messages, "_SPENT", {})
    monkeypatch.setattr(messages, "_ANNOUNCED", set())
    monkeypatch.setattr(messages, "ANNOUNCE_AFTER_SECONDS", 0.2)
    monkeypatch.delenv("EQUIPOISE_QUIET", raising=False)


def spend(subject: str, seconds: float, kept: bool = True) -> None:
    with messages.compiling(subject, kept=kept):
        time.sleep(seconds)


def test_what_is_slow_is_announced_while_it_lasts_and_once(fresh, capfd):
    with messages.compiling("the kernels of shop", kept=True):
        time.sleep(0.5)
        assert capfd.readouterr().err == "equipoise: compiling the kernels of shop, once for this version ...\n"
    spend("the kernels of shop", 0.4)
    assert capfd.readouterr().err == ""
    spend("your functions", 0.4, kept=False)
    assert capfd.readouterr().err == "equipoise: compiling your functions, anew in every process ...\n"


def test_what_is_fast_says_nothing_until_it_adds_up(fresh, capfd):
    spend("a", 0.01)
    spend("b", 0.01)
    assert capfd.readouterr().err == ""
    for _ in range(5):
        spend("a", 0.1)
    assert capfd.readouterr().err.count("compiling a,") == 1


def test_what_is_inside_another_is_not_told_apart(fresh, capfd):
    with messages.nested():
        spend("a", 0.4)
    with messages.compiling("outer", kept=True):
        spend("inner", 0.4)
    assert "inner" not in capfd.readouterr().err


def test_silence_can_be_asked_for(fresh, capfd, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_QUIET", "1")
    spend("a", 0.4)
    assert capfd.readouterr().err == ""


def test_a_users_own_numba_functions_are_none_of_our_business(fresh, capfd, monkeypatch):
    monkeypatch.setattr(messages, "ANNOUNCE_AFTER_SECONDS", 0.0)

    @numba.njit
    def mine(x):
        return sum([x * k for k in range(10)])

    mine(1.0)
    time.sleep(0.05)
    assert capfd.readouterr().err == ""
    assert messages._NESTING.depth == 0
    assert messages._NESTING.timers == []


def test_a_kernel_of_the_package_is_timed_until_it_is_compiled(fresh, capfd, monkeypatch):
    monkeypatch.setattr(messages, "ANNOUNCE_AFTER_SECONDS", 60.0)
    inside = []

    def look():
        raise NotImplementedError

    @numba.extending.overload(look)
    def _look():  # numba calls this while it compiles
        inside.append((messages._NESTING.depth, len(messages._NESTING.timers)))
        return lambda: 2.0

    def twice(x):
        return look() * x

    twice.__module__ = "equipoise.trial.kernels"
    assert numba.njit(twice)(1.5) == 3.0
    assert set(inside) == {(1, 1)}
    assert messages._NESTING.depth == 0
    assert messages._NESTING.timers == []
    assert list(messages._SPENT) == ["the kernels of equipoise.trial"]
    assert capfd.readouterr().err == ""


def test_subjects_are_rooms_of_the_package_and_modules_of_others():
    assert messages.describe_subject("equipoise.rewards.entropy") == "the kernels of equipoise.rewards"
    assert messages.describe_subject("equipoise.rewards") == "the kernels of equipoise.rewards"
    assert messages.describe_subject("shop.parts.rewards") == "the kernels of shop.parts.rewards"


PROGRAM = """
import sys
import equipoise as eq
from equipoise._runtime import messages
messages.ANNOUNCE_AFTER_SECONDS = 0.0
print("imported", file=sys.stderr)
assert eq.rewards.TargetDistance([0.5, 0.5]).value([0.5, 0.5]) == 1.0
"""


@pytest.mark.parametrize("quiet", ["", "1"])
def test_a_first_use_is_told_in_a_log_file_too(tmp_path, quiet: str):
    """stderr is a pipe here; nothing is said on import, and nothing at all when silence is asked for."""
    environment = dict(os.environ) | {"EQUIPOISE_CACHE_DIR": str(tmp_path), "EQUIPOISE_QUIET": quiet}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    first, *others = run.stderr.splitlines()
    assert first == "imported"
    if quiet:
        assert others == []
    else:
        assert "equipoise: compiling the kernels of equipoise.rewards, once for this version ..." in others
