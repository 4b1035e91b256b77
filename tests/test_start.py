"""How a process begins: Ctrl-C while the program is being imported, and the two ways to start the program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise
from equipoise import _start

SHOW = "import signal; found = signal.getsignal(signal.SIGINT); print(getattr(found, '__name__', '') or found.name)"
IMPORT = "from equipoise import _start\n"
EARLIER = "import signal\ndef heard(*_): pass\nsignal.signal(signal.SIGINT, heard)\n"


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("name", "before", "expected"),
    [
        ("equipoise", "", "SIG_DFL"),  # it ends at once
        ("study", "", "default_int_handler"),  # a script that imports the package
        ("equipoise", EARLIER, "heard"),  # a handler that somebody has installed stays
        ("study", EARLIER, "heard"),
    ],
)
def test_the_import_changes_ctrl_c_for_the_program_alone(tmp_path, name, before, expected):
    (tmp_path / name).write_text(f"{before}{IMPORT}{SHOW}\n")
    environment = os.environ | {"PYTHONPATH": str(Path(equipoise.__file__).parent.parent)}
    done = subprocess.run([sys.executable, str(tmp_path / name)], capture_output=True, text=True, env=environment)
    assert (done.stdout.strip(), done.returncode) == (expected, 0), done.stderr


@pytest.mark.parametrize(
    ("argv", "original", "expected"),
    [
        (["/usr/bin/equipoise", "run"], ["python", "/usr/bin/equipoise", "run"], True),
        (["/src/equipoise/__main__.py"], ["python", "-m", "equipoise"], True),
        (["/src/equipoise/__main__.py"], ["python", "-m", "equipoise", "run"], True),
        (["/src/other/__main__.py"], ["python", "-m", "other"], False),
        (["/src/other/__main__.py"], ["python", "-m", "other", "-m", "equipoise"], False),
        (["study.py"], ["python", "study.py", "equipoise"], False),
        ([""], ["python"], False),
    ],
)
def test_what_the_program_is(monkeypatch, argv, original, expected):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", original)
    assert _start.is_program() is expected


def test_the_module_is_the_program_and_importing_it_runs_nothing():
    done = run("-m", "equipoise", "--version")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"\b{re.escape(equipoise.__version__)}\b", done.stdout)
    done = run("-c", "import equipoise.__main__; print('imported')", "--version")
    assert (done.stdout, done.returncode) == ("imported\n", 0), done.stderr
