"""Charts: from numbers and a theme to Vega-Lite, and from that to files."""
