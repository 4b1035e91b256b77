"""The report of a study: its sections, problem by problem, then user-written ones, and the page that shows them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from equipoise import _files
from equipoise.errors import EquipoiseError, ParameterError, ReportError
from equipoise.reports.numbers.comparisons import ALPHA, DRAWS, MOST_EXACT
from equipoise.reports.numbers.digest import ProblemDigest, digest
from equipoise.reports.numbers.format import as_given
from equipoise.reports.pages.markup import code, escape, write_code_block, write_list
from equipoise.reports.pages.page import Page, render_page
from equipoise.reports.pages.problem import problem_section
from equipoise.reports.pages.proofs import LAW_MEANING, MEANING
from equipoise.reports.pages.section import Column, Part, Section, SectionMaker, Table, Text
from equipoise.reports.pages.sentences import join_names, summary
from equipoise.studies.reader import open_results
from equipoise.studies.results import Failure, Results

Study = Results | str | os.PathLike[str]  # the results of a study, or the folder that holds them


def write_report(
    results: Study, path: str | os.PathLike[str] | None = None, sections: Sequence[SectionMaker | Section] = ()
) -> Path:
    """Write the report of a study as one self-contained HTML file, atomically.

    If a section of your own fails or the file cannot be written, whatever was at `path` is still there.

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

    Examples
    --------
    >>> import tempfile
    >>> from equipoise.reports import Section
    >>> from equipoise.studies import AgentSpec, Problem, Study, run_study
    >>> star = Problem(world="star", reward={"kind": "BottomSum", "kappa": 1})
    >>> study = Study(name="tiny", steps=100, seeds=2, problems=[star], agents=[AgentSpec(kind="RoundRobin")])
    >>> def lengths(results):
    ...     return Section("Lengths", [f"The longest run has {results.frame['steps'].max()} steps."])
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
    _files.write_bytes(path, render_report(open_study(results), sections).encode())
    return Path(path)


def open_study(results: Study) -> Results:
    """Return the results themselves, read from their folder if that is given."""
    return results if isinstance(results, Results) else open_results(results)


