"""A real browser, and the pages that are looked at in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise.reports import write_report
from tests.reports import synthetic

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


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One written page for each of the made-up studies."""
    folder = tmp_path_factory.mktemp("pages")
    makers = (
        synthetic.showcase, synthetic.hostile, synthetic.crowd, synthetic.vanishing, synthetic.without_chance,
        synthetic.empty, synthetic.one_checkpoint, synthetic.guaranteed, synthetic.certified, synthetic.learnt,
    )  # fmt: skip
    return {maker.__name__: write_report(maker(), folder / f"{maker.__name__}.html") for maker in makers}
