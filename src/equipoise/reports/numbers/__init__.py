"""What is computed from the results of a study: it knows nothing of charts and pages.

`digest` brings a study down to what is shown, problem by problem; `curves` are means over seeds along t, and slopes;
`comparisons` say which agent is better than which; `bounds` compares the regret with what the theory says of it; `laws`
compares what was learnt with the truth; `format` writes a number. `equipoise._statistics` has the intervals.
"""

from equipoise.reports.numbers.digest import AgentDigest, ProblemDigest, digest

__all__ = ["AgentDigest", "ProblemDigest", "digest"]
