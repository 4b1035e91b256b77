"""Sections, and what is written from them: the page, the tables and the figures.

`section` is what a section is made of, and `markup` its text; `problem`, `tables`, `proofs`, `laws` and `sentences`
make the sections of a study. `report` puts them together, `page` writes HTML from templates, and `files` writes tables
as CSV, LaTeX and Markdown, and figures as SVG, PNG and PDF.
"""
