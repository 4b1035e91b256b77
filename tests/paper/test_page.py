"""The page of the paper in a real browser: every picture of every quick check is drawn, at any width."""

from __future__ import annotations

import pytest

from paper.catalogue import CHECKS
from paper.findings import Size
from paper.page import write_paper
from paper.running import run_check
from tests.reports.pages.test_browser import MARKS, SIZES, opened

FAST = ("tolerances", "delays", "decomposition")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    outcomes = [run_check(name, Size.QUICK) for name in FAST]
    return write_paper(outcomes, tmp_path_factory.mktemp("paper") / "paper.html", Size.QUICK)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_are_drawn(browser, path, size, scheme):
    assert set(FAST) <= set(CHECKS)
    with opened(browser, path, size, scheme) as page:
        drawn = page.evaluate(MARKS)
        assert len(drawn) == len(FAST)
        assert all(drawn)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
