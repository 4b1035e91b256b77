"""The optimistic planner."""

from equipoise.planning.evi import Plan, extended_value_iteration

__all__ = ["Plan", "extended_value_iteration"]
