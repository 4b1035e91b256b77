"""A section of a report: plain data, from which the page, the tables and the figures are all made.

A section has a title and parts: texts in Markdown, mappings of names to values, tables and figures. A user-written one
is a function of the `Results` of a study:

    def seeds(results):
        counts = results.frame.group_by("agent", maintain_order=True).agg(results.frame["seed"].n_unique())
        rows = [(agent, f"{n:,}") for agent, n in counts.rows()]
        return Section("Seeds", ["How often each agent was run.", Table("seeds", "Seeds", ["agent", "seeds"], rows)])

named in ``equipoise report DIR --section package.module:seeds --with package.module``, or given to
`write_report`, `write_tables` and `write_figures`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from equipoise.errors import ReportError
from equipoise.reports.charts.theme import LIGHT, Theme, dash
from equipoise.studies.results import Results

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAX_STEM: Final = 60  # characters
_RULE_DASHES: Final = (5, 3)


@dataclass(frozen=True)
class Text:
    """Text in Markdown with a look of its own; a text without one is a plain string.

    Attributes
    ----------
    text : str
        Markdown. HTML in it is shown, not interpreted; `escape` makes Markdown of plain text.
    kind : "plain", "note", "muted" or "bad"
        How it looks: a note is smaller.

    Examples
    --------
    >>> Text("All runs are done.", kind="note").kind
    'note'
    """

    form: ClassVar = "text"
    text: str
    kind: Literal["plain", "note", "muted", "bad"] = "plain"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    heading : str
        Above its cells.
    kind : "text", "number" or "long"
        Numbers stand to the right; a long text may be broken into lines.
    form : "plain", "code", "agent" or "markdown"
        What its cells are: plain text; text as a program has it; names of agents, each with its colour; or Markdown.

    Examples
    --------
    >>> Column("regret", kind="number").heading
    'regret'
    """

    heading: str
    kind: Literal["text", "number", "long"] = "text"
    form: Literal["plain", "code", "agent", "markdown"] = "plain"


@dataclass(frozen=True)
class Table:
    """A table, the same on the page and in a file.

    Attributes
    ----------
    name : str
        Of its file, after that of the section: small letters, digits and hyphens.
    label : str
        What it holds, for those who cannot see it, and as its title in a file.
    columns : sequence of Column or str
        At least one; a string is the heading of a column of text.
    rows : sequence of sequences of str
        A cell for each column; the first cell of a row is its heading. Numbers are written out, as they are to be read.
    best : int or None
        A row that stands out.
    folded : str
        If not empty, the table is folded on the page behind these words.

    Examples
    --------
    >>> table = Table("speed", "Steps per second", ["agent", Column("speed", "number")], [("A", "2,000")])
    >>> [column.kind for column in table.columns]
    ['text', 'number']
    >>> Table("Speed!", "Steps per second", ["agent"], [])
    Traceback (most recent call last):
    ...
    equipoise.errors.ReportError: table: name: got 'Speed!'; small letters, digits and hyphens are needed: ...
    """

    form: ClassVar = "table"
    name: str
    label: str
    columns: Sequence[Any]
    rows: Sequence[Sequence[str]]
    best: int | None = None
    folded: str = ""

    def __post_init__(self) -> None:
        _require_name("table", self.name)
        columns = tuple(Column(column) if isinstance(column, str) else column for column in self.columns)
        if not columns:
            raise ReportError(f"table {self.name!r}: it has no columns")
        object.__setattr__(self, "columns", columns)
        for index, row in enumerate(self.rows):
            if not isinstance(row, tuple | list) or len(row) != len(columns):
                needed = f"{len(columns)} cells are needed, one for each column"
                raise ReportError(f"table {self.name!r}: row {index} is {row!r}; {needed}")
            for cell in row:
                if not isinstance(cell, str):
                    found = f"the cell {cell!r} is of type {type(cell).__name__}"
                    needed = "a text is needed, with numbers written out"
                    raise ReportError(f"table {self.name!r}: row {index}: {found}; {needed}")


