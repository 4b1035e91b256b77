"""Small multiples in one figure for a file: panels side by side, three in a row.

Vega-Lite gives a size to panels, not to what is composed of them. So when the whole figure is to have a width or a
height, it is drawn, and what the panels have too much or too little is shared out among them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import vl_convert

from equipoise.reports.drawing.specification import as_mapping, specification
from equipoise.reports.drawing.theme import Theme

COLUMNS: Final = 3
_WIDTH, _HEIGHT = 210, 150
_SPACING: Final = {"row": 78, "column": 58}
_OUTERMOST: Final = ("$schema", "config", "datasets")  # allowed in a whole figure only
_CORRECTIONS: Final = 6  # of which one would do, if no title were wider than its panel
_LEAST: Final = 40  # pixels: nothing can be seen in a narrower panel


def panels_specification(panels: Sequence[tuple[str, Any]], theme: Theme, description: str) -> dict[str, Any]:
    """One specification of several charts.

    Parameters
    ----------
    panels : sequence of tuple
        Title and chart of each.
    theme : Theme
        How they look, and the size of the whole.
    description : str
        What it shows in words.
    """
    columns, rows = min(COLUMNS, len(panels)), -(-len(panels) // COLUMNS)
    width, height = _WIDTH, _HEIGHT
    whole = _composed(panels, theme, width, height, description)
    if theme.width is None and theme.height is None:
        return whole
    for _ in range(_CORRECTIONS):
        drawn_width, drawn_height = _drawn_size(whole)
        wider, higher = ((theme.width or drawn_width) - drawn_width, (theme.height or drawn_height) - drawn_height)
        if abs(wider) < columns and abs(higher) < rows:
            break
        width = max(_LEAST, round(width + wider / columns))
        height = max(_LEAST, round(height + higher / rows))
        whole = _composed(panels, theme, width, height, description)
    return whole


def _composed(
    panels: Sequence[tuple[str, Any]], theme: Theme, width: int, height: int, description: str
) -> dict[str, Any]:
    charts: list[dict[str, Any]] = []
    datasets: dict[str, Any] = {}
    for title, chart in panels:
        spec = as_mapping(chart)
        datasets |= spec.get("datasets", {})
        inner = {key: value for key, value in spec.items() if key not in _OUTERMOST}
        charts.append(inner | {"title": title, "width": width, "height": height})
    whole = {"concat": charts, "columns": COLUMNS, "bounds": "flush", "spacing": _SPACING, "datasets": datasets}
    return specification(whole, replace(theme, width=None, height=None), height, description)


def _drawn_size(spec: dict[str, Any]) -> tuple[float, float]:
    drawn = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec))
    return float(drawn.attrib["width"]), float(drawn.attrib["height"])
