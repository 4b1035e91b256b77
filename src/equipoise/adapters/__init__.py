"""Environments and learners of other libraries: Gymnasium, MO-Gymnasium, Stable-Baselines3.

Nothing of theirs is imported before it is used. What is missing is an `equipoise.errors.MissingExtraError` that says
what to install.
"""

from equipoise.adapters.driving import Drive, DriveInterrupted, drive
from equipoise.adapters.exporting import to_gymnasium
from equipoise.adapters.importing import Exploration, explore, model_from
from equipoise.adapters.scaling import Scaling

__all__ = [
    "Drive",
    "DriveInterrupted",
    "Exploration",
    "Scaling",
    "drive",
    "explore",
    "model_from",
    "to_gymnasium",
]
