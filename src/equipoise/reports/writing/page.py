"""The report of a study: its sections, problem by problem, and the page that shows them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from equipoise import _files
from equipoise.errors import ParameterError
from equipoise.reports.numbers.comparisons import ALPHA, DRAWS, MOST_EXACT
from equipoise.reports.numbers.digest import ProblemDigest, digest
from equipoise.reports.numbers.written import as_given
from equipoise.reports.writing import words
from equipoise.reports.writing.certificates import MEANING
from equipoise.reports.writing.document import Document, html
from equipoise.reports.writing.inline import Below, Code, Content, Key, Link, Strong
from equipoise.reports.writing.laws import MEANING as LAWS
from equipoise.reports.writing.own import own_sections
from equipoise.reports.writing.problem import problem_section
from equipoise.reports.writing.section import (
    Column,
    Heading,
    Items,
    Links,
    Listing,
    Part,
    Section,
    SectionMaker,
    Table,
    Text,
    Tiles,
)
from equipoise.studies.loading import open_results
from equipoise.studies.results import Failure, Results

Study = Results | str | os.PathLike[str]
"""The results of a study, or the folder that holds them."""


def write_report(
    results: Study, path: str | os.PathLike[str] | None = None, sections: Sequence[SectionMaker | Section] = ()
) -> Path:
    """Write the report of a study as one self-contained HTML file, atomically.

    Parameters
    ----------
    results : Results, str or PathLike
        Of a study, complete or not; or the folder of one.
    path : str or PathLike, optional
        Used as given; by default ``report.html`` within the folder.
    sections : sequence of callable or Section
        Sections of your own, after those of the problems: each a function of the `Results` that returns a `Section`.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    ReportError
        When a section of your own raises an error or is none; nothing is written then.
    FileError
        When the file cannot be written; whatever was at `path` is then still there.

    See Also
    --------
    equipoise.reports.write_tables : Its tables as files.
    equipoise.reports.write_figures : Its figures as files.

    Examples
    --------
    >>> import tempfile
    >>> from equipoise.reports import Section, Text
    >>> from equipoise.studies import AgentSpec, Problem, Study, run_study
    >>> star = Problem(world="star", reward={"kind": "BottomSum", "kappa": 1})
    >>> study = Study(name="tiny", steps=100, seeds=2, problems=[star], agents=[AgentSpec(kind="RoundRobin")])
    >>> def lengths(results):
    ...     return Section("Lengths", (Text(f"The longest run has {results.frame['steps'].max()} steps."),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     progress = run_study(study, folder, jobs=1)
    ...     page = write_report(folder, sections=[lengths]).read_text(encoding="utf-8")
    >>> "The longest run has 100 steps." in page
    True
    """
    if path is None:
        if isinstance(results, Results):
            raise ParameterError("path: it is missing; the name of a file is needed, since no folder is given")
        path = Path(results) / "report.html"
    _files.write_bytes(path, report(opened(results), sections).encode())
    return Path(path)


def opened(results: Study) -> Results:
    """The results themselves, read from their folder if it is given.

    Parameters
    ----------
    results : Results, str or PathLike
        Of a study, or its folder.
    """
    return results if isinstance(results, Results) else open_results(results)


def report(results: Results, sections: Sequence[SectionMaker | Section] = ()) -> str:
    """The page as text.

    Parameters
    ----------
    results : Results
        Of a study.
    sections : sequence of callable or Section
        Sections of your own.
    """
    problems = digest(results)
    return html(
        Document(
            title=f"{results.name}: study report",
            eyebrow="Equipoise study",
            heading=results.name,
            overview=tuple(_overview(results, problems)),
            menu="Sections",
            sections=(*problem_sections(results, problems), *own_sections(sections, results)),
            closing=tuple(_closing(results, problems)),
        )
    )


def report_sections(results: Results, sections: Sequence[SectionMaker | Section] = ()) -> list[Section]:
    """All sections of a report: that of each problem, then your own.

    Parameters
    ----------
    results : Results
        Of a study.
    sections : sequence of callable or Section
        Sections of your own.

    Returns
    -------
    list of Section
        In the order of the page.

    Examples
    --------
    >>> from equipoise.reports import Section, Text
    >>> import polars
    >>> from equipoise.studies import Results
    >>> frame = polars.DataFrame(schema={"problem": str, "agent": str, "t": int})
    >>> results = Results(name="mine", toml="", problems=(), agents=(), frame=frame, rates={},
    ...                   failures=(), missing=0, damaged=(), versions=())
    >>> [section.title for section in report_sections(results, [Section("Machines", (Text("One."),))])]
    ['Machines']
    """
    return [*problem_sections(results, digest(results)), *own_sections(sections, results)]


def problem_sections(results: Results, problems: Sequence[ProblemDigest]) -> list[Section]:
    """A section for each problem.

    Parameters
    ----------
    results : Results
        Of a study.
    problems : sequence of ProblemDigest
        Its problems.
    """
    agents = {agent.name: agent.label for agent in results.agents}
    return [
        problem_section(problem, agents, _anchor(index), alone=len(problems) == 1)
        for index, problem in enumerate(problems)
    ]


def _anchor(index: int) -> str:
    return f"problem-{index + 1}"


def _overview(results: Results, problems: Sequence[ProblemDigest]) -> list[Part]:
    done = results.frame["run"].n_unique()
    seeds = results.frame["seed"].n_unique()
    parts: list[Part] = [Text(results.description, "muted")] if results.description else []
    parts.append(
        Tiles(
            (
                ("runs done", f"{done:,}", False),
                ("failed", f"{len(results.failures):,}", bool(results.failures)),
                ("missing", f"{results.missing:,}", False),
                ("problems", f"{len(problems):,}", False),
                ("agents", f"{len(results.agents):,}", False),
                ("seeds", f"{seeds:,}", False),
            )
        )
    )
    parts += _state(results, done)
    if problems:
        shows = tuple(
            (Link(problem.record.name, f"#{_anchor(index)}"), " ".join(words.summary(problem)))
            for index, problem in enumerate(problems)
        )
        parts += [Heading("What this shows", 2), Links(shows)]
    if results.agents:
        parts += [Heading("Agents"), _agents(results)]
    if results.failures:
        parts += [Heading("Failed runs"), Items(tuple(_failures(results.failures)), "rows")]
    if results.damaged:
        parts += [Heading("Files that were not read"), Items(results.damaged)]
    return parts


def _agents(results: Results) -> Table:
    rows = tuple((Key.agent(index, agent.label), Code(agent.made)) for index, agent in enumerate(results.agents))
    return Table("agents", "Agents", (Column("agent", "long"), Column("made by", "long")), rows)


def _failures(failures: Sequence[Failure]) -> list[Content]:
    """One entry for each error of an agent on a problem, with all the seeds that met it."""
    seeds: dict[tuple[str, str, str], list[str]] = {}
    for failure in failures:
        seeds.setdefault((failure.problem, failure.agent, failure.error), []).append(str(failure.seed))
    return [
        (
            Strong(f"{problem}, {agent}"),
            f", {'seeds' if len(met) > 1 else 'seed'} {words.listed(met)}",
            Below(Code(error)),
        )
        for (problem, agent, error), met in seeds.items()
    ]


def _state(results: Results, done: int) -> list[Part]:
    """What a reader should know before trusting any of it."""
    parts: list[Part] = []
    if not done:
        parts.append(Text("No run has a result yet."))
    elif results.missing or results.failures:
        parts.append(Text("The study is not complete: what follows is from the runs that are done."))
    if len(results.versions) > 1:
        mixed = f"Made by more than one version of Equipoise: {words.listed(results.versions)}. Compare with care."
        parts.append(Text(mixed, "bad"))
    elif results.versions:
        parts.append(Text(f"Made by Equipoise {results.versions[0]}.", "muted"))
    return parts


def _closing(results: Results, problems: Sequence[ProblemDigest]) -> list[Part]:
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
    if any(problem.certified is not None for problem in problems):
        amount = as_given(results.certified_within)
        methods.append(
            f"{MEANING}. Every plan of an agent bounds what any policy could reach, wherever its confidence regions"
            " hold the truth; the least of these bounds, less the value achieved, is what is certified. In each run it"
            " holds for all t at once with the probability that the regions do. Agents have no certificate whose"
            " regions are not proven to hold the truth, or whose reward is not the problem's."
            f" Agents are also compared by the steps until at most {amount} is certified to be lost, counted at"
            " checkpoints; a run that never gets there counts as one that takes for ever."
        )
    if any(problem.laws is not None for problem in problems):
        methods.append(
            f"{LAWS}; where these are proven, those of all laws hold the truth together with the probability that the"
            " certificates do. The truth is the law of the world; a conditional law that never comes into play there"
            " has none."
        )
    if results.guarantees:
        methods.append(
            "An explicit bound is the regret theorem of the agent's oracle with all its constants: it depends on the"
            " numbers of states, pairs, outcomes and successors, on the diameter, and on the agent's threshold,"
            " tolerance and δ, and holds with probability 1 − 3δ for all t at once. Agents have one whose regions"
            " are the paper's or lie within them, whose planner is the paper's, and whose reward is the problem's, with"
            " a Lipschitz constant."
        )
    return [
        Heading("How it was computed", 2),
        *(Text(paragraph) for paragraph in methods),
        Heading("Specification", 2),
        Listing(results.toml),
    ]
