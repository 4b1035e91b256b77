"""Libraries of the extra `deep`: tests that need them are skipped without, or fail where they must be there."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest


def needed(module: str) -> Any:
    """The module, if it is installed; with EQUIPOISE_DEEP=required it must be."""
    if os.environ.get("EQUIPOISE_DEEP") == "required":
        return importlib.import_module(module)
    return pytest.importorskip(module, reason="the extra `deep` is not installed: make deep")
