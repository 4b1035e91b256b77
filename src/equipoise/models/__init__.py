"""Worlds: what they are (`Model`, `Space`, `World`), how they hang together, and named ones.

A named world is a function that returns a `Model`. To make one of your own, call `Model.from_arrays`,
`Model.from_branches` or `Model.from_sparse`.
"""

from equipoise.models.applied import (
    bidding,
    inventory,
    inventory_states,
    patrol,
    patrol_cells,
    pricing,
    queue,
    queue_states,
    scheduler,
    scheduler_states,
    sites,
)
from equipoise.models.base import Model
from equipoise.models.classic import grid, grid_cells, riverswim
from equipoise.models.paper import bandit, hub, ring, scalar_hub, star
from equipoise.models.random import garnet
from equipoise.models.space import Space
from equipoise.models.structure import diameter, hitting_times, is_communicating, require_communicating, unreachable
from equipoise.models.world import World, stream

__all__ = [
    "Model",
    "Space",
    "World",
    "bandit",
    "bidding",
    "diameter",
    "garnet",
    "grid",
    "grid_cells",
    "hitting_times",
    "hub",
    "inventory",
    "inventory_states",
    "is_communicating",
    "patrol",
    "patrol_cells",
    "pricing",
    "queue",
    "queue_states",
    "require_communicating",
    "ring",
    "riverswim",
    "scalar_hub",
    "scheduler",
    "scheduler_states",
    "sites",
    "star",
    "stream",
    "unreachable",
]
