"""The page on studies is true: its section of one's own is one, and every part that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

from equipoise import reports
from equipoise.reports.pages.report import render_report
from tests.reports.pages.test_page import Reader
from tests.reports.synthetic import optimum_of, problem, results

PAGE = (Path(__file__).parents[3] / "docs" / "studies.md").read_text(encoding="utf-8")


def test_the_section_of_ones_own_is_shown():
    (source,) = re.findall(r"```python\n(from equipoise\.reports import .*?)```", PAGE, flags=re.DOTALL)
    names = {}
    exec(source, names)
    reader = Reader(render_report(results([problem("star", 2, optimum_of(2))], seeds=4, last=100), [names["seeds"]]))
    assert "How often each agent was run." in reader.text()
    assert "agentseedsTOC-UCRL24Frank-Wolfe UCB4round robin4" in reader.text()
    (place,) = [div for div in reader.all("div") if div.get("aria-label") == "Seeds of each agent, as bars"]
    assert "data-chart" in place


def test_the_parts_that_it_names_are_there():
    (table,) = re.findall(r"\| part \| what it is \|\n(.*?)\n\n", PAGE, flags=re.DOTALL)
    parts = re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE)
    assert len(parts) == 5
    assert all(hasattr(reports, name) for name in parts)
