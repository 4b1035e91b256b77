"""The section of one problem: words first, then figures, then the numbers behind them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from equipoise.reports.charts.curves import BAR, curve_chart, trigger_chart
from equipoise.reports.charts.theme import Theme
from equipoise.reports.numbers.bounds import rate_guides
from equipoise.reports.numbers.curves import Curves
from equipoise.reports.numbers.digest import (
    CHOSEN_OUTCOMES,
    MOST_OUTCOMES,
    AgentDigest,
    ProblemDigest,
    optimal_outcome,
    optimal_value,
    resolution,
)
from equipoise.reports.numbers.format import count, fraction, number, plus_minus
from equipoise.reports.pages import sentences
from equipoise.reports.pages.markup import code, escape
from equipoise.reports.pages.proofs import KEY, MEANING, certificate_parts, certified_figure, guarantee_parts, law_parts
from equipoise.reports.pages.section import Beside, Chart, Figure, Key, Panels, Part, Section, agent_keys
from equipoise.reports.pages.tables import final_parts, optimum_parts, speed_parts, violation_parts
from equipoise.studies.record import ENDED

_BAND: Final = "the band is the 95 % interval of that mean at each checkpoint (Student's t over seeds)"
_ENDED_BY: Final = {
    "gradient": "gradient threshold",
    "visits": "visits doubled",
    "both": "both at once",
    "restart": "oracle restarted",
}
_MAIN_HEIGHT, _EPISODES_HEIGHT, _PANEL_HEIGHT = 340, 220, 180


def problem_section(problem: ProblemDigest, agents: Mapping[str, str], anchor: str, alone: bool) -> Section:
    """All of one problem."""
    record = problem.record
    size = [count(record.n_states, "state"), count(record.n_pairs, "pair"), count(record.n_outcomes, "outcome")]
    parts: list[Part] = [] if alone else [escape(" ".join(sentences.summary(problem)))]
    parts += [sentences.write_note(remark) for remark in _remarks(problem)]
    if problem.agents:
        parts += _main_figure(problem, agents)
        parts += certificate_parts(problem)
        parts += final_parts(problem)
        parts += violation_parts(problem, agents, _mean_of(problem))
        parts += guarantee_parts(problem, agents)
        parts += law_parts(problem, agents)
        parts += _outcomes(problem, agents)
        parts += _episodes(problem, agents)
        parts.append(Beside((tuple(optimum_parts(problem)), tuple(speed_parts(problem)))))
    else:
        parts += optimum_parts(problem)
    about = f"{code(record.world)}, {code(record.reward)}: {', '.join(size)}"
    return Section(record.name, tuple(parts), about, anchor)


def _remarks(problem: ProblemDigest) -> list[str]:
    remarks = []
    if problem.agents and problem.absent:
        remarks.append(f"No results yet: {sentences.join_names(problem.absent)}.")
    if problem.measure == "value" and problem.agents:
        instead = "the value of the average outcome is shown instead"
        if problem.certified is not None:
            instead = "what is shown is the certified regret, which needs none, and the value of the average outcome"
        remarks.append(f"There is no certified optimum, so no regret; {instead}.")
    if problem.not_finite:
        remarks.append(f"{count(problem.not_finite, 'checkpoint')} left out: the value is no finite number there.")
    if problem.curves is not None and problem.end is not None and problem.end < max(problem.curves.frame["t"]):
        remarks.append(f"The agents are compared at t = {problem.end:,}, the last checkpoint that all of them have.")
    return remarks


def _mean_of(problem: ProblemDigest) -> str:
    fewest, *_, most = sorted([agent.final.n for agent in problem.agents] * 2)
    if most == 1:
        return "One seed only: no mean and no band."
    if all(agent.final.without_chance for agent in problem.agents):
        return f"All {count(most, 'seed')} gave the same curves, so the bands have no width."
    if fewest < most:
        return f"Mean over the seeds of each agent, from {fewest} to {most}; {_BAND}."
    return f"Mean over {count(most, 'seed')}; {_BAND}."


def _floor_words(curves: Curves, what: str, gap: float = 0.0) -> str:
    note = ""
    if curves.below and curves.floor is not None:
        reason = f"zero, negative, or below {number(curves.floor)}"
        if gap and curves.floor <= gap:
            reason = f"zero, negative, or within the gap of the optimum's certificate, {number(gap)}"
        note += f" Marked ▽ at the bottom: {count(curves.below, 'mean')} of {what} ({reason})."
    if curves.cut:
        note += " Bands that reach below the axis are cut there."
    return note


def _main_figure(problem: ProblemDigest, agents: Mapping[str, str]) -> list[Part]:
    curves, record = problem.curves, problem.record
    if curves is None:
        return []
    regret = problem.measure == "regret"
    guides, level = rate_guides(problem), None if regret else optimal_value(record)

    certified = problem.certified if regret else None

    def chart(theme: Theme) -> Chart:
        return curve_chart(curves, agents, theme, problem.measure, guides, level, certified=certified)

    legend = agent_keys(agents, dict.fromkeys(curves.frame["agent"]))
    if certified is not None:
        legend = (*legend, KEY)
    if guides:
        slopes = sentences.join_names([fraction(guide.rate) for guide in guides])
        legend = (*legend, Key.rule("muted", f"slope of the theorem's bound, {slopes}"))
    title = problem.measure.capitalize()
    label = f"{title} against steps on {record.name}, {'log-log' if regret else 'semi-log'} axes: "
    label += "; ".join(f"{agent.name} ends at {plus_minus(agent.final)}" for agent in problem.agents)
    caption = _mean_of(problem)
    if regret:
        caption += _floor_words(curves, "the regret", resolution(record))
    if problem.violations is not None:
        caption += " An average that violates the constraints may have a negative regret: violations are shown below."
    if certified is not None:
        label += "".join(f"; certified for {a.name}: {plus_minus(a.proven.final)}" for a in problem.agents if a.proven)
        caption += f" Thin dashes, in the same colours: the mean certified regret. {MEANING}."
        caption += _floor_words(certified, "the certified regret")
    if guides:
        caption += " Only the slope of a dashed guide means something: a bound holds up to a constant."
    if level is not None:
        caption += " Dashed rule: the optimum as far as it is known."
    figure = Figure(problem.measure, chart, label, caption, legend=legend, height=_MAIN_HEIGHT)
    alone = [] if regret else certified_figure(problem, agents, _mean_of(problem), _MAIN_HEIGHT)
    return [*alone, f"### {title} over time", figure]


def _panel(
    name: str, curves: Curves, agents: Mapping[str, str], label: str, heading: str, level: float | None, what: str
) -> Figure:
    def chart(theme: Theme) -> Chart:
        return curve_chart(curves, agents, theme, what if theme.tooltips else "", level=level)

    wanted = "" if level is None else f"optimum {number(level)}"
    return Figure(name, chart, label, heading=heading, aside=wanted, height=_PANEL_HEIGHT)


def _outcomes(problem: ProblemDigest, agents: Mapping[str, str]) -> list[Part]:
    optimum, record = problem.record.optimum, problem.record
    panels = []
    if problem.distance is not None:
        label = f"Distance of the average outcomes from the optimum's, against steps, on {record.name}"
        panels.append(_panel("distance", problem.distance, agents, label, "Distance to the optimum", None, "distance"))
    for k, curves in problem.outcomes.items():
        level = optimal_outcome(record, k)
        wanted = "" if level is None else f", optimum {number(level)}"
        labels = record.outcome_labels is not None
        called = record.outcome_name(k) if labels else f"outcome {k}"
        label = f"Average of {called} against steps on {record.name}{wanted}"
        heading = called if labels else called.capitalize()
        panels.append(_panel(f"outcome-{k}", curves, agents, label, heading, level, "average"))
    if not panels:
        return []
    legend = agent_keys(agents, [agent.name for agent in problem.agents])
    if optimum is not None:
        legend = (*legend, Key.rule("ink", "optimum"))
    heading = f"### Average outcomes{' against the optimum' if optimum else ''}"
    label = f"Average outcomes against steps on {record.name}"
    return [heading, Panels("outcomes", tuple(panels), label, legend, _outcome_words(problem))]


def _outcome_words(problem: ProblemDigest) -> str:
    note = "Each entry of the average outcome vector of the first t steps. "
    if problem.record.n_outcomes > MOST_OUTCOMES:
        note = f"Of {problem.record.n_outcomes} outcomes, the {CHOSEN_OUTCOMES} on which "
        if problem.distance is not None:
            best = problem.best or problem.agents[0].name
            note += f"{best} ends furthest from the optimum, and the Euclidean distance over all of them. "
        else:
            note += "the agents end furthest apart. "
    note += _mean_of(problem)
    if problem.record.optimum is not None:
        note += " If several outcome vectors are optimal, the optimum shown is one of them."
    if problem.distance is not None:
        note += _floor_words(problem.distance, "the distance")
    return note


def _episodes(problem: ProblemDigest, agents: Mapping[str, str]) -> list[Part]:
    curves = problem.episodes
    if curves is None:
        return ["### Episodes", sentences.write_note("No agent here works in episodes.")]

    names = list(dict.fromkeys(curves.frame["agent"]))
    busy = [agent for agent in problem.agents if agent.name in names]
    idle = [agent.name for agent in problem.agents if agent.episodes <= 0]
    shares = [", ".join(f"{n:,.0f} {_ENDED_BY[key]}" for key, n in _ended(agent).items() if n) for agent in busy]
    summary = "; ".join(f"{agent.name}: {share or 'none'}" for agent, share in zip(busy, shares, strict=True))
    reasons = [i for i, key in enumerate(ENDED) if any(_ended(agent)[key] for agent in busy)]
    note = f"{_mean_of(problem)}{_floor_words(curves, 'the number')}"
    note += " Shares: of the mean numbers at the end, the open episode apart."
    note += f" Without episodes, and left out: {sentences.join_names(idle)}." if idle else ""
    left = Figure(
        name="episodes",
        chart=lambda theme: curve_chart(curves, agents, theme, "episodes begun"),
        label=f"Number of episodes against steps on {problem.record.name}, log-log axes",
        heading="Episodes begun",
        legend=agent_keys(agents, names),
        height=_EPISODES_HEIGHT,
    )
    right = Figure(
        name="triggers",
        chart=partial(trigger_chart, problem),
        label=f"What ended the episodes: {summary}",
        heading="What ended them",
        legend=[Key(_ENDED_BY[ENDED[i]], f"trigger-{i}", shape="square") for i in reasons],
        height=BAR * len(names),
    )
    return ["### Episodes and what ended them", Beside(((left,), (right,))), sentences.write_note(note)]


def _ended(agent: AgentDigest) -> dict[str, float]:
    return dict(zip(ENDED, agent.triggers, strict=True))
