"""The charts: curves over t, small multiples of outcomes, what ended the episodes.

Each takes aggregates and a theme and returns an Altair chart; on the page it is as wide as its place, on paper of
fixed width. Field names and expressions are fixed here: names of agents and problems occur only as data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import altair as alt
import polars as pl

from equipoise.reports import axes
from equipoise.reports.curves import Curves
from equipoise.reports.digest import TRIGGERS, ProblemDigest
from equipoise.reports.statistics import fit_window
from equipoise.reports.theme import PAGE, Theme, colour, config, dash

_DIGITS = 6  # significant, of inlined numbers


@dataclass(frozen=True)
class Guide:
    """A straight line on log-log axes: y = y0 (t / t0)^rate from t0 to t1."""

    rate: float
    t0: float
    t1: float
    y0: float

    @property
    def y1(self) -> float:
        """Its height at t1."""
        return float(self.y0 * (self.t1 / self.t0) ** self.rate)


def fraction(rate: float) -> str:
    """A rate in words of a formula.

    >>> fraction(-1 / 3)
    '−1/3'
    """
    return str(Fraction(rate).limit_denominator(12)).replace("-", "−")


def rate_guides(problem: ProblemDigest) -> tuple[Guide, ...]:
    """A guide for each rate that a theorem gives, over the window of the fit, just above the curves that it covers.

    A bound holds up to a constant, so only the slope of the guide means something.
    """
    if problem.measure != "regret" or problem.curves is None or problem.end is None:
        return ()
    first, last = fit_window(problem.end)
    guides = []
    for rate in sorted({agent.rate for agent in problem.agents if agent.rate is not None}):
        covered = [agent.name for agent in problem.agents if agent.rate == rate]
        inside = problem.curves.frame.filter(
            pl.col("agent").is_in(covered), pl.col("t") >= first, pl.col("t") <= last, ~pl.col("below")
        )
        start = float(min(inside["t"], default=last))
        if start < last:
            height = inside.select((pl.col("y") * (pl.col("t") / start) ** -rate).max()).item()
            guides.append(Guide(rate, start, last, 1.5 * float(height)))
    return tuple(guides)


def curve_chart(
    curves: Curves,
    agents: Mapping[str, str],
    theme: Theme,
    title: str,
    height: int,
    guides: Sequence[Guide] = (),
    level: float | None = None,
    width: int = 520,
    bounds: Sequence[tuple[str, int, float]] = (),
) -> Any:
    """Mean curves with their bands, one colour an agent.

    Parameters
    ----------
    curves : Curves
    agents : mapping
        All agents of the study, each with its label: a place is a colour.
    theme : Theme
    title : str
        What is drawn: beside the axis on paper, unless empty; on the page a heading says it, and the tooltips.
    height, width : int
        In pixels; on the page a chart is as wide as its place.
    guides : sequence of Guide
        Dashed lines of a given slope.
    level : float, optional
        A horizontal rule, such as the optimum.
    bounds : sequence of tuple
        agent, t and a bound there: drawn dashed, in the colour of the agent.
    """
    names = list(dict.fromkeys(curves.frame["agent"]))
    frame = _rounded(curves.frame.drop("error")).with_columns(pl.col("agent").replace(dict(agents)))
    x = axes.steps(int(frame["t"].min()), int(frame["t"].max()), "steps t")  # type: ignore[arg-type]
    ys = [*frame["y"], *frame["y_high"].drop_nulls(), *frame["y_low"].drop_nulls(), *([] if level is None else [level])]
    top = max([*ys, *(guide.y0 for guide in guides), *(bound for _, _, bound in bounds)])
    beside = None if theme is PAGE else title or None
    if curves.floor is None:
        axis, scale = axes.linear_axis(min(ys), top, beside)
    else:
        axis, scale = axes.log_axis(curves.floor, top * 1.15, beside)
    hue, pattern = _agent_scales(names, agents, theme)
    base = alt.Chart()  # its data are those of the whole
    y = alt.Y("y:Q", axis=axis, scale=scale)

    layers = []
    if level is not None:
        layers.append(_rule(level, axis, scale, theme))
    shade = base.transform_filter("isValid(datum.y_low)").mark_area(fillOpacity=0.16 if len(names) <= 4 else 0.08)
    layers.append(shade.encode(x=x, y=alt.Y("y_low:Q", axis=axis, scale=scale), y2="y_high:Q", color=hue))
    layers.append(base.mark_line(strokeWidth=2).encode(x=x, y=y, color=hue, strokeDash=pattern))
    layers += [_guide(guide, x, axis, scale, theme) for guide in guides]
    if bounds:
        layers += _bounds(bounds, agents, theme, x, y, hue)
    lonely = frame.filter(pl.len().over("agent") == 1)  # no line through one point
    if lonely.height:
        dot = alt.Chart(alt.Data(values=lonely.to_dicts()))
        layers.append(dot.mark_point(size=60, filled=True, opacity=1).encode(x=x, y=y, color=hue))
        ends = dot.transform_filter("isValid(datum.y_low)").mark_rule(strokeWidth=2)
        layers.append(ends.encode(x=x, y=alt.Y("y_low:Q", axis=axis, scale=scale), y2="y_high:Q", color=hue))
    if curves.below:
        layers.append(
            base.transform_filter("datum.below")
            .mark_point(shape="triangle-down", size=46, filled=False, strokeWidth=1.5, yOffset=-5)
            .encode(x=x, y=y, color=hue)
        )
    layers += [_guide_label(guide, x, axis, scale, theme) for guide in guides]
    if theme.tooltips:
        layers.append(base.mark_point(size=160, filled=True, opacity=0).encode(x=x, y=y, tooltip=_tooltip(title)))
    return _sized(alt.layer(*layers, data=alt.Data(values=frame.to_dicts())), theme, height, width)


def trigger_chart(problem: ProblemDigest, theme: Theme) -> Any:
    """What ended the episodes of each agent: shares of the mean counts at the end, one bar an agent."""
    busy = [agent for agent in problem.agents if agent.episodes > 0]
    rows, labels = [], []
    for row, agent in enumerate(busy):
        total, before = sum(agent.triggers), 0.0
        for trigger, count in zip(TRIGGERS, agent.triggers, strict=True):
            share = count / total if total else 0.0
            span = {"count": count, "share": share, "from": before, "to": before + share}
            rows.append({"row": row, "agent": agent.name, "trigger": trigger, **span})
            before += share
        labels.append({"row": row, "label": f"{agent.label}: {_rough(agent.episodes)}"})
    tall = 46
    height = tall * len(busy)
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[-0.5, len(busy) - 0.5], reverse=True, nice=False))
    quarters = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1], labelFlush=True, grid=False)
    x = alt.X("from:Q", axis=quarters, title="share of the episodes that ended", scale=alt.Scale(domain=[0, 1]))
    hue = alt.Color(
        "trigger:N",
        sort=None,
        legend=alt.Legend(symbolType="square", columns=4) if theme.legends else None,
        scale=alt.Scale(domain=list(TRIGGERS), range=list(theme.triggers)),
    )
    tips = [alt.Tooltip("agent:N"), alt.Tooltip("trigger:N", title="ended by")]
    tips += [alt.Tooltip("count:Q", title="episodes", format=",.1f"), alt.Tooltip("share:Q", format=".1%")]
    bars = (
        alt.Chart(alt.Data(values=[row for row in _rounded_rows(rows) if row["share"] > 0]))
        .mark_bar(height=16, yOffset=9, stroke=theme.paper, strokeWidth=1)
        .encode(x=x, x2="to:Q", y=y, color=hue)
    )
    if theme.tooltips:
        bars = bars.encode(tooltip=tips)
    text = (
        alt.Chart(alt.Data(values=labels))
        .mark_text(
            align="left", baseline="middle", yOffset=-10, fontSize=12, color=theme.ink, limit=alt.ExprRef("width")
        )
        .encode(x=alt.datum(0, scale=alt.Scale(domain=[0, 1])), y=y, text="label:N")
    )
    return _sized(alt.layer(bars, text), theme, height, 520)


def specification(chart: Any, theme: Theme, description: str | None = None) -> dict[str, Any]:
    """The chart as Vega-Lite, with the configuration of its theme and without an address of a schema."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("$schema", None)
    spec["config"] = config(theme)
    if description is None:
        spec["config"]["aria"] = False  # the place of the chart speaks for it
    else:
        spec["description"] = description
    return spec


