"""The tutorials run, and show what they say; what makes their pages refuses what is not right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sphinx.errors import ExtensionError

from docs._sphinx.executed_pages import finished_page
from docs._sphinx.page_program import PART, THEMES, Page

pytestmark = pytest.mark.docs

FOLDER = Path(__file__).parent.parent / "docs" / "tutorials"
QUICK = ["kpis", "mechanics", "constraints", "gymnasium"]
LONG = ["log", "compare"]


def test_every_tutorial_is_known():
    assert {path.stem for path in FOLDER.glob("*.md")} == {*QUICK, *LONG, "threshold", "index"}


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_runs_and_shows_everything(name):
    assert_shown(FOLDER / f"{name}.md", finished_page(FOLDER / f"{name}.md"))


def assert_shown(path, text):
    """All blocks are there, with a figure in both colours for each that is announced; no placeholder is left."""
    written = path.read_text(encoding="utf-8")
    parts = list(PART.finditer(written))
    blocks = [part["code"] for part in parts if part["language"]]
    figures = [part["words"] for part in parts if part["words"]]
    assert len(blocks) >= 4
    assert len(figures) >= 1
    assert all(block in text for block in blocks)
    for words in figures:
        assert text.count(f":alt: {words}\n") == len(THEMES)
    assert "](figure)" not in text
    assert "{result}" not in text
    assert text.count(":class: output") >= 3


def test_the_threshold_in_pictures(monkeypatch, tmp_path):
    """The claims of its text, on the star with D = 4 and K = 3: closed forms, and the paper's Claim on Q = 0."""
    monkeypatch.chdir(tmp_path)
    page = Page(FOLDER / "threshold.md")
    text = page.finished()
    assert_shown(page.path, text)
    exact, default, regret = (page.names[name] for name in ("exact", "default", "regret"))

    for t in (10, 10**3, 10**6):  # with Q = ∞: two hours of travel, then one loop for ever
        share = 1 - 2 / t
        assert regret(exact["Q = ∞"], t) == pytest.approx(1 - share + ((share - 1 / 3) ** 2 + 2 / 9) / 2, abs=1e-9)

    assert regret(exact["Q = 0"], 1000) > 0.8
    assert regret(exact["Q = 0"], 1000) / regret(exact["Q = 0"], 100) > 0.95  # it stays
    for delayed in (exact["Q = L"], default["Q = L"], default["Q = 0"]):  # about 1/sqrt(t)
        last = delayed.steps
        assert regret(delayed, last) / regret(delayed, last // 100) == pytest.approx(0.1, rel=0.25)
    assert regret(default["Q = 0"], 1000) < 0.2 * regret(exact["Q = 0"], 1000)  # the tolerance delays the switches

    rules = [run.regret(page.names["best"]) for name, run in page.names["runs"].items() if name.startswith("fixed")]
    last, third = np.array([(rule[-1], rule[-6]) for rule in rules]).T  # at the end, and at a third of the time
    assert last.min() > 2 * regret(exact["Q = L"], 10**6)
    assert (last / third > 0.9).all()  # each levels off


def written(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_page(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = (
        "# A page\n\n```python\n# part.py\nx = 3\n```\n\n```python\nfrom part import x\n\nprint(x)\n```\n\n"
        "Twice that is {result}`2 * x:.2f`.\n\n```sh\nls part.py\n```\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    finished = Page(written(tmp_path, text)).finished()
    assert re.findall(r":class: output\n\n(.*?)\n\n````", finished, flags=re.DOTALL) == ["3", "part.py"]
    assert "Twice that is 6.00." in finished


CHART = "```python\nimport altair as alt\n\nalt.Chart().mark_point()\n```\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CHART, "no !\\[words\\]\\(figure\\) follows"),
        (CHART + "\n" + CHART, "no !\\[words\\]\\(figure\\) follows"),
        ("```python\nx = 1\n```\n\n![words](figure)\n", "no chart for the figure 'words'"),
        ("```sh\nfalse\n```\n", "false"),
    ],
)
def test_what_is_not_right_is_refused(text, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        Page(written(tmp_path, text)).finished()


def test_an_error_names_the_page_and_the_line(tmp_path):
    page = written(tmp_path, "# A page\n\n```python\nx = 1\nx / 0\n```\n")
    with pytest.raises(ExtensionError, match=r'page\.md", line 5(?s:.*)ZeroDivisionError'):
        finished_page(page)