@dataclass(frozen=True)
class Key:
    """An entry of a legend: a name with the colour that it has in the charts.

    Attributes
    ----------
    text : str
        The name.
    colour : str
        Of the page: "agent-0" to "agent-7", "trigger-0" to "trigger-3", "ink" or "muted".
    dashes : tuple of int
        The pattern of the line; empty for a solid one.
    shape : "line" or "square"
        Of the sample next to the name.

    Examples
    --------
    >>> Key("the bound", "muted", dashes=(5, 3)).shape
    'line'
    """

    text: str
    colour: str
    dashes: tuple[int, ...] = ()
    shape: Literal["line", "square"] = "line"

    @classmethod
    def agent(cls, place: int, label: str) -> Key:
        """The key of an agent.

        Parameters
        ----------
        place : int
            Of the agent in the study, from 0; it decides the colour and the dashes.
        label : str
            The name to show.

        Examples
        --------
        >>> Key.agent(9, "mine")
        Key(text='mine', colour='agent-1', dashes=(7, 3), shape='line')
        """
        return cls(label, f"agent-{place % len(LIGHT)}", dash(place))

    @classmethod
    def rule(cls, colour: Literal["ink", "muted"], text: str) -> Key:
        """The key of a dashed line.

        Parameters
        ----------
        colour : "ink" or "muted"
            Of the line.
        text : str
            The name to show.
        """
        return cls(text, colour, _RULE_DASHES)


def agent_keys(agents: Mapping[str, str], names: Iterable[str]) -> tuple[Key, ...]:
    """Return the keys of agents by their names; `agents` maps the names of all to their labels."""
    return tuple(Key.agent(list(agents).index(name), agents[name]) for name in names)


Chart: TypeAlias = Any
"""A chart of Altair, a specification of Vega-Lite (a mapping), or a function of a `Theme` that returns one."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart, on the page and as a file.

    Attributes
    ----------
    name : str
        Of its file, after that of the section: small letters, digits and hyphens.
    chart : altair chart, mapping or callable
        A chart of Altair, a specification of Vega-Lite, or a function of the `Theme` of its place that returns one.
    label : str
        What it shows in words, for those who cannot see it.
    caption, heading, aside : str
        Below the chart; and above it, a few words and a remark after them.
    legend : sequence of Key
        On the page, above the chart. In a file a chart has the legend that is within it.
    height : int
        Of the plot, in pixels.

    Examples
    --------
    >>> bars = {"data": {"values": [{"agent": "A", "regret": 0.1}]}, "mark": "bar",
    ...         "encoding": {"x": {"field": "agent"}, "y": {"field": "regret", "type": "quantitative"}}}
    >>> Figure("regret", bars, label="The regret of A is 0.1.").height
    300
    """

    form: ClassVar = "figure"
    name: str
    chart: Chart
    label: str
    caption: str = ""
    heading: str = ""
    aside: str = ""
    legend: Sequence[Key] = ()
    height: int = 300

    def __post_init__(self) -> None:
        _require_name("figure", self.name)
        if not isinstance(self.height, int) or self.height <= 0:
            raise ReportError(f"figure {self.name!r}: height: got {self.height!r}; a positive whole number is needed")
        if not (callable(self.chart) or isinstance(self.chart, Mapping) or hasattr(self.chart, "to_dict")):
            needed = "a chart of Altair, a specification of Vega-Lite, or a function of a Theme is needed"
            raise ReportError(f"figure {self.name!r}: chart: got {type(self.chart).__name__}; {needed}")

    def draw(self, theme: Theme) -> Chart:
        """Return the chart itself, for a theme.

        Parameters
        ----------
        theme : Theme
            Of the place where it is shown.
        """
        return self.chart(theme) if callable(self.chart) and not hasattr(self.chart, "to_dict") else self.chart


