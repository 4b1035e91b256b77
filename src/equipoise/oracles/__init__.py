"""Oracles compute theta_{t+1} from the outcomes: online convex optimisation on the dual of the reward."""

from equipoise.oracles.base import Oracle, OracleTheory
from equipoise.oracles.choice import fitting_oracle
from equipoise.oracles.descent import Doubling, TunedGradientDescent, TunedMirrorDescent
from equipoise.oracles.frank_wolfe import DoublingFrankWolfe, FrankWolfe, FrankWolfeUntil
from equipoise.oracles.mirror_maps import (
    Box,
    CrossPolytope,
    EntropicMap,
    EuclideanBall,
    MirrorMap,
    SignedSimplex,
    SlackSimplex,
)
from equipoise.oracles.starting_at import StartingAt

__all__ = [
    "Box",
    "CrossPolytope",
    "Doubling",
    "DoublingFrankWolfe",
    "EntropicMap",
    "EuclideanBall",
    "FrankWolfe",
    "FrankWolfeUntil",
    "MirrorMap",
    "Oracle",
    "OracleTheory",
    "SignedSimplex",
    "SlackSimplex",
    "StartingAt",
    "TunedGradientDescent",
    "TunedMirrorDescent",
    "fitting_oracle",
]
