"""The page of the paper: every statement with its verdict, what was measured, and a picture."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from equipoise import _files
from equipoise._version import VERSION
from equipoise.reports.charts.theme import Theme
from equipoise.reports.pages.files import markdown_table
from equipoise.reports.pages.markup import escape, escape_marks, write_code_block
from equipoise.reports.pages.page import Page, render_page
from equipoise.reports.pages.section import Column, Figure, Part, Section, Table, Text, file_stems
from paper.findings import Checked, Finding, Picture, Size, nearest
from paper.running import Outcome

_COLUMNS: Final = (
    Column("instance", "long", "markdown"),
    Column("measured", "number"),
    Column("is"),
    Column("bound", "number"),
    Column("verdict", form="markdown"),
)
_LOOK: Final = {
    "legend": {"orient": "bottom", "columns": 2, "symbolType": "stroke"},
    "line": {"strokeWidth": 2},
    "point": {"filled": True, "size": 45},
}
_ERRATA: Final = "paper.md#errata"
_VERDICTS: Final = ("holds", "holds as corrected", "not reached", "fails", "error")
REST: Final = "<!-- what follows is written by another program -->"
"""Ends what `write_table` writes."""


def write_paper(outcomes: Sequence[Outcome], path: str | os.PathLike[str], size: Size) -> Path:
    """Write what the checks of the paper say as one self-contained HTML file, atomically.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from paper.findings import Checked, Finding, Size, Statement
    >>> from paper.running import Outcome
    >>> statement = Statement("mine", "Lemma 1", "It is small", "x <= 1")
    >>> outcome = Outcome("mine", Checked(statement, (Finding("star", 0.5, 1.0),)), "", 0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = write_paper([outcome], Path(folder) / "paper.html", Size.QUICK).read_text(encoding="utf-8")
    >>> "Lemma 1" in text, "holds" in text
    (True, True)
    """
    _files.write_bytes(path, page(outcomes, size).encode())
    return Path(path)


def write_table(outcomes: Sequence[Outcome], path: str | os.PathLike[str], size: Size) -> Path:
    """Write the same in short as a Markdown page: of each statement the finding nearest to its bound.

    What follows the mark `REST` in a file that is there already is kept: it is another program's.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from paper.findings import Checked, Finding, Size, Statement
    >>> from paper.running import Outcome
    >>> statement = Statement("mine", "Lemma 1", "It is small", "x <= 1")
    >>> outcome = Outcome("mine", Checked(statement, (Finding("star", 0.5, 1.0),)), "", 0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = write_table([outcome], Path(folder) / "checks.md", Size.QUICK).read_text(encoding="utf-8")
    >>> "Lemma 1" in text, "holds" in text
    (True, True)
    """
    others = ("measured", "is", "bound", "share", "verdict", "findings")
    columns = ["statement", Column("name", form="code"), Column("on", form="markdown"), *others]
    rows = tuple(row for outcome in outcomes for row in _short_rows(outcome))
    counted = ", ".join(f"{verdict} {count}" for verdict, count in _counts(outcomes) if count)
    lines = [
        "# The checks",
        "",
        f"The last results of `make paper` ({size.value} checks, Equipoise {VERSION}): of each statement the"
        " finding that comes nearest to its bound, or is furthest beyond it, with the share of the bound that it uses,"
        " and how many findings there are. `python -m paper NAME` runs one again, and shows the rest with pictures."
        f" Errata are those of [the paper and the code]({_ERRATA}). What was not seen at the T that was run is not"
        " reached: it is counted, and neither holds nor fails.",
        "",
        f"Statements: {counted}.",
        "",
        markdown_table(Table("checks", "The checks", columns, rows)),
    ]
    text = "\n".join(lines)
    with contextlib.suppress(FileNotFoundError):
        _, mark, rest = Path(path).read_text(encoding="utf-8").partition(REST)
        text += mark + rest
    _files.write_bytes(path, text.encode())
    return Path(path)


def _short_rows(outcome: Outcome) -> list[tuple[str, ...]]:
    if outcome.checked is None:
        return [("", outcome.name, "", "", "", "", "", "error", "")]
    checked, statement = outcome.checked, outcome.checked.statement
    rows: list[tuple[str, ...]] = []
    head = (f"{statement.number}: {statement.title}", outcome.name)
    for findings, written in ((checked.written, True), (checked.corrected, False)):
        if findings:
            finding = nearest(findings)
            where = escape_marks(finding.instance)
            if not written and statement.erratum:
                where = f"corrected, [erratum {statement.erratum}]({_ERRATA}): {where}"
            elif not written:
                where = f"corrected: {where}"
            measured, relation, bound = _numbers(finding)
            share = "" if finding.share is None else f"{finding.share:.2g}"
            last = not (written and checked.corrected)
            verdict, tally = (outcome.verdict, checked.tally) if last else (finding.verdict, "")
            rows.append((*head, where, measured, relation, bound, share, verdict, tally))
            head = ("", "")
    return rows


def page(outcomes: Sequence[Outcome], size: Size) -> str:
    """The page as text."""
    reading = (
        "A finding sets a number that was measured against the bound that the statement gives for it. Where the"
        " number is an estimate, its interval at 99.9 % is given, and the finding fails only if the bound lies"
        " beyond it. What is said to hold with certainty was looked at on every run and at every time. What the"
        " theory promises for large T only, and was not seen at the T that was run, is not reached: it is counted,"
        " and neither holds nor fails. A statement that is wrong as written is followed by its correction; the"
        " reasons are in the documentation, under the number of the erratum. Its verdict needs all findings of the"
        " correction to hold, and one of what is written to fail."
    )
    return render_page(
        Page(
            title="The paper, executable",
            eyebrow="Equipoise",
            heading="The paper, executable",
            menu="Statements",
            sections=[_section(outcome) for outcome in outcomes],
            tiles=[(verdict, str(count), _bad(verdict) and count > 0) for verdict, count in _counts(outcomes)],
            overview=_overview(outcomes, size),
            closing=["## How to read this", escape(reading)],
        )
    )


def _overview(outcomes: Sequence[Outcome], size: Size) -> list[Part]:
    rows = tuple(
        (
            f"[{escape_marks(_short(outcome))}](#{outcome.name})",
            outcome.checked.statement.title if outcome.checked else "",
            _verdict(outcome.verdict),
            outcome.checked.tally if outcome.checked else "",
            f"{outcome.seconds:.1f} s",
        )
        for outcome in outcomes
    )
    columns = [
        Column("statement", form="markdown"),
        Column("what", "long"),
        Column("verdict", form="markdown"),
        "findings",
        Column("time", "number"),
    ]
    return [
        Text(f"Equipoise {VERSION}, {size.value} checks.", "muted"),
        Table("statements", "Statements", columns, rows),
    ]


def _section(outcome: Outcome) -> Section:
    if outcome.checked is None:
        return Section(outcome.name, [Text("It broke.", "bad"), write_code_block(outcome.error)], anchor=outcome.name)
    checked, statement = outcome.checked, outcome.checked.statement
    parts: list[Part] = [
        "### As written",
        escape(statement.says),
        _findings("written", "As written", checked.written),
    ]
    if checked.corrected:
        erratum = f" (erratum {statement.erratum})" if statement.erratum else ""
        parts += [
            f"### Corrected{erratum}",
            escape(statement.correction),
            _findings("corrected", "Corrected", checked.corrected),
        ]
    names = file_stems([picture.title for picture in checked.pictures], "picture")
    for name, picture in zip(names, checked.pictures, strict=True):
        parts += [f"### {escape_marks(picture.title)}", _figure(name, picture)]
    return Section(
        title=f"{statement.number}: {statement.title}",
        parts=tuple(parts),
        about=_verdict(outcome.verdict),
        anchor=outcome.name,
        entry=_short(outcome),
    )


def _findings(name: str, label: str, findings: Sequence[Finding]) -> Table:
    rows = tuple(
        (
            escape(finding.instance) + (f" *{escape(finding.note)}*" if finding.note else ""),
            *_numbers(finding),
            _verdict(finding.verdict),
        )
        for finding in findings
    )
    return Table(name, label, _COLUMNS, rows)


def _numbers(finding: Finding) -> tuple[str, str, str]:
    error = f" ± {finding.error:.2g}" if finding.error else ""
    return f"{finding.measured:.4g}{error}", "≤" if finding.relation == "<=" else "≥", f"{finding.bound:.4g}"


def _figure(name: str, picture: Picture) -> Figure:
    def chart(theme: Theme) -> dict[str, Any]:
        return {**picture.chart, "config": {**_LOOK, "rule": {"color": theme.ink}}}

    return Figure(name, chart, picture.title, picture.caption)


def _counts(outcomes: Sequence[Outcome]) -> list[tuple[str, int]]:
    """How many statements have each verdict."""
    verdicts = [outcome.verdict for outcome in outcomes]
    return [(verdict, verdicts.count(verdict)) for verdict in _VERDICTS]


def _verdict(verdict: str) -> str:
    return f"***{verdict}***" if _bad(verdict) else f"**{verdict}**"


def _bad(verdict: str) -> bool:
    return verdict in ("fails", "error")


def _short(outcome: Outcome) -> str:
    return outcome.checked.statement.number if isinstance(outcome.checked, Checked) else outcome.name
