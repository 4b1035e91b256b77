"""Contracts for user-written components.

With pytest, one test per clause: ``@pytest.mark.parametrize("clause", AGENT_CLAUSES.values(), ids=AGENT_CLAUSES)``.
"""

from equipoise.testing.agent import AGENT_CLAUSES, check_agent
from equipoise.testing.confidence import CLAUSES, check_confidence
from equipoise.testing.model import MODEL_CLAUSES, check_model
from equipoise.testing.oracle import ORACLE_CLAUSES, check_oracle
from equipoise.testing.planner import PLANNER_CLAUSES, check_planner
from equipoise.testing.reward import REWARD_CLAUSES, check_reward

__all__ = [
    "AGENT_CLAUSES",
    "CLAUSES",
    "MODEL_CLAUSES",
    "ORACLE_CLAUSES",
    "PLANNER_CLAUSES",
    "REWARD_CLAUSES",
    "check_agent",
    "check_confidence",
    "check_model",
    "check_oracle",
    "check_planner",
    "check_reward",
]
