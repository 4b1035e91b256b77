"""Studies: agents x problems x seeds, from one file, safe to interrupt.

| file | what |
|---|---|
| `spec` | a study, as TOML or from objects |
| `vocabulary`, `policies` | the words in it, and what they make |
| `plan` | a study worked out: runs, and their ids |
| `work` | what a worker does |
| `pools`, `claims`, `runner` | who does what |
| `record`, `store` | one result; the folder of all |
| `results`, `learnt`, `loading` | what is read back |
| `certified` | how long it took to prove that little is lost |
| `export` | the same for other programs |
"""

from equipoise.studies.certified import steps_until_certified
from equipoise.studies.export import export_results, to_pandas
from equipoise.studies.loading import load_laws, load_results, open_results
from equipoise.studies.plan import Plan, make_plan
from equipoise.studies.results import Results
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
