"""The paper, executable: one file a theorem, lemma or claim in `checks`; each runs, and says whether it holds.

`equipoise paper` runs them all. A file opens with the statement, what is wrong with it if anything is, and how it is
measured; its function `check` gives the findings. `catalogue.CHECKS` lists them in the order of the paper. What several
checks share stands beside `checks`: worlds (`analysis_cases`, `tight_cases`, `random_cases`, `markets`), measurements
(`rates`, `error_ratios`, `worst_ratios`), runs stepped by hand (`paths`), and the paper's formulas written out, which
the package is held against (`written_regions`, `written_terms`, `bound_formulas`, `chain`, `descent_chain`,
`exact_coverage`).
"""

from equipoise.paper.catalogue import CHECKS
from equipoise.paper.findings import Checked, Finding, Picture, Size, Statement, nearest
from equipoise.paper.running import ChecksInterrupted, Outcome, run_check, run_checks

__all__ = [
    "CHECKS",
    "Checked",
    "ChecksInterrupted",
    "Finding",
    "Outcome",
    "Picture",
    "Size",
    "Statement",
    "nearest",
    "run_check",
    "run_checks",
]
