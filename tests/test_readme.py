"""The programs of the README and of the reference pages run, and print what stands beside them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [
    page
    for page in [ROOT / "README.md", DOCS / "index.md", DOCS / "performance.md", *sorted(DOCS.glob("reference/*.md"))]
    if "```python" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_program_prints_what_follows_it(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    pairs = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, flags=re.DOTALL)
    assert len(pairs) == text.count("```python")
    names: dict[str, object] = {"__name__": "__main__"}
    for program, expected in pairs:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(program, page.name, "exec"), names)
        assert out.getvalue() == expected
