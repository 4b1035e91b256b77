"""The README's programs run, and print what it says they print."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_every_program_prints_what_follows_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len(pairs) == README.read_text().count("```python")
    names: dict[str, object] = {}
    for program, expected in pairs:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(program, "README.md", "exec"), names)
        assert out.getvalue() == expected
