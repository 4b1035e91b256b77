"""The numbers behind the charts of a problem: final regret, comparisons, optimum, speeds, violations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from equipoise.reports.charts.curves import curve_chart
from equipoise.reports.charts.theme import Theme
from equipoise.reports.numbers.bounds import agents_without_bound
from equipoise.reports.numbers.comparisons import Comparison
from equipoise.reports.numbers.curves import Curves, fit_window
from equipoise.reports.numbers.digest import MOST_OUTCOMES, ProblemDigest, Violations
from equipoise.reports.numbers.format import (
    as_given,
    count,
    fraction,
    number,
    p_cell,
    plus_minus,
    slope,
    speeds,
    steps_per_second,
)
from equipoise.reports.pages import sentences
from equipoise.reports.pages.markup import escape, write_list
from equipoise.reports.pages.proofs import within_cell
from equipoise.reports.pages.section import Chart, Column, Figure, Panels, Part, Table, Text, agent_keys, number_columns
from equipoise.studies.results import INFEASIBLE

_MOST_VERDICTS: Final = 5


def final_parts(problem: ProblemDigest) -> list[Part]:
    """Final regret or value with slopes, and who is better than whom."""
    against = {pair.second: pair for pair in sentences.against_best(problem)}  # nearest first
    parts: list[Part] = [f"### Final {problem.measure}", _final_table(problem, against)]
    parts.append(sentences.write_note(_table_words(problem)))
    verdicts = [sentences.verdict(pair, problem.judged) for pair in against.values()]
    if len(verdicts) > _MOST_VERDICTS:
        verdicts = [*verdicts[:_MOST_VERDICTS], "The others are among all pairs, below."]
    if verdicts:
        parts.append(write_list(verdicts))
    if note := sentences.family(problem):
        parts.append(sentences.write_note(note))
    if len(problem.comparisons) > len(against):
        parts.append(_all_pairs(problem))
    return parts


def _final_table(problem: ProblemDigest, against: Mapping[str, Comparison]) -> Table:
    regret = problem.measure == "regret"
    at = "" if problem.end is None else f" at t = {problem.end:,}"
    columns = [Column("agent", "long", "agent"), *number_columns("seeds", f"{problem.measure}{at}")]
    if regret:
        columns += number_columns("slope", "bound")
    proving = next((agent.proven for agent in problem.agents if agent.proven is not None), None)
    if proving is not None:
        columns += number_columns("certified", f"within {as_given(proving.within)}")
    if problem.violations is not None:
        columns.append(Column(problem.judged, "number"))
    if against:
        columns += number_columns("best is better on", "corrected p")
    rows = []
    for agent in problem.agents:
        row: list[str] = [agent.label, str(agent.final.n)]
        row.append(plus_minus(agent.final) + ("" if problem.end else f" at {agent.t:,}"))
        if regret:
            row += [slope(agent.slope), fraction(agent.rate) if agent.rate is not None else "none"]
        if proving is not None:
            row += [plus_minus(agent.proven.final) if agent.proven else "", within_cell(agent.proven)]
        if problem.violations is not None:
            row.append(plus_minus(agent.priced))
        if against:
            pair = against.get(agent.name)
            row += ["best", ""] if pair is None else [f"{pair.lower} of {pair.n}", p_cell(pair.corrected)]
        rows.append(tuple(row))
    best = next((i for i, agent in enumerate(problem.agents) if agent.name == problem.best), None)
    label = f"Final {problem.measure} on {problem.record.name}"
    return Table("final", label, columns, rows, best=best if against else None)


def _table_words(problem: ProblemDigest) -> str:
    note = "Mean over seeds ± half-width of its 95 % interval."
    proving = next((agent.proven for agent in problem.agents if agent.proven is not None), None)
    if proving is not None:
        amount = as_given(proving.within)
        note += (
            f" Certified: what is lost at most, by the certificates of the runs. Within {amount}: in how many runs it"
            f" is certified at the end that at most {amount} is lost, and the t from which on that is so at every"
            " checkpoint in half of all runs."
        )
    if problem.violations is not None:
        apart = "plus" if problem.measure == "regret" else "less"
        note += (
            f" The {problem.measure} leaves the constraints out. {problem.judged.capitalize()}: the {problem.measure}"
            f" {apart} each violation at its price; by it agents are compared."
        )
    if problem.measure != "regret":
        return note
    if problem.end is not None:
        first, last = fit_window(problem.end)
        note += (
            f" Slope: of the mean regret on log-log axes for {first:,.0f} ≤ t ≤ {last:,.0f}, by least squares;"
            " its interval comes from leaving out one seed at a time. Bound: the slope of the theorem's."
        )
    if names := agents_without_bound(problem):
        note += f" No bound is known for {sentences.join_names(names)}."
    return note


def _all_pairs(problem: ProblemDigest) -> Table:
    measure = problem.measure
    sign = 1 if measure == "regret" else -1
    rows = []
    for pair in problem.comparisons:
        d = pair.difference
        mean = "none" if d is None else number(sign * d.mean)
        width = "" if d is None or d.half is None else f" ± {number(d.half, 2)}"
        ps = (p_cell(p) for p in (pair.p, pair.corrected))
        rows.append((f"{pair.first} − {pair.second}", f"{pair.lower} of {pair.n}", mean + width, *ps))
    every = f"All {len(problem.comparisons)} pairs of agents"
    numbers = number_columns("first is better on", f"difference in {problem.judged}", "p", "corrected p")
    columns = (Column("pair", "long"), *numbers)
    return Table("pairs", f"{every} on {problem.record.name}", columns, rows, folded=every)


def optimum_parts(problem: ProblemDigest) -> list[Part]:
    """What could be had: the value with its certificate, outcomes, and prices."""
    record, optimum = problem.record, problem.record.optimum
    if optimum is None:
        note = "The offline program has no certified answer for this problem: there is no optimum to measure regret"
        note += " against."
        if problem.certified is not None:
            note += " Certificates are proven without it."
        return ["### Optimum", sentences.write_note(note)]
    if optimum.status.startswith(f"{INFEASIBLE}: "):
        reason = optimum.status.partition(": ")[2]
        return ["### Optimum", Text(escape(f"There is none, and that is proven: {reason}."), "bad")]
    facts = {
        "value": number(optimum.value, 6),
        "dual value": number(optimum.dual_value, 6),
        "gap": number(optimum.gap, 2),
        "status": optimum.status,
        "solver": f"{optimum.solver}, {number(optimum.seconds, 2)} s",
    }
    best = next((agent for agent in problem.agents if agent.name == problem.best), None)
    columns = ["outcome", *number_columns("optimum", *(["best agent"] if best else []), "price −θ*")]
    rows = []
    for k, (outcome, theta) in enumerate(zip(optimum.outcomes, optimum.theta, strict=True)):
        reached = [number(best.outcomes[k])] if best else []
        rows.append((record.outcome_name(k), number(outcome), *reached, number(-theta)))
    folded = f"All {len(rows)} outcomes and their prices" if len(rows) > MOST_OUTCOMES else ""
    prices = Table("optimum", f"Optimal outcomes and shadow prices of {record.name}", columns, rows, folded=folded)
    note = (
        "The optimum lies between the value, which is attained, and the dual value, which the certificate proves."
        " −θ* are shadow prices: what a little more of each outcome is worth at the optimum, in units of g."
    )
    if optimum.status != "optimal":
        note += f" The solver's answer is not certified as optimal ({optimum.status})."
    return ["### Optimum", facts, prices, sentences.write_note(note)]


def speed_parts(problem: ProblemDigest) -> list[Part]:
    """Steps per second, and the work of the planner."""
    rows: list[tuple[str, ...]] = []
    for agent in problem.agents:
        speed = ["not measured", ""]
        if agent.speed is not None:
            speed = [steps_per_second(agent.speed.median), speeds(agent.speed.slowest, agent.speed.fastest)]
        rows.append((agent.label, *speed, f"{agent.sweeps:,.0f}"))
    columns = (Column("agent", form="agent"), *number_columns("median", "range", "sweeps"))
    table = Table("speed", f"Steps per second on {problem.record.name}", columns, rows)
    note = (
        "Steps per second over whole runs, compilation apart: median and range over seeds. Sweeps: of the planner,"
        " mean over seeds."
    )
    return ["### Speed", table, sentences.write_note(note)]


_HEIGHT: Final = 180


def violation_parts(problem: ProblemDigest, agents: Mapping[str, str], seeds: str) -> list[Part]:
    """The violation of each constraint, as a table and over time; nothing if there are no constraints."""
    found, record = problem.violations, problem.record
    if found is None:
        return []
    figures, ends = [], []
    for j, (name, curves) in enumerate(zip(record.constraints, found.curves, strict=True)):
        label = f"Violation of {name} against steps on {record.name}"
        chart = partial(_violation_chart, curves, agents)
        figures.append(Figure(f"violation-{j}", chart, label, heading=name, height=_HEIGHT))
        last = [f"{agent.name} {plus_minus(found.final[agent.name][j])}" for agent in problem.agents]
        ends.append(f"{name}: {', '.join(last)}")
    below = sum(curves.below for curves in found.curves)
    note = f"What each constraint lacks at the average outcomes of the first t steps. {seeds}"
    note += f" Marked ▽ at the bottom: {count(below, 'mean')} at or close to zero." if below else ""
    label = f"Violation of each constraint against steps on {record.name}, log-log axes: {'; '.join(ends)}"
    legend = agent_keys(agents, [agent.name for agent in problem.agents])
    words = (
        "Mean over seeds ± half-width of its 95 % interval; in brackets, in how many runs the constraint is met at the "
        "end. Multiplier: what easing the constraint by a little is worth at the optimum. A penalty whose price is "
        "above it is exact, and violations then vanish with the regret."
    )
    panels = Panels("violations", figures, label, legend, note)
    return ["### Violation of each constraint", _violation_table(problem, found), sentences.write_note(words), panels]


def _violation_chart(curves: Curves, agents: Mapping[str, str], theme: Theme) -> Chart:
    return curve_chart(curves, agents, theme, "violation" if theme.tooltips else "")


def _violation_table(problem: ProblemDigest, found: Violations) -> Table:
    record = problem.record
    multipliers = record.optimum.multipliers if record.optimum is not None else {}
    columns = [Column("constraint", "long"), *number_columns("price", "multiplier", *(a.name for a in problem.agents))]
    rows: list[tuple[str, ...]] = []
    for j, (name, price) in enumerate(zip(record.constraints, record.prices, strict=True)):
        cells = [
            f"{plus_minus(found.final[agent.name][j])} ({found.met[agent.name][j]} of {agent.final.n})"
            for agent in problem.agents
        ]
        multiplier = number(multipliers[name]) if name in multipliers else "not known"
        rows.append((name, number(price), multiplier, *cells))
    at = "" if problem.end is None else f" at t = {problem.end:,}"
    return Table("violations", f"Violation of each constraint{at} on {record.name}", columns, rows)
