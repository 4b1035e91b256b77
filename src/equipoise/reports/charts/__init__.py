"""Charts: from numbers and a theme to Vega-Lite, and from that to files.

`curves`, `laws` and `episodes` draw with Altair; `theme` has the colours and letters of page, paper and screen; `vega`
gives a chart its size, composes panels, and makes SVG, PNG and PDF.
"""
