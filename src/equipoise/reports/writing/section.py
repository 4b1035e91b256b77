"""A section of a report: data, from which the page, the tables and the figures are all made.

A section has a title and parts in the order in which they are read: sentences, lists, tables, figures. It knows
nothing of HTML, LaTeX or files; those who write these take the same objects, so a number is the same wherever it is
shown.

A section of your own is a function of the `Results` of a study that returns one:

    from equipoise.reports import Column, Section, Table, Text

    def seeds(results):
        counts = results.frame.group_by("agent", maintain_order=True).agg(results.frame["seed"].n_unique())
        columns = (Column("agent"), Column("seeds", "number"))
        rows = tuple((agent, f"{n:,}") for agent, n in counts.rows())
        return Section("Seeds", (Text("How often each agent was run."), Table("seeds", "Seeds", columns, rows)))

named in ``equipoise report DIR --section package.module:seeds --with package.module``, or given to
`write_report`, `write_tables` and `write_figures`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from equipoise.errors import ReportError
from equipoise.reports.drawing.theme import Theme
from equipoise.reports.writing.inline import PIECES, Content, Key, Link, pieces
from equipoise.studies.results import Results

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Attributes
    ----------
    text : Content
        Plain text, or pieces of it; everything is escaped.
    kind : "plain", "note", "muted" or "bad"
        How it looks: a note is smaller.

    Examples
    --------
    >>> Text("All runs are done.", kind="note").kind
    'note'
    """

    form: ClassVar = "text"
    text: Content
    kind: Literal["plain", "note", "muted", "bad"] = "plain"


@dataclass(frozen=True)
class Heading:
    """A heading within a section.

    Attributes
    ----------
    text : str
        What it says.
    level : 2 or 3
        3 within a section; 2 is for what stands before and after all sections.

    Examples
    --------
    >>> Heading("Regret").level
    3
    """

    form: ClassVar = "heading"
    text: str
    level: Literal[2, 3] = 3


@dataclass(frozen=True)
class Items:
    """A list.

    Attributes
    ----------
    entries : tuple of Content
        In order.
    kind : "dots" or "rows"
        Whether an entry begins with a dot, or ends with a line.

    Examples
    --------
    >>> Items(("one seed", "two agents")).kind
    'dots'
    """

    form: ClassVar = "items"
    entries: tuple[Content, ...]
    kind: Literal["dots", "rows"] = "dots"


@dataclass(frozen=True)
class Facts:
    """Names and values, one pair a line.

    Attributes
    ----------
    pairs : tuple of (str, str)
        In order.

    Examples
    --------
    >>> Facts((("states", "7"), ("outcomes", "3"))).pairs[1]
    ('outcomes', '3')
    """

    form: ClassVar = "facts"
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Tiles:
    """Large numbers side by side.

    Attributes
    ----------
    entries : tuple of (str, str, bool)
        Name, number, and whether it tells of something that is not as it should be.
    """

    form: ClassVar = "tiles"
    entries: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Links:
    """References to sections, each with what it shows.

    Attributes
    ----------
    entries : tuple of (Link, str)
        In order.
    """

    form: ClassVar = "links"
    entries: tuple[tuple[Link, str], ...]


