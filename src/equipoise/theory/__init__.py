"""What the paper proves, as functions, and what it says of a run, measured."""

from equipoise.theory import bounds, printed
from equipoise.theory.decomposition import Decomposition, decompose
from equipoise.theory.events import Coverage, coverage
from equipoise.theory.facts import Facts, Setting

__all__ = ["Coverage", "Decomposition", "Facts", "Setting", "bounds", "coverage", "decompose", "printed"]
