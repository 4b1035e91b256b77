"""What was measured beside what is guaranteed, in words and in a figure.

A bound is drawn dashed in the colour of its agent, on the axes of the regret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from equipoise.reports.drawing.charts import guarantee_chart
from equipoise.reports.drawing.theme import Theme
from equipoise.reports.numbers.digest import AgentDigest, ProblemDigest, resolution
from equipoise.reports.numbers.guarantees import bounded, guaranteed, not_computed
from equipoise.reports.numbers.written import number, superscript
from equipoise.reports.writing.inline import Key
from equipoise.reports.writing.keys import agent_keys
from equipoise.reports.writing.section import Figure, Heading, Items, Part, Text
from equipoise.reports.writing.words import listed
from equipoise.studies.guarantees import FURTHEST, MOST_STATES
from equipoise.studies.results import Guarantee

_HEADING: Final = Heading("Measured regret and what is guaranteed")
_HEIGHT: Final = 300


def guarantee_parts(problem: ProblemDigest, agents: Mapping[str, str]) -> list[Part]:
    """The figure and its words, or that the bounds were not computed; nothing if no agent has one."""
    left = not_computed(problem)
    if left:
        return [_HEADING, Text(_not_computed(left), "note")]
    shown = bounded(problem)
    if shown is None:
        return []

    def chart(theme: Theme) -> Any:
        return guarantee_chart(shown, agents, theme)

    covered = guaranteed(problem)
    sentences = [guarantee_words(agent, guarantee, resolution(problem.record)) for agent, guarantee in covered]
    caption = (
        "Solid: the mean regret, as above. Dashed: the explicit bound on the regret of a run, which holds for all t at"
        " once with the probability given below. It is about the worst world of this size and diameter, so it is"
        " typically far above what is measured. No regret can be larger than"
        f" L‖1‖ = {number(shown.largest)}: only below that does a bound say something."
    )
    figure = Figure(
        name="guarantee",
        chart=chart,
        label=f"Regret and its bounds against steps on {problem.record.name}, log-log axes: {' '.join(sentences)}",
        caption=caption,
        legend=(
            *agent_keys(agents, [agent.name for agent, _ in covered]),
            Key.rule("muted", "its bound, in the same colour"),
            Key.rule("ink", "no regret can be larger"),
        ),
        height=_HEIGHT,
    )
    return [_HEADING, figure, Items(tuple(sentences))]


def guarantee_words(agent: AgentDigest, guarantee: Guarantee, zero: float) -> str:
    """How far the bound is above what was measured, and from when on it says something; `zero` is the resolution."""
    bound, mean = dict(guarantee.bounds)[agent.t], agent.final.mean
    sentence = (
        f"{agent.name}: with probability at least {number(guarantee.probability, 2)} the regret at"
        f" t = {agent.t:,} is at most {number(bound)}"
    )
    if mean <= zero:
        sentence += "; the measured one is zero or less, as far as can be told."
    elif mean <= bound:
        sentence += f", {number(bound / mean, 2)} times the measured {number(mean)}."
    else:
        sentence += f"; the measured {number(mean)} is above that."
    largest = number(guarantee.largest)
    if guarantee.telling is not None:
        return f"{sentence} The bound is below {largest} from about t = {number(guarantee.telling, 2)} on."
    if guarantee.limit < FURTHEST:
        return f"{sentence} The bound is not below {largest} within the {guarantee.limit:,} steps that it is made for."
    return f"{sentence} The bound is not below {largest} within 10{superscript(18)} steps."


def _not_computed(names: Sequence[str]) -> str:
    return (
        f"There is an explicit bound on the regret of {listed(names)}; it was not computed. It depends on the"
        f" diameter, which takes long to compute in worlds of more than {MOST_STATES:,} states."
    )
