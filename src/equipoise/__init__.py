"""Equipoise: control of unknown Markov systems whose outcomes must balance.

import equipoise as eq

model = eq.models.star(branches=3, diameter=4)
reward = eq.rewards.Quadratic([1 / 3, 1 / 3, 1 / 3])
agent = eq.TocUCRL2(model.space, reward)
run = eq.simulate(model, agent, steps=10**6, seed=7)
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

from equipoise._version import VERSION

if TYPE_CHECKING:
    from equipoise import (
        adapters,
        agents,
        confidence,
        errors,
        mechanics,
        models,
        offline,
        oracles,
        planning,
        rewards,
        studies,
        theory,
    )
    from equipoise._plugins import allow
    from equipoise.agents import Agent, Certificate, KnapsackAgent, MixtureUCRL2, TocUCRL2
    from equipoise.agents.recommended import recommended
    from equipoise.errors import EquipoiseError
    from equipoise.models import Labels, Mechanics, Model, Space
    from equipoise.offline import Benchmark, best_stationary, solve, solve_knapsack
    from equipoise.offline.frontier import frontier
    from equipoise.simulation import Certified, Run
    from equipoise.simulation.simulate import simulate
    from equipoise.studies import load_results
    from equipoise.theory.log_certificate import certify

__version__ = VERSION

__all__ = [
    "Agent",
    "Benchmark",
    "Certificate",
    "Certified",
    "EquipoiseError",
    "KnapsackAgent",
    "Labels",
    "Mechanics",
    "MixtureUCRL2",
    "Model",
    "Run",
    "Space",
    "TocUCRL2",
    "__version__",
    "adapters",
    "agents",
    "allow",
    "best_stationary",
    "certify",
    "confidence",
    "errors",
    "frontier",
    "load_results",
    "mechanics",
    "models",
    "offline",
    "oracles",
    "planning",
    "recommended",
    "rewards",
    "simulate",
    "solve",
    "solve_knapsack",
    "studies",
    "theory",
]

# The module of each name that is no module itself. Everything is loaded when it is first used.
_HOMES: Final = {
    "_plugins": ("allow",),
    "agents": ("Agent", "Certificate", "KnapsackAgent", "MixtureUCRL2", "TocUCRL2", "recommended"),
    "errors": ("EquipoiseError",),
    "models": ("Labels", "Mechanics", "Model", "Space"),
    "offline": ("Benchmark", "best_stationary", "frontier", "solve", "solve_knapsack"),
    "simulation": ("Certified", "Run", "simulate"),
    "studies": ("load_results",),
    "theory.log_certificate": ("certify",),
}
_MODULES: Final = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES.get(name, name)}")
    value = getattr(module, name) if name in _MODULES else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
