"""Reports of studies: one self-contained page, and its tables and figures as files.

`write_report`, `write_tables` and `write_figures` take the `Results` of a study, whole or in part, or its folder. All
three are made from the same `Section` objects; a section of your own is a function of the `Results` that returns one.
`write_paper` and `write_table` are for what the checks of the paper say.

| folder | what |
|---|---|
| `numbers` | what is computed from results: means over seeds, comparisons, slopes, bounds |
| `drawing` | charts from numbers, in a theme |
| `writing` | sections from numbers and charts; the page, the tables and the figures from sections |
"""

from equipoise.reports.drawing.theme import Theme
from equipoise.reports.writing.figure_files import write_figures
from equipoise.reports.writing.inline import Aside, Code, Key, Link, Strong
from equipoise.reports.writing.own import load_section, own_sections
from equipoise.reports.writing.page import report_sections, write_report
from equipoise.reports.writing.section import (
    Beside,
    Column,
    Facts,
    Figure,
    Heading,
    Items,
    Listing,
    Panels,
    Section,
    Table,
    Text,
)
from equipoise.reports.writing.statements import write_paper, write_table
from equipoise.reports.writing.table_files import write_tables
from equipoise.studies.results import Results

__all__ = [
    "Aside",
    "Beside",
    "Code",
    "Column",
    "Facts",
    "Figure",
    "Heading",
    "Items",
    "Key",
    "Link",
    "Listing",
    "Panels",
    "Results",
    "Section",
    "Strong",
    "Table",
    "Text",
    "Theme",
    "load_section",
    "own_sections",
    "report_sections",
    "write_figures",
    "write_paper",
    "write_report",
    "write_table",
    "write_tables",
]
