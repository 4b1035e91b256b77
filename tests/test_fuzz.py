"""No file ends the process or raises anything but a named error: a small part of what `tests.fuzz` tries."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fuzz import fuzz


def told(count: int, seed: int) -> None:
    lines: list[str] = []
    tally = fuzz(count, seed, tell=lines.append)
    assert not tally.wrong, "\n".join(lines)
    assert sum(tally.counts.values()) == count
    assert tally.counts["accepted"] > count // 30  # a change may be harmless, and what follows is tried too
    assert tally.counts["refused"] > count // 2


def test_changed_files_are_refused_or_do_no_harm():
    told(60, seed=0)


@pytest.mark.slow
def test_many_changed_files():
    told(800, seed=1)


@pytest.mark.slow
def test_a_crash_is_counted(monkeypatch):
    """A child that is gone leaves the number of its file, and another one continues with the next."""
    real = subprocess.run

    def crash(arguments, **options):
        program = (
            "import os, signal, sys, tests.fuzz as f\n"
            "def mutated(base, rng, path):\n"
            "    if 'pending' in base.name:\n"
            "        os.kill(os.getpid(), signal.SIGSEGV)\n"
            "    path.write_bytes(b'')\n"
            "f.mutated = mutated\n"
            f"sys.argv = ['fuzz'] + {arguments[3:]!r}\nf.main()"
        )
        return real([sys.executable, "-c", program], **options)

    monkeypatch.setattr(subprocess, "run", crash)
    tally = fuzz(3)
    assert tally.counts == {"crash": 1, "refused": 2}
    assert tally.wrong == ["1, table, pending: ended with -11"]


@pytest.mark.slow
def test_no_kernel_leaves_its_arrays():
    done = subprocess.run(
        [sys.executable, "-m", "tests.bounds", "--mutations", "100"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
