"""Agents: the paper's algorithm."""

from equipoise.agents.toc_ucrl2 import TocUCRL2

__all__ = ["TocUCRL2"]
