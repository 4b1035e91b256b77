"""The numbers behind the charts of a problem: final regret and comparisons, the optimum and its prices, speeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from equipoise.reports.numbers.comparisons import Comparison
from equipoise.reports.numbers.digest import MOST_OUTCOMES, ProblemDigest
from equipoise.reports.numbers.guarantees import without_bound
from equipoise.reports.numbers.slopes import fit_window
from equipoise.reports.numbers.written import (
    as_given,
    fraction,
    number,
    p_cell,
    plus_minus,
    slope,
    speeds,
    steps_per_second,
)
from equipoise.reports.writing import words
from equipoise.reports.writing.certificates import within_cell
from equipoise.reports.writing.inline import Content
from equipoise.reports.writing.keys import agent_key
from equipoise.reports.writing.section import Column, Facts, Heading, Items, Part, Table, Text
from equipoise.studies.results import INFEASIBLE, Optimum

_MOST_VERDICTS: Final = 5


def final_parts(problem: ProblemDigest, agents: Mapping[str, str]) -> list[Part]:
    """Final regret or value with slopes, and who is better than whom."""
    against = {pair.second: pair for pair in words.against_best(problem)}  # nearest first
    parts: list[Part] = [Heading(f"Final {problem.measure}"), _final_table(problem, agents, against)]
    parts.append(Text(_table_words(problem), "note"))
    verdicts = [words.verdict(pair, problem.judged) for pair in against.values()]
    if len(verdicts) > _MOST_VERDICTS:
        verdicts = [*verdicts[:_MOST_VERDICTS], "The others are among all pairs, below."]
    if verdicts:
        parts.append(Items(tuple(verdicts)))
    if note := words.family(problem):
        parts.append(Text(note, "note"))
    if len(problem.comparisons) > len(against):
        parts.append(_all_pairs(problem))
    return parts


def _final_table(problem: ProblemDigest, agents: Mapping[str, str], against: Mapping[str, Comparison]) -> Table:
    regret = problem.measure == "regret"
    at = "" if problem.end is None else f" at t = {problem.end:,}"
    columns = [Column("agent", "long"), Column("seeds", "number"), Column(f"{problem.measure}{at}", "number")]
    if regret:
        columns += [Column("slope", "number"), Column("bound", "number")]
    proving = next((agent.proven for agent in problem.agents if agent.proven is not None), None)
    if proving is not None:
        columns += [Column("certified", "number"), Column(f"within {as_given(proving.within)}", "number")]
    if problem.violations is not None:
        columns.append(Column(problem.judged, "number"))
    if against:
        columns += [Column("best is better on", "number"), Column("corrected p", "number")]
    rows = []
    for agent in problem.agents:
        row: list[Content] = [agent_key(agents, agent.name), str(agent.final.n)]
        row.append(plus_minus(agent.final) + ("" if problem.end else f" at {agent.t:,}"))
        if regret:
            row += [slope(agent.slope), fraction(agent.rate) if agent.rate is not None else "none"]
        if proving is not None:
            row += [plus_minus(agent.proven.final) if agent.proven else "", within_cell(agent.proven)]
        if problem.violations is not None:
            row.append(plus_minus(agent.priced))
        if against:
            row += ["best", ""] if agent.name == problem.best else _against(against[agent.name])
        rows.append(tuple(row))
    best = next((i for i, agent in enumerate(problem.agents) if agent.name == problem.best), None)
    return Table(
        name="final",
        label=f"Final {problem.measure} on {problem.record.name}",
        columns=tuple(columns),
        rows=tuple(rows),
        best=best if against else None,
    )


def _against(pair: Comparison) -> list[Content]:
    return [f"{pair.lower} of {pair.n}", p_cell(pair.corrected)]


def _table_words(problem: ProblemDigest) -> str:
    note = "Mean over seeds ± half-width of its 95 % interval."
    proving = next((agent.proven for agent in problem.agents if agent.proven is not None), None)
    if proving is not None:
        amount = as_given(proving.within)
        note += (
            f" Certified: what is lost at most, by the certificates of the runs. Within {amount}: in how many runs it"
            f" came to be certified, at some checkpoint, that at most {amount} is lost, and by which t half of all runs"
            " had come so far."
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
    if names := without_bound(problem):
        note += f" No bound is known for {words.listed(names)}."
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
    return Table(
        name="pairs",
        label=f"{every} on {problem.record.name}",
        columns=(
            Column("pair", "long"),
            Column("first is better on", "number"),
            Column(f"difference in {problem.judged}", "number"),
            Column("p", "number"),
            Column("corrected p", "number"),
        ),
        rows=tuple(rows),
        folded=every,
    )


def optimum_parts(problem: ProblemDigest) -> list[Part]:
    """What could be had: the value with its certificate, outcomes, and prices."""
    record, optimum = problem.record, problem.record.optimum
    if optimum is None:
        note = (
            "The offline program has no certified answer for this problem: there is no optimum to measure regret"
            " against."
        )
        if problem.certified is not None:
            note += " Certificates are proven without it."
        return [Heading("Optimum"), Text(note, "note")]
    if optimum.status.startswith(f"{INFEASIBLE}: "):
        reason = optimum.status.partition(": ")[2]
        return [Heading("Optimum"), Text(f"There is none, and that is proven: {reason}.", "bad")]
    facts = Facts(
        (
            ("value", number(optimum.value, 6)),
            ("dual value", number(optimum.dual_value, 6)),
            ("gap", number(optimum.gap, 2)),
            ("status", optimum.status),
            ("solver", f"{optimum.solver}, {number(optimum.seconds, 2)} s"),
        )
    )
    best = next((agent for agent in problem.agents if agent.name == problem.best), None)
    columns = [Column("outcome"), Column("optimum", "number")]
    columns += [Column("best agent", "number")] if best else []
    columns.append(Column("price −θ*", "number"))
    rows = []
    for k, (outcome, theta) in enumerate(zip(optimum.outcomes, optimum.theta, strict=True)):
        reached = [number(best.outcomes[k])] if best else []
        rows.append((record.outcome_name(k), number(outcome), *reached, number(-theta)))
    prices = Table(
        name="optimum",
        label=f"Optimal outcomes and shadow prices of {record.name}",
        columns=tuple(columns),
        rows=tuple(rows),
        folded=f"All {len(rows)} outcomes and their prices" if len(rows) > MOST_OUTCOMES else "",
    )
    return [Heading("Optimum"), facts, prices, Text(_price_words(optimum), "note")]


def _price_words(optimum: Optimum) -> str:
    note = (
        "The optimum lies between the value, which is attained, and the dual value, which the certificate proves."
        " −θ* are shadow prices: what a little more of each outcome is worth at the optimum, in units of g."
    )
    if optimum.status != "optimal":
        note += f" The solver's answer is not certified as optimal ({optimum.status})."
    return note


def speed_parts(problem: ProblemDigest, agents: Mapping[str, str]) -> list[Part]:
    """Steps per second, and the work of the planner."""
    rows: list[tuple[Content, ...]] = []
    for agent in problem.agents:
        speed = ["not measured", ""]
        if agent.speed is not None:
            speed = [steps_per_second(agent.speed.median), speeds(agent.speed.slowest, agent.speed.fastest)]
        rows.append((agent_key(agents, agent.name), *speed, f"{agent.sweeps:,.0f}"))
    table = Table(
        name="speed",
        label=f"Steps per second on {problem.record.name}",
        columns=(Column("agent"), Column("median", "number"), Column("range", "number"), Column("sweeps", "number")),
        rows=tuple(rows),
    )
    note = (
        "Steps per second over whole runs, compilation apart: median and range over seeds. Sweeps: of the planner,"
        " mean over seeds."
    )
    return [Heading("Speed"), table, Text(note, "note")]
