"""What was certified, in words and, where there is no regret, in a figure of its own.

Where there is a regret, its figure has the certified one beside it: thin and dashed, in the colour of the agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from equipoise.reports.drawing.charts import CERTIFIED_DASHES, curve_chart
from equipoise.reports.drawing.theme import Theme
from equipoise.reports.numbers.certificates import Proven
from equipoise.reports.numbers.digest import AgentDigest, ProblemDigest, resolution
from equipoise.reports.numbers.written import count, number, plus_minus
from equipoise.reports.writing import words
from equipoise.reports.writing.inline import Key
from equipoise.reports.writing.keys import agent_keys
from equipoise.reports.writing.section import Figure, Heading, Items, Part

KEY: Final = Key("certified: lost at most, in the same colour", "muted", CERTIFIED_DASHES)
MEANING: Final = (
    "Certified regret is what is lost at most, proven from what the agent saw alone: nothing of the world or its"
    " optimum is used"
)


def certificate_parts(problem: ProblemDigest) -> list[Part]:
    """A sentence for each agent with certificates."""
    sentences = [certificate_words(problem, agent) for agent in problem.agents if agent.proven is not None]
    return [Items(tuple(sentences))] if sentences else []


def certified_figure(problem: ProblemDigest, agents: Mapping[str, str], seeds: str, height: int) -> list[Part]:
    """The certified regret alone, for a problem without an optimum; nothing if none was certified.

    Parameters
    ----------
    problem : ProblemDigest
        What is told.
    agents : mapping
        All agents of the study, each with its label.
    seeds : str
        What curves and bands are.
    height : int
        Of the plot.
    """
    curves = problem.certified
    if curves is None:
        return []

    def chart(theme: Theme) -> Any:
        return curve_chart(curves, agents, theme, "certified regret")

    names = list(dict.fromkeys(curves.frame["agent"]))
    ends = [f"{agent.name} ends at {plus_minus(agent.proven.final)}" for agent in problem.agents if agent.proven]
    figure = Figure(
        name="certified",
        chart=chart,
        label=f"Certified regret against steps on {problem.record.name}, log-log axes: {'; '.join(ends)}",
        caption=f"{MEANING}. {seeds}",
        legend=agent_keys(agents, names),
        height=height,
    )
    return [Heading("Certified regret over time"), figure]


def certificate_words(problem: ProblemDigest, agent: AgentDigest) -> str:
    """When what is lost was proven to be little, and how far above the measured regret the certified one is.

    Parameters
    ----------
    problem : ProblemDigest
        What is told.
    agent : AgentDigest
        One with certificates.
    """
    found = agent.proven
    assert found is not None  # for mypy: its callers ask for such
    last = f"At t = {agent.t:,} at most {number(found.final.mean)} is certified to be lost"
    last += f", mean over {count(found.final.n, 'run')}" if found.final.n > 1 else ""
    mean = agent.final.mean
    if problem.measure == "regret":
        told = mean > resolution(problem.record)
        last += (
            f": {number(found.final.mean / mean, 2)} times the measured {number(mean)}"
            if told
            else "; the measured regret is zero or less, as far as can be told"
        )
    return f"{agent.name}: {words.when_proven(found)}. {last}."


def within_cell(found: Proven | None) -> str:
    """How many runs were certified within the amount, and by when half of them were.

    >>> from equipoise._statistics import Interval
    >>> within_cell(Proven(0.01, 0.95, Interval(0.004, 0.001, 3), 3, (100, 1000), None))
    '2 of 3 runs, half by 1,000'
    >>> within_cell(Proven(0.01, 0.95, Interval(0.004, 0.001, 3), 3, (100,), None)), within_cell(None)
    ('1 of 3 runs', 'proves nothing')
    """
    if found is None:
        return "proves nothing"
    cell = f"{len(found.first)} of {count(found.runs, 'run')}"
    return cell if found.half is None else f"{cell}, half by {found.half:,}"
