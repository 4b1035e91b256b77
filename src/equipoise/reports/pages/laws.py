"""The learnt distributions of one run in words, in a figure with a panel for each, and as a table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from equipoise.reports.charts.curves import TRUTH, law_chart
from equipoise.reports.numbers.digest import ProblemDigest
from equipoise.reports.numbers.format import count, number
from equipoise.reports.numbers.laws import MOST_LAWS, MOST_VALUES, Law, LawAccuracy, LawSummary
from equipoise.reports.pages import sentences
from equipoise.reports.pages.markup import write_list
from equipoise.reports.pages.section import Beside, Column, Figure, Key, Panels, Part, Table, agent_keys, number_columns

_HEIGHT: Final = 170
_FOLDED: Final = 12  # rows: of more, the table is folded
_MOST_ROWS: Final = 500  # in the table
MEANING: Final = (
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
        figures=tuple(_panel(i, law, problem.record.name, agents) for i, law in enumerate(found.laws)),
        label=f"Estimated laws against the truth on {problem.record.name}, seed {found.seed}: {' '.join(lines)}",
        legend=(*agent_keys(agents, [agent.agent for agent in found.agents]), Key(TRUTH, "ink")),
        note=_note(found),
    )
    table = _table(problem, found, agents)
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


def _panel(place: int, law: Law, problem: str, agents: Mapping[str, str]) -> Figure:
    label = f"The law {law.name} on {problem}: estimates, intervals and the truth"
    left = f"{law.left} of {law.left + len(law.values)} values left out" if law.left else ""
    chart = partial(law_chart, law, agents)
    return Figure(f"law-{place}", chart, label, heading=law.name, aside=left, height=_HEIGHT)


def _note(found: LawSummary) -> str:
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


def _table(problem: ProblemDigest, found: LawSummary, agents: Mapping[str, str]) -> Table:
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
