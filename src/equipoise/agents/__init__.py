"""Agents: the paper's algorithm, and what to compare it with."""

import importlib
from typing import TYPE_CHECKING, Any

from equipoise.agents import baselines
from equipoise.agents.base import Agent
from equipoise.agents.certificate import Certificate
from equipoise.agents.constraints import ConstraintStatus
from equipoise.agents.loop import CompiledLoop, Loop
from equipoise.agents.recommended import recommended
from equipoise.agents.schedules import Power, Schedule, Span
from equipoise.agents.steering import Steering
from equipoise.agents.toc_ucrl2 import TocUCRL2

if TYPE_CHECKING:
    from equipoise.agents.knapsack import KnapsackAgent, KnapsackTocUCRL2
    from equipoise.agents.mixture import MixtureUCRL2
    from equipoise.agents.optimum import Optimum

__all__ = [
    "Agent",
    "Certificate",
    "CompiledLoop",
    "ConstraintStatus",
    "KnapsackAgent",
    "KnapsackTocUCRL2",
    "Loop",
    "MixtureUCRL2",
    "Optimum",
    "Power",
    "Schedule",
    "Span",
    "Steering",
    "TocUCRL2",
    "baselines",
    "recommended",
]

# They plan with `equipoise.offline`, which is loaded when one of them is asked for.
_MODULES = {
    "KnapsackAgent": "knapsack",
    "KnapsackTocUCRL2": "knapsack",
    "MixtureUCRL2": "mixture",
    "Optimum": "optimum",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
