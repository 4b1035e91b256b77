"""The executable paper: one file per theorem, lemma or claim in `checks`; each measures its statement.

`python -m paper` runs them; README.md beside this file says how to add one. Modules shared by several checks stand
beside `checks`: models (`analysis_cases`, `tight_cases`, `random_cases`, `markets`), measurements (`rates`,
`error_ratios`, `worst_ratios`), runs stepped by hand (`paths`), and the formulas of the paper written out, against
which the package is compared (`written_regions`, `written_terms`, `bound_formulas`, `chain`, `descent_chain`,
`exact_coverage`).
"""
