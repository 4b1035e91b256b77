r"""Field service: one technician, several sites far apart, and a share of the work promised to each.

In the user's words: the technician works at one site at a time; between the sites are days on the road, on which
nothing is earned and not every day brings the van forward. Each customer is to get a fair share of the work in
the long run. Driving back and forth every week would ruin us, staying would ruin the others.

This is the paper's star with uncertain roads and uncertain work. Sharing the time between the sites *without*
the travel is optimal in the long run: the optimal occupancy lies on several recurrent classes that no
stationary policy combines, and a learner has to travel ever more rarely.

States.       0 is the depot; 1 + k n + (d - 1) is the place d steps from it on the road to site k, d = 1 ... n,
              with d = n the site itself (n is the `distance`).
Actions.      At the depot k sets out for site k. On the road 0 goes outwards and 1 towards the depot. At a
              site 0 works, and stays, and 1 leaves for the depot.
Transitions.  A step of travel succeeds with probability 1 - delay, and else leaves the technician in place.
Outcomes.     A slot of work at site k completes a job there with probability success_k: outcome k is then 1.
              All else is 0.

Communicating whenever delay < 1. From one site to another it takes 2n / (1 - delay) slots on average, which is
the diameter (for at least two sites).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from equipoise._types import Branch
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer, checked_probability
from equipoise.models.applied._checks import checked_chance, checked_chances
from equipoise.models.labels import Labels
from equipoise.models.model import Model


def sites(
    n_sites: int = 3,
    distance: int = 3,
    delay: float = 0.1,
    success: float | Sequence[float] = 0.9,
) -> Model:
    """Build the field service; the technician starts at the depot, state 0.

    Site k is the state with the label ``"site k"``, where action 0 works; outcome k counts the jobs done at it. The
    states between are labelled ``"road k, step d"``, d steps from the depot.

    Parameters
    ----------
    n_sites : int
        K, at least 2.
    distance : int
        Steps of travel between the depot and each site, at least 1.
    delay : float
        The probability that a step of travel makes no headway, at least 0 and below 1.
    success : float or sequence of float
        The probability that a slot of work completes a job, above 0; one for all sites, or one for each.

    Returns
    -------
    Model
        Outcome k counts the jobs done at site k.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.mechanics.sites : The same, told as mechanics.

    Examples
    --------
    >>> service = sites(n_sites=2, distance=2, delay=0.5, success=[1.0, 0.75])
    >>> service.n_states, service.diameter()
    (5, 8.0)
    >>> service.means[service.pair(service.labels.state_index("site 1"), 0)].tolist()  # at work there
    [0.0, 0.75]
    """
    K = checked_integer(n_sites, "n_sites", 2)
    n = checked_integer(distance, "distance", 1)
    stuck = checked_probability(delay, "delay")
    if stuck == 1.0:
        raise ModelError("delay: got 1.0; it must be below 1, or no site is ever reached")
    if isinstance(success, Iterable):
        done = checked_chances(success, "success", K, "site", sure=True)
    else:
        done = [checked_chance(success, "success", sure=True)] * K
    nothing, units = np.zeros(K), np.eye(K)

    def drive(here: int, there: int) -> list[Branch]:
        return [(1.0 - stuck, there, nothing), (stuck, here, nothing)]

    states = [[drive(0, 1 + k * n) for k in range(K)]]
    names = ["depot"]
    actions = [[f"to site {k}" for k in range(K)]]
    for k in range(K):
        for d in range(1, n + 1):
            here = k * n + d
            work: list[Branch] = [(1.0, here, done[k] * units[k])]
            outward = work if d == n else drive(here, here + 1)
            states.append([outward, drive(here, here - 1 if d > 1 else 0)])
            names.append(f"site {k}" if d == n else f"road {k}, step {d}")
            actions.append(["work" if d == n else "outwards", "to the depot"])
    labels = Labels(names, actions, [f"jobs at site {k}" for k in range(K)])
    return Model.from_branches(states, noise="bernoulli", labels=labels)
