"""Charts: curves over t with bands, guides and bounds, what ended the episodes, and learnt distributions.

Names of agents and problems occur only as data. Vega's own log ticks crowd a narrow chart and are missing on a short
range, so the ticks are chosen here: decades of t as 1k, 10k, 100k, small numbers as powers of ten.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from equipoise.reports.charts.theme import Theme, colour, dash, legend_layout
from equipoise.reports.numbers.bounds import BoundedRegret, Guide
from equipoise.reports.numbers.curves import Curves
from equipoise.reports.numbers.digest import ProblemDigest
from equipoise.reports.numbers.format import fraction, superscript
from equipoise.reports.numbers.laws import Law
from equipoise.studies.record import ENDED

_MOST_TICKS: Final = 9


def log_ticks(low: float, high: float) -> list[float]:
    """Decades within the range if there are two or more, else 1-2-5 steps, else every digit."""
    ticks: list[float] = []
    for digits in ((1,), (1, 2, 5), range(1, 10), [n / 10 for n in range(10, 100)]):
        exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        ticks = [x for e in exponents for d in digits if low <= (x := float(f"{d}e{e}")) <= high]
        if len(ticks) >= (2 if len(digits) < 9 else 3):
            break
    return ticks[:: max(1, math.ceil(len(ticks) / _MOST_TICKS))] if ticks else [low]


def step_axis(first: int, last: int, title: str | None) -> Any:
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


DIGITS: Final = 6  # significant ones, of the numbers within a page


def curve_chart(
    curves: Curves,
    agents: Mapping[str, str],
    theme: Theme,
    title: str,
    guides: Sequence[Guide] = (),
    level: float | None = None,
    bounds: Sequence[tuple[str, int, float]] = (),
    certified: Curves | None = None,
) -> Any:
    """Mean curves with their bands, one colour an agent."""
    names = list(dict.fromkeys(curves.frame["agent"]))
    frame = round_frame(curves.frame.drop("error")).with_columns(pl.col("agent").replace(dict(agents)))
    x = step_axis(int(frame["t"].min()), int(frame["t"].max()), "steps t")  # type: ignore[arg-type]
    ys = [*frame["y"], *frame["y_high"].drop_nulls(), *frame["y_low"].drop_nulls(), *([] if level is None else [level])]
    proven = () if certified is None else tuple(certified.frame.select("agent", "t", "y").rows())
    top = max([*ys, *(guide.y0 for guide in guides), *(bound for _, _, bound in (*bounds, *proven))])
    beside = None if theme.fluid else title or None
    if curves.floor is None:
        axis, scale = linear_axis(min(ys), top, beside)
    else:
        axis, scale = log_axis(curves.floor, top * 1.15, beside)
    hue, pattern = agent_scales(names, agents, theme)
    base = alt.Chart()  # its data are those of the whole
    y = alt.Y("y:Q", axis=axis, scale=scale)

    layers = []
    if level is not None:
        rule = alt.Chart(alt.Data(values=[{"y": round_number(level)}]))
        layers.append(rule.mark_rule(color=theme.ink, strokeWidth=1.2, strokeDash=[5, 3], opacity=0.75).encode(y=y))
    shade = base.transform_filter("isValid(datum.y_low)").mark_area(fillOpacity=0.16 if len(names) <= 4 else 0.08)
    layers.append(shade.encode(x=x, y=alt.Y("y_low:Q", axis=axis, scale=scale), y2="y_high:Q", color=hue))
    layers.append(base.mark_line(strokeWidth=2).encode(x=x, y=y, color=hue, strokeDash=pattern))
    for guide in guides:
        ends = [{"t": guide.t0, "y": round_number(guide.y0)}, {"t": guide.t1, "y": round_number(guide.y1)}]
        line = alt.Chart(alt.Data(values=ends)).mark_line(
            color=theme.muted, strokeWidth=1.4, strokeDash=[6, 4], clip=True
        )
        layers.append(line.encode(x=x, y=y))
    layers += _bounds(bounds, agents, theme, (x, y, hue), "bound", 1.6, (5, 4))
    layers += _bounds(proven, agents, theme, (x, y, hue), "certified", 1.2, CERTIFIED_DASHES)
    single = frame.filter(pl.len().over("agent") == 1)  # a line needs two points: one alone is drawn as a dot
    if single.height:
        dot = alt.Chart(alt.Data(values=single.to_dicts()))
        layers.append(dot.mark_point(size=60, filled=True, opacity=1).encode(x=x, y=y, color=hue))
        band = dot.transform_filter("isValid(datum.y_low)").mark_rule(strokeWidth=2)
        layers.append(band.encode(x=x, y=alt.Y("y_low:Q", axis=axis, scale=scale), y2="y_high:Q", color=hue))
    if curves.below:
        below, look = (
            base.transform_filter("datum.below"),
            {"size": 46, "filled": False, "strokeWidth": 1.5, "yOffset": -5},
        )
        layers.append(below.mark_point(shape="triangle-down", **look).encode(x=x, y=y, color=hue))
    layers += [_guide_label(guide, x, y, theme) for guide in guides]
    if theme.tooltips:
        layers.append(base.mark_point(size=160, filled=True, opacity=0).encode(x=x, y=y, tooltip=_tooltip(title)))
    chart = alt.layer(*layers, data=alt.Data(values=frame.to_dicts()))
    return chart.properties(title="thin dashes: certified, lost at most") if proven and theme.legends else chart


def guarantee_chart(shown: BoundedRegret, agents: Mapping[str, str], theme: Theme) -> Any:
    """The regret of the agents that have a bound, and the bounds, dashed in the same colours."""
    chart = curve_chart(shown.curves, agents, theme, "regret", level=shown.largest, bounds=shown.bounds)
    return chart.properties(title="dashed: the bounds; rule: no regret can be larger") if theme.legends else chart


def agent_scales(
    names: Sequence[str], agents: Mapping[str, str], theme: Theme, further: Mapping[str, str] = {}
) -> tuple[Any, Any]:
    """The colours and the dashes of agents, with a legend where the theme has them."""
    places, labels = [list(agents).index(name) for name in names], [agents[name] for name in names]
    legend = None
    if theme.legends:
        plain = labels == list(names)  # or caveats make them long, and are not to be cut
        layout = legend_layout(theme, 3, 260) if plain else legend_layout(theme, 1, 520)
        legend = alt.Legend(symbolType="stroke", symbolOpacity=1, **layout)
    hues, dashes = [colour(place, theme) for place in places], [list(dash(place)) or [1, 0] for place in places]
    labels, hues, dashes = [*labels, *further], [*hues, *further.values()], [*dashes, *([1, 0] for _ in further)]
    hue = alt.Color("agent:N", sort=None, legend=legend, scale=alt.Scale(domain=labels, range=hues))
    pattern = alt.StrokeDash("agent:N", sort=None, legend=legend, scale=alt.Scale(domain=labels, range=dashes))
    return hue, pattern


CERTIFIED_DASHES: Final = (3, 2)


def _bounds(
    bounds: Sequence[tuple[str, int, float]],
    agents: Mapping[str, str],
    theme: Theme,
    axes: tuple[Any, Any, Any],
    title: str,
    width: float,
    dashes: tuple[int, int],
) -> list[Any]:
    """One line per agent, each a little further on in its dashes: bounds that coincide are all to be seen."""
    x, y, hue = axes
    tips = [alt.Tooltip("agent:N"), alt.Tooltip("t:Q", title="t", format=",")]
    tips.append(alt.Tooltip("y:Q", title=title, format=".4~g"))
    layers = []
    for place, name in enumerate(dict.fromkeys(name for name, _, _ in bounds)):
        rows = [{"agent": agents[name], "t": t, "y": round_number(bound)} for who, t, bound in bounds if who == name]
        chart = alt.Chart(alt.Data(values=rows))
        line = chart.mark_line(strokeWidth=width, strokeDash=list(dashes), strokeDashOffset=4 * place)
        layers.append(line.encode(x=x, y=y, color=hue))
        if len(rows) == 1:  # of which a line shows nothing
            layers.append(chart.mark_point(shape="diamond", size=50, filled=False).encode(x=x, y=y, color=hue))
        if theme.tooltips:
            layers.append(chart.mark_point(size=160, filled=True, opacity=0).encode(x=x, y=y, tooltip=tips))
    return layers


def _guide_label(guide: Guide, x: Any, y: Any, theme: Theme) -> Any:
    """Above its higher end, on a ground of its own so that it can be read across a curve."""
    start = {"t": guide.t0, "y": round_number(guide.y0), "label": f"slope {fraction(guide.rate)}"}
    text = alt.Chart(alt.Data(values=[start])).encode(x=x, y=y, text="label:N")
    look = {"align": "left", "dx": 2, "dy": -9, "fontSize": theme.font_size - 1}
    ground = text.mark_text(color=theme.paper, stroke=theme.paper, strokeWidth=4, **look)
    return ground + text.mark_text(color=theme.muted, **look)


def _tooltip(title: str) -> list[Any]:
    return [
        alt.Tooltip("agent:N"),
        alt.Tooltip("t:Q", title="t", format=","),
        alt.Tooltip("mean:Q", title=title, format=".4~g"),
        alt.Tooltip("low:Q", title="from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
        alt.Tooltip("n:Q", title="seeds"),
    ]


def round_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A table as it is written into a page."""
    return frame.with_columns(pl.col(pl.Float64).round_sig_figs(DIGITS))


