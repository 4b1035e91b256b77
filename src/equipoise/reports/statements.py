"""The page of the paper: every statement with its verdict, what was measured, and a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equipoise import _files
from equipoise._version import VERSION
from equipoise.paper import Checked, Finding, Outcome, Picture, Size, nearest
from equipoise.reports.document import document, navigation
from equipoise.reports.markup import Canvas, Column, prose, table, text
from equipoise.reports.theme import PAGE, config

_COLUMNS = [Column("instance", "wrap"), Column("measured", "n"), Column(""), Column("bound", "n"), Column("verdict")]
_HEIGHT = 300


def write_paper(outcomes: Sequence[Outcome], path: str | os.PathLike[str], size: Size) -> Path:
    """Write what the checks of the paper say as one self-contained HTML file, atomically."""
    _files.write_bytes(path, page(outcomes, size).encode())
    return Path(path)


def write_table(outcomes: Sequence[Outcome], path: str | os.PathLike[str], size: Size) -> Path:
    """Write the same in short as a Markdown page: of each statement the finding nearest to its bound."""
    lines = [
        "# The checks",
        "",
        f"The last results of `equipoise paper` ({size.value} checks, Equipoise {VERSION}): of each statement the"
        " finding that comes nearest to its bound, or is furthest beyond it. `equipoise paper NAME` runs one again, and"
        " shows the rest with pictures. Errata are those of [the paper and the code](paper.md#errata).",
        "",
        "| statement | name | on | measured | | bound | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        if outcome.checked is None:
            lines.append(f"| | `{outcome.name}` | | | | | error |")
            continue
        checked, statement = outcome.checked, outcome.checked.statement
        head = f"| {statement.number}: {statement.title} | `{outcome.name}` |"
        erratum = f", [erratum {statement.erratum}](paper.md#errata)" if statement.erratum else ""
        for findings, written in ((checked.written, True), (checked.corrected, False)):
            if findings:
                found = nearest(findings)
                error = f" ± {found.error:.2g}" if found.error else ""
                relation = "≤" if found.relation == "<=" else "≥"
                where = found.instance.replace("|", "\\|") if written else f"corrected{erratum}: {found.instance}"
                lines.append(
                    f"{head} {where} | {found.measured:.4g}{error} | {relation} | {found.bound:.4g} | {found.verdict} |"
                )
                head = "| | |"
    _files.write_bytes(path, ("\n".join(lines) + "\n").encode())
    return Path(path)


def page(outcomes: Sequence[Outcome], size: Size) -> str:
    """The page as text."""
    canvas = Canvas()
    return document(
        title="The paper, executable",
        header=_header(outcomes, size),
        nav=navigation("Statements", [(outcome.name, _short(outcome)) for outcome in outcomes]),
        sections=[_section(outcome, canvas) for outcome in outcomes],
        footer=(
            "<footer><h2>How to read this</h2>"
            "<p>A finding sets a number that was measured against the bound that the statement gives for it. Where the"
            " number is an estimate, its interval at 99.9 % is given, and the finding fails only if the bound lies"
            " beyond it. What is said to hold with certainty was looked at on every run and at every time. What the"
            " theory promises for large T only, and was not seen at the T that was run, is not reached: it counts for"
            " nothing. A statement that is wrong as written is followed by its correction; the reasons are in the"
            " documentation, under the number of the erratum.</p></footer>"
        ),
        canvas=canvas,
    )


def _header(outcomes: Sequence[Outcome], size: Size) -> str:
    count = [outcome.verdict for outcome in outcomes].count
    tiles = "".join(
        f'<div><dt>{text(word)}</dt><dd class="{kind if count(word) else ""}">{count(word)}</dd></div>'
        for word, kind in (
            ("holds", ""), ("holds as corrected", ""), ("not reached", ""), ("fails", "bad"), ("error", "bad")
        )
    )  # fmt: skip
    rows = [
        [
            f'<a href="#{text(outcome.name)}">{text(_short(outcome))}</a>',
            text(outcome.checked.statement.title if outcome.checked else ""),
            _verdict(outcome.verdict),
            f"{outcome.seconds:.1f} s",
        ]
        for outcome in outcomes
    ]
    columns = [Column("statement"), Column("what", "wrap"), Column("verdict"), Column("time", "n")]
    return (
        '<header><p class="eyebrow">Equipoise</p><h1>The paper, executable</h1>'
        f'<dl class="tiles">{tiles}</dl><p class="muted">Equipoise {text(VERSION)}, {size.value} checks.</p>'
        f"{table('Statements', columns, rows)}</header>"
    )


def _section(outcome: Outcome, canvas: Canvas) -> str:
    anchor = text(outcome.name)
    if outcome.checked is None:
        broke = f'<p class="bad">It broke.</p><pre>{text(outcome.error)}</pre>'
        return f'<section id="{anchor}"><h2>{anchor}</h2>{broke}</section>'
    checked = outcome.checked
    statement = checked.statement
    parts = [
        f"<h2>{text(statement.number)}: {text(statement.title)}</h2>",
        f'<p class="made">{_verdict(outcome.verdict)}</p>',
        f"<h3>As written</h3><p>{prose(statement.says)}</p>",
        _findings("As written", checked.written),
    ]
    if checked.corrected:
        erratum = f" (erratum {statement.erratum})" if statement.erratum else ""
        parts += [
            f"<h3>Corrected{text(erratum)}</h3><p>{prose(statement.correction)}</p>",
            _findings("Corrected", checked.corrected),
        ]
    parts += [_figure(picture, canvas) for picture in checked.pictures]
    return f'<section id="{anchor}">{"".join(parts)}</section>'


def _findings(label: str, findings: Sequence[Finding]) -> str:
    rows = [
        [
            prose(finding.instance) + (f'<br><span class="muted">{prose(finding.note)}</span>' if finding.note else ""),
            f"{finding.measured:.4g}" + (f"\xa0±\xa0{finding.error:.2g}" if finding.error else ""),
            "≤" if finding.relation == "<=" else "≥",
            f"{finding.bound:.4g}",
            _verdict(finding.verdict),
        ]
        for finding in findings
    ]
    return table(label, _COLUMNS, rows)


def _figure(picture: Picture, canvas: Canvas) -> str:
    spec: dict[str, Any] = {
        "width": "container",
        "height": _HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        **picture.chart,
    }
    legend = {"orient": "bottom", "columns": 2, "symbolType": "stroke"}
    colours = config(PAGE)
    spec["config"] = colours | {
        "aria": False,
        "legend": colours["legend"] | legend,
        "range": {"category": list(PAGE.agents), "ramp": {"scheme": "viridis"}},
        "line": {"strokeWidth": 2},
        "point": {"filled": True, "size": 45},
        "rule": {"color": PAGE.ink},
    }
    drawn = canvas.draw(spec, picture.title, _HEIGHT)
    return f"<h3>{text(picture.title)}</h3><figure>{drawn}<figcaption>{prose(picture.caption)}</figcaption></figure>"


def _verdict(verdict: str) -> str:
    return f'<b class="{"bad" if verdict in ("fails", "error") else ""}">{text(verdict)}</b>'


def _short(outcome: Outcome) -> str:
    return outcome.checked.statement.number if isinstance(outcome.checked, Checked) else outcome.name
