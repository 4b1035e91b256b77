"""Environments and learners of other libraries: Gymnasium, MO-Gymnasium, Stable-Baselines3.

Nothing of theirs is imported before it is used. What is missing is an `equipoise.errors.MissingExtraError` that says
what to install.
"""

import importlib
from typing import TYPE_CHECKING, Any

from equipoise.adapters._extras import imported
from equipoise.adapters.driving import Drive, DriveInterrupted, drive
from equipoise.adapters.exporting import to_gymnasium
from equipoise.adapters.importing import Exploration, explore, model_from
from equipoise.adapters.scaling import Scaling

if TYPE_CHECKING:
    from equipoise.adapters.continuing import Continuing
    from equipoise.adapters.differential_q import DifferentialQ
    from equipoise.adapters.gradient_threshold import GradientThreshold, ThetaAwareObservation

__all__ = [
    "Continuing",
    "DifferentialQ",
    "Drive",
    "DriveInterrupted",
    "Exploration",
    "GradientThreshold",
    "Scaling",
    "ThetaAwareObservation",
    "drive",
    "explore",
    "model_from",
    "to_gymnasium",
]

# Classes made of Gymnasium's: it is loaded when one of them is asked for. `adapters.deep`, for Stable-Baselines3, is a
# module that is imported by its name.
_MODULES = {
    "Continuing": "continuing",
    "DifferentialQ": "differential_q",
    "GradientThreshold": "gradient_threshold",
    "ThetaAwareObservation": "gradient_threshold",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        imported("gymnasium", "gymnasium")
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
