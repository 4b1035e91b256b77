"""The page of a study: what it shows, problem by problem, and how it was computed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from equipoise import _files
from equipoise.reports import words
from equipoise.reports.comparisons import ALPHA, DRAWS, MOST_EXACT
from equipoise.reports.digest import ProblemDigest, digest
from equipoise.reports.document import document, navigation
from equipoise.reports.markup import Canvas, Column, items, named, prose, table, text
from equipoise.reports.sections import problem_section
from equipoise.studies.results import Failure, Results


def write_report(results: Results, path: str | os.PathLike[str]) -> Path:
    """Write the report of a study as one self-contained HTML file, atomically.

    Parameters
    ----------
    results : Results
        Of a study, complete or not.
    path : str or PathLike
        Used as given.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    FileError
        When the file cannot be written; whatever was at `path` is then still there.
    """
    _files.write_bytes(path, report(results).encode())
    return Path(path)


def report(results: Results) -> str:
    """The page as text."""
    problems = digest(results)
    agents = {agent.name: agent.label for agent in results.agents}
    canvas = Canvas()
    anchors = [f"problem-{index + 1}" for index in range(len(problems))]
    sections = [
        problem_section(problem, agents, anchor, canvas, alone=len(problems) == 1)
        for problem, anchor in zip(problems, anchors, strict=True)
    ]
    return document(
        title=f"{results.name}: study report",
        header=_header(results, problems, anchors),
        nav=navigation(
            "Problems", [(anchor, problem.record.name) for problem, anchor in zip(problems, anchors, strict=True)]
        ),
        sections=sections,
        footer=_footer(results),
        canvas=canvas,
    )


def _header(results: Results, problems: Sequence[ProblemDigest], anchors: Sequence[str]) -> str:
    done = results.frame["run"].n_unique()
    seeds = results.frame["seed"].n_unique()
    tiles = [
        ("runs done", f"{done:,}", ""),
        ("failed", f"{len(results.failures):,}", "bad" if results.failures else ""),
        ("missing", f"{results.missing:,}", ""),
        ("problems", f"{len(problems):,}", ""),
        ("agents", f"{len(results.agents):,}", ""),
        ("seeds", f"{seeds:,}", ""),
    ]
    cells = "".join(f'<div><dt>{name}</dt><dd class="{kind}">{value}</dd></div>' for name, value, kind in tiles)
    parts = [
        '<header><p class="eyebrow">Equipoise study</p>',
        f"<h1>{text(results.name)}</h1>",
        f'<p class="muted">{prose(results.description)}</p>' if results.description else "",
        f'<dl class="tiles">{cells}</dl>',
        *(f'<p class="{kind}">{text(said)}</p>' for said, kind in _state(results, done)),
    ]
    if problems:
        shows = [
            f'<a href="#{anchor}">{text(problem.record.name)}</a><p>{prose(" ".join(words.summary(problem)))}</p>'
            for problem, anchor in zip(problems, anchors, strict=True)
        ]
        parts += ["<h2>What this shows</h2>", items("shows", shows)]
    if results.agents:
        rows = [
            [named(index, agent.label), f"<code>{text(agent.made)}</code>"]
            for index, agent in enumerate(results.agents)
        ]
        parts += ["<h3>Agents</h3>", table("Agents", [Column("agent", "wrap"), Column("made by", "wrap")], rows)]
    if results.failures:
        parts += ["<h3>Failed runs</h3>", items("failures", _failures(results.failures))]
    if results.damaged:
        parts += ["<h3>Files that were not read</h3>", items("verdicts", map(text, results.damaged))]
    return "".join([*parts, "</header>"])


def _failures(failures: Sequence[Failure]) -> list[str]:
    """One entry for each error of an agent on a problem, with all the seeds that met it."""
    seeds: dict[tuple[str, str, str], list[str]] = {}
    for failure in failures:
        seeds.setdefault((failure.problem, failure.agent, failure.error), []).append(str(failure.seed))
    return [
        f"<b>{text(problem)}, {text(agent)}</b>, {'seeds' if len(met) > 1 else 'seed'} {words.listed(met)}"
        f"<br><code>{text(error)}</code>"
        for (problem, agent, error), met in seeds.items()
    ]


def _state(results: Results, done: int) -> list[tuple[str, str]]:
    """What a reader should know before trusting any of it."""
    said = []
    if not done:
        said.append(("No run has a result yet.", ""))
    elif results.missing or results.failures:
        said.append(("The study is not complete: what follows is from the runs that are done.", ""))
    if len(results.versions) > 1:
        mixed = f"Made by more than one version of Equipoise: {words.listed(results.versions)}. Compare with care."
        said.append((mixed, "bad"))
    elif results.versions:
        said.append((f"Made by Equipoise {results.versions[0]}.", "muted"))
    return said


def _footer(results: Results) -> str:
    methods = [
        "Regret is the optimum minus the value g of the average outcome vector of the first t steps. It can be slightly"
        " negative: the average of few steps may beat the optimum by luck. On a log axis, means that are zero, negative"
        " or too small to tell from zero are drawn at the bottom and marked ▽, and bands are cut there; they count in"
        " all numbers.",
        "The unit is the seed. Bands and intervals are Student's: mean ± t s / √n over n seeds, where t is the 97.5 %"
        " quantile with n − 1 degrees of freedom. A band holds at each checkpoint by itself, not for the whole curve.",
        "A slope is that of a least-squares line through the mean regret on log-log axes, over the last two decades of"
        " t. Points within a run are correlated, so its interval comes from leaving out one seed at a time (the"
        " jackknife). Slopes of single runs would not do: their regret may be negative, and has no logarithm then.",
        "Two agents are compared on the seeds that they share, since the same seed is the same world. The test is the"
        " sign-flip permutation test of the mean difference: the share of all choices of signs of the differences whose"
        f" mean is at least as far from zero. It is exact up to {MOST_EXACT} seeds; beyond, {DRAWS:,} choices are"
        " drawn. Holm's correction over all pairs of a problem keeps the chance of any false claim in it to at"
        f" most {100 * ALPHA:g} %.",
    ]
    if results.guarantees:
        methods.append(
            "An explicit bound is the regret theorem of the agent's oracle with all its constants: it depends on the"
            " numbers of states, pairs, outcomes and successors, on the diameter, and on the agent's threshold,"
            " tolerance and δ, and holds with probability 1 − 3δ for all t at once. Agents have one whose regions"
            " are the paper's or lie within them, whose planner is the paper's, and whose reward is the problem's, with"
            " a Lipschitz constant."
        )
    return (
        "<footer><h2>How it was computed</h2>"
        + "".join(f"<p>{prose(paragraph)}</p>" for paragraph in methods)
        + f"<h2>Specification</h2><pre>{text(results.toml)}</pre></footer>"
    )
