"""Confidence regions around the estimates of transitions and mean outcomes."""

from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.base import Confidence
from equipoise.confidence.bernstein import Bernstein, EmpiricalBernstein
from equipoise.confidence.elementwise import Elementwise
from equipoise.confidence.intervals import intervals
from equipoise.confidence.known import Known
from equipoise.confidence.l1 import L1
from equipoise.confidence.posterior_sampling import PosteriorSampling
from equipoise.confidence.region import Region
from equipoise.confidence.scaled import Scaled

__all__ = [
    "L1",
    "Adaptive",
    "Bernstein",
    "Confidence",
    "Elementwise",
    "EmpiricalBernstein",
    "Known",
    "PosteriorSampling",
    "Region",
    "Scaled",
    "intervals",
]
