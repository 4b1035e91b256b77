"""Small pieces of HTML. Text that comes from a study passes through `text`, data through `json_in_script`."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equipoise.reports.charts import specification
from equipoise.reports.theme import PAGE, colour, dash


def text(plain: str) -> str:
    """Plain text for an element or a quoted attribute.

    >>> text('<b> & "q"')
    '&lt;b&gt; &amp; &quot;q&quot;'
    """
    return html.escape(plain, quote=True)


def prose(plain: str) -> str:
    r"""A sentence as an element's text, with formulas that do not break at the end of a line.

    >>> prose("at t = 10: 1 ± 2, p < 0.1")
    'at t\xa0=\xa010: 1\xa0±\xa02, p\xa0&lt;\xa00.1'
    """
    tight = re.sub(r" ([±×=<≤≥]) ", "\xa0\\1\xa0", plain)
    return text(tight.replace(" %", "\xa0%"))


def json_in_script(value: Any) -> str:
    r"""JSON that no name can break out of: within a script element only "<" could, and it is written as an escape.

    >>> json_in_script("</script>&é")
    '"\\u003c/script\\u003e\\u0026\\u00e9"'
    """
    plain = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def code_in_script(source: str) -> str:
    r"""JavaScript for a script element; the sequences that would end or hide it can occur in strings only.

    >>> print(code_in_script("a = '</script>'"))
    a = '\x3c/script>'
    """
    return re.sub(r"<(?=/script|!--)", r"\\x3c", source, flags=re.IGNORECASE)


@dataclass
class Canvas:
    """The charts of a page: places in its text, and the specifications that the script draws there."""

    specifications: list[dict[str, Any]] = field(default_factory=list)

    def place(self, chart: Any, label: str, height: int) -> str:
        """Keep the chart, and give the element that it will be drawn in."""
        return self.draw(specification(chart, PAGE), label, height)

    def draw(self, spec: dict[str, Any], label: str, height: int) -> str:
        """The same for a specification of Vega-Lite."""
        self.specifications.append(spec)
        index = len(self.specifications) - 1
        return (
            f'<div class="chart" role="img" aria-label="{text(label)}" data-chart="{index}"'
            f' style="min-height: {height}px"></div>'
        )


def named(place: int, name: str) -> str:
    """An agent: a piece of its line, and its name."""
    return f'<span class="agent">{swatch(place)}<span>{text(name)}</span></span>'


def legend(agents: Mapping[str, str], names: Sequence[str], extra: Sequence[str] = ()) -> str:
    """Some of the agents with their labels, and entries that are markup already."""
    entries = [named(list(agents).index(name), agents[name]) for name in names]
    return items("legend", [*entries, *extra])


def swatch(place: int) -> str:
    """A short piece of an agent's line."""
    dashes = f' stroke-dasharray="{" ".join(map(str, dash(place)))}"' if dash(place) else ""
    return _line(colour(place, PAGE), dashes)


def rule_swatch(stroke: str) -> str:
    """A short piece of a dashed line."""
    return _line(f"var(--{stroke})", ' stroke-dasharray="5 3"')


def _line(stroke: str, dashes: str) -> str:
    return (
        '<svg class="swatch" viewBox="0 0 26 12" aria-hidden="true">'
        f'<line x1="1" x2="25" y1="6" y2="6" stroke="{stroke}" stroke-width="2.6"{dashes}/></svg>'
    )


def square(index: int) -> str:
    """The colour of a trigger."""
    return (
        '<svg class="swatch" style="width: 12px" viewBox="0 0 12 12" aria-hidden="true">'
        f'<rect width="12" height="12" rx="2" fill="var(--trigger-{index})"/></svg>'
    )


def items(kind: str, entries: Iterable[str]) -> str:
    """A list of entries that are markup already."""
    return f'<ul class="{kind}">{"".join(f"<li>{entry}</li>" for entry in entries)}</ul>'


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values, both plain."""
    rows = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>'


@dataclass(frozen=True)
class Column:
    """A heading, and how the cells below it stand: "n" for numbers, "wrap" for long text."""

    heading: str
    kind: str = ""


def table(label: str, columns: Sequence[Column], rows: Iterable[Sequence[str]], best: int | None = None) -> str:
    """A table in a box of its own that scrolls when it is wide; cells are markup, the first of a row is its heading."""

    def kind(column: Column) -> str:
        return f' class="{column.kind}"' if column.kind else ""

    head = "".join(f'<th scope="col"{kind(column)}>{text(column.heading)}</th>' for column in columns)
    body = []
    for index, (first, *others) in enumerate(rows):
        mark = ' class="best"' if index == best else ""
        cells = "".join(f"<td{kind(c)}>{cell}</td>" for c, cell in zip(columns[1:], others, strict=True))
        body.append(f'<tr{mark}><th scope="row"{kind(columns[0])}>{first}</th>{cells}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(label)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )
