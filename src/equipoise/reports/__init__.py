"""Reports of studies: one self-contained page, and its tables and figures as files.

`numbers` computes means, comparisons, slopes and bounds; `charts` draws them in a theme; `pages` makes `Section`
objects of both, and from these the page, the tables and the figures.
"""

from equipoise.reports.charts.theme import Theme
from equipoise.reports.pages.files import write_figures, write_tables
from equipoise.reports.pages.markup import code, escape
from equipoise.reports.pages.report import load_section, own_sections, report_sections, write_report
from equipoise.reports.pages.section import Beside, Column, Figure, Key, Panels, Section, Table, Text
from equipoise.studies.results import Results

__all__ = [
    "Beside",
    "Column",
    "Figure",
    "Key",
    "Panels",
    "Results",
    "Section",
    "Table",
    "Text",
    "Theme",
    "code",
    "escape",
    "load_section",
    "own_sections",
    "report_sections",
    "write_figures",
    "write_report",
    "write_tables",
]