@dataclass(frozen=True, eq=False)
class Panels:
    """Small charts that belong together: side by side on the page, one file among the figures.

    Attributes
    ----------
    name, label : str
        As of `Figure`.
    figures : sequence of Figure
        The charts; the heading of each is its title.
    legend : sequence of Key
        Of all of them.
    note : str
        Below them.

    Examples
    --------
    >>> panel = Figure("left", {"mark": "point"}, label="One point.", heading="star")
    >>> [figure.heading for figure in Panels("points", (panel,), label="One point per world.").figures]
    ['star']
    """

    form: ClassVar = "panels"
    name: str
    figures: Sequence[Figure]
    label: str
    legend: Sequence[Key] = ()
    note: str = ""

    def __post_init__(self) -> None:
        _require_name("panels", self.name)


@dataclass(frozen=True, eq=False)
class Beside:
    """Parts side by side, where the page is wide enough.

    Attributes
    ----------
    columns : sequence of sequences of parts
        The parts of each column.

    Examples
    --------
    >>> len(Beside((["left"], ["right"])).columns)
    2
    """

    form: ClassVar = "beside"
    columns: Sequence[Sequence[Part]]


Part: TypeAlias = str | Text | Mapping[str, str] | Table | Figure | Panels | Beside
PARTS = (str, Text, Mapping, Table, Figure, Panels, Beside)


@dataclass(frozen=True, eq=False)
class Section:
    """A section of a report.

    Attributes
    ----------
    title : str
        Its heading, and its entry in the navigation.
    parts : sequence of parts
        In reading order: strings in Markdown, mappings, `Text`, `Table`, `Figure`, `Panels` and `Beside`.
    about : str
        A line of Markdown below the title, such as what the section is made from; empty if there is none.
    anchor, entry : str
        The name in links, and the entry in the navigation; made from the title if empty.

    Examples
    --------
    >>> section = Section("Speed", ["All alike.", Table("speed", "Steps", ["agent"], [("A",)])])
    >>> [table.name for table in section.tables], section.figures
    (['speed'], [])
    """

    title: str
    parts: Sequence[Part]
    about: str = ""
    anchor: str = ""
    entry: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.title, str):
            raise ReportError(f"section: title: got {self.title!r}; a text is needed")
        if not isinstance(self.parts, tuple | list):
            raise ReportError(f"section {self.title!r}: parts: got {type(self.parts).__name__}; a list is needed")
        given: list[object] = list(walk_parts(self.parts))  # a user wrote it, so entries may be of any type
        for index, part in enumerate(given):
            if not isinstance(part, PARTS):
                needed = f"one of {', '.join(kind.__name__ for kind in PARTS)} is needed"
                raise ReportError(f"section {self.title!r}: part {index} is of type {type(part).__name__}; {needed}")
        for kind, parts in (("table", self.tables), ("figure", self.figures)):
            names = [part.name for part in parts]
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ReportError(f"section {self.title!r}: two of its {kind}s are called {twice[0]!r}")

    @property
    def tables(self) -> list[Table]:
        """All tables, in order."""
        return [part for part in walk_parts(self.parts) if isinstance(part, Table)]

    @property
    def figures(self) -> list[Figure | Panels]:
        """All figures that are files of their own, in order."""
        return [part for part in walk_parts(self.parts) if isinstance(part, Figure | Panels)]


SectionMaker: TypeAlias = Callable[[Results], Section]  # a function of the `Results` of a study


def number_columns(*headings: str) -> list[Column]:
    """Make columns of numbers."""
    return [Column(heading, "number") for heading in headings]


def walk_parts(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield all parts in the order in which they are read, those that stand side by side one by one."""
    for part in parts:
        if isinstance(part, Beside):
            for column in part.columns:
                yield from walk_parts(column)
        else:
            yield part


def file_stems(names: Sequence[str], nameless: str = "section") -> list[str]:
    """Make plain letters, digits and hyphens of names of any kind, each different, for files and anchors."""
    unique: list[str] = []
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_MAX_STEM].strip("-") or nameless
        candidate, n = stem, 1
        while candidate in unique:
            n += 1
            candidate = f"{stem}-{n}"
        unique.append(candidate)
    return unique


def _require_name(what: str, name: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ReportError(f"{what}: name: got {name!r}; small letters, digits and hyphens are needed: it names a file")