def render_report(results: Results, sections: Sequence[SectionMaker | Section] = ()) -> str:
    """Return the page as text."""
    problems = digest(results)
    done = results.frame["run"].n_unique()
    return render_page(
        Page(
            title=f"{results.name}: study report",
            eyebrow="Equipoise study",
            heading=results.name,
            menu="Sections",
            sections=(*_problem_sections(results, problems), *own_sections(sections, results)),
            description=results.description,
            tiles=(
                ("runs done", f"{done:,}", False),
                ("failed", f"{len(results.failures):,}", bool(results.failures)),
                ("missing", f"{results.missing:,}", False),
                ("problems", f"{len(problems):,}", False),
                ("agents", f"{len(results.agents):,}", False),
                ("seeds", f"{results.frame['seed'].n_unique():,}", False),
            ),
            overview=_overview(results, problems, done),
            closing=_closing(results, problems),
            agents={name: i for i, agent in enumerate(results.agents) for name in (agent.name, agent.label)},
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
    >>> from equipoise.reports import Section
    >>> from equipoise.studies import Results
    >>> [section.title for section in report_sections(Results("mine"), [Section("Machines", ["One."])])]
    ['Machines']
    """
    return [*_problem_sections(results, digest(results)), *own_sections(sections, results)]


def _problem_sections(results: Results, problems: Sequence[ProblemDigest]) -> list[Section]:
    agents = {agent.name: agent.label for agent in results.agents}
    alone = len(problems) == 1
    return [problem_section(problem, agents, f"problem-{n}", alone) for n, problem in enumerate(problems, start=1)]


def _overview(results: Results, problems: Sequence[ProblemDigest], done: int) -> list[Part]:
    parts = _state(results, done)
    if problems:
        shown = [
            f"- [{escape(problem.record.name)}](#problem-{n})\n\n  {escape(' '.join(summary(problem)))}"
            for n, problem in enumerate(problems, start=1)
        ]
        parts.append("\n".join(["## What this shows", "", *shown]))
    if results.agents:
        columns = (Column("agent", "long", "agent"), Column("made by", "long", "code"))
        parts += ["### Agents", Table("agents", "Agents", columns, [(one.label, one.made) for one in results.agents])]
    if results.failures:
        parts.append("\n".join(["### Failed runs", "", *_failures(results.failures)]))
    if results.damaged:
        parts.append("\n".join(["### Files that were not read", "", write_list(results.damaged)]))
    return parts


def _failures(failures: Sequence[Failure]) -> list[str]:
    """One entry for each error of an agent on a problem, with all the seeds that met it."""
    seeds: dict[tuple[str, str, str], list[str]] = {}
    for failure in failures:
        seeds.setdefault((failure.problem, failure.agent, failure.error), []).append(str(failure.seed))
    return [
        f"- **{escape(f'{problem}, {agent}')}**, {'seeds' if len(met) > 1 else 'seed'} {join_names(met)}"
        + (f"\\\n  {code(error)}" if error.strip() else "")
        for (problem, agent, error), met in seeds.items()
    ]


def _state(results: Results, done: int) -> list[Part]:
    parts: list[Part] = []
    if not done:
        parts.append("No run has a result yet.")
    elif results.missing or results.failures:
        parts.append("The study is not complete: what follows is from the runs that are done.")
    if len(results.versions) > 1:
        mixed = f"Made by more than one version of Equipoise: {join_names(results.versions)}. Compare with care."
        parts.append(Text(escape(mixed), "bad"))
    elif results.versions:
        parts.append(Text(escape(f"Made by Equipoise {results.versions[0]}."), "muted"))
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
            f" Agents are also compared by the time from which on at most {amount} is certified to be lost, at every"
            " later checkpoint too; a run where that is not so at the end counts as one that takes indefinitely."
        )
    if any(problem.laws is not None for problem in problems):
        methods.append(
            f"{LAW_MEANING}; where these are proven, those of all laws hold the truth together with the probability"
            " that the certificates do. The truth is the law of the world; a conditional law that never comes into play"
            " there has none."
        )
    if results.guarantees:
        methods.append(
            "An explicit bound is the regret theorem of the agent's oracle with all its constants: it depends on the"
            " numbers of states, pairs, outcomes and successors, on the diameter, and on the agent's threshold,"
            " tolerance and δ, and holds with probability 1 − 3δ for all t at once. Agents have one whose regions"
            " are the paper's or lie within them, whose planner is the paper's, and whose reward is the problem's, with"
            " a Lipschitz constant."
        )
    paragraphs = ["## How it was computed", *map(escape, methods), "## Specification", write_code_block(results.toml)]
    return ["\n\n".join(paragraphs)]


Resolve = Callable[[str, str, type[EquipoiseError]], Any]
"""Gives what "package.module:name" names, or raises the error: takes the name, its place in words, and the error."""


def load_section(kind: str, resolve: Resolve) -> SectionMaker:
    """Find the function of `Results` that a name on the command line stands for; the resolver does any importing.

    Parameters
    ----------
    kind : str
        "package.module:name".
    resolve : callable
        Takes the name, its place for messages (such as "--section"), and the error to raise, and returns what it names.

    Returns
    -------
    callable
        A function of `Results` that returns a `Section`.

    Examples
    --------
    >>> from equipoise.reports import Section
    >>> parts = {"mine.parts:hello": lambda results: Section("Hello", [results.name])}
    >>> load_section("mine.parts:hello", lambda kind, where, error: parts[kind]) is parts["mine.parts:hello"]
    True
    """
    module, colon, name = kind.partition(":")
    if not (colon and all(word.isidentifier() for word in (*module.split("."), name))):
        raise ReportError(f'--section: got {kind!r}; "package.module:name" is needed, the name of a function')
    maker = resolve(kind, "--section", ReportError)
    if not callable(maker):
        needed = "a function of the results that returns a Section is needed"
        raise ReportError(f"--section: {kind} is of type {type(maker).__name__}; {needed}")
    return maker  # type: ignore[no-any-return]


def own_sections(makers: Sequence[SectionMaker | Section], results: Results) -> list[Section]:
    """Make the user-written sections from results; a `ReportError` names one that fails or returns something else.

    Parameters
    ----------
    makers : sequence of callable or Section
        Each takes `Results` and returns a `Section`; a `Section` is taken as it is.
    results : Results
        Of a study.

    Returns
    -------
    list of Section
        One per function.

    Examples
    --------
    >>> from equipoise.reports import Section
    >>> from equipoise.studies import Results
    >>> [section.title for section in own_sections([lambda results: Section("About", [results.name])], Results("mine"))]
    ['About']
    """
    sections = []
    for maker in makers:
        if not isinstance(maker, Section) and not callable(maker):
            raise ReportError(f"sections: got {maker!r}; functions of the results are needed")
        name = getattr(maker, "__qualname__", None)
        name = repr(maker) if name is None else f"{maker.__module__}:{name}"  # as on the command line
        try:
            section = maker if isinstance(maker, Section) else maker(results)
        except (Exception, SystemExit) as error:  # whatever the function raises
            raise ReportError(f"section {name}: it raised {type(error).__name__}: {error}") from error
        if not isinstance(section, Section):
            raise ReportError(f"section {name}: it returned {type(section).__name__}; a Section is needed")
        sections.append(section)
    return sections
