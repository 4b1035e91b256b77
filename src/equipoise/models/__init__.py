"""Worlds: what they are (`Model`, `Space`, `World`), how they hang together, and named ones.

A named world is a function that returns a `Model`. To make one of your own, call `Model.from_arrays`,
`Model.from_branches` or `Model.from_sparse`.
"""

from equipoise.models.applied import (
    bidding,
    inventory,
    patrol,
    pricing,
    queue,
    scheduler,
    sites,
)
from equipoise.models.bandit import bandit
from equipoise.models.garnet import garnet
from equipoise.models.grid import grid
from equipoise.models.hub import hub, scalar_hub
from equipoise.models.labels import Labels
from equipoise.models.mechanics import Mechanics
from equipoise.models.model import Model
from equipoise.models.ring import ring
from equipoise.models.riverswim import riverswim
from equipoise.models.space import Space
from equipoise.models.star import star
from equipoise.models.structure import (
    diameter,
    diameter_bounds,
    hitting_times,
    is_communicating,
    require_communicating,
    unreachable,
)
from equipoise.models.world import World, stream

__all__ = [
    "Labels",
    "Mechanics",
    "Model",
    "Space",
    "World",
    "bandit",
    "bidding",
    "diameter",
    "diameter_bounds",
    "garnet",
    "grid",
    "hitting_times",
    "hub",
    "inventory",
    "is_communicating",
    "patrol",
    "pricing",
    "queue",
    "require_communicating",
    "ring",
    "riverswim",
    "scalar_hub",
    "scheduler",
    "sites",
    "star",
    "stream",
    "unreachable",
]