def _sized(chart: Any, theme: Theme, height: int, width: int) -> Any:
    if theme is PAGE:
        fit = alt.AutoSizeParams(type="fit-x", contains="padding")
        return chart.properties(width="container", height=height, autosize=fit)
    return chart.properties(width=width, height=height)


def _agent_scales(names: Sequence[str], agents: Mapping[str, str], theme: Theme) -> tuple[Any, Any]:
    places, labels = [list(agents).index(name) for name in names], [agents[name] for name in names]
    legend = None
    if theme.legends:
        plain = labels == list(names)  # or caveats make them long, and are not to be cut
        legend = alt.Legend(
            symbolType="stroke", symbolOpacity=1, columns=3 if plain else 1, labelLimit=260 if plain else 520
        )
    hues, dashes = [colour(place, theme) for place in places], [list(dash(place)) or [1, 0] for place in places]
    hue = alt.Color("agent:N", sort=None, legend=legend, scale=alt.Scale(domain=labels, range=hues))
    pattern = alt.StrokeDash("agent:N", sort=None, legend=legend, scale=alt.Scale(domain=labels, range=dashes))
    return hue, pattern


def _rule(level: float, axis: Any, scale: Any, theme: Theme) -> Any:
    chart = alt.Chart(alt.Data(values=[{"y": _significant(level)}]))
    return chart.mark_rule(color=theme.ink, strokeWidth=1.2, strokeDash=[5, 3], opacity=0.75).encode(
        y=alt.Y("y:Q", axis=axis, scale=scale)
    )


