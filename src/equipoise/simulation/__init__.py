"""An agent in a sampled world, and the record of what came of it."""

from equipoise.simulation.checkpoints import log_spaced
from equipoise.simulation.run import Run
from equipoise.simulation.simulate import SimulationInterrupted, check_simulation, simulate
from equipoise.simulation.stretches import stretches
from equipoise.simulation.until import Certified

__all__ = ["Certified", "Run", "SimulationInterrupted", "check_simulation", "log_spaced", "simulate", "stretches"]
