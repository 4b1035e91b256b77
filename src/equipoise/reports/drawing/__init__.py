"""Charts: from numbers and a theme to Vega-Lite, and from that to files.

`charts`, `laws` and `triggers` draw with Altair, on the `axes` of this package; `theme` has the colours and letters of
page, paper and screen; `specification` gives a chart its size; `files` makes SVG, PNG and PDF.
"""

from equipoise.reports.drawing.theme import PAGE, PRINT, SCREEN, Theme

__all__ = ["PAGE", "PRINT", "SCREEN", "Theme"]
