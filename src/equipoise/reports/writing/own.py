"""Sections written by users: found by their names, made from results, and checked before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from equipoise.errors import EquipoiseError, ReportError
from equipoise.reports.writing.section import Section, SectionMaker
from equipoise.studies.results import Results

Resolve = Callable[[str, str, type[EquipoiseError]], Any]
"""Gives what "package.module:name" names, or raises the error: takes the name, its place in words, and the error."""


def load_section(kind: str, resolve: Resolve) -> SectionMaker:
    """The function that a name on the command line means.

    Nothing is imported here: the resolver decides which modules may be imported, and does it.

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

    Raises
    ------
    ReportError
        When the name is of another form, is not to be had, or does not name a function.

    Examples
    --------
    >>> from equipoise.reports import Section, Text
    >>> parts = {"mine.parts:hello": lambda results: Section("Hello", (Text(results.name),))}
    >>> load_section("mine.parts:hello", lambda kind, where, error: parts[kind]) is parts["mine.parts:hello"]
    True
    """
    module, colon, name = kind.partition(":")
    if not (colon and all(word.isidentifier() for word in (*module.split("."), *name.split(".")))):
        raise ReportError(f'--section: got {kind!r}; "package.module:name" is needed, the name of a function')
    maker = resolve(kind, "--section", ReportError)
    if not callable(maker):
        raise ReportError(
            f"--section: {kind} is of type {type(maker).__name__}; a function of the results that returns a Section is"
            " needed"
        )
    return maker  # type: ignore[no-any-return]


def own_sections(makers: Sequence[SectionMaker | Section], results: Results) -> list[Section]:
    """The sections that functions make from results.

    Parameters
    ----------
    makers : sequence of callable or Section
        Each takes `Results` and returns a `Section`; one that is made already is taken as it is.
    results : Results
        Of a study.

    Returns
    -------
    list of Section
        One a function.

    Raises
    ------
    ReportError
        When one raises an error or returns something else; it is named.

    Examples
    --------
    >>> from equipoise.reports import Section, Text
    >>> import polars
    >>> from equipoise.studies import Results
    >>> frame = polars.DataFrame(schema={"problem": str, "agent": str, "t": int})
    >>> results = Results(name="mine", toml="", problems=(), agents=(), frame=frame, rates={},
    ...                   failures=(), missing=0, damaged=(), versions=())
    >>> def about(results):
    ...     return Section("About", (Text(f"This is {results.name}."),))
    >>> [section.title for section in own_sections([about], results)]
    ['About']
    """
    return [_made(maker, results) for maker in makers]


def _made(maker: SectionMaker | Section, results: Results) -> Section:
    if isinstance(maker, Section):
        return maker
    if not callable(maker):
        raise ReportError(f"sections: got {maker!r}; functions of the results are needed")
    name = _name(maker)
    try:
        section = maker(results)
    except Exception as error:  # whatever the function raises
        raise ReportError(f"section {name}: it raised {type(error).__name__}: {error}") from error
    if not isinstance(section, Section):
        raise ReportError(f"section {name}: it returned {type(section).__name__}; a Section is needed")
    return section


def _name(maker: SectionMaker) -> str:
    """A function as it is named on the command line, as far as it has a name."""
    name = getattr(maker, "__qualname__", None)
    return repr(maker) if name is None else f"{maker.__module__}:{name}"
