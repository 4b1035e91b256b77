"""The worst of many ratios: a quantity over its bound, kept by name, and made into findings."""

from __future__ import annotations

from typing import Final, final

import numpy as np

from equipoise._types import Vector
from paper.findings import Finding

_ROUNDING: Final = 1e-9


@final
class Worst:
    """The largest ratio seen under each name, and where."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[float, str]] = {}

    def take(self, name: str, measured: Vector, bound: Vector | float, where: str) -> None:
        """Look at a vector of quantities and their bounds; where both are zero the bound is kept."""
        limits = np.broadcast_to(bound, measured.shape)
        tiny = np.abs(measured) <= _ROUNDING
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(tiny, 0.0, measured / limits)
        worst = float(np.max(ratios, initial=0.0))
        if name not in self._found or worst > self._found[name][0]:
            self._found[name] = worst, where

    def findings(self) -> list[Finding]:
        """One a name: the ratio must not be above 1."""
        return [
            Finding(name, worst, 1.0, error=_ROUNDING, note=f"measured over bound, at its worst: {where}")
            for name, (worst, where) in self._found.items()
        ]
