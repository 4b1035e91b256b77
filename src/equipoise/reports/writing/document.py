"""A document: one HTML file that holds everything it needs and asks nobody for anything.

The HTML is in templates, in which everything is escaped that is not said to be safe; safe are the style sheet, the
scripts, and the data of the charts, which are made so that no name can end a script. The scripts of Vega, Vega-Lite
and Vega-Embed come from vl-convert, which carries them; they are inlined once. A content security policy forbids the
page to load anything, and to compile code from text.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from equipoise.errors import ReportError
from equipoise.reports.drawing.specification import specification
from equipoise.reports.drawing.theme import PAGE, css_variables
from equipoise.reports.writing.inline import pieces, prose
from equipoise.reports.writing.names import stems
from equipoise.reports.writing.section import Figure, Panels, Part, Section, walk


@dataclass(frozen=True, eq=False)
class Document:
    """What a page is made of.

    Attributes
    ----------
    title : str
        Of the window.
    eyebrow, heading : str
        A small line, and the large one below it.
    overview : tuple of Part
        Before all sections.
    menu : str
        What the navigation lists, for those who cannot see it.
    sections : tuple of Section
        In order.
    closing : tuple of Part
        After all sections.
    """

    title: str
    eyebrow: str
    heading: str
    overview: tuple[Part, ...]
    menu: str
    sections: tuple[Section, ...]
    closing: tuple[Part, ...]


def html(document: Document) -> str:
    """The page as text."""
    figures: dict[int, int] = {}
    specifications: list[dict[str, Any]] = []
    anchored = with_anchors(document.sections)
    for where, figure in _figures(replace(document, sections=anchored)):
        figures[id(figure)] = len(specifications)
        specifications.append(_specification(where, figure))
    environment = _environment()
    return environment.get_template("page.html.j2").render(
        document=document,
        sections=anchored,
        place=lambda figure: figures[id(figure)],
        style=Markup(css_variables() + _source("style.css")),
        charts=Markup(json_in_script(specifications)),
        bundle=Markup(code_in_script(_bundle())),
        script=Markup(code_in_script(_source("charts.js"))),
    )


def with_anchors(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections, each with an anchor of its own."""
    anchors = stems([section.anchor or section.title for section in sections])
    return tuple(replace(section, anchor=anchor) for section, anchor in zip(sections, anchors, strict=True))


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


def _figures(document: Document) -> Iterator[tuple[str, Figure]]:
    """All charts in the order of the page, each with the title of its section."""
    places = [("", document.overview), *((section.title, section.parts) for section in document.sections)]
    for where, parts in [*places, ("", document.closing)]:
        for part in walk(parts):
            if isinstance(part, Figure):
                yield where, part
            elif isinstance(part, Panels):
                yield from ((where, figure) for figure in part.figures)


def _specification(where: str, figure: Figure) -> dict[str, Any]:
    try:
        spec = specification(figure.drawn(PAGE), PAGE, figure.height)
        json_in_script(spec)
    except Exception as error:  # a user's chart may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise ReportError(f"section {where!r}: figure {figure.name!r} cannot be drawn ({reason})") from error
    return spec


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("equipoise.reports.writing"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "pieces": pieces}
    return environment


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None  # for mypy: it is given above
    return loader.get_source(_environment(), name)[0]


@functools.cache
def _bundle() -> str:
    source: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return source
