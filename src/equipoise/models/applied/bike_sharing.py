r"""Shared bikes: riders who find a bike and a free dock, against the kilometres that a van drives.

In the user's words: people take bikes at one station and leave them at another, mostly downhill, so that the stations
at the top run empty and those at the bottom run full. A van with room for one bike takes them from one station to
another, as often as we send it. We want riders to find bikes and docks, and the van to drive no more than half a
kilometre per slot on average.

States.       (x_0, x_1, ...): the bikes at each station, which sum to the number of bikes.
Actions.      In every state: no transport, or from a station i to a station j.
Noise.        ride: "no ride", or from a station i to a station j. One law. It is seen, also if no bike was there.
Step.         First the van takes a bike from i to j; if there is none at i, or no free dock at j, it does not drive.
              Then at most one rider comes. Who finds no bike goes away. Who finds no free dock at the end of the ride
              goes on to the nearest station that has one.
Outcomes.     Served: 0 if a rider found no bike, else 1. Parked: 0 if a rider found no free dock where the ride ended,
              else 1. Transport: the kilometres driven by the van, divided by the longest distance of two stations.
Usual law.    A rider comes in 8 slots of 10, and rides downhill, to a station of a higher number, three times as often
              as uphill.

The limit of half a kilometre on the average of transport is `at_most("transport", 0.5 / longest, ...)`, where `longest`
is the longest distance.

Communicating whenever a slot without a ride has positive probability: then the van alone brings the bikes to any state,
one after another.

As a table, three stations with four docks each and six bikes have 19 states and 133 unknown distributions. As mechanics
they have one unknown law.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from equipoise._checks import check_float
from equipoise.errors import ModelError
from equipoise.models.applied.system import System, check_size
from equipoise.models.checks import check_list
from equipoise.models.mechanics import Mechanics

Bikes = tuple[int, ...]

DISTANCES: Final = ((0.0, 1.0, 3.0), (1.0, 0.0, 2.0), (3.0, 2.0, 0.0))  # kilometres
_RIDES: Final = 0.8  # riders per slot, by the usual law
_DOWNHILL: Final = 3.0  # times as often as uphill, by the usual law


def bike_sharing(bikes: int = 6, docks: int = 4, distances: Sequence[Sequence[float]] = DISTANCES) -> Mechanics:
    """Describe how bikes move; at the start they are spread evenly, with one more at the first stations if needed.

    Parameters
    ----------
    bikes : int
        The number of bikes, at least 1; there must be a dock more.
    docks : int
        The docks of each station, at least 1.
    distances : sequence of sequences of float
        By station and station: the kilometres from one to the other; 0 from a station to itself.

    Returns
    -------
    Mechanics
        Its law is that of the rides.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.models.bike_sharing : The same as a table.

    Examples
    --------
    >>> city = bike_sharing()
    >>> city
    Mechanics(19 states, 133 pairs, 3 outcomes, start=(2, 2, 2); laws: ride)
    >>> world = city.model(ride=[1.0, 0, 0, 0, 0, 0, 0])  # nobody rides
    >>> pair = world.pair(world.space.start, world.labels.action_index(world.space.start, "0 to 2"))
    >>> world.means[pair].tolist()  # the van drives the longest distance
    [1.0, 1.0, 1.0]
    """
    system = bike_sharing_system(bikes, docks, distances)
    return system.mechanics({"ride": downhill_rides(len(distances))})


def bike_sharing_system(bikes: Any, docks: Any, distances: Any) -> System:
    """The city."""
    km = _check_distances(distances)
    n, longest = len(km), float(km.max())
    total, room = check_size(bikes, "bikes"), check_size(docks, "docks")
    if total >= n * room:
        raise ModelError(f"bikes: got {total}; with {n * room} docks there are at most {n * room - 1}")
    trips = {f"{i} to {j}": (i, j) for i, j in itertools.permutations(range(n), 2)}
    nearest = [np.argsort(km[j], kind="stable").tolist() for j in range(n)]

    def step(state: Bikes, transport: str, ride: str) -> tuple[Bikes, list[float]]:
        there, driven, served, parked = list(state), 0.0, True, True
        if transport in trips:
            i, j = trips[transport]
            if there[i] > 0 and there[j] < room:
                there[i], there[j], driven = there[i] - 1, there[j] + 1, float(km[i, j]) / longest
        if ride in trips:
            i, j = trips[ride]
            served = there[i] > 0
            if served:
                there[i] -= 1
                parked = there[j] < room
                there[next(k for k in nearest[j] if there[k] < room)] += 1
        return tuple(there), [float(served), float(parked), driven]

    spread, more = divmod(total, n)
    return System(
        step,
        start=tuple(spread + (k < more) for k in range(n)),
        states=[state for state in itertools.product(range(room + 1), repeat=n) if sum(state) == total],
        actions=["no transport", *trips],
        outcomes=["served", "parked", "transport"],
        noises={"ride": ["no ride", *trips]},
    )


def downhill_rides(n: int) -> list[float]:
    """The usual law of rides between n stations: of no ride, then from each station to each other."""
    weights = np.array([_DOWNHILL if i < j else 1.0 for i, j in itertools.permutations(range(n), 2)])
    return [1.0 - _RIDES, *(_RIDES * weights / weights.sum()).tolist()]


def _check_distances(distances: Any) -> np.ndarray:
    rows = check_list(distances, "distances")
    if len(rows) < 2:
        raise ModelError(f"distances: got {len(rows)} stations; at least two are needed")
    for i, row in enumerate(rows):
        for j, entry in enumerate(check_list(row, f"distances[{i}]", len(rows), "station")):
            km = check_float(entry, f"distances[{i}][{j}]", error=ModelError)
            if km != 0.0 if i == j else not 0.0 < km < math.inf:
                wanted = "from a station to itself it is 0" if i == j else "it must be finite and above 0"
                raise ModelError(f"distances[{i}][{j}]: got {entry}; {wanted}")
    return np.array(rows, dtype=np.float64)
