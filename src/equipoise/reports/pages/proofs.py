"""What was certified, what theorems guarantee, and what was learnt of distributions, in words and in figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from equipoise.reports.charts.curves import CERTIFIED_DASHES, TRUTH, curve_chart, guarantee_chart, law_chart
from equipoise.reports.numbers.bounds import agents_with_bound, agents_with_unknown_bound, bounded_regret
from equipoise.reports.numbers.digest import AgentDigest, CertifiedRegret, ProblemDigest, resolution
from equipoise.reports.numbers.format import count, number, plus_minus, superscript
from equipoise.reports.numbers.laws import MOST_LAWS, MOST_VALUES, Law, LawAccuracy, LawSummary
from equipoise.reports.pages import sentences
from equipoise.reports.pages.markup import write_list
from equipoise.reports.pages.section import Beside, Column, Figure, Key, Panels, Part, Table, agent_keys, number_columns
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


_LAW_HEIGHT: Final = 170
_FOLDED: Final = 12  # rows: of more, the table is folded
_MOST_ROWS: Final = 500  # in the table
LAW_MEANING: Final = (
    "A law is estimated by the share of its visits in which it had each value; every step in which it is seen counts,"
    " in whatever state. The intervals are the agent's regions at the end of the run"
)


def law_parts(problem: ProblemDigest, agents: Mapping[str, str]) -> list[Part]:
    """The picture, its words and its table; nothing if no agent was told mechanics."""
    found = problem.laws
    if found is None:
        return []
    caveats = {agent.name: agent.caveat for agent in problem.agents}
    lines = tuple(law_words(agent, found.seed, not caveats.get(agent.agent)) for agent in found.agents)
    panels = Panels(
        name="laws",
        figures=tuple(_law_panel(i, law, problem.record.name, agents) for i, law in enumerate(found.laws)),
        label=f"Estimated laws against the truth on {problem.record.name}, seed {found.seed}: {' '.join(lines)}",
        legend=(*agent_keys(agents, [agent.agent for agent in found.agents]), Key(TRUTH, "ink")),
        note=_law_note(found),
    )
    table = _law_table(problem, found, agents)
    heading = "### Estimated laws against the truth"
    if len(found.laws) == 1:  # which leaves room beside it
        return [heading, Beside(((panels,), (write_list(lines),))), table]
    return [heading, panels, write_list(lines), table]


def law_words(agent: LawAccuracy, seed: int, proven: bool) -> str:
    """How well an agent knows the laws."""
    sentence = f"{agent.agent}, seed {seed}: "
    if agent.furthest is None:
        return f"{sentence}no law was seen."
    sentence += f"no estimate is further than {number(agent.furthest, 2)} from the truth"
    if agent.points:
        return f"{sentence}; its regions are single points, and do not claim to hold the truth."
    if agent.held == agent.values:
        every = "its one interval holds" if agent.values == 1 else f"all {agent.values:,} intervals hold"
        sentence += f"; {every} the truth"
    else:
        sentence += f"; {agent.held} of {count(agent.values, 'interval')} hold the truth"
    if agent.runs > 1:
        sentence += f". In {agent.whole:,} of {count(agent.runs, 'run')} every interval does"
    return f"{sentence}." if proven else f"{sentence}. No proof says that they must."


def _law_panel(place: int, law: Law, problem: str, agents: Mapping[str, str]) -> Figure:
    label = f"The law {law.name} on {problem}: estimates, intervals and the truth"
    left = f"{law.left} of {law.left + len(law.values)} values left out" if law.left else ""
    chart = partial(law_chart, law, agents)
    return Figure(f"law-{place}", chart, label, heading=law.name, aside=left, height=_LAW_HEIGHT)


def _law_note(found: LawSummary) -> str:
    note = f"Of one run an agent, seed {found.seed}: points are estimates, rules the intervals of the agent's regions,"
    note += " ticks the truth, which no agent is told."
    if any(agent.points for agent in found.agents):
        note += " Open diamonds: regions that are single points, such as a law that was drawn."
    if found.left:
        total = found.left + len(found.laws)
        note += f" Of {total} laws, the {MOST_LAWS} that were seen least; {found.left} are left out."
    if any(law.left for law in found.laws):
        note += f" Of laws with more than {MOST_VALUES} values, those with the widest intervals."
    if found.absent:
        note += f" No result with that seed yet: {sentences.join_names(found.absent)}."
    return note


def _law_table(problem: ProblemDigest, found: LawSummary, agents: Mapping[str, str]) -> Table:
    """All values, law by law and value by value; of very many those of the picture."""
    names = [agent.agent for agent in found.agents]
    whole = found.rows.height <= _MOST_ROWS
    kept = {(law.name, place) for law in found.laws for place in law.rows["place"]}
    laws = {name: place for place, name in enumerate(dict.fromkeys(found.rows["law"]))}
    entries = [row for row in found.rows.to_dicts() if whole or (row["law"], row["place"]) in kept]
    entries.sort(key=lambda row: (laws[row["law"]], row["place"], names.index(row["agent"])))
    rows: list[tuple[str, ...]] = [
        (
            row["law"],
            row["value"],
            agents[row["agent"]],
            f"{row['seen']:,} of {row['visits']:,}",
            "none" if row["estimate"] is None else number(row["estimate"]),
            number(row["low"]) + ("" if row["low"] == row["high"] else f" to {number(row['high'])}"),
            "none" if row["truth"] is None else number(row["truth"]),
        )
        for row in entries
    ]
    folded = "All values of the laws" if whole else "The values of the laws that are shown"
    numbers = number_columns("seen", "estimate", "interval", "truth")
    label = f"Estimated laws and the truth on {problem.record.name}, seed {found.seed}"
    columns = (Column("law", "long"), "value", Column("agent", "long", "agent"), *numbers)
    return Table("laws", label, columns, rows, folded=folded if len(rows) > _FOLDED else "")
