"""What ended the episodes: one bar an agent, with its name above."""

from __future__ import annotations

import math
from typing import Any, Final

import altair as alt

from equipoise.reports.charts.curves import round_number
from equipoise.reports.charts.theme import Theme, legend_layout
from equipoise.reports.numbers.digest import ProblemDigest
from equipoise.studies.record import ENDED

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
