"""What was measured beside what is guaranteed: the explicit bounds on the regret, drawn and in words.

A bound is drawn dashed in the colour of its agent, on the axes of the regret. It is about the worst world of the same
size and diameter, so it is typically far above the curve, and for long above any regret there can be: L ||1_K||, by
the Lipschitz constant of the reward on the box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from equipoise.reports import words
from equipoise.reports.axes import superscript
from equipoise.reports.charts import curve_chart
from equipoise.reports.curves import on_log_axis
from equipoise.reports.digest import AgentDigest, ProblemDigest, resolution
from equipoise.reports.markup import Canvas, items, legend, prose, rule_swatch
from equipoise.reports.theme import PAGE, Theme
from equipoise.studies.guarantees import FURTHEST, MOST_STATES
from equipoise.studies.results import Guarantee

_HEADING: Final = "<h3>Measured regret and what is guaranteed</h3>"


def guaranteed(problem: ProblemDigest) -> list[tuple[AgentDigest, Guarantee]]:
    """The agents whose regret was measured and has a bound, with it."""
    if problem.measure != "regret":
        return []
    found = [(agent, agent.guarantee) for agent in problem.agents if agent.guarantee is not None]
    return [(agent, guarantee) for agent, guarantee in found if agent.t in dict(guarantee.bounds)]


def guarantee_chart(problem: ProblemDigest, agents: Mapping[str, str], theme: Theme, height: int) -> Any | None:
    """The regret of the agents that have a bound, and the bounds; None if there are none."""
    covered = guaranteed(problem)
    if not covered or problem.curves is None:
        return None
    names = [agent.name for agent, _ in covered]
    frame = problem.curves.frame.filter(pl.col("agent").is_in(names)).drop("y", "y_low", "y_high", "below")
    ends = (int(frame["t"].min()), int(frame["t"].max()))  # type: ignore[arg-type]
    bounds = [
        (agent.name, t, bound) for agent, found in covered for t, bound in found.bounds if ends[0] <= t <= ends[1]
    ]
    curves = on_log_axis(frame, resolution(problem.record))
    chart = curve_chart(curves, agents, theme, "regret", height, level=_largest(covered), bounds=bounds)
    return chart.properties(title="dashed: the bounds; rule: no regret can be larger") if theme.legends else chart


def guarantee_part(problem: ProblemDigest, agents: Mapping[str, str], canvas: Canvas) -> str:
    """The chart and its words, or that the bounds were not computed; nothing if no agent has one."""
    left = [agent.name for agent in problem.agents if agent.guarantee is not None and not agent.guarantee.bounds]
    if left and problem.measure == "regret":
        return f'{_HEADING}<p class="note">{prose(_not_computed(left))}</p>'
    chart = guarantee_chart(problem, agents, PAGE, 300)
    if chart is None:
        return ""
    covered = guaranteed(problem)
    said = [guarantee_words(agent, found, resolution(problem.record)) for agent, found in covered]
    extra = [
        f"{rule_swatch('muted')}<span>its bound, in the same colour</span>",
        f"{rule_swatch('ink')}<span>no regret can be larger</span>",
    ]
    caption = (
        "Solid: the mean regret, as above. Dashed: the explicit bound on the regret of a run, which holds for all t at"
        " once with the probability given below. It is about the worst world of this size and diameter, so it is"
        " typically far above what is measured. No regret can be larger than"
        f" L‖1‖ = {words.number(_largest(covered))}: only below that does a bound say something."
    )
    label = f"Regret and its bounds against steps on {problem.record.name}, log-log axes: {' '.join(said)}"
    return (
        f"{_HEADING}{legend(agents, [agent.name for agent, _ in covered], extra)}"
        f"<figure>{canvas.place(chart, label, 300)}<figcaption>{prose(caption)}</figcaption></figure>"
        f"{items('verdicts', map(prose, said))}"
    )


def guarantee_words(agent: AgentDigest, guarantee: Guarantee, zero: float) -> str:
    """How far the bound is above what was measured, and from when on it says something; `zero` is the resolution."""
    bound, mean = dict(guarantee.bounds)[agent.t], agent.final.mean
    said = (
        f"{agent.name}: with probability at least {words.number(guarantee.probability, 2)} the regret at"
        f" t = {agent.t:,} is at most {words.number(bound)}"
    )
    if mean <= zero:
        said += "; the measured one is zero or less, as far as can be told."
    elif mean <= bound:
        said += f", {words.number(bound / mean, 2)} times the measured {words.number(mean)}."
    else:
        said += f"; the measured {words.number(mean)} is above that."
    largest = words.number(guarantee.largest)
    if guarantee.telling is not None:
        return f"{said} The bound is below {largest} from about t = {words.number(guarantee.telling, 2)} on."
    if guarantee.limit < FURTHEST:
        return f"{said} The bound is not below {largest} within the {guarantee.limit:,} steps that it is made for."
    return f"{said} The bound is not below {largest} within 10{superscript(18)} steps."


def _largest(covered: Sequence[tuple[AgentDigest, Guarantee]]) -> float:
    """The same for all: it is the reward's, which is the problem's."""
    return max(found.largest for _, found in covered)


def _not_computed(names: Sequence[str]) -> str:
    return (
        f"There is an explicit bound on the regret of {words.listed(names)}; it was not computed. It depends on the"
        f" diameter, which takes long to compute in worlds of more than {MOST_STATES:,} states."
    )
