"""Sections, and what is written of them: the page, the tables, the figures.

`section` and `inline` are what a section is made of; `problem`, `tables`, `guarantees` and `words` make those of a
study; `own` those of users; `page` and `statements` put them together. `document` writes HTML from templates,
`table_files` CSV, LaTeX and Markdown, `figure_files` SVG, PNG and PDF.
"""

from equipoise.reports.writing.section import Section

__all__ = ["Section"]
