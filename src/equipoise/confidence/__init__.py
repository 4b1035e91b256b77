"""Confidence regions around the estimates of transitions and mean outcomes."""

from equipoise.confidence.base import Confidence
from equipoise.confidence.bernstein import Bernstein
from equipoise.confidence.known import Known
from equipoise.confidence.region import Region

__all__ = ["Bernstein", "Confidence", "Known", "Region"]
