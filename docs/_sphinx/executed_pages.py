"""The tutorials are executed when they are read: see `page_program`. An error in one of them ends the build."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

PROGRAM: Final = Path(__file__).with_name("page_program.py")
FOLDER: Final = "tutorials/"
AT_ONCE: Final = 2


def finished_page(page: Path) -> str:
    """The text of a page with all that its programs say, run in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(PROGRAM), str(page.resolve())]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ExtensionError(f"{page}: {done.stderr}")
    return done.stdout


class ExecutedPages:
    """The pages that are executed: all begin before the first is read, since they take longer than the others."""

    def __init__(self) -> None:
        self.pages: dict[str, Future[str]] = {}

    def begin(self, app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:  # noqa: ARG002
        """Run the programs of all pages that will be read, some at once."""
        pool = ThreadPoolExecutor(AT_ONCE)
        for name in docnames:
            if name.startswith(FOLDER):
                self.pages[name] = pool.submit(finished_page, Path(env.doc2path(name)))
        pool.shutdown(wait=False)

    def read(self, app: Sphinx, docname: str, source: list[str]) -> None:  # noqa: ARG002
        """Put the finished page in the place of what was written."""
        if docname in self.pages:
            source[0] = self.pages.pop(docname).result()


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the two."""
    pages = ExecutedPages()
    app.connect("env-before-read-docs", pages.begin)
    app.connect("source-read", pages.read)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
