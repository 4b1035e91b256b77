"""What is computed from the results of a study: it knows nothing of charts and pages.

`digest` brings a study down to what is shown, problem by problem; `curves` are means over seeds along t; `comparisons`
say who is better than whom; `slopes`, `guides` and `guarantees` set the regret beside what the theory says of it;
`laws` sets what was learnt of them beside the truth; `written` is how a number is written. `equipoise._statistics`
has the intervals.
"""

from equipoise.reports.numbers.digest import AgentDigest, ProblemDigest, digest

__all__ = ["AgentDigest", "ProblemDigest", "digest"]
