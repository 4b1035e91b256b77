"""Studies: agents x problems x seeds, from one file, safe to interrupt.

`spec` is a study, from TOML or objects, with the names of `vocabulary`; `plan` its runs, with their ids. `worker` does
one run, `pools` and `runner` distribute them. `record` is one result file, `store` the folder of all;
`reader` and `results` read them back.
"""

from equipoise.studies.plan import Plan, make_plan
from equipoise.studies.reader import export_results, load_laws, load_results, open_results, to_pandas
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
