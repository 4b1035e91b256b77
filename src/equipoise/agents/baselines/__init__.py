"""What to compare with: agents that ignore balance, and special cases of the algorithm.

Two more need no class: `TocUCRL2` with ``threshold=0`` (Frank-Wolfe and UCRL2 put together directly) and with
``threshold=math.inf`` (UCRL2's schedule).
"""

from equipoise.agents.baselines.frank_wolfe_ucb import FrankWolfeUCB
from equipoise.agents.baselines.posterior_program import PosteriorProgram
from equipoise.agents.baselines.round_robin import RoundRobin
from equipoise.agents.baselines.stationary import Rule, StationaryAgent
from equipoise.agents.toc_ucrl2 import ucrl2

__all__ = ["FrankWolfeUCB", "PosteriorProgram", "RoundRobin", "Rule", "StationaryAgent", "ucrl2"]
