"""Tables and figures of a report as files, with the numbers that are on the page.

Tables are CSV, LaTeX (a ``tabular`` with the rules of booktabs) or Markdown; figures are SVG, PNG or PDF. All files of
a folder are made before the first is written.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from equipoise import _files
from equipoise._files import escape_formula
from equipoise.errors import EquipoiseError, FileError, ParameterError, ReportError
from equipoise.reports.charts.theme import STYLES, Theme
from equipoise.reports.charts.vega import FORMATS, has_letters, panels_specification, plot_size, specification
from equipoise.reports.pages.markup import code, escape_marks, join_lines, latex_text, strip_markup
from equipoise.reports.pages.report import Study, open_study, report_sections
from equipoise.reports.pages.section import Column, Figure, Panels, Section, SectionMaker, Table, file_stems

_NUMBER: Final = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?( ± [\d.,]+(e[-+]?\d+)?)?( ?%)?")
SIZES: Final = (100, 10_000)  # the smallest and the largest width and height of a figure, in pixels
FONT_SIZES: Final = (4, 100)
_LEAST_PLOT: Final = 40  # pixels: nothing can be seen in a smaller plot


def _rows(table: Table, write: Callable[[Column, str], str]) -> list[list[str]]:
    head = [write(Column(column.heading), column.heading) for column in table.columns]
    rows = [[write(column, cell) for column, cell in zip(table.columns, row, strict=True)] for row in table.rows]
    return [head, *rows]


def _plain_cell(column: Column, cell: str) -> str:
    return strip_markup(cell) if column.form == "markdown" else join_lines(cell)


def _csv_cell(column: Column, cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, though a number may begin with a sign."""
    plain = _plain_cell(column, cell)
    return plain if column.kind == "number" and _NUMBER.fullmatch(plain) else escape_formula(plain)


