"""The optimistic planner."""

from equipoise.planning.evi import Plan, extended_value_iteration
from equipoise.planning.options import Planner, PlanningOracle

__all__ = ["Plan", "Planner", "PlanningOracle", "extended_value_iteration"]
