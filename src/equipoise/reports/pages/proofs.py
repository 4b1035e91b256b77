"""What was certified, and what theorems guarantee, in words and in figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from equipoise.reports.charts.curves import CERTIFIED_DASHES, curve_chart, guarantee_chart
from equipoise.reports.numbers.bounds import agents_with_bound, agents_with_unknown_bound, bounded_regret
from equipoise.reports.numbers.digest import AgentDigest, CertifiedRegret, ProblemDigest, resolution
from equipoise.reports.numbers.format import count, number, plus_minus, superscript
from equipoise.reports.pages import sentences
from equipoise.reports.pages.markup import write_list
from equipoise.reports.pages.section import Figure, Key, Part, agent_keys
from equipoise.studies.plan import FURTHEST, MOST_STATES
from equipoise.studies.results import Guarantee

KEY: Final = Key("certified: lost at most, in the same colour", "muted", CERTIFIED_DASHES)
MEANING: Final = (
    "Certified regret is what is lost at most, proven from what the agent saw alone: nothing of the world or its"
    " optimum is used"
)


def certificate_parts(problem: ProblemDigest) -> list[Part]:
    """A sentence for each agent with certificates."""
    lines = [certificate_words(problem, agent) for agent in problem.agents if agent.proven is not None]
    return [write_list(lines)] if lines else []


def certified_figure(problem: ProblemDigest, agents: Mapping[str, str], seeds: str, height: int) -> list[Part]:
    """The certified regret alone, for a problem without an optimum; nothing if none was certified."""
    curves = problem.certified
    if curves is None:
        return []

    names = list(dict.fromkeys(curves.frame["agent"]))
    ends = [f"{agent.name} ends at {plus_minus(agent.proven.final)}" for agent in problem.agents if agent.proven]
    label = f"Certified regret against steps on {problem.record.name}, log-log axes: {'; '.join(ends)}"
    figure = Figure(
        "certified",
        lambda theme: curve_chart(curves, agents, theme, "certified regret"),
        label,
        f"{MEANING}. {seeds}",
        legend=agent_keys(agents, names),
        height=height,
    )
    return ["### Certified regret over time", figure]


def certificate_words(problem: ProblemDigest, agent: AgentDigest) -> str:
    """When what is lost was proven to be little, and how far above the measured regret the certified one is."""
    found = agent.proven
    assert found is not None  # for mypy: its callers ask for such
    last = f"At t = {agent.t:,} at most {number(found.final.mean)} is certified to be lost"
    last += f", mean over {count(found.final.n, 'run')}" if found.final.n > 1 else ""
    mean = agent.final.mean
    if problem.measure == "regret":
        if mean > resolution(problem.record):
            last += f": {number(found.final.mean / mean, 2)} times the measured {number(mean)}"
        else:
            last += "; the measured regret is zero or less, as far as can be told"
    return f"{agent.name}: {sentences.when_proven(found)}. {last}."


def within_cell(found: CertifiedRegret | None) -> str:
    """How many runs are certified within the amount at the end, and from when on half of all runs stay so."""
    if found is None:
        return "proves nothing"
    cell = f"{len(found.since)} of {count(found.runs, 'run')}"
    return cell if found.half is None else f"{cell}, half from {found.half:,} on"


_HEADING: Final = "### Measured regret and what is guaranteed"
_HEIGHT: Final = 300


def guarantee_parts(problem: ProblemDigest, agents: Mapping[str, str]) -> list[Part]:
    """The figure and its words, or that the bounds were not computed; nothing if no agent has one."""
    left = agents_with_unknown_bound(problem)
    if left:
        note = f"There is an explicit bound on the regret of {sentences.join_names(left)}; it was not computed. It"
        note += f" depends on the diameter, which takes long to compute in worlds of more than {MOST_STATES:,} states."
        return [_HEADING, sentences.write_note(note)]
    shown = bounded_regret(problem)
    if shown is None:
        return []

    covered = agents_with_bound(problem)
    lines = [guarantee_words(agent, guarantee, resolution(problem.record)) for agent, guarantee in covered]
    caption = (
        "Solid: the mean regret, as above. Dashed: the explicit bound on the regret of a run, which holds for all t at"
        " once with the probability given below. It is about the worst world of this size and diameter, so it is"
        " typically far above what is measured. No regret can be larger than"
        f" L‖1‖ = {number(shown.largest)}: only below that does a bound say something."
    )
    figure = Figure(
        name="guarantee",
        chart=partial(guarantee_chart, shown, agents),
        label=f"Regret and its bounds against steps on {problem.record.name}, log-log axes: {' '.join(lines)}",
        caption=caption,
        legend=(
            *agent_keys(agents, [agent.name for agent, _ in covered]),
            Key.rule("muted", "its bound, in the same colour"),
            Key.rule("ink", "no regret can be larger"),
        ),
        height=_HEIGHT,
    )
    return [_HEADING, figure, write_list(lines)]


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