@dataclass(frozen=True)
class Listing:
    """Lines as they are in a file.

    Attributes
    ----------
    text : str
        Shown as it is.

    Examples
    --------
    >>> Listing('name = "quick"').text
    'name = "quick"'
    """

    form: ClassVar = "listing"
    text: str


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    heading : str
        Above its cells.
    kind : "text", "number" or "long"
        Numbers stand to the right; a long text may be broken into lines.

    Examples
    --------
    >>> Column("regret", kind="number").heading
    'regret'
    """

    heading: str
    kind: Literal["text", "number", "long"] = "text"


@dataclass(frozen=True)
class Table:
    """A table, the same on the page and in a file.

    Attributes
    ----------
    name : str
        Of its file, after that of the section: small letters, digits and hyphens.
    label : str
        What it holds, for those who cannot see it, and as its title in a file.
    columns : tuple of Column
        At least one.
    rows : tuple of tuple of Content
        A cell for each column; the first cell of a row is its heading. Numbers are written out, as they are to be read.
    best : int or None
        A row that stands out.
    folded : str
        If not empty, the table is folded on the page behind these words.

    Examples
    --------
    >>> table = Table("speed", "Steps a second", (Column("agent"), Column("speed", "number")), (("A", "2,000"),))
    >>> [column.heading for column in table.columns]
    ['agent', 'speed']
    >>> Table("Speed!", "Steps a second", (Column("agent"),), ())
    Traceback (most recent call last):
    ...
    equipoise.errors.ReportError: table: name: got 'Speed!'; small letters, digits and hyphens are needed: ...
    """

    form: ClassVar = "table"
    name: str
    label: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Content, ...], ...]
    best: int | None = None
    folded: str = ""

    def __post_init__(self) -> None:
        _check_name("table", self.name)
        if not self.columns:
            raise ReportError(f"table {self.name!r}: it has no columns")
        for index, row in enumerate(self.rows):
            if not isinstance(row, tuple) or len(row) != len(self.columns):
                raise ReportError(
                    f"table {self.name!r}: row {index} is {row!r}; a tuple of {len(self.columns)} cells is needed,"
                    " one for each column"
                )
            for cell in row:
                if not all(isinstance(piece, PIECES) for piece in pieces(cell)):
                    raise ReportError(
                        f"table {self.name!r}: row {index}: the cell {cell!r} is of type {type(cell).__name__}; a text"
                        " is needed, with numbers written out"
                    )


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
        What is drawn. A chart of Altair or a specification of Vega-Lite gets the colours, letters and size of where it
        is shown. A function gets the `Theme` of that place, with its colours, and returns one of the two.
    label : str
        What it shows in words, for those who cannot see it.
    caption : str
        Below the chart.
    heading, aside : str
        Above the chart: a few words, and a remark beside them.
    legend : tuple of Key
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
    legend: tuple[Key, ...] = ()
    height: int = 300

    def __post_init__(self) -> None:
        _check_name("figure", self.name)
        if not isinstance(self.height, int) or self.height <= 0:
            raise ReportError(f"figure {self.name!r}: height: got {self.height!r}; a positive whole number is needed")
        if not (callable(self.chart) or isinstance(self.chart, Mapping) or hasattr(self.chart, "to_dict")):
            raise ReportError(
                f"figure {self.name!r}: chart: got {type(self.chart).__name__}; a chart of Altair, a specification of"
                " Vega-Lite, or a function of a Theme is needed"
            )

    def drawn(self, theme: Theme) -> Chart:
        """The chart itself, for a theme.

        Parameters
        ----------
        theme : Theme
            Of the place where it is shown.
        """
        if callable(self.chart) and not hasattr(self.chart, "to_dict"):
            return self.chart(theme)
        return self.chart


@dataclass(frozen=True, eq=False)
class Panels:
    """Small charts that belong together: side by side on the page, one file among the figures.

    Attributes
    ----------
    name : str
        Of the file, after that of the section.
    figures : tuple of Figure
        The charts; of each the heading is its title.
    label : str
        What they show in words.
    legend : tuple of Key
        Of all of them.
    note : str
        Below them.

    Examples
    --------
    >>> panel = Figure("left", {"mark": "point"}, label="One point.", heading="star")
    >>> [figure.heading for figure in Panels("points", (panel,), label="One point a world.").figures]
    ['star']
    """

    form: ClassVar = "panels"
    name: str
    figures: tuple[Figure, ...]
    label: str
    legend: tuple[Key, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        _check_name("panels", self.name)


@dataclass(frozen=True, eq=False)
class Beside:
    """Parts side by side, where the page is wide enough.

    Attributes
    ----------
    columns : tuple of tuple of Part
        The parts of each column.

    Examples
    --------
    >>> len(Beside(((Text("left"),), (Text("right"),))).columns)
    2
    """

    form: ClassVar = "beside"
    columns: tuple[tuple[Part, ...], ...]


Part: TypeAlias = Text | Heading | Items | Facts | Tiles | Links | Listing | Table | Figure | Panels | Beside
PARTS = (Text, Heading, Items, Facts, Tiles, Links, Listing, Table, Figure, Panels, Beside)


@dataclass(frozen=True, eq=False)
class Section:
    """A section of a report.

    Attributes
    ----------
    title : str
        Its heading, and its entry in the navigation.
    parts : tuple of Part
        `Text`, `Heading`, `Items`, `Facts`, `Table`, `Figure`, `Panels`, `Beside` and the like, in the order in which
        they are read.
    about : Content
        A line below the title, such as what the section is made from; empty if there is none.
    anchor : str
        By which links refer to it; made from the title if it is empty.
    entry : str
        What the navigation shows in place of the title, if not empty.

    Raises
    ------
    ReportError
        When the title is empty, or something is no part.

    Examples
    --------
    >>> section = Section("Speed", (Text("All alike."), Table("speed", "Steps", (Column("agent"),), (("A",),))))
    >>> [table.name for table in section.tables], section.figures
    (['speed'], [])
    """

    title: str
    parts: tuple[Part, ...]
    about: Content = ""
    anchor: str = ""
    entry: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.title, str):
            raise ReportError(f"section: title: got {self.title!r}; a text is needed")
        if not isinstance(self.parts, tuple):
            raise ReportError(f"section {self.title!r}: parts: got {type(self.parts).__name__}; a tuple is needed")
        given: list[object] = list(walk(self.parts))  # a user wrote it, so entries may be of any type
        for index, part in enumerate(given):
            if not isinstance(part, PARTS):
                names = ", ".join(kind.__name__ for kind in PARTS)
                raise ReportError(
                    f"section {self.title!r}: part {index} is of type {type(part).__name__}; one of {names} is needed"
                )
        for kind, called in (
            ("table", [table.name for table in self.tables]),
            ("figure", [figure.name for figure in self.figures]),
        ):
            twice = sorted({name for name in called if called.count(name) > 1})
            if twice:
                raise ReportError(f"section {self.title!r}: two of its {kind}s are called {twice[0]!r}")

    @property
    def tables(self) -> list[Table]:
        """All tables, in order."""
        return [part for part in walk(self.parts) if isinstance(part, Table)]

    @property
    def figures(self) -> list[Figure | Panels]:
        """All figures that are files of their own, in order."""
        return [part for part in walk(self.parts) if isinstance(part, Figure | Panels)]


SectionMaker: TypeAlias = Callable[[Results], Section]
"""A function of the `Results` of a study."""


def walk(parts: tuple[Part, ...]) -> Iterator[Part]:
    """All parts in the order in which they are read, those that stand side by side one by one."""
    for part in parts:
        if isinstance(part, Beside):
            for column in part.columns:
                yield from walk(column)
        else:
            yield part


def _check_name(what: str, name: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ReportError(f"{what}: name: got {name!r}; small letters, digits and hyphens are needed: it names a file")
