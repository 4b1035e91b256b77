"""What tests of several rooms need."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]


def _missing(why: str) -> None:
    """Skip, or fail where a browser must be there."""
    if os.environ.get("EQUIPOISE_BROWSER") == "required":
        pytest.fail(f"EQUIPOISE_BROWSER=required, but {why}")
    pytest.skip(why)


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Chromium: EQUIPOISE_CHROMIUM, or the first on the path."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    given = os.environ.get("EQUIPOISE_CHROMIUM")
    found = given if given and Path(given).exists() else next(filter(None, map(shutil.which, names)), None)
    if found is None:
        _missing("no Chromium was found: set EQUIPOISE_CHROMIUM to its path")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("the Python package playwright is not installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Python's own answer to SIGINT, here and in programs started from here.

    A program that a shell script starts by `command &` ignores SIGINT, and so do all that it starts, unless it says
    otherwise.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
