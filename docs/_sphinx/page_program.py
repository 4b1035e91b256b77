"""A page whose programs are run: the same page, with what they print, draw and compute put where it belongs.

On such a page

- a block of ``python`` is run after those before it, as one program, and what it prints is shown below it;
- a block of ``sh`` is run too, in the same folder;
- a block of any language whose first line is a comment with the name of a file, as in ``# mine.py``, is not run but
  written to that file;
- ``![words](figure)`` shows the chart that the last line of the block before it is, in light and in dark colours;
- ``{result}`best.value:.4f``` in a line of text is that value, written as in an f-string.

``python page_program.py PAGE`` prints the finished page. It is a program of its own, in the present folder, so that
pages know nothing of each other; whatever goes wrong in a block ends it with the error.
"""

from __future__ import annotations

import ast
import base64
import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import altair as alt

from equipoise.reports.charts.theme import DARK, PRINT, SYSTEM_FONT, Theme, config
from equipoise.reports.charts.vega import FORMATS

PART: Final = re.compile(
    r"^```(?P<language>python|sh|toml)\n(?P<code>.*?)^```\n"
    r"|^!\[(?P<words>[^\]]+)\]\(figure\)\n"
    r"|\{result\}`(?P<expression>[^`]+)`",
    flags=re.DOTALL | re.MULTILINE,
)
FILE: Final = re.compile(r"# (\w+\.\w+)\n")
_LIGHT_PAGE: Final = replace(PRINT, ground=None, font=SYSTEM_FONT, font_size=13)
THEMES: Final = {
    "only-light": _LIGHT_PAGE,
    "only-dark": replace(_LIGHT_PAGE, ink="#ced6dd", muted="#a8b0b8", grid="#33383f", paper="#14181e", agents=DARK),
}
"""The classes of the theme of the pages for what is shown in light and in dark alone."""


class Page:
    """A page on its way: the program so far, and the chart that waits for its place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.chart: alt.TopLevelMixin | None = None

    def finished(self) -> str:
        """The page with everything in it."""
        text = PART.sub(self._answer, self.text)
        self._no_chart_waits()
        return text

    def _answer(self, part: re.Match[str]) -> str:
        if part["expression"]:
            return str(eval(f"f'''{{{part['expression']}}}'''", self.names))
        if part["words"]:
            return self._figure(part["words"])
        self._no_chart_waits()
        if name := FILE.match(part["code"]):
            Path(name[1]).write_text(part["code"], encoding="utf-8")
            return part[0]
        printed = self._python(part) if part["language"] == "python" else _shell(part["code"])
        return part[0] + (f"\n````{{code-block}} text\n:class: output\n\n{printed}\n````\n" if printed else "")

    def _python(self, block: re.Match[str]) -> str:
        """Run a block, keep its chart, return what it printed. Errors name the line of the page."""
        tree = ast.parse(block["code"])
        ast.increment_lineno(tree, self.text.count("\n", 0, block.start("code")))
        last = tree.body[-1].value if isinstance(tree.body[-1], ast.Expr) else None
        body = tree.body[:-1] if last else tree.body
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(ast.Module(body, []), self.path, "exec"), self.names)
            value = eval(compile(ast.Expression(last), self.path, "eval"), self.names) if last else None
        self.chart = value if isinstance(value, alt.TopLevelMixin) else None
        return printed.getvalue()

    def _figure(self, words: str) -> str:
        if self.chart is None:
            raise ValueError(f"no chart for the figure '{words}': the block before it must end with one")
        spec, self.chart = self.chart.to_dict(), None
        return "\n".join(
            f"```{{image}} data:image/svg+xml;base64,{_svg(spec, theme)}\n:alt: {words}\n:class: {name}\n```\n"
            for name, theme in THEMES.items()
        )

    def _no_chart_waits(self) -> None:
        if self.chart is not None:
            raise ValueError("a block ends with a chart, and no ![words](figure) follows it")


def _svg(spec: dict[str, Any], theme: Theme) -> str:
    """Draw a chart in the colours of a theme, narrow enough to be read on a phone."""
    usual = config(theme)
    changes = {
        "axis": {**usual["axis"], "labelSeparation": 6},
        "mark": {"color": theme.agents[0]},
        "rule": {"color": theme.muted},
        "header": {"labelColor": theme.ink, "labelFontSize": theme.font_size},
        "legend": {**usual["legend"], "columns": 2, "columnPadding": 24, "layout": {"bottom": {"margin": 24}}},
        "view": {"stroke": None, "continuousWidth": 400, "continuousHeight": 240, "discreteWidth": {"step": 44}},
    }
    return base64.b64encode(FORMATS["svg"]({**spec, "config": {**usual, **changes}})).decode()


def _shell(commands: str) -> str:
    done = subprocess.run(["bash", "-e", "-c", commands], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{commands}{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Finish the page that is named, and print it."""
    sys.path[0] = str(Path.cwd())  # as for a program in this folder
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    print(Page(Path(sys.argv[1])).finished(), end="")


if __name__ == "__main__":
    main()