def round_number(x: float) -> float:
    """A number as it is written into a page."""
    return float(f"{x:.{DIGITS}g}")


BAR: Final = 46  # the height of a bar with its name, in pixels


def trigger_chart(problem: ProblemDigest, theme: Theme) -> Any:
    """What ended the episodes of each agent: shares of the mean counts at the end, one bar an agent."""
    busy = [agent for agent in problem.agents if agent.episodes > 0]
    rows: list[dict[str, Any]] = []
    labels = []
    for row, agent in enumerate(busy):
        total, before = math.fsum(agent.triggers), 0.0
        for trigger, count in zip(ENDED, agent.triggers, strict=True):
            share = count / total if total else 0.0
            span = {"count": float(count), "share": share, "from": before, "to": before + share}
            span = {key: round_number(x) for key, x in span.items()}
            rows.append({"row": row, "agent": agent.name, "trigger": trigger, **span})
            before += share
        whole = agent.episodes >= 100 or agent.episodes == round(agent.episodes)
        number = f"{agent.episodes:,.{0 if whole else 1}f}"
        labels.append({"row": row, "label": f"{agent.label}: {number} episode{'' if number == '1' else 's'}"})
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[-0.5, len(busy) - 0.5], reverse=True, nice=False))
    quarters = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1], labelFlush=True, grid=False)
    x = alt.X("from:Q", axis=quarters, title="share of the episodes that ended", scale=alt.Scale(domain=[0, 1]))
    hue = alt.Color(
        "trigger:N",
        sort=None,
        legend=alt.Legend(symbolType="square", **legend_layout(theme, 4, 260)) if theme.legends else None,
        scale=alt.Scale(domain=list(ENDED), range=list(theme.triggers)),
    )
    tips = [alt.Tooltip("agent:N"), alt.Tooltip("trigger:N", title="ended by")]
    tips += [alt.Tooltip("count:Q", title="episodes", format=",.1f"), alt.Tooltip("share:Q", format=".1%")]
    bars = (
        alt.Chart(alt.Data(values=[row for row in rows if row["share"] > 0]))
        .mark_bar(height=16, yOffset=9, stroke=theme.paper, strokeWidth=1)
        .encode(x=x, x2="to:Q", y=y, color=hue)
    )
    if theme.tooltips:
        bars = bars.encode(tooltip=tips)
    wide = alt.ExprRef("width")
    text = (
        alt.Chart(alt.Data(values=labels))
        .mark_text(align="left", baseline="middle", yOffset=-10, fontSize=theme.font_size, color=theme.ink, limit=wide)
        .encode(x=alt.datum(0, scale=alt.Scale(domain=[0, 1])), y=y, text="label:N")
    )
    return alt.layer(bars, text)


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
            layers.append(wide.encode(x=x, y=at("low"), y2="high:Q", tooltip=_law_tooltip()))
    return alt.layer(*layers)


def _visits(law: Law) -> str:
    fewest, most = law.visits
    if fewest == most:
        return "1 visit" if most == 1 else f"{most:,} visits"
    return f"{fewest:,} to {most:,} visits"


def _law_tooltip() -> list[Any]:
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
