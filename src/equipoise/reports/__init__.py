"""Reports of studies: one self-contained page, and its charts as files.

`write_report` and `write_figures` take the `Results` of a study, whole or in part. `statistics` and `comparisons` say
what is computed and why; `curves` and `digest` bring a study down to what is shown; `charts` and `theme` draw it;
`words`, `markup`, `sections` and `page` write it. `write_paper` and `write_table` are for what the checks of the paper
say (`statements`); `document` is what both pages are made of.
"""

from equipoise.reports.figures import write_figures
from equipoise.reports.page import write_report
from equipoise.reports.statements import write_paper, write_table

__all__ = ["write_figures", "write_paper", "write_report", "write_table"]
