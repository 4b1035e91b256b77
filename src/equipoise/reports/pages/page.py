"""A page: one HTML file that holds everything it needs and loads nothing.

The templates escape everything but rendered Markdown, the style sheet, the scripts and the data of the charts, in which
no name can end a script. The scripts of Vega, Vega-Lite and Vega-Embed come from vl-convert. A content security policy
forbids the page to load anything, and to compile code from text.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from equipoise.errors import ReportError
from equipoise.reports.charts.theme import PAGE, css_variables
from equipoise.reports.charts.vega import specification
from equipoise.reports.pages.markup import keep_formulas, render_inline, render_markdown
from equipoise.reports.pages.section import Figure, Key, Panels, Part, Section, file_stems, walk_parts


@dataclass(frozen=True, eq=False)
class Page:
    """What a page is made of."""

    title: str
    eyebrow: str
    heading: str
    menu: str
    sections: Sequence[Section]
    description: str = ""
    tiles: Sequence[tuple[str, str, bool]] = ()  # name, value, and whether it is bad
    overview: Sequence[Part] = ()
    closing: Sequence[Part] = ()
    agents: Mapping[str, int] = field(default_factory=dict)  # names and labels, with the places of agents in the study


def render_page(page: Page) -> str:
    """Return the page as text."""
    figures: dict[int, int] = {}
    specifications: list[dict[str, Any]] = []
    anchors = file_stems([section.anchor or section.title for section in page.sections])
    named = [replace(section, anchor=anchor) for section, anchor in zip(page.sections, anchors, strict=True)]
    page = replace(page, sections=named)
    for title, figure in _figures(page):
        figures[id(figure)] = len(specifications)
        specifications.append(_specification(title, figure))
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            place=lambda figure: figures[id(figure)],
            key_of=lambda name: Key.agent(page.agents[name], name) if name in page.agents else None,
            style=Markup(css_variables() + _source("style.css")),
            charts=Markup(json_in_script(specifications)),
            bundle=Markup(code_in_script(_bundle())),
            script=Markup(code_in_script(_source("charts.js"))),
        )
    )


def json_in_script(value: Any) -> str:
    """Write JSON that no name can break out of: in a script element only "<" could, and it is written as an escape."""
    plain = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def code_in_script(source: str) -> str:
    """Write JavaScript for a script element; what would end or hide the element can occur in strings only."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", source, flags=re.IGNORECASE)


def _figures(page: Page) -> Iterator[tuple[str, Figure]]:
    """All charts in the order of the page, each with the title of its section."""
    places = [("", page.overview), *((section.title, section.parts) for section in page.sections)]
    for title, parts in [*places, ("", page.closing)]:
        for part in walk_parts(parts):
            if isinstance(part, Figure):
                yield title, part
            elif isinstance(part, Panels):
                yield from ((title, figure) for figure in part.figures)


def _specification(title: str, figure: Figure) -> dict[str, Any]:
    try:
        spec = specification(figure.draw(PAGE), PAGE, figure.height)
        json_in_script(spec)
    except Exception as error:  # a user's chart may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise ReportError(f"section {title!r}: figure {figure.name!r} cannot be drawn ({reason})") from error
    return spec


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("equipoise.reports.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"formulas": keep_formulas, "inline": render_inline, "markdown": render_markdown}
    return environment


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None  # for mypy: it is given above
    return loader.get_source(_environment(), name)[0]


@functools.cache
def _bundle() -> str:
    source: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return source
