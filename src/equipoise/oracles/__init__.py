"""Oracles make theta_{t+1} from the outcomes: online convex optimisation on the dual of the reward."""

from equipoise.oracles.base import Oracle
from equipoise.oracles.choice import fitting_oracle
from equipoise.oracles.doubling import Doubling
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.oracles.gradient_descent import TunedGradientDescent
from equipoise.oracles.mirror_descent import TunedMirrorDescent
from equipoise.oracles.mirror_maps import (
    Box,
    CrossPolytope,
    EntropicMap,
    EuclideanBall,
    MirrorMap,
    SignedSimplex,
    SlackSimplex,
)
from equipoise.oracles.theory import OracleTheory

__all__ = [
    "Box",
    "CrossPolytope",
    "Doubling",
    "EntropicMap",
    "EuclideanBall",
    "FrankWolfe",
    "MirrorMap",
    "Oracle",
    "OracleTheory",
    "SignedSimplex",
    "SlackSimplex",
    "TunedGradientDescent",
    "TunedMirrorDescent",
    "fitting_oracle",
]
