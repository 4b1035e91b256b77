r"""Field service: one technician, several sites far apart, and a share of the work promised to each.

The paper's star with uncertain roads and uncertain work.

States        0 is the depot; 1 + k n + (d - 1) is the place d steps from it on the road to site k, d = 1 ... n, with
              d = n the site itself (n is the `distance`).
Actions       At the depot k sets out for site k. On the road 0 goes outwards and 1 towards the depot. At a site 0
              works, and stays, and 1 leaves for the depot.
Noises        delay: whether a step of travel makes no headway; one law, "on the road". job: whether a slot of work
              completes a job; one law per site. Where the one is drawn there is nothing to be seen of the other. A
              table has no job among its noises: its outcomes are Bernoulli draws.
Outcomes      Outcome k is 1 if a job is completed at site k. All else is 0.
Usual laws    A delay with 0.1, a job with 0.9.

Communicating if a delay is not certain. Its diameter is the mean time from one site to another, 2n / (1 - delay).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equipoise.models.applied.system import System, coin
from equipoise.models.checks import check_integer
from equipoise.models.mechanics import Mechanics


def sites(n_sites: int = 3, distance: int = 3) -> Mechanics:
    """Describe a technician who serves sites far apart, and starts at the depot.

    Site k is the state with the label ``"site k"``, where action 0 works; ``"road k, step d"`` is d steps from the
    depot. Outcome k counts the jobs done at site k. Unknown are the delays and the jobs.

    Parameters
    ----------
    n_sites : int
        At least 2.
    distance : int
        Steps of travel between the depot and each site, at least 1.

    Examples
    --------
    >>> service = sites(n_sites=2, distance=2)
    >>> service.laws
    {'delay': ['on the road', 'at work'], 'job': ['on the road', 'site 0', 'site 1']}
    >>> world = service.model(delay={"on the road": [0.5, 0.5]}, job={"site 1": [0.25, 0.75]})
    >>> world.diameter(), world.means[world.pair(world.labels.state_index("site 1"), 0)].tolist()
    (8.0, [0.0, 0.75])
    """
    system = sites_system(n_sites, distance)
    jobs = {f"site {k}": coin(0.9) for k in range(len(system.outcomes))}
    return system.mechanics({"delay": {"on the road": coin(0.1)}, "job": jobs})


def sites_system(n_sites: Any, distance: Any, success: Sequence[float] | None = None) -> System:
    """The roads; with the chances of success at the sites the outcomes are these, and no job is drawn."""
    K = check_integer(n_sites, "n_sites", 2)
    n = check_integer(distance, "distance", 1)
    road = [(k, d) for k in range(K) for d in range(1, n + 1)]
    names = ["depot", *(f"site {k}" if d == n else f"road {k}, step {d}" for k, d in road)]
    actions = {name: ["work" if name.startswith("site") else "outwards", "to the depot"] for name in names}
    actions["depot"] = [f"to site {k}" for k in range(K)]
    leads_to = {("depot", action): names[1 + k * n] for k, action in enumerate(actions["depot"])}
    for here, (name, (_, d)) in enumerate(zip(names[1:], road, strict=True), start=1):
        leads_to[name, "to the depot"] = names[here - 1 if d > 1 else 0]
        leads_to[name, "outwards"] = names[min(here + 1, K * n)]
    nothing = [0.0] * K

    def step(place: str, action: str, delay: bool, job: bool | None = None) -> tuple[str, list[float]]:
        if action != "work":
            return (place if delay else leads_to[place, action]), nothing
        done = list(nothing)
        site = int(place.removeprefix("site "))
        done[site] = success[site] if success is not None else float(bool(job))
        return place, done

    def law(noise: str, place: str, action: str) -> str:
        if action != "work":
            return "on the road"
        return place if noise == "job" else "at work"

    noises = {"delay": (False, True), "job": (False, True)}
    return System(
        step,
        start="depot",
        states=names,
        actions=actions,
        outcomes=[f"jobs at site {k}" for k in range(K)],
        noises=noises if success is None else {"delay": noises["delay"]},
        law=law,
        given={"delay": {"at work": coin(0.0)}, "job": {"on the road": coin(0.0)}},
    )
