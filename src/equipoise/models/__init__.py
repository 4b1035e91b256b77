"""Models: what they are (`Model`, `Space`, `World`), how their states are connected, and named ones."""

from equipoise.models.applied.tables import bidding, bike_sharing, inventory, patrol, pricing, queue, scheduler, sites
from equipoise.models.communication import departures, is_communicating, require_communicating, unreachable
from equipoise.models.labels import Labels
from equipoise.models.mechanics import Mechanics
from equipoise.models.model import Model
from equipoise.models.paper_instances import bandit, hub, ring, scalar_hub, star
from equipoise.models.space import Space
from equipoise.models.standard import garnet, grid, riverswim
from equipoise.models.travel_times import diameter, diameter_bounds, hitting_times
from equipoise.models.world import World, stream

__all__ = [
    "Labels",
    "Mechanics",
    "Model",
    "Space",
    "World",
    "bandit",
    "bidding",
    "bike_sharing",
    "departures",
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
