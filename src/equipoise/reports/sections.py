"""The part of the page that belongs to one problem: words first, then charts, then the numbers behind them."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.reports import words
from equipoise.reports.charts import curve_chart, fraction, rate_guides, trigger_chart
from equipoise.reports.curves import Curves
from equipoise.reports.digest import (
    CHOSEN_OUTCOMES,
    MOST_OUTCOMES,
    TRIGGERS,
    AgentDigest,
    ProblemDigest,
    aim,
    ceiling,
    resolution,
)
from equipoise.reports.guarantees import guarantee_part
from equipoise.reports.markup import Canvas, items, legend, prose, rule_swatch, square, text
from equipoise.reports.tables import final_table, optimum_part, speed_table
from equipoise.reports.theme import PAGE

_BAND = "the band is the 95 % interval of that mean at each checkpoint (Student's t over seeds)"
ENDED_BY = {
    "gradient": "gradient threshold",
    "visits": "visits doubled",
    "both": "both at once",
    "restart": "oracle restarted",
}


def problem_section(problem: ProblemDigest, agents: Mapping[str, str], anchor: str, canvas: Canvas, alone: bool) -> str:
    """All of one problem; if it is alone, the top of the page has said what it shows."""
    record = problem.record
    size = [words.count(record.n_states, "state"), words.count(record.n_pairs, "pair")]
    size.append(words.count(record.n_outcomes, "outcome"))
    parts = [
        f'<h2 id="{anchor}-name">{text(record.name)}</h2>',
        f'<p class="made"><code>{text(record.world)}</code>, <code>{text(record.reward)}</code>: {", ".join(size)}</p>',
        *([] if alone else [f"<p>{prose(' '.join(words.summary(problem)))}</p>"]),
        *_remarks(problem),
    ]
    if problem.agents:
        parts += [
            _main_chart(problem, agents, canvas),
            final_table(problem, agents),
            guarantee_part(problem, agents, canvas),
            _outcomes(problem, agents, canvas),
            _episodes(problem, agents, canvas),
            f'<div class="pair"><div>{optimum_part(problem)}</div><div>{speed_table(problem, agents)}</div></div>',
        ]
    else:
        parts.append(optimum_part(problem))
    return f'<section id="{anchor}" aria-labelledby="{anchor}-name">{"".join(parts)}</section>'


def _remarks(problem: ProblemDigest) -> list[str]:
    said = []
    if problem.agents and problem.absent:
        said.append(f"No results yet: {words.listed(problem.absent)}.")
    if problem.measure == "value" and problem.agents:
        said.append("There is no certified optimum, so no regret; the value of the average outcome is shown instead.")
    if problem.not_finite:
        said.append(f"{words.count(problem.not_finite, 'checkpoint')} left out: the value is no finite number there.")
    if problem.curves is not None and problem.end is not None and problem.end < max(problem.curves.frame["t"]):
        said.append(f"The agents are compared at t = {problem.end:,}, the last checkpoint that all of them have.")
    return [f'<p class="note">{prose(sentence)}</p>' for sentence in said]


def _names(curves: Curves) -> list[str]:
    return list(dict.fromkeys(curves.frame["agent"]))


def _mean_of(problem: ProblemDigest) -> str:
    """What curves and bands are."""
    fewest, *_, most = sorted([agent.final.n for agent in problem.agents] * 2)
    if most == 1:
        return "One seed only: no mean and no band."
    if all(agent.final.without_chance for agent in problem.agents):
        return f"All {words.count(most, 'seed')} gave the same curves, so the bands have no width."
    if fewest < most:
        return f"Mean over the seeds of each agent, from {fewest} to {most}; {_BAND}."
    return f"Mean over {words.count(most, 'seed')}; {_BAND}."


def _floor_words(curves: Curves, what: str, gap: float = 0.0) -> str:
    """What a log axis cannot show, if there is such a thing."""
    said = ""
    if curves.below and curves.floor is not None:
        reason = f"zero, negative, or below {words.number(curves.floor)}"
        if gap and curves.floor <= gap:
            reason = f"zero, negative, or within the gap of the optimum's certificate, {words.number(gap)}"
        said += f" Marked ▽ at the bottom: {words.count(curves.below, 'mean')} of {what} ({reason})."
    if curves.cut:
        said += " Bands that reach below the axis are cut there."
    return said


def _main_chart(problem: ProblemDigest, agents: Mapping[str, str], canvas: Canvas) -> str:
    curves, record = problem.curves, problem.record
    if curves is None:
        return ""
    guides = rate_guides(problem)
    extra = []
    if guides:
        slopes = words.listed([fraction(guide.rate) for guide in guides])
        extra.append(f"{rule_swatch('muted')}<span>slope of the theorem's bound, {slopes}</span>")
    regret = problem.measure == "regret"
    level = None if regret else ceiling(record)
    title = "regret" if regret else "value"
    chart = curve_chart(curves, agents, PAGE, title, 340, guides, level)
    label = f"{title.capitalize()} against steps on {record.name}, {'log-log' if regret else 'semi-log'} axes: "
    label += "; ".join(f"{agent.name} ends at {words.plus_minus(agent.final)}" for agent in problem.agents)
    caption = _mean_of(problem)
    if regret:
        caption += _floor_words(curves, "the regret", resolution(record))
    if guides:
        caption += " Only the slope of a dashed guide means something: a bound holds up to a constant."
    if level is not None:
        caption += " Dashed rule: the optimum as far as it is known."
    heading = "Regret over time" if regret else "Value over time"
    return (
        f"<h3>{heading}</h3>{legend(agents, _names(curves), extra)}"
        f"<figure>{canvas.place(chart, label, 340)}<figcaption>{prose(caption)}</figcaption></figure>"
    )


def _outcomes(problem: ProblemDigest, agents: Mapping[str, str], canvas: Canvas) -> str:
    optimum, record = problem.record.optimum, problem.record
    panels = []
    if problem.distance is not None:
        chart = curve_chart(problem.distance, agents, PAGE, "distance", 180)
        label = f"Distance of the average outcomes from the optimum's, against steps, on {record.name}"
        panels.append(("Distance to the optimum", "", canvas.place(chart, label, 180)))
    for k, curves in problem.outcomes.items():
        level = aim(record, k)
        chart = curve_chart(curves, agents, PAGE, "average", 180, level=level)
        wanted = "" if level is None else f"optimum {words.number(level)}"
        label = f"Average of outcome {k} against steps on {record.name}{', ' if wanted else ''}{wanted}"
        panels.append((f"Outcome {k}", wanted, canvas.place(chart, label, 180)))
    if not panels:
        return ""
    extra = [] if optimum is None else [f"{rule_swatch('ink')}<span>optimum</span>"]
    figures = "".join(
        f"<figure><figcaption>{name} <span>{text(wanted)}</span></figcaption>{chart}</figure>"
        for name, wanted, chart in panels
    )
    return (
        f"<h3>Average outcomes{' against the optimum' if optimum else ''}</h3>"
        f"{legend(agents, [agent.name for agent in problem.agents], extra)}"
        f'<div class="multiples n{len(panels)}">{figures}</div><p class="note">{prose(_outcome_words(problem))}</p>'
    )


def _outcome_words(problem: ProblemDigest) -> str:
    said = "Each entry of the average outcome vector of the first t steps. " + _mean_of(problem)
    if problem.record.n_outcomes > MOST_OUTCOMES:
        chosen = f"Of {problem.record.n_outcomes} outcomes, the {CHOSEN_OUTCOMES} "
        if problem.distance is not None:
            best = problem.best or problem.agents[0].name
            chosen += f"on which {best} ends furthest from the optimum, and the Euclidean distance over all of them. "
        else:
            chosen += "on which the agents end furthest apart. "
        said = chosen + _mean_of(problem)
    if problem.record.optimum is not None:
        said += " If several outcome vectors are optimal, the optimum shown is one of them."
    if problem.distance is not None:
        said += _floor_words(problem.distance, "the distance")
    return said


def _episodes(problem: ProblemDigest, agents: Mapping[str, str], canvas: Canvas) -> str:
    idle = [agent.name for agent in problem.agents if agent.episodes <= 0]
    if problem.episodes is None:
        return '<h3>Episodes</h3><p class="note">No agent here works in episodes.</p>'
    names = _names(problem.episodes)
    chart = curve_chart(problem.episodes, agents, PAGE, "episodes begun", 220)
    label = f"Number of episodes against steps on {problem.record.name}, log-log axes"
    bars = trigger_chart(problem, PAGE)
    busy = [agent for agent in problem.agents if agent.name in names]
    shares = [", ".join(f"{n:,.0f} {ENDED_BY[key]}" for key, n in _ended(agent) if n) for agent in busy]
    told = "; ".join(f"{agent.name}: {share or 'none'}" for agent, share in zip(busy, shares, strict=True))
    seen = [i for i, key in enumerate(TRIGGERS) if any(dict(_ended(agent))[key] for agent in busy)]
    keys = items("legend", [f"{square(i)}<span>{ENDED_BY[TRIGGERS[i]]}</span>" for i in seen])
    said = f"{_mean_of(problem)}{_floor_words(problem.episodes, 'the number')}"
    said += " Shares: of the mean numbers at the end, the open episode apart."
    said += f" Without episodes, and left out: {words.listed(idle)}." if idle else ""
    return (
        '<h3>Episodes and what ended them</h3><div class="pair">'
        f"<figure><figcaption><b>Episodes begun</b></figcaption>{legend(agents, names)}"
        f"{canvas.place(chart, label, 220)}</figure>"
        f"<figure><figcaption><b>What ended them</b></figcaption>{keys}"
        f"{canvas.place(bars, f'What ended the episodes: {told}', 46 * len(names) + 40)}</figure></div>"
        f'<p class="note">{prose(said)}</p>'
    )


def _ended(agent: AgentDigest) -> list[tuple[str, float]]:
    return list(zip(TRIGGERS, agent.triggers, strict=True))
