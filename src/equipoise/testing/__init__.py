"""Contracts that components written elsewhere can be held to."""

from equipoise.testing.confidence import CLAUSES, check_confidence

__all__ = ["CLAUSES", "check_confidence"]
