"""Equipoise: control of unknown Markov systems whose outcomes must balance.

import equipoise as eq

model = eq.models.star(branches=3, diameter=4)
reward = eq.rewards.Quadratic([1 / 3, 1 / 3, 1 / 3])
agent = eq.TocUCRL2(model.space, reward)
run = eq.simulate(model, agent, steps=10**6, seed=7)
"""

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
from equipoise._component import allow
from equipoise._version import VERSION
from equipoise.agents import Agent, Certificate, KnapsackAgent, TocUCRL2, recommended
from equipoise.errors import EquipoiseError
from equipoise.models import Labels, Mechanics, Model, Space
from equipoise.offline import Benchmark, best_stationary, frontier, solve, solve_knapsack
from equipoise.simulation import Certified, Run, simulate
from equipoise.studies import load_results
from equipoise.theory.certifying import certify

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
