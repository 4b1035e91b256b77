"""A learnt distribution against the true one: estimates and intervals of each value, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import polars as pl

from equipoise.reports.charts.curves import agent_scales, round_frame
from equipoise.reports.charts.theme import Theme
from equipoise.reports.numbers.laws import Law

TRUTH: Final = "the truth"
_LETTERS: Final = 30  # along the axis: longer names are turned
_LONGEST: Final = 64  # pixels of a name: turned, it is to stay clear of the panel below
_FEW: Final = 12  # points in a panel: of more, they are smaller
_AIR: Final = 1.06
_MARGIN: Final = 0.08  # of a band, on either side of the agents in it


def law_chart(law: Law, agents: Mapping[str, str], theme: Theme) -> Any:
    """Estimates as points, intervals as rules, the truth as ticks; a region that is a point as an open diamond."""
    names = list(dict.fromkeys(law.rows["agent"]))
    frame = round_frame(law.rows).with_columns(pl.col("agent").replace(dict(agents)))
    hue, pattern = agent_scales(names, agents, theme, {TRUTH: theme.ink})
    top = max([*frame["high"], *frame["truth"].drop_nulls(), *frame["estimate"].drop_nulls()])
    axis = alt.Axis(tickCount=5, title=None if theme.fluid else "probability")
    scale = alt.Scale(domain=[0, min(1.0, _AIR * top) or 1.0], nice=False)

    turned = sum(len(value) + 1 for value in law.values) > _LETTERS
    labels = alt.Axis(
        title=_visits(law), labelAngle=-40 if turned else 0, labelLimit=_LONGEST, labelOverlap=False, grid=False
    )
    bands = alt.Scale(type="band", domain=list(law.values), paddingInner=0.1, paddingOuter=0.1)

    def along(share: float) -> Any:
        """A place in the band of each value, from 0 to 1."""
        return alt.X("value:N", axis=labels, scale=bands, bandPosition=share)

    def at(field: str) -> Any:
        return alt.Y(f"{field}:Q", axis=axis, scale=scale)

    truths = frame.unique("place").sort("place").filter(pl.col("truth").is_not_null()).select("value", "truth")
    ticks = alt.Chart(alt.Data(values=truths.with_columns(agent=pl.lit(TRUTH)).to_dicts()))
    size = 34 if len(names) * len(law.values) <= _FEW else 20
    layers = [
        ticks.mark_rule(strokeWidth=2.5, opacity=0.8).encode(
            x=along(0.02), x2=alt.X2("value:N", bandPosition=0.98), y=at("truth"), color=hue
        )
    ]
    for place, name in enumerate(names):  # side by side within a band
        x = along(_MARGIN + (1 - 2 * _MARGIN) * (place + 0.5) / len(names))
        own = alt.Chart(alt.Data(values=frame.filter(agent=agents[name]).drop("place").to_dicts()))
        drawn = own.transform_filter("datum.low == datum.high").mark_point(shape="diamond", size=60, filled=False)
        points = own.transform_filter("isValid(datum.estimate)").mark_point(size=size, filled=True, opacity=1)
        rules = own.mark_rule(strokeWidth=2, opacity=0.9)
        layers.append(rules.encode(x=x, y=at("low"), y2="high:Q", color=hue, strokeDash=pattern))
        layers.append(drawn.encode(x=x, y=at("low"), color=hue))
        layers.append(points.encode(x=x, y=at("estimate"), color=hue))
        if theme.tooltips:
            wide = own.mark_rule(strokeWidth=14, opacity=0)
            layers.append(wide.encode(x=x, y=at("low"), y2="high:Q", tooltip=_tooltip()))
    return alt.layer(*layers)


def _visits(law: Law) -> str:
    fewest, most = law.visits
    if fewest == most:
        return "1 visit" if most == 1 else f"{most:,} visits"
    return f"{fewest:,} to {most:,} visits"


def _tooltip() -> list[Any]:
    return [
        alt.Tooltip("agent:N"),
        alt.Tooltip("value:N"),
        alt.Tooltip("seen:Q", format=","),
        alt.Tooltip("visits:Q", format=","),
        alt.Tooltip("estimate:Q", format=".4~g"),
        alt.Tooltip("low:Q", title="from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
        alt.Tooltip("truth:Q", format=".4~g"),
    ]
