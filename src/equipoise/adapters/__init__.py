"""Environments and learners of other libraries: Gymnasium, MO-Gymnasium, Stable-Baselines3.

Everything is loaded on first use; a missing library is a `MissingExtraError` that says what to install.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

from equipoise.errors import MissingExtraError

if TYPE_CHECKING:
    from equipoise.adapters.differential_q import DifferentialQ
    from equipoise.adapters.environment import Continuing, to_gymnasium
    from equipoise.adapters.environment_run import Drive, DriveInterrupted, drive
    from equipoise.adapters.exploration import Exploration, explore, model_from
    from equipoise.adapters.gradient_threshold import GradientThreshold, ThetaAwareObservation
    from equipoise.adapters.scaling import Scaling

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

# The module of each name. `adapters.deep`, for Stable-Baselines3, is imported by its own name.
_HOMES: Final = {
    "differential_q": ("DifferentialQ",),
    "environment": ("Continuing", "to_gymnasium"),
    "environment_run": ("Drive", "DriveInterrupted", "drive"),
    "exploration": ("Exploration", "explore", "model_from"),
    "gradient_threshold": ("GradientThreshold", "ThetaAwareObservation"),
    "scaling": ("Scaling",),
}
_MODULES: Final = {name: module for module, names in _HOMES.items() for name in names}


def import_extra(module: str, extra: str) -> Any:
    """Return a module of an optional library, or say what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.split(".")[0]
        if error.name is None or error.name.split(".")[0] != library:
            raise  # it is installed, and something that it needs itself is not
        raise MissingExtraError(f"{library} is not installed: pip install 'equipoise[{extra}]'") from None


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name != "Scaling":
        import_extra("gymnasium", "gymnasium")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
