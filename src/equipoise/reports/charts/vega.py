"""A chart as Vega-Lite with the configuration of its theme and a size; several charts in one figure; and files of them.

On a page a chart is as wide as its place. In a file its plot has its own size, unless the theme gives the whole figure
a width or a height. Vega-Lite sizes panels, not what is composed of them: such a figure is drawn, and the difference
from the size that is wanted is divided among the panels, until it is less than a pixel per panel or after
`_CORRECTIONS` rounds. A panel is never smaller than `_MIN_PANEL`.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import vl_convert

from equipoise.reports.charts.theme import Theme, config

PLOT_WIDTH: Final = 520
_COMPOSED: Final = ("concat", "hconcat", "vconcat", "facet", "repeat")  # their parts have sizes, they have none


def specification(chart: Any, theme: Theme, height: int, description: str | None = None) -> dict[str, Any]:
    """The chart as Vega-Lite, in its size."""
    spec = as_mapping(chart)
    spec.pop("$schema", None)
    given = spec.pop("config", {})
    spec["config"] = _merge(config(theme), given)
    if description is None:
        spec["config"]["aria"] = False  # the element around the chart has the text for screen readers
    else:
        spec["description"] = description
    return spec | _size(spec, theme, height)


def as_mapping(chart: Any) -> dict[str, Any]:
    """A copy of a chart as Vega-Lite."""
    if isinstance(chart, Mapping):
        return copy.deepcopy(dict(chart))
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return spec


def _size(spec: Mapping[str, Any], theme: Theme, height: int) -> dict[str, Any]:
    if any(key in spec for key in _COMPOSED):
        return {}
    if theme.fluid:
        return {"width": "container", "height": height, "autosize": {"type": "fit-x", "contains": "padding"}}
    size: dict[str, Any] = {"width": theme.width or PLOT_WIDTH, "height": theme.height or height}
    fit = {(True, True): "fit", (True, False): "fit-x", (False, True): "fit-y"}
    how = fit.get((theme.width is not None, theme.height is not None))
    return size if how is None else size | {"autosize": {"type": how, "contains": "padding"}}


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


COLUMNS: Final = 3
_WIDTH, _HEIGHT = 210, 150
_SPACING: Final = {"row": 78, "column": 58}
_OUTERMOST: Final = ("$schema", "config", "datasets")  # allowed in a whole figure only
_CORRECTIONS: Final = 6  # of which one would do, if no title were wider than its panel
_MIN_PANEL: Final = 40  # pixels: nothing can be seen in a narrower panel
_NARROW: Final = 130  # pixels that a panel takes with its axis; in a narrower figure there are fewer side by side


def panels_specification(panels: Sequence[tuple[str, Any]], theme: Theme, description: str) -> dict[str, Any]:
    """One specification of several charts."""
    columns = min(COLUMNS, len(panels), max(1, (theme.width or COLUMNS * _NARROW) // _NARROW))
    rows = -(-len(panels) // columns)
    width, height = _WIDTH, _HEIGHT
    whole = _compose(panels, theme, columns, (width, height), description)
    if theme.width is None and theme.height is None:
        return whole
    for _ in range(_CORRECTIONS):
        drawn_width, drawn_height = _measure(whole)
        wider, higher = ((theme.width or drawn_width) - drawn_width, (theme.height or drawn_height) - drawn_height)
        if abs(wider) < columns and abs(higher) < rows:
            return whole
        width = max(_MIN_PANEL, round(width + wider / columns))
        height = max(_MIN_PANEL, round(height + higher / rows))
        whole = _compose(panels, theme, columns, (width, height), description)
    return whole


def _compose(
    panels: Sequence[tuple[str, Any]], theme: Theme, columns: int, size: tuple[int, int], description: str
) -> dict[str, Any]:
    width, height = size
    charts: list[dict[str, Any]] = []
    datasets: dict[str, Any] = {}
    for title, chart in panels:
        spec = as_mapping(chart)
        datasets |= spec.get("datasets", {})
        inner = {key: value for key, value in spec.items() if key not in _OUTERMOST}
        charts.append(inner | {"title": title, "width": width, "height": height})
    whole = {"concat": charts, "columns": columns, "bounds": "flush", "spacing": _SPACING, "datasets": datasets}
    return specification(whole, replace(theme, width=None, height=None), height, description)


def _measure(spec: dict[str, Any]) -> tuple[float, float]:
    drawn = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec))
    return float(drawn.attrib["width"]), float(drawn.attrib["height"])


_PIXELS_PER_INCH: Final = 216  # of a PNG, where a pixel of the figure is 1/72 inch: three for one


FORMATS: Final[dict[str, Callable[[dict[str, Any]], bytes]]] = {
    "svg": lambda spec: bytes(vl_convert.vegalite_to_svg(spec).encode()),
    "png": lambda spec: bytes(vl_convert.vegalite_to_png(spec, ppi=_PIXELS_PER_INCH)),
    "pdf": lambda spec: bytes(vl_convert.vegalite_to_pdf(spec)),
}


def has_letters(font: str) -> bool:
    """Whether the letters of a font are drawn in PNG and PDF; those of one that is not installed are left out."""
    letters = f'<text y="15" font-size="12" font-family={quoteattr(font)}>Mx</text>'
    with_letters, without = (
        vl_convert.svg_to_png(f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">{inside}</svg>')
        for inside in (letters, "")
    )
    return bool(with_letters != without)


def plot_size(spec: dict[str, Any]) -> tuple[int, int]:
    """The width and the height of the smallest plot in a figure, without axes and legend, in pixels."""
    scene = vl_convert.vegalite_to_scenegraph(spec)
    sizes = list(_plots(scene.get("scenegraph", scene)))
    return min(width for width, _ in sizes), min(height for _, height in sizes)


def _plots(mark: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """The sizes of the plots in a scene: those of its panels, or its own if it has none."""
    for item in mark.get("items", ()):
        inner = [part for part in item.get("items", ()) if part.get("role") == "scope"]
        panels = [size for part in inner for size in _plots(part) if all(size)]
        yield from panels or [(int(item.get("width", 0)), int(item.get("height", 0)))]
