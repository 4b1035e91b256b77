"""Ticks and labels of the axes: decades of t as 1k, 10k, 100k; small numbers as powers of ten.

Vega's own log ticks crowd a narrow chart and fall silent on a short range; these are chosen from the range.
"""

from __future__ import annotations

import math
from typing import Any, Final

import altair as alt

from equipoise.reports.numbers.written import superscript

_MOST_TICKS: Final = 9


def log_ticks(low: float, high: float) -> list[float]:
    """Decades within the range if there are two or more, else 1-2-5 steps, else every digit.

    >>> log_ticks(0.002, 3)
    [0.01, 0.1, 1.0]
    >>> log_ticks(3, 60)
    [5.0, 10.0, 20.0, 50.0]
    """
    ticks: list[float] = []
    for digits in ((1,), (1, 2, 5), range(1, 10), [n / 10 for n in range(10, 100)]):
        exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        ticks = [x for e in exponents for d in digits if low <= (x := float(f"{d}e{e}")) <= high]
        if len(ticks) >= (2 if len(digits) < 9 else 3):
            break
    return ticks[:: max(1, math.ceil(len(ticks) / _MOST_TICKS))] if ticks else [low]


def steps(first: int, last: int, title: str | None) -> Any:
    """The log axis of t."""
    ends = (first, last) if last > first else (max(first / 2, 0.5), first * 2)
    axis = alt.Axis(
        values=log_ticks(*ends), format="~s", labelFlush=True, labelOverlap="greedy", grid=False, title=title
    )
    return alt.X("t:Q", axis=axis, scale=alt.Scale(type="log", domain=ends, nice=False))


def log_axis(low: float, high: float, title: str | None) -> tuple[Any, Any]:
    """Axis and scale of a positive quantity."""
    high = high if high > low else low * 10
    ticks = log_ticks(low, high)
    whole = all(math.isclose(math.log10(x), round(math.log10(x)), abs_tol=1e-9) for x in ticks)
    if min(ticks) >= 1:
        axis = alt.Axis(values=ticks, format="~s", title=title)
    elif whole and (min(ticks) < 1e-3 or max(ticks) > 1e3):
        lowest = round(math.log10(min(ticks)))
        names = [f"'10{superscript(e)}'" for e in range(lowest, round(math.log10(max(ticks))) + 1)]
        label = f"[{', '.join(names)}][round(log(datum.value) / LN10) - {lowest}]".replace("- -", "+ ")
        axis = alt.Axis(values=ticks, labelExpr=label, title=title)
    else:
        axis = alt.Axis(values=ticks, format="~g", title=title)
    return axis, alt.Scale(type="log", domain=[low, high], nice=False)


def linear_axis(low: float, high: float, title: str | None) -> tuple[Any, Any]:
    """Axis and scale of a quantity that may be zero, with some air above and below."""
    air = 0.06 * (high - low) or max(0.05 * abs(high), 0.05)
    return alt.Axis(tickCount=5, title=title), alt.Scale(domain=[low - air, high + air], nice=False, zero=False)
