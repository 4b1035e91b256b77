"""A document: one HTML file that holds everything it needs and asks nobody for anything.

The scripts of Vega, Vega-Lite and Vega-Embed come from vl-convert, which carries them; they are inlined once. A
content security policy forbids the page to load anything, and to compile code from text.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from string import Template

import vl_convert

from equipoise.reports.markup import Canvas, code_in_script, json_in_script, text
from equipoise.reports.theme import css_variables

_PAGE = Template("""<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<link rel="icon" href="data:,">
<style>
$style</style>
</head>
<body>
<noscript><p class="note">The charts are drawn by the page's own script, which is switched off here.</p></noscript>
$header
$nav
<main>
$sections
</main>
$footer
<script type="application/json" id="charts">$charts</script>
<script>$bundle</script>
<script>
$script</script>
</body>
</html>
""")


def document(title: str, header: str, nav: str, sections: Sequence[str], footer: str, canvas: Canvas) -> str:
    """The whole page: the title is plain, the parts are markup, the canvas holds their charts."""
    here = Path(__file__)
    return _PAGE.substitute(
        title=text(title),
        style=css_variables() + here.with_name("style.css").read_text(encoding="utf-8"),
        header=header,
        nav=nav,
        sections="\n".join(sections),
        footer=footer,
        charts=json_in_script(canvas.specifications),
        bundle=code_in_script(_bundle()),
        script=code_in_script(here.with_name("charts.js").read_text(encoding="utf-8")),
    )


def navigation(label: str, entries: Sequence[tuple[str, str]]) -> str:
    """Links to sections, by anchor and plain name; nothing if there is one section only."""
    if len(entries) < 2:
        return ""
    links = "".join(f'<li><a href="#{anchor}">{text(name)}</a></li>' for anchor, name in entries)
    return f'<nav aria-label="{text(label)}"><ul>{links}</ul></nav>'


@functools.cache
def _bundle() -> str:
    source: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return source
