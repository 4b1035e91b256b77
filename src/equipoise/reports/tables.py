"""The numbers behind the charts of a problem: final regret and comparisons, the optimum and its prices, speeds."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.reports import words
from equipoise.reports.charts import fraction
from equipoise.reports.comparisons import Comparison
from equipoise.reports.digest import MOST_OUTCOMES, ProblemDigest
from equipoise.reports.markup import Column, facts, items, named, prose, table, text
from equipoise.reports.statistics import fit_window
from equipoise.studies.results import Optimum

_MOST_VERDICTS = 5


def final_table(problem: ProblemDigest, agents: Mapping[str, str]) -> str:
    """Final regret or value with slopes, and who is better than whom."""
    regret = problem.measure == "regret"
    against = {pair.second: pair for pair in words.against_best(problem)}  # nearest first
    at = "" if problem.end is None else f" at t = {problem.end:,}"
    columns = [Column("agent", "wrap"), Column("seeds", "n"), Column(f"{problem.measure}{at}", "n")]
    if regret:
        columns += [Column("slope", "n"), Column("bound", "n")]
    if against:
        columns += [Column("best is better on", "n"), Column("corrected p", "n")]
    rows = []
    for agent in problem.agents:
        row = [named(list(agents).index(agent.name), agent.label), str(agent.final.n)]
        row.append(text(words.plus_minus(agent.final)) + ("" if problem.end else f" at {agent.t:,}"))
        if regret:
            row += [text(words.slope(agent.slope)), fraction(agent.rate) if agent.rate is not None else "none"]
        if against:
            row += ["best", ""] if agent.name == problem.best else _against(against[agent.name])
        rows.append(row)
    best = next((i for i, agent in enumerate(problem.agents) if agent.name == problem.best), None)
    parts = [f"<h3>Final {problem.measure}</h3>"]
    parts.append(table(f"Final {problem.measure} on {problem.record.name}", columns, rows, best if against else None))
    parts.append(f'<p class="note">{prose(_table_words(problem))}</p>')
    said = [prose(words.verdict(pair, problem.measure)) for pair in against.values()]
    if len(said) > _MOST_VERDICTS:
        said = [*said[:_MOST_VERDICTS], "The others are among all pairs, below."]
    parts.append(items("verdicts", said) if said else "")
    if note := words.family(problem):
        parts.append(f'<p class="note">{prose(note)}</p>')
    if len(problem.comparisons) > len(against):
        parts.append(_all_pairs(problem))
    return "".join(parts)


def _against(pair: Comparison) -> list[str]:
    return [f"{pair.lower} of {pair.n}", text(words.p_cell(pair.corrected))]


def _table_words(problem: ProblemDigest) -> str:
    said = "Mean over seeds ± half-width of its 95 % interval."
    if problem.measure != "regret" or problem.end is None:
        return said
    first, last = fit_window(problem.end)
    return (
        f"{said} Slope: of the mean regret on log-log axes for {first:,.0f} ≤ t ≤ {last:,.0f}, by least squares;"
        " its interval comes from leaving out one seed at a time. Bound: the slope of the theorem's."
    )


def _all_pairs(problem: ProblemDigest) -> str:
    measure = problem.measure
    columns = [Column("pair", "wrap"), Column("first is better on", "n"), Column(f"difference in {measure}", "n")]
    columns += [Column("p", "n"), Column("corrected p", "n")]
    sign = 1 if measure == "regret" else -1
    rows = []
    for pair in problem.comparisons:
        d = pair.difference
        mean = "none" if d is None else words.number(sign * d.mean)
        width = "" if d is None or d.half is None else f" ± {words.number(d.half, 2)}"
        ps = [text(words.p_cell(p)) for p in (pair.p, pair.corrected)]
        rows.append([text(f"{pair.first} − {pair.second}"), f"{pair.lower} of {pair.n}", text(mean + width), *ps])
    what = f"All {len(problem.comparisons)} pairs of agents"
    return f"<details><summary>{what}</summary>{table(f'{what} on {problem.record.name}', columns, rows)}</details>"


def optimum_part(problem: ProblemDigest) -> str:
    """What could be had: the value with its certificate, outcomes, and prices."""
    optimum = problem.record.optimum
    if optimum is None:
        return (
            '<h3>Optimum</h3><p class="note">The offline program has no certified answer for this problem: '
            "there is no optimum to measure regret against.</p>"
        )
    numbers = facts(
        [
            ("value", words.number(optimum.value, 6)),
            ("dual value", words.number(optimum.dual_value, 6)),
            ("gap", words.number(optimum.gap, 2)),
            ("status", optimum.status),
            ("solver", f"{optimum.solver}, {words.number(optimum.seconds, 2)} s"),
        ]
    )
    best = next((agent for agent in problem.agents if agent.name == problem.best), None)
    columns = [Column("outcome"), Column("optimum", "n")]
    columns += [Column("best agent", "n")] if best else []
    columns.append(Column("price −θ*", "n"))
    rows = []
    for k, (w, theta) in enumerate(zip(optimum.outcomes, optimum.theta, strict=True)):
        reached = [words.number(best.outcomes[k])] if best else []
        rows.append([str(k), words.number(w), *reached, words.number(-theta)])
    prices = table(f"Optimal outcomes and shadow prices of {problem.record.name}", columns, rows)
    if len(rows) > MOST_OUTCOMES:
        prices = f"<details><summary>All {len(rows)} outcomes and their prices</summary>{prices}</details>"
    return f'<h3>Optimum</h3>{numbers}{prices}<p class="note">{text(_price_words(optimum))}</p>'


def _price_words(optimum: Optimum) -> str:
    said = (
        "The optimum lies between the value, which is attained, and the dual value, which the certificate proves."
        " −θ* are shadow prices: what a little more of each outcome is worth at the optimum, in units of g."
    )
    if optimum.status != "optimal":
        said += f" The solver's answer is not certified as optimal ({optimum.status})."
    return said


def speed_table(problem: ProblemDigest, agents: Mapping[str, str]) -> str:
    """Steps per second, and the work of the planner."""
    columns = [Column("agent"), Column("median", "n"), Column("range", "n"), Column("sweeps", "n")]
    rows = []
    for agent in problem.agents:
        speed = ["not measured", ""]
        if agent.speed is not None:
            speed = [words.steps_per_second(agent.speed.median), words.speeds(agent.speed.slowest, agent.speed.fastest)]
        rows.append([named(list(agents).index(agent.name), agent.label), *speed, f"{agent.sweeps:,.0f}"])
    return (
        f"<h3>Speed</h3>{table(f'Steps per second on {problem.record.name}', columns, rows)}"
        '<p class="note">Steps per second over whole runs, compilation apart: median and range over seeds. '
        "Sweeps: of the planner, mean over seeds.</p>"
    )
