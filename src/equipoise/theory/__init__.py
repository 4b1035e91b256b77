"""What the paper proves, as functions, and what it says of a run, measured."""

from equipoise.theory import bounds, printed
from equipoise.theory.decomposition import Coverage, Decomposition, coverage, decompose
from equipoise.theory.facts import Facts, Setting

__all__ = ["Coverage", "Decomposition", "Facts", "Setting", "bounds", "coverage", "decompose", "printed"]
