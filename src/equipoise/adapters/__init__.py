"""Environments and learners of other libraries: Gymnasium, MO-Gymnasium, Stable-Baselines3.

Nothing of theirs is imported before it is used. What is missing is an `equipoise.errors.MissingExtraError` that says
what to install.
"""

import importlib
from typing import TYPE_CHECKING, Any

from equipoise.adapters._extras import imported
from equipoise.adapters.exporting import to_gymnasium

if TYPE_CHECKING:
    from equipoise.adapters import deep
    from equipoise.adapters.continuing import Continuing
    from equipoise.adapters.differential_q import DifferentialQ
    from equipoise.adapters.gradient_threshold import GradientThreshold, ThetaAwareObservation

__all__ = [
    "Continuing",
    "DifferentialQ",
    "GradientThreshold",
    "ThetaAwareObservation",
    "deep",
    "to_gymnasium",
]

# Classes of Gymnasium's kind, and a module of Stable-Baselines3's: their libraries are loaded when they are asked for.
_MODULES = {
    "Continuing": "continuing",
    "DifferentialQ": "differential_q",
    "GradientThreshold": "gradient_threshold",
    "ThetaAwareObservation": "gradient_threshold",
}


def __getattr__(name: str) -> Any:
    if name == "deep":
        imported("stable_baselines3", "deep")
        return importlib.import_module(f"{__name__}.deep")
    if name in _MODULES:
        imported("gymnasium", "gymnasium")
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
