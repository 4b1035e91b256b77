"""Equipoise: control of unknown Markov systems whose outcomes must balance.

import equipoise as eq

model = eq.models.star(branches=3, diameter=4)
reward = eq.rewards.Quadratic([1 / 3, 1 / 3, 1 / 3])
agent = eq.TocUCRL2(model.space, reward)
run = eq.simulate(model, agent, steps=10**6, seed=7)
"""

from equipoise import confidence, errors, models, oracles, planning, rewards
from equipoise.agents import TocUCRL2
from equipoise.errors import EquipoiseError
from equipoise.models import Model, Space
from equipoise.simulation import Run, simulate

__version__ = "0.1.0"

__all__ = [
    "EquipoiseError",
    "Model",
    "Run",
    "Space",
    "TocUCRL2",
    "__version__",
    "confidence",
    "errors",
    "models",
    "oracles",
    "planning",
    "rewards",
    "simulate",
]
