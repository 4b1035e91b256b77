"""The documentation, built and served on loopback."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing of what it serves."""

    def log_message(self, *_arguments: object) -> None:
        """Not a word."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as by `make docs`, from a copy: what Sphinx makes of docstrings is written beside the pages.

    A site that has just been built can be named by the variable EQUIPOISE_SITE.
    """
    if "EQUIPOISE_SITE" in os.environ:
        return Path(os.environ["EQUIPOISE_SITE"])
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("generated", "__pycache__"))
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs", "built"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "built"


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where it is served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
