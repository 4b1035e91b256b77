"""Every table of a report as a file: CSV, LaTeX or Markdown, with the numbers that are on the page."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from equipoise.reports.writing.inline import plain
from equipoise.reports.writing.latex import latex_table
from equipoise.reports.writing.markdown import markdown_table
from equipoise.reports.writing.names import stems
from equipoise.reports.writing.page import Study, opened, report_sections
from equipoise.reports.writing.saving import checked_format, save_all
from equipoise.reports.writing.section import Section, SectionMaker, Table


def csv_table(table: Table) -> str:
    r"""The table as CSV, with its headings in the first line.

    Parameters
    ----------
    table : Table
        Its cells as plain text.

    >>> from equipoise.reports.writing.section import Column
    >>> print(csv_table(Table("final", "Final", (Column("agent"), Column("n")), (("A, B", "1"),))), end="")
    agent,n
    "A, B",1
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.heading for column in table.columns])
    writer.writerows([plain(cell) for cell in row] for row in table.rows)
    return text.getvalue()


FORMATS: Final[dict[str, tuple[str, Callable[[Table], str]]]] = {
    "csv": ("csv", csv_table),
    "latex": ("tex", latex_table),
    "markdown": ("md", markdown_table),
}
"""Of tables: the ending of a file, and what writes it."""


def write_tables(
    results: Study, folder: str | os.PathLike[str], format: str = "csv", sections: Sequence[SectionMaker | Section] = ()
) -> list[Path]:
    """Write every table of a report into a folder, which is made if it is not there.

    Parameters
    ----------
    results : Results, str or PathLike
        Of a study, complete or not; or the folder of one.
    folder : str or PathLike
        Where to.
    format : "csv", "latex" or "markdown"
        Of the files. LaTeX needs the package booktabs.
    sections : sequence of callable or Section
        Sections of your own, whose tables are written too.

    Returns
    -------
    list of Path
        The files, named after section and table, e.g. ``star-final.csv``; in the order of the report.

    Raises
    ------
    ParameterError
        For another format.
    ReportError
        When a section of your own raises an error or is none; nothing is written then.
    FileError
        When a file cannot be written.

    Examples
    --------
    A study without results yet, and a section with a table in it:

    >>> import tempfile
    >>> from equipoise.reports import Column, Section, Table
    >>> import polars
    >>> from equipoise.studies import Results
    >>> frame = polars.DataFrame(schema={"problem": str, "agent": str, "t": int})
    >>> results = Results(name="mine", toml="", problems=(), agents=(), frame=frame, rates={},
    ...                   failures=(), missing=0, damaged=(), versions=())
    >>> speed = Table("speed", "Steps a second", (Column("agent"), Column("speed", "number")), (("A", "2,000"),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_tables(results, folder, sections=[Section("Machines", (speed,))])
    ...     lines = files[0].read_text(encoding="utf-8").splitlines()
    >>> files[0].name, lines
    ('machines-speed.csv', ['agent,speed', 'A,"2,000"'])
    """
    ending, written = FORMATS[checked_format(format, FORMATS)]
    made = report_sections(opened(results), sections)
    files = {
        f"{stem}-{table.name}.{ending}": written(table).encode()
        for section, stem in zip(made, stems([section.title for section in made]), strict=True)
        for table in section.tables
    }
    return save_all(folder, files)
