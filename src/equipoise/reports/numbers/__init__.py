"""The numbers of a report, computed from the results of a study without charts or pages."""

from equipoise.reports.numbers.digest import AgentDigest, ProblemDigest, digest

__all__ = ["AgentDigest", "ProblemDigest", "digest"]
