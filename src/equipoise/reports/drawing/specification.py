"""A chart as Vega-Lite: with the configuration of its theme, a size, and no address of a schema.

On a page a chart is as wide as its place. In a file its plot has a size of its own, unless the theme has a width or a
height: then the whole figure has it, with axes, legend and padding.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

from equipoise.reports.drawing.theme import Theme, config

PLOT_WIDTH: Final = 520
_COMPOSED: Final = ("concat", "hconcat", "vconcat", "facet", "repeat")  # their parts have sizes, they have none


def specification(chart: Any, theme: Theme, height: int, description: str | None = None) -> dict[str, Any]:
    """The chart as Vega-Lite, in its size.

    Parameters
    ----------
    chart : altair.Chart or mapping
        What is drawn: a chart of Altair, or a specification of Vega-Lite.
    theme : Theme
        How it looks.
    height : int
        Of the plot, in pixels, unless the theme has a height or the chart is composed of others.
    description : str, optional
        What it shows in words. On a page the place of the chart says it.

    >>> from equipoise.reports.drawing.theme import PRINT
    >>> spec = specification({"mark": "point"}, PRINT, 200)
    >>> spec["width"], spec["height"]
    (520, 200)
    """
    spec = as_mapping(chart)
    spec.pop("$schema", None)
    given = spec.pop("config", {})
    spec["config"] = _merged(config(theme), given)
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


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The one configuration with the other laid over it."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
