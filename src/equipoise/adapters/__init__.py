"""Environments and learners of other libraries: Gymnasium, MO-Gymnasium, Stable-Baselines3.

Nothing of theirs is imported before it is used. What is missing is an `equipoise.errors.MissingExtraError` that says
what to install.
"""

from equipoise.adapters.exporting import to_gymnasium

__all__ = ["to_gymnasium"]
