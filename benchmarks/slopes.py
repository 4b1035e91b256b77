"""How times grow: log-log slopes of what was measured, as a table and as a figure.

    rows = [Timing("S", "smooth", 1000, 0.02), Timing("S", "smooth", 10_000, 0.1), ...]
    slopes(rows)          # one panel an axis, one line a series, with its slope in the legend
    slope_table(rows)     # the same in Markdown

A slope is fitted by least squares to the larger half of the sizes, three at least: what small ones cost is not theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import altair
import numpy as np
import polars

from equipoise._files import write_bytes

IMAGES: Final = Path(__file__).parent.parent / "docs" / "images"
FEWEST: Final = 3  # sizes that a slope is fitted to, at least


class Timing(NamedTuple):
    """One measurement.

    Attributes
    ----------
    axis : str
        What grows, such as "S".
    series : str
        What was done.
    size : float
        How large it was.
    seconds : float
        How long it took.
    """

    axis: str
    series: str
    size: float
    seconds: float


def slope(rows: Sequence[Timing]) -> float:
    """The exponent with which times grow; there are two sizes at least.

    >>> round(slope([Timing("S", "x", n, 1e-3 if n < 10 else 1e-5 * n**2) for n in (1, 3, 10, 30, 100, 300)]), 6)
    2.0
    """
    ordered = sorted(rows, key=lambda row: row.size)
    upper = ordered[-max(FEWEST, (len(ordered) + 1) // 2) :]
    x, y = (np.log([getattr(row, name) for row in upper]) for name in ("size", "seconds"))
    return float(np.polyfit(x, y, 1)[0])


def grouped(rows: Sequence[Timing]) -> Iterator[tuple[str, str, list[Timing]]]:
    """Axis by axis and series by series, in the order in which they come; a series of one size has no slope."""
    for axis, series in dict.fromkeys((row.axis, row.series) for row in rows):
        part = [row for row in rows if (row.axis, row.series) == (axis, series)]
        if len({row.size for row in part}) > 1:
            yield axis, series, part


def slope_table(rows: Sequence[Timing]) -> str:
    """The slopes in Markdown.

    >>> print(slope_table([Timing("S", "smooth", n, 1e-5 * n) for n in (10, 100, 1000)]))
    | grows | what | from | to | slope | longest, s |
    | --- | --- | ---: | ---: | ---: | ---: |
    | S | smooth | 10 | 1,000 | 1.00 | 0.01 |
    """
    lines = ["| grows | what | from | to | slope | longest, s |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for axis, series, part in grouped(rows):
        sizes, longest = [row.size for row in part], max(row.seconds for row in part)
        lines.append(
            f"| {axis} | {series} | {min(sizes):,.0f} | {max(sizes):,.0f} | {slope(part):.2f} | {longest:.3g} |"
        )
    return "\n".join(lines)


def slopes(rows: Sequence[Timing]) -> altair.ConcatChart:
    """A figure: one panel an axis, both scales logarithmic, each line with its slope in the legend."""
    panels = []
    for axis in dict.fromkeys(row.axis for row in rows):
        parts = [(f"{series} ({slope(part):.2f})", part) for name, series, part in grouped(rows) if name == axis]
        frame = polars.DataFrame(
            [(label, float(row.size), row.seconds) for label, part in parts for row in part],
            schema=["series", "size", "seconds"],
            orient="row",
        )
        panels.append(
            altair.Chart(frame)
            .mark_line(point=True)
            .encode(
                altair.X("size", type="quantitative", scale=altair.Scale(type="log", nice=False), title=axis),
                altair.Y("seconds", type="quantitative", scale=altair.Scale(type="log"), title="seconds"),
                altair.Color("series", type="nominal", title="slope", sort=[label for label, _ in parts]),
            )
            .properties(width=260, height=220)
        )
    together = altair.concat(*panels, columns=2).resolve_scale(color="independent")
    return together.configure(padding=20).configure_axis(labelSeparation=12)  # fonts of readers may be wider


def write_figure(chart: altair.ConcatChart, name: str) -> Path:
    """Write a figure to docs/images; its path."""
    import vl_convert

    path = IMAGES / f"{name}.svg"
    write_bytes(path, vl_convert.vegalite_to_svg(chart.to_json()).encode())
    return path
