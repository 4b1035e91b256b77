r"""Field service: the roads are known, the delays on them and the luck at work are not.

The states, actions, outcomes and parameters are those of `equipoise.models.sites`. There a job is done by a Bernoulli
draw of the outcome; here that draw is a noise, and the outcome follows from it.

Noises.       delay: whether a step of travel makes no headway; one law, "on the road". job: whether a slot of work
              completes a job; a law for each site. Where the one is drawn there is nothing to be seen of the other.
Usual laws.   A delay with 0.1, a job with 0.9, the defaults of the table.
"""

from __future__ import annotations

from equipoise import models
from equipoise.mechanics.usual import coin
from equipoise.mechanics.wording import in_the_words_of
from equipoise.models import Mechanics


def sites(n_sites: int = 3, distance: int = 3) -> Mechanics:
    """Tell the roads; the technician starts at the depot.

    Parameters
    ----------
    n_sites : int
        At least 2.
    distance : int
        Steps of travel between the depot and each site, at least 1.

    Raises
    ------
    ModelError
        Naming the parameter.

    Examples
    --------
    >>> service = sites(n_sites=2, distance=2)
    >>> service.laws
    {'delay': ['on the road', 'at work'], 'job': ['on the road', 'site 0', 'site 1']}
    >>> world = service.model(delay={"on the road": [0.5, 0.5]}, job={"site 1": [0.25, 0.75]})
    >>> world.diameter(), world.means[world.pair(world.labels.state_index("site 1"), 0)].tolist()
    (8.0, [0.0, 0.75])
    """
    table = models.sites(n_sites, distance)
    labels = table.labels
    numbers = {labels.state(s): s for s in range(table.n_states)}

    def step(place: str, action: str, delay: bool, job: bool) -> tuple[str, list[float]]:
        here = numbers[place]
        road, before = divmod(here - 1, distance)  # the site that the road leads to, and the steps behind
        done = [0.0] * n_sites
        if action == "work":
            done[road] = float(job)
            return place, done
        if delay:
            return place, done
        if place == "depot":
            there = 1 + distance * labels.action_index(here, action)
        elif action == "outwards":
            there = here + 1
        else:
            there = here - 1 if before else 0
        return str(labels.state(there)), done

    def law(noise: str, place: str, action: str) -> str:
        if action != "work":
            return "on the road"
        return place if noise == "job" else "at work"

    return in_the_words_of(
        table,
        step,
        noises={"delay": (False, True), "job": (False, True)},
        usual={"delay": {"on the road": coin(0.1)}, "job": {f"site {k}": coin(0.9) for k in range(n_sites)}},
        law=law,
        given={"delay": {"at work": coin(0.0)}, "job": {"on the road": coin(0.0)}},
    )
