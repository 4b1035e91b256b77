"""Modules of the package that need the extra `deep` have doctests that need it too."""

import importlib.util
import os

_installed = importlib.util.find_spec("stable_baselines3") is not None
_required = os.environ.get("EQUIPOISE_DEEP") == "required"
collect_ignore = [] if _installed or _required else ["src/equipoise/adapters/deep.py"]
