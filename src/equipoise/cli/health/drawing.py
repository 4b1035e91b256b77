"""Figures: whether a small one can be drawn; no browser is needed for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from equipoise.cli.health.finding import Finding

_POINT: Final = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"x": 1, "y": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}
_STARTS: Final = {"svg": b"<svg", "png": b"\x89PNG\r\n", "pdf": b"%PDF-"}


def drawing() -> list[Finding]:
    """Whether figures come out in every format."""
    try:
        from equipoise.reports.drawing.files import FORMATS
    except ImportError as error:
        return [Finding("figures", f"the library is missing ({error})", "wrong", "pip install vl-convert-python")]
    return [figures(FORMATS)]


def figures(formats: dict[str, Callable[[dict[str, Any]], bytes]]) -> Finding:
    """Whether a point is drawn in each of the formats.

    >>> figures({"svg": lambda spec: b"<html>"}).seen
    'svg: it begins with <html>'
    """
    wrong = []
    for name, draw in formats.items():
        try:
            drawn = draw(_POINT)
        except Exception as error:  # whatever the library raises
            wrong.append(f"{name}: {error}")
            continue
        if not drawn.startswith(_STARTS[name]):
            wrong.append(f"{name}: it begins with {drawn[:8].decode(errors='replace')}")
    if wrong:
        return Finding("figures", "; ".join(wrong), "wrong", "pip install --force-reinstall vl-convert-python")
    return Finding("figures", f"{', '.join(formats)} can be drawn, without a browser")