def csv_table(table: Table) -> str:
    """Write a table as CSV, with its headings in the first line."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(_rows(table, _csv_cell))
    return text.getvalue()


def _latex_cell(column: Column, cell: str) -> str:
    text = latex_text(_plain_cell(column, cell))
    return f"\\texttt{{{text}}}" if text and column.form == "code" else text


def latex_table(table: Table) -> str:
    r"""Write a table as a ``tabular``; it needs ``\usepackage{booktabs}``."""
    head, *rows = _rows(table, _latex_cell)
    if table.best is not None:
        rows[table.best] = [f"\\textbf{{{cell}}}" if cell else "" for cell in rows[table.best]]
    lines = [" & ".join(f"{{}}{cell}" if cell.startswith("[") else cell for cell in row) + r" \\" for row in rows]
    aligned = "".join("r" if column.kind == "number" else "l" for column in table.columns)
    before = [f"% {join_lines(table.label)}; needs \\usepackage{{booktabs}}", f"\\begin{{tabular}}{{{aligned}}}"]
    before += [r"\toprule", f"{' & '.join(head)} \\\\", r"\midrule"]
    return "\n".join([*before, *lines, r"\bottomrule", r"\end{tabular}", ""])


def _markdown_cell(column: Column, cell: str) -> str:
    if column.form in ("code", "markdown"):
        text = join_lines(cell) if column.form == "markdown" else code(cell)
        return re.sub(r"(?<!\\)\|", r"\\|", text)  # a bar must be escaped even in code
    return escape_marks(cell)


def markdown_table(table: Table) -> str:
    """Write a table in the notation of GitHub, with a line end at its end."""
    head, *rows = (
        "|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in _rows(table, _markdown_cell)
    )
    marks = "".join("---:|" if column.kind == "number" else "---|" for column in table.columns)
    return "\n".join([head, f"|{marks}", *rows, ""])


_TABLE_FORMATS: Final[dict[str, tuple[str, Callable[[Table], str]]]] = {
    "csv": ("csv", csv_table),
    "latex": ("tex", latex_table),
    "markdown": ("md", markdown_table),
}


def write_tables(
    results: Study, folder: str | os.PathLike[str], format: str = "csv", sections: Sequence[SectionMaker | Section] = ()
) -> list[Path]:
    """Write every table of a report into a folder, which is made if it is missing.

    If a section of your own fails, nothing is written.

    Parameters
    ----------
    results : Results, str or PathLike
        Of a study, complete or not; or the folder of one.
    folder : str or PathLike
        The folder to write to; files are named after section and table, e.g. ``star-final.csv``.
    format : "csv", "latex" or "markdown"
        Of the files. LaTeX needs the package booktabs.
    sections : sequence of callable or Section
        Sections of your own, whose tables are written too.

    Returns
    -------
    list of Path
        The files, in the order of the report.

    Examples
    --------
    >>> import tempfile
    >>> from equipoise.reports import Column, Section, Table
    >>> from equipoise.studies import Results
    >>> speed = Table("speed", "Steps per second", ["agent", Column("speed", "number")], [("A", "2,000")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_tables(Results("mine"), folder, sections=[Section("Machines", [speed])])
    ...     lines = files[0].read_text(encoding="utf-8").splitlines()
    >>> files[0].name, lines
    ('machines-speed.csv', ['agent,speed', 'A,"2,000"'])
    """
    _require_format(format, _TABLE_FORMATS)
    ending, write = _TABLE_FORMATS[format]
    made = report_sections(open_study(results), sections)
    files = {
        f"{stem}-{table.name}.{ending}": write(table).encode()
        for section, stem in zip(made, file_stems([section.title for section in made]), strict=True)
        for table in section.tables
    }
    return _write_all(folder, files)


def write_figures(
    results: Study,
    folder: str | os.PathLike[str],
    format: str = "svg",
    *,
    style: str = "print",
    width: int | None = None,
    height: int | None = None,
    font: str | None = None,
    font_size: int | None = None,
    sections: Sequence[SectionMaker | Section] = (),
) -> list[Path]:
    """Write every figure of a report into a folder, which is made if it is missing.

    If a section of your own fails, a figure cannot be drawn, or its plot does not fit into the size, nothing is
    written.

    Parameters
    ----------
    results : Results, str or PathLike
        As for `write_tables`.
    folder : str or PathLike
        As for `write_tables`; files are named after section and figure, e.g. ``star-regret.svg``.
    format : "svg", "png" or "pdf"
        Of the files.
    style : "print" or "screen"
        On white paper; or on slides and pages, with larger letters and a transparent background.
    width, height : int, optional
        Of a whole figure with its axes and legend, in pixels of 1/72 inch (a PNG has three for each); None: as needed.
    font : str, optional
        The name of a font, or several in the order of preference, as in CSS. PNG and PDF need one that is installed.
    font_size : int, optional
        Of names and titles, in pixels; numbers along an axis are one smaller.
    sections : sequence of callable or Section
        As for `write_tables`.

    Returns
    -------
    list of Path
        The files, in the order of the report.

    Examples
    --------
    >>> import tempfile
    >>> from equipoise.reports import Figure, Section
    >>> from equipoise.studies import Results
    >>> bars = {"data": {"values": [{"agent": "A", "regret": 0.1}]}, "mark": "bar",
    ...         "encoding": {"x": {"field": "agent"}, "y": {"field": "regret", "type": "quantitative"}}}
    >>> section = Section("Machines", [Figure("regret", bars, label="The regret of A is 0.1.")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_figures(Results("mine"), folder, "svg", sections=[section])
    ...     text = files[0].read_text(encoding="utf-8")
    >>> files[0].name, text.startswith("<svg")
    ('machines-regret.svg', True)
    """
    _require_format(format, FORMATS)
    theme = make_theme(style, width, height, font, font_size)
    if format != "svg" and not has_letters(theme.font):
        raise ParameterError(
            f"font: {theme.font!r} is not installed, so the figures would have no letters; install it, or give a list"
            f" that ends with one that is, such as {theme.font + ', sans-serif'!r}"
        )
    made = report_sections(open_study(results), sections)
    files: dict[str, bytes] = {}
    for section, stem in zip(made, file_stems([section.title for section in made]), strict=True):
        for figure in section.figures:
            try:
                spec = _specification(section, figure, theme)
                _require_room(spec, theme)
                files[f"{stem}-{figure.name}.{format}"] = FORMATS[format](spec)
            except Exception as error:  # a user's chart may raise anything
                reason = str(error) if isinstance(error, EquipoiseError) else f"{type(error).__name__}: {error}"
                said = f"section {section.title!r}: figure {figure.name!r} cannot be drawn ({reason})"
                raise ReportError(said) from error
    return _write_all(folder, files)


def make_theme(style: str, width: int | None, height: int | None, font: str | None, font_size: int | None) -> Theme:
    """The theme of figures, as it is asked for."""
    if style not in STYLES:
        raise ParameterError(f"style: got {style!r}; {', '.join(map(repr, STYLES))} are accepted")
    theme = replace(STYLES[style], width=_within("width", width, SIZES), height=_within("height", height, SIZES))
    if font is not None:
        if not isinstance(font, str) or not font.strip():
            raise ParameterError(f"font: got {font!r}; the name of a font is needed")
        theme = replace(theme, font=font)
    size = _within("font_size", font_size, FONT_SIZES)
    return theme if size is None else replace(theme, font_size=size)


def _require_room(spec: dict[str, Any], theme: Theme) -> None:
    """Refuse a figure whose axes, legend and title take all the room that it was given."""
    if theme.width is None and theme.height is None:
        return
    width, height = plot_size(spec)
    if min(width, height) < _LEAST_PLOT:
        raise ParameterError(
            f"its axes and legend leave {width} x {height} pixels for a plot; {_LEAST_PLOT} x {_LEAST_PLOT} are needed:"
            " give a larger width or height, or a smaller font"
        )


def _within(name: str, number: int | None, limits: tuple[int, int]) -> int | None:
    least, most = limits
    if number is not None and not (isinstance(number, int) and least <= number <= most):
        raise ParameterError(f"{name}: got {number!r}; a whole number from {least:,} to {most:,} is needed")
    return number


def _specification(section: Section, figure: Figure | Panels, theme: Theme) -> dict[str, Any]:
    description = f"{figure.name} on {section.title}"
    if isinstance(figure, Figure):
        return specification(figure.draw(theme), theme, figure.height, description)
    panels = [(", ".join(filter(None, (one.heading, one.aside))), one.draw(theme)) for one in figure.figures]
    return panels_specification(panels, theme, description)


def _require_format(format: str, known: Collection[str]) -> None:
    if format not in known:
        raise ParameterError(f"format: got {format!r}; {', '.join(map(repr, known))} are accepted")


def _write_all(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder, which is made if it is not there; each is written whole or not at all."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{target}: cannot be made ({error.strerror or error})") from error
    paths = []
    for name, content in files.items():
        _files.write_bytes(target / name, content)
        paths.append(target / name)
    return paths
