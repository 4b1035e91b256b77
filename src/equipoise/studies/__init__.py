"""Studies: agents x problems x seeds, from one file, safe to interrupt.

| file | what |
|---|---|
| `spec` | a study, as TOML or from objects |
| `vocabulary` | the names in it, and what they make |
| `plan` | a study worked out: runs, and their ids |
| `worker` | one run, or one offline program |
| `pools`, `runner`, `display` | who does which run, and how far it is |
| `record`, `store` | one result file; the folder of all |
| `reader`, `results` | what is read back |
| `export` | the same for other programs |
"""

from equipoise.studies.export import export_results, to_pandas
from equipoise.studies.plan import Plan, make_plan
from equipoise.studies.reader import load_laws, load_results, open_results
from equipoise.studies.results import Results, steps_until_certified
from equipoise.studies.runner import Progress, run_study
from equipoise.studies.spec import AgentSpec, Problem, Study, read_study

__all__ = [
    "AgentSpec",
    "Plan",
    "Problem",
    "Progress",
    "Results",
    "Study",
    "export_results",
    "load_laws",
    "load_results",
    "make_plan",
    "open_results",
    "read_study",
    "run_study",
    "steps_until_certified",
    "to_pandas",
]
