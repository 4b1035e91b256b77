"""Contracts that components written elsewhere can be held to."""

from equipoise.testing.confidence import CLAUSES, check_confidence
from equipoise.testing.reward import REWARD_CLAUSES, check_reward

__all__ = ["CLAUSES", "REWARD_CLAUSES", "check_confidence", "check_reward"]