def _guide(guide: Guide, x: Any, axis: Any, scale: Any, theme: Theme) -> Any:
    ends = [{"t": guide.t0, "y": _significant(guide.y0)}, {"t": guide.t1, "y": _significant(guide.y1)}]
    return (
        alt.Chart(alt.Data(values=ends))
        .mark_line(color=theme.muted, strokeWidth=1.4, strokeDash=[6, 4], clip=True)
        .encode(x=x, y=alt.Y("y:Q", axis=axis, scale=scale))
    )


def _bounds(
    bounds: Sequence[tuple[str, int, float]], agents: Mapping[str, str], theme: Theme, x: Any, y: Any, hue: Any
) -> list[Any]:
    """One line an agent, each a little further on in its dashes: bounds that coincide are all to be seen."""
    tips = [alt.Tooltip("agent:N"), alt.Tooltip("t:Q", title="t", format=",")]
    tips.append(alt.Tooltip("y:Q", title="bound", format=".4~g"))
    layers = []
    for place, name in enumerate(dict.fromkeys(name for name, _, _ in bounds)):
        rows = [{"agent": agents[name], "t": t, "y": _significant(bound)} for who, t, bound in bounds if who == name]
        chart = alt.Chart(alt.Data(values=rows))
        dashes = chart.mark_line(strokeWidth=1.6, strokeDash=[5, 4], strokeDashOffset=4 * place)
        layers.append(dashes.encode(x=x, y=y, color=hue))
        if theme.tooltips:
            layers.append(chart.mark_point(size=160, filled=True, opacity=0).encode(x=x, y=y, tooltip=tips))
    return layers


def _guide_label(guide: Guide, x: Any, axis: Any, scale: Any, theme: Theme) -> Any:
    """Above its higher end, on a ground of its own so that it can be read across a curve."""
    start = {"t": guide.t0, "y": _significant(guide.y0), "label": f"slope {fraction(guide.rate)}"}
    text = alt.Chart(alt.Data(values=[start])).encode(x=x, y=alt.Y("y:Q", axis=axis, scale=scale), text="label:N")
    ground = text.mark_text(
        align="left", dx=2, dy=-9, fontSize=11, color=theme.paper, stroke=theme.paper, strokeWidth=4
    )
    return ground + text.mark_text(align="left", dx=2, dy=-9, fontSize=11, color=theme.muted)


def _tooltip(title: str) -> list[Any]:
    return [
        alt.Tooltip("agent:N"),
        alt.Tooltip("t:Q", title="t", format=","),
        alt.Tooltip("mean:Q", title=title, format=".4~g"),
        alt.Tooltip("low:Q", title="from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
        alt.Tooltip("n:Q", title="seeds"),
    ]


def _rounded(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Float64).round_sig_figs(_DIGITS))


def _rounded_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: _significant(x) if isinstance(x, float) else x for key, x in row.items()} for row in rows]


def _significant(x: float) -> float:
    return float(f"{x:.{_DIGITS}g}")


def _rough(count: float) -> str:
    whole = f"{count:,.0f}" if count >= 100 or count == round(count) else f"{count:,.1f}"
    return f"{whole} episode{'' if whole == '1' else 's'}"
