"""An agent in a sampled world, and the record of the run."""

from equipoise.simulation.run import Run, log_spaced
from equipoise.simulation.simulate import Certified, SimulationInterrupted, check_simulation, simulate
from equipoise.simulation.stretches import stretches

__all__ = ["Certified", "Run", "SimulationInterrupted", "check_simulation", "log_spaced", "simulate", "stretches"]
