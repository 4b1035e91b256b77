"""Every figure of a report as a file: for paper or for a screen, in any size and font."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from equipoise.errors import ParameterError, ReportError
from equipoise.reports.drawing.files import FORMATS
from equipoise.reports.drawing.panels import panels_specification
from equipoise.reports.drawing.specification import specification
from equipoise.reports.drawing.theme import STYLES, Theme
from equipoise.reports.writing.names import stems
from equipoise.reports.writing.page import Study, opened, report_sections
from equipoise.reports.writing.saving import checked_format, save_all
from equipoise.reports.writing.section import Figure, Panels, Section, SectionMaker

SIZES: Final = (100, 10_000)
"""The smallest and the largest width and height of a figure, in pixels."""
FONT_SIZES: Final = (4, 100)


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
    """Write every figure of a report into a folder, which is made if it is not there.

    Parameters
    ----------
    results : Results, str or PathLike
        Of a study, complete or not; or the folder of one.
    folder : str or PathLike
        Where to.
    format : "svg", "png" or "pdf"
        Of the files.
    style : "print" or "screen"
        On white paper; or on slides and pages, with larger letters and no ground.
    width, height : int, optional
        Of a whole figure with its axes and legend, in pixels of 1/72 inch; a PNG has three for each. By default a
        figure is as large as what is in it asks for.
    font : str, optional
        The name of a font, such as "Times New Roman", or several in the order of preference, as CSS has them. Those
        that are not installed are passed over.
    font_size : int, optional
        Of names and titles, in pixels; numbers along an axis are one smaller.
    sections : sequence of callable or Section
        Sections of your own, whose figures are written too.

    Returns
    -------
    list of Path
        The files, named after section and figure, e.g. ``star-regret.svg``; in the order of the report.

    Raises
    ------
    ParameterError
        For another format or style, a size out of range, or a font without a name.
    ReportError
        When a section of your own cannot be made, or a figure of it cannot be drawn; nothing is written then.
    FileError
        When a file cannot be written.

    Examples
    --------
    A study without results yet, and a section with a figure in it:

    >>> import tempfile
    >>> from equipoise.reports import Figure, Section
    >>> import polars
    >>> from equipoise.studies import Results
    >>> frame = polars.DataFrame(schema={"problem": str, "agent": str, "t": int})
    >>> results = Results(name="mine", toml="", problems=(), agents=(), frame=frame, rates={},
    ...                   failures=(), missing=0, damaged=(), versions=())
    >>> bars = {"data": {"values": [{"agent": "A", "regret": 0.1}]}, "mark": "bar",
    ...         "encoding": {"x": {"field": "agent"}, "y": {"field": "regret", "type": "quantitative"}}}
    >>> section = Section("Machines", (Figure("regret", bars, label="The regret of A is 0.1."),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_figures(results, folder, "svg", sections=[section])
    ...     text = files[0].read_text(encoding="utf-8")
    >>> files[0].name, text.startswith("<svg")
    ('machines-regret.svg', True)
    """
    drawn = FORMATS[checked_format(format, FORMATS)]
    theme = styled(style, width, height, font, font_size)
    made = report_sections(opened(results), sections)
    files: dict[str, bytes] = {}
    for section, stem in zip(made, stems([section.title for section in made]), strict=True):
        for figure in section.figures:
            try:
                files[f"{stem}-{figure.name}.{format}"] = drawn(_specification(section, figure, theme))
            except Exception as error:  # a user's chart may raise anything
                reason = f"{type(error).__name__}: {error}"
                raise ReportError(
                    f"section {section.title!r}: figure {figure.name!r} cannot be drawn ({reason})"
                ) from error
    return save_all(folder, files)


def styled(style: str, width: int | None, height: int | None, font: str | None, font_size: int | None) -> Theme:
    """The theme of figures, as it is asked for.

    Parameters
    ----------
    style : str
        The name of a style.
    width, height : int or None
        Of a whole figure, in pixels.
    font : str or None
        Its name.
    font_size : int or None
        In pixels.

    >>> styled("print", 400, None, "Palatino", 9).font_size
    9
    """
    if style not in STYLES:
        raise ParameterError(f"style: got {style!r}; {', '.join(map(repr, STYLES))} are accepted")
    theme = replace(STYLES[style], width=_within("width", width, SIZES), height=_within("height", height, SIZES))
    if font is not None:
        if not isinstance(font, str) or not font.strip():
            raise ParameterError(f"font: got {font!r}; the name of a font is needed")
        theme = replace(theme, font=font)
    size = _within("font_size", font_size, FONT_SIZES)
    return theme if size is None else replace(theme, font_size=size)


def _within(name: str, number: int | None, limits: tuple[int, int]) -> int | None:
    least, most = limits
    if number is not None and not (isinstance(number, int) and least <= number <= most):
        raise ParameterError(f"{name}: got {number!r}; a whole number from {least:,} to {most:,} is needed")
    return number


def _specification(section: Section, figure: Figure | Panels, theme: Theme) -> dict[str, Any]:
    description = f"{figure.name} on {section.title}"
    if isinstance(figure, Panels):
        panels = [
            (", ".join(filter(None, (panel.heading, panel.aside))), panel.drawn(theme)) for panel in figure.figures
        ]
        return panels_specification(panels, theme, description)
    return specification(figure.drawn(theme), theme, figure.height, description)
