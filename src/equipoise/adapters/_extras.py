"""Libraries that not everybody has: imported when they are used, and named when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from equipoise.errors import MissingExtraError


def imported(module: str, extra: str) -> Any:
    """Return a module of an optional library, or say what to install.

    Parameters
    ----------
    module : str
        Its full name.
    extra : str
        The extra of this package that brings it.

    Raises
    ------
    MissingExtraError
        When it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.split(".")[0]
        if error.name is None or error.name.split(".")[0] != library:
            raise  # it is installed, and something that it needs itself is not
        raise MissingExtraError(f"{library} is not installed: pip install 'equipoise[{extra}]'") from None
