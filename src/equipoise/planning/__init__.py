"""The optimistic planner."""

from equipoise.planning.evi import Plan, extended_value_iteration
from equipoise.planning.options import Planner

__all__ = ["Plan", "Planner", "extended_value_iteration"]
