"""Agents: the paper's algorithm, and what to compare it with."""

from equipoise.agents import baselines
from equipoise.agents.base import Agent
from equipoise.agents.certificate import Certificate
from equipoise.agents.knapsack import KnapsackAgent
from equipoise.agents.recommended import recommended
from equipoise.agents.schedules import Power, Schedule, Span
from equipoise.agents.steering import Steering
from equipoise.agents.toc_ucrl2 import TocUCRL2

__all__ = [
    "Agent",
    "Certificate",
    "KnapsackAgent",
    "Power",
    "Schedule",
    "Span",
    "Steering",
    "TocUCRL2",
    "baselines",
    "recommended",
]
