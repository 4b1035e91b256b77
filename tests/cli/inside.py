"""The program, run within the process of the test: what it prints and its code, without two seconds of imports."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

from equipoise.cli import main


def inside(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`equipoise` with these arguments; what its process would have printed and returned."""
    command = ["equipoise", *(str(argument) for argument in arguments)]
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", command),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        else:
            code = 0
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())
