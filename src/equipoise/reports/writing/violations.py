"""What the constraints lack, apart from the regret: a table of all agents, and a panel for each constraint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from equipoise.reports.drawing.charts import curve_chart
from equipoise.reports.drawing.theme import Theme
from equipoise.reports.numbers.curves import Curves
from equipoise.reports.numbers.digest import ProblemDigest
from equipoise.reports.numbers.violations import Violations
from equipoise.reports.numbers.written import count, number, plus_minus
from equipoise.reports.writing.inline import Content
from equipoise.reports.writing.keys import agent_keys
from equipoise.reports.writing.section import Column, Figure, Heading, Panels, Part, Table, Text

_HEIGHT: Final = 180


def violation_parts(problem: ProblemDigest, agents: Mapping[str, str], seeds: str) -> list[Part]:
    """The violation of each constraint, as a table and over time; nothing if there are no constraints.

    Parameters
    ----------
    problem : ProblemDigest
        What is told.
    agents : mapping
        All agents of the study, each with its label: a place is a colour.
    seeds : str
        What curves and bands are.
    """
    found = problem.violations
    if found is None:
        return []
    record = problem.record
    panels = Panels(
        name="violations",
        figures=tuple(
            _panel(j, name, curves, record.name, agents)
            for j, (name, curves) in enumerate(zip(record.constraints, found.curves, strict=True))
        ),
        label=f"Violation of each constraint against steps on {record.name}, log-log axes: {_ends(problem, found)}",
        legend=agent_keys(agents, [agent.name for agent in problem.agents]),
        note=f"What each constraint lacks at the average outcomes of the first t steps. {seeds}{_below(found)}",
    )
    note = (
        "Mean over seeds ± half-width of its 95 % interval; in brackets, in how many runs the constraint is met at the "
        "end. Multiplier: what easing the constraint by a little is worth at the optimum. A penalty whose price is "
        "above it is exact, and violations then vanish with the regret."
    )
    return [Heading("Violation of each constraint"), _table(problem, found), Text(note, "note"), panels]


def _table(problem: ProblemDigest, found: Violations) -> Table:
    record = problem.record
    multipliers = record.optimum.multipliers if record.optimum is not None else {}
    columns = [Column("constraint", "long"), Column("price", "number"), Column("multiplier", "number")]
    columns += [Column(agent.name, "number") for agent in problem.agents]
    rows: list[tuple[Content, ...]] = []
    for j, (name, price) in enumerate(zip(record.constraints, record.prices, strict=True)):
        cells = [
            f"{plus_minus(found.final[agent.name][j])} ({found.met[agent.name][j]} of {agent.final.n})"
            for agent in problem.agents
        ]
        multiplier = number(multipliers[name]) if name in multipliers else "not known"
        rows.append((name, number(price), multiplier, *cells))
    at = "" if problem.end is None else f" at t = {problem.end:,}"
    return Table(
        name="violations",
        label=f"Violation of each constraint{at} on {record.name}",
        columns=tuple(columns),
        rows=tuple(rows),
    )


def _panel(j: int, name: str, curves: Curves, problem: str, agents: Mapping[str, str]) -> Figure:
    def chart(theme: Theme) -> Any:
        return curve_chart(curves, agents, theme, "violation" if theme.tooltips else "")

    label = f"Violation of {name} against steps on {problem}"
    return Figure(f"violation-{j}", chart, label, heading=name, height=_HEIGHT)


def _ends(problem: ProblemDigest, found: Violations) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{agent.name} {plus_minus(found.final[agent.name][j])}" for agent in problem.agents)
        for j, name in enumerate(problem.record.constraints)
    )


def _below(found: Violations) -> str:
    below = sum(curves.below for curves in found.curves)
    return f" Marked ▽ at the bottom: {count(below, 'mean')} at or close to zero." if below else ""
