"""`equipoise report`: the results of a study as a page, as tables, and as figures."""

from __future__ import annotations

import enum
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise._plugins import load_function
from equipoise.cli.options import With
from equipoise.errors import ParameterError
from equipoise.studies.reader import open_results
from equipoise.studies.results import regret_to_certify

Format = enum.StrEnum("Format", ["csv", "latex", "markdown", "svg", "png", "pdf"])
Style = enum.StrEnum("Style", ["print", "screen"])


_FILES = "Tables and figures as files"
_OF_TABLES = (Format.csv, Format.latex, Format.markdown)
_OF_FIGURES = (Format.svg, Format.png, Format.pdf)


def _file_option(about: str, metavar: str, default: str | bool = True) -> Any:
    return typer.Option(help=about, metavar=metavar, show_default=default, rich_help_panel=_FILES)


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a study that has been run.", metavar="DIR")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write.", show_default="DIR/report.html", metavar="FILE")
    ] = None,
    tables: Annotated[Path | None, _file_option("Write every table to this folder too.", "FOLDER")] = None,
    figures: Annotated[Path | None, _file_option("Write every figure to this folder too.", "FOLDER")] = None,
    format: Annotated[
        list[Format] | None,
        _file_option(
            "Of tables: csv, latex or markdown. Of figures: svg, png or pdf. May be given for each.",
            "FORMAT",
            "csv, svg",
        ),
    ] = None,
    style: Annotated[
        Style, typer.Option(help="Of figures: for white paper, or for slides and pages.", rich_help_panel=_FILES)
    ] = Style.print,
    width: Annotated[int | None, _file_option("Of a whole figure, 72 to an inch.", "PIXELS", "its own")] = None,
    height: Annotated[int | None, _file_option("Of a whole figure, likewise.", "PIXELS", "its own")] = None,
    font: Annotated[str | None, _file_option("Of figures, such as 'Times New Roman'.", "NAME", "the style's")] = None,
    font_size: Annotated[int | None, _file_option("Of figures.", "PIXELS", "the style's")] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(
            help="A section of your own: a function of the results, as package.module:name. May be repeated.",
            metavar="SECTION",
            show_default=False,
        ),
    ] = None,
    certified_within: Annotated[
        float | None,
        typer.Option(
            help="Compare agents by the time from which on the certified regret is at most this.",
            metavar="REGRET",
            show_default="the study's",
        ),
    ] = None,
    modules: With = [],  # noqa: ARG001, B006 - allowed by its callback
) -> None:
    """Make a report of a study: one HTML file that needs no network.

    For each problem: regret against time with bands over seeds, beside what is certified, with fitted slopes and the
    theorem's rate; the explicit bounds; the average outcomes against the optimum; episodes and what ended them; a table
    of final regret with paired tests; speeds; the exact specification. A study that is still running can be reported
    on too.

    Writes DIR/report.html or FILE, and on demand every table and figure as a file of its own; prints their names.

        equipoise report out/quick
        equipoise report out/quick --tables paper/tables --format latex
        equipoise report out/quick --figures figures --format pdf --width 240
        equipoise report out/quick --section my.sections:seeds --with my.sections

    Exit codes: 0, or 1 if DIR holds no study or a file cannot be written.
    """
    from equipoise.reports import load_section, own_sections, write_figures, write_report, write_tables
    from equipoise.reports.pages.files import make_theme

    of_tables = _pick_format(format or [], _OF_TABLES, "tables", tables)
    of_figures = _pick_format(format or [], _OF_FIGURES, "figures", figures)
    make_theme(style.value, width, height, font, font_size)  # or the error would come after the page
    makers = [load_section(kind, load_function) for kind in section or []]
    results = open_results(folder)
    if certified_within is not None:
        results = replace(results, certified_within=regret_to_certify(certified_within))
    sections = own_sections(makers, results)  # once, for page, tables and figures
    typer.echo(write_report(results, out or folder / "report.html", sections))
    if tables is not None:
        for path in write_tables(results, tables, of_tables, sections):
            typer.echo(path)
    if figures is not None:
        for path in write_figures(
            results, figures, of_figures, style=style.value, width=width, height=height, font=font,
            font_size=font_size, sections=sections,
        ):  # fmt: skip
            typer.echo(path)


def _pick_format(formats: list[Format], known: tuple[Format, ...], what: str, folder: Path | None) -> str:
    choices = [one for one in formats if one in known]
    if choices and folder is None:
        raise ParameterError(f"--format {choices[0].value}: it is one of {what}; say where to with --{what}")
    if len(choices) > 1:
        raise ParameterError(f"--format: got {' and '.join(choices)}; one for the {what} is needed")
    return (choices or known)[0].value
