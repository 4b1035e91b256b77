"""Formulas as pictures in the page, drawn while it is built: no script, no font to fetch, the colour of the text.

A screen reader reads the formula as it was written, in TeX.
"""

from __future__ import annotations

from xml.etree import ElementTree

import ziamath
from docutils import nodes
from markupsafe import escape
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

SIZE = 18.0  # of the letters, in pixels where the text around has 16
ziamath.config.svg2 = False  # without references from one formula to another


def drawn(tex: str, *, inline: bool) -> str:
    """A formula as an element of HTML whose measures follow the size of the text."""
    formula = ziamath.Latex(tex, size=SIZE, color="currentColor", inline=inline)
    picture = formula.svgxml()
    below = f"{(formula.getyofst() - formula.margin) / 16.0:.4f}em"
    for side in ("width", "height"):
        picture.set(side, f"{float(picture.get(side)) / 16.0:.4f}em")
    picture.set("role", "img")
    picture.set("aria-label", " ".join(tex.split()))
    picture.set("style", f"vertical-align: {below}" if inline else "max-width: 100%")
    return ElementTree.tostring(picture, encoding="unicode")


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(drawn(node.astext(), inline=True))
    raise nodes.SkipNode


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(drawn(node.astext(), inline=False))
    if node["number"]:
        number = self.builder.env.domains.math_domain.get_equation_number_for(node["label"])
        self.body.append(f"<span>({escape(number)})</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the renderer `drawn`."""
    app.add_html_math_renderer("drawn", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
