"""Reports of studies: one self-contained page, and its tables and figures as files.

`write_report`, `write_tables` and `write_figures` take the `Results` of a study, whole or in part, or its folder. All
three are made from the same `Section` objects; a section of your own is a function of the `Results` that returns one.

| folder | what |
|---|---|
| `numbers` | what is computed from results: means over seeds, comparisons, slopes, bounds |
| `charts` | charts from numbers, in a theme |
| `pages` | sections from numbers and charts; the page, the tables and the figures from sections |
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
