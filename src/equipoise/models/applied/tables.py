"""The applied systems as tables: each function gives laws to the step function of the module of its name.

Every table is communicating for all parameters that it accepts, and all outcomes lie in [0, 1].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Final

from equipoise.errors import ModelError
from equipoise.models.applied.bidding import BIDS, LEADS, MARKET, RIVALS, VALUES, bidding_laws, bidding_system
from equipoise.models.applied.bike_sharing import DISTANCES, bike_sharing_system, downhill_rides
from equipoise.models.applied.inventory import inventory_system
from equipoise.models.applied.patrol import patrol_table
from equipoise.models.applied.pricing import PRICES, REGIMES, SALE, pricing_laws, pricing_system
from equipoise.models.applied.queue import queue_laws, queue_system
from equipoise.models.applied.scheduler import channel_laws, check_rates, scheduler_system
from equipoise.models.applied.sites import sites_system
from equipoise.models.applied.system import coin
from equipoise.models.checks import (
    check_chain,
    check_chance,
    check_chances,
    check_distribution,
    check_integer,
    check_list,
    check_noise,
    check_probabilities,
    check_probability,
)
from equipoise.models.model import Model

_SLACK: Final = 1e-9  # by how much the probabilities of rival bids may exceed 1


def queue(arrivals: Sequence[float] = (0.5, 0.4), service: Sequence[float] = (0.9, 0.7), room: int = 3) -> Model:
    """Build the table of `equipoise.mechanics.queue`, where states, actions and outcomes are described.

    Parameters
    ----------
    arrivals : sequence of float
        The probability that a customer of each class arrives in a slot, strictly between 0 and 1.
    service : sequence of float
        The probability that a customer of each class who is served is done at the end of the slot, above 0.
    room : int
        How many customers of each class can wait, at least 1.

    Examples
    --------
    >>> centre = queue(arrivals=[0.25, 0.5], service=[0.5, 1.0], room=2)
    >>> centre.n_states, centre.n_outcomes, centre.n_actions[0]
    (9, 2, 3)

    One customer of each class waits, class 1 is served: it leaves for certain, and another may come.

    >>> p = centre.transitions()[[centre.pair(centre.labels.state_index((1, 1)), 1)]]
    >>> {centre.labels.state(s): float(x) for s, x in zip(p.indices, p.data)}
    {(1, 0): 0.375, (1, 1): 0.375, (2, 0): 0.125, (2, 1): 0.125}
    """
    chances = check_chances(arrivals, "arrivals")
    done = check_chances(service, "service", len(chances), "class", sure=True)
    return queue_system(len(chances), room).table(queue_laws(chances, done))


def inventory(
    capacity: int = 10,
    demand: Sequence[float] = (0.2, 0.3, 0.3, 0.2),
    orders: Sequence[int] = (0, 3, 6),
    lead_time: int = 1,
) -> Model:
    """Build the table of `equipoise.mechanics.inventory`, where states, actions and outcomes are described.

    Parameters
    ----------
    capacity : int
        As there. There are (capacity + 1) * len(orders)^(lead_time - 1) states.
    demand : sequence of float
        The probabilities of a demand of 0, 1, ... units per day; those of 0 and 1 must be above 0.
    orders, lead_time
        As there.

    Examples
    --------
    Two units in stock and none on their way; we order two, and they come after the customers.

    >>> shop = inventory(capacity=4, demand=[0.5, 0.25, 0.0, 0.25], orders=[0, 2], lead_time=1)
    >>> pair = shop.pair(shop.labels.state_index((2,)), shop.labels.action_index(2, "order 2"))
    >>> shop.transitions()[[pair]].toarray().tolist()
    [[0.0, 0.0, 0.25, 0.25, 0.5]]
    >>> shop.means[pair].round(4).tolist()  # fill: 2 of 3 once in four days; left on average: 1.25 of 4
    [0.9167, 0.6875, 0.0]
    """
    chances = check_distribution(demand, "demand")
    for d in (0, 1):
        if chances.size <= d or chances[d] == 0.0:
            raise ModelError(f"demand: the probability of {d} must be above 0, or some states are never reached")
    return inventory_system(capacity, chances.size, orders, lead_time).table({"demand": chances.tolist()})


def scheduler(
    rates: Sequence[Sequence[float]] = ((0.3, 1.0), (0.2, 0.8), (0.1, 0.5)),
    up: Sequence[float] = (0.3, 0.2, 0.15),
    down: Sequence[float] = (0.15, 0.2, 0.3),
    noise: str = "none",
) -> Model:
    """Build the table of `equipoise.mechanics.scheduler`, where states, actions and outcomes are described.

    Parameters
    ----------
    rates : sequence of sequences of float
        The rate of each user at each level. By default user 0 is near the station, user 2 at the edge of the cell.
    up, down : sequence of float
        The probabilities that each user's channel goes up and down by one level: above 0, with up + down <= 1.
    noise : {"none", "bernoulli"}
        The rate itself, or a packet that gets through with that probability.

    Examples
    --------
    >>> cell = scheduler(rates=[[0.25, 1.0], [0.0, 0.5]], up=[0.5, 0.25], down=[0.5, 0.5])
    >>> good_bad = cell.labels.state_index((1, 0))
    >>> cell.means[cell.pair(good_bad, 0)].tolist(), cell.means[cell.pair(good_bad, 1)].tolist()
    ([1.0, 0.0], [0.0, 0.0])
    >>> cell.transitions()[[cell.pair(good_bad, 0)]].toarray().tolist()
    [[0.375, 0.125, 0.375, 0.125]]
    """
    table = check_rates(rates)
    better = check_chances(up, "up", len(table), "user", sure=True)
    worse = check_chances(down, "down", len(table), "user", sure=True)
    for k in range(len(table)):
        if better[k] + worse[k] > 1.0:
            raise ModelError(f"up[{k}] and down[{k}]: they sum to {better[k] + worse[k]}; it must be at most 1")
    return scheduler_system(table).table(channel_laws(better, worse), noise=check_noise(noise))


def patrol(picture: str | None = None, slip: float = 0.1) -> Model:
    """Build the table of `equipoise.mechanics.patrol`, where states, actions and outcomes are described.

    Parameters
    ----------
    picture : str, optional
        As there.
    slip : float
        The probability of going to one of the two sides instead of ahead.

    Examples
    --------
    >>> model = patrol()
    >>> model.n_states, model.n_outcomes, bool(model.space.known_mask.all())
    (85, 85, True)
    >>> model.labels.state(10), model.labels.state_index((2, 4))
    ((1, 1), 22)
    """
    return patrol_table(picture, check_probability(slip, "slip"))


def sites(n_sites: int = 3, distance: int = 3, delay: float = 0.1, success: float | Sequence[float] = 0.9) -> Model:
    """Build the table of `equipoise.mechanics.sites`, where states, actions and outcomes are described.

    Parameters
    ----------
    n_sites, distance : int
        As there.
    delay : float
        The probability that a step of travel makes no headway, at least 0 and below 1.
    success : float or sequence of float
        The probability that a slot of work completes a job, above 0; one for all sites, or one for each.

    Examples
    --------
    >>> service = sites(n_sites=2, distance=2, delay=0.5, success=[1.0, 0.75])
    >>> service.n_states, service.diameter()
    (5, 8.0)
    >>> service.means[service.pair(service.labels.state_index("site 1"), 0)].tolist()  # at work there
    [0.0, 0.75]
    """
    K = check_integer(n_sites, "n_sites", 2)
    stuck = check_probability(delay, "delay")
    if stuck == 1.0:
        raise ModelError("delay: got 1.0; it must be below 1, or no site is ever reached")
    if isinstance(success, Iterable):
        done = check_chances(success, "success", K, "site", sure=True)
    else:
        done = [check_chance(success, "success", sure=True)] * K
    return sites_system(K, distance, done).table({"delay": {"on the road": coin(stuck)}}, noise="bernoulli")


def pricing(
    prices: Sequence[float] = PRICES,
    sale: Sequence[Sequence[float]] = SALE,
    regimes: Sequence[Sequence[float]] = REGIMES,
    uses: Sequence[Sequence[int]] | None = None,
) -> Model:
    """Build the table of `equipoise.mechanics.pricing`, where states, actions and outcomes are described.

    Parameters
    ----------
    prices
        As there.
    sale : sequence of sequences of float
        By regime and offer: the probability that it is taken. By default demand is low, high, or at its peak.
    regimes : sequence of sequences of float
        The transition matrix of the regimes, irreducible.
    uses : sequence of sequences of int, optional
        As there.

    Examples
    --------
    >>> shop = pricing(prices=[50, 100], sale=[[0.5, 0.25]], regimes=[[1.0]])
    >>> shop.means.tolist(), shop.space.known_mask.tolist()
    ([[0.0, 0.0], [0.25, 0.5], [0.25, 0.25]], [True, False, False])

    Friday, Saturday, or the weekend:

    >>> hotel = pricing([60, 60, 100], [[0.5, 0.5, 0.25]], [[1.0]], uses=[[1, 0], [0, 1], [1, 1]])
    >>> hotel.means[hotel.pair(0, 3)].tolist()
    [0.25, 0.25, 0.25]
    """
    chain = check_chain(regimes, "regimes")
    R = chain.shape[0]
    system = pricing_system(prices, R, uses)
    rows = check_list(sale, "sale", R, "regime")
    taken = [check_probabilities(row, f"sale[{r}]", len(system.actions) - 1, "price") for r, row in enumerate(rows)]
    return system.table(pricing_laws(system, taken, chain), known=[(r, 0) for r in range(R)])


def bidding(
    bids: Sequence[float] = BIDS,
    values: Sequence[float] = VALUES,
    leads: Sequence[float] = LEADS,
    rivals: Sequence[Sequence[float]] = RIVALS,
    market: Sequence[Sequence[float]] = MARKET,
    auction: str = "first",
) -> Model:
    """Build the table of `equipoise.mechanics.bidding`, where states, actions and outcomes are described.

    Parameters
    ----------
    bids, values
        As there. By default the market is slack, normal or hot: the hotter, the more a lead is worth and costs.
    leads : sequence of float
        By condition: the probability that an impression leads to a lead.
    rivals : sequence of sequences of float
        By condition: the probability that the highest rival bid is each of `bids`; what is missing to 1 is the
        probability of a rival above all of them.
    market : sequence of sequences of float
        The transition matrix of the conditions, irreducible.
    auction : str
        As there.

    Examples
    --------
    A rival at 50 half of the time and above 100 else; if we bid 100 and win, we pay 100, or 50:

    >>> given = {"bids": [50, 100], "values": [0.5], "leads": [0.25], "rivals": [[0.5, 0.0]], "market": [[1.0]]}
    >>> first, second = bidding(**given), bidding(**given, auction="second")
    >>> first.means[2].tolist(), second.means[2].tolist()
    ([0.0625, 0.5, 0.125], [0.0625, 0.25, 0.125])
    """
    chain = check_chain(market, "market")
    C = chain.shape[0]
    system = bidding_system(bids, check_list(values, "values", C, "condition"), auction)
    lead = check_probabilities(leads, "leads", C, "condition")
    rival: list[list[float]] = []
    for c, row in enumerate(check_list(rivals, "rivals", C, "condition")):
        chances = check_probabilities(row, f"rivals[{c}]", len(system.actions) - 1, "bid")
        if chances.sum() > 1.0 + _SLACK:
            raise ModelError(f"rivals[{c}]: the probabilities sum to {chances.sum()}; it must be at most 1")
        rival.append([*chances, max(0.0, 1.0 - float(chances.sum()))])
    return system.table(bidding_laws(system, lead, rival, chain), known=[(c, 0) for c in range(C)])


def bike_sharing(
    bikes: int = 6,
    docks: int = 4,
    distances: Sequence[Sequence[float]] = DISTANCES,
    rides: Sequence[Sequence[float]] | None = None,
) -> Model:
    """Build the shared bikes; at the start they are spread evenly, with one more at the first stations if needed.

    The label of a state is the tuple of bikes at each station. Action 0 transports nothing, the others take a bike from
    a station to another. Outcome 0 is 0 if a rider found no bike, outcome 1 is 0 if a rider found no free dock, and
    outcome 2 is the way of the van in units of the longest distance.

    Parameters
    ----------
    bikes : int
        The number of bikes, at least 1; there must be a dock more.
    docks : int
        The docks of each station, at least 1.
    distances : sequence of sequences of float
        By station and station: the kilometres from one to the other; 0 from a station to itself.
    rides : sequence of sequences of float, optional
        By station and station: the probability that somebody comes in a slot to ride from the one to the other; they
        sum to less than 1. By default 0.8 in all, and three times as many to a station of a higher number.

    Returns
    -------
    Model
        Its outcomes are served, parked and transport.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.mechanics.bike_sharing : The same as mechanics.

    Examples
    --------
    At most half a kilometre per slot; the longest distance is three.

    >>> import equipoise as eq
    >>> city = bike_sharing()
    >>> city.n_states, city.n_pairs
    (19, 133)
    >>> limit = eq.rewards.at_most("transport", 0.5 / 3, city)
    >>> goal = eq.rewards.Constrained(eq.rewards.Linear([0.5, 0.5, 0.0]), [limit])
    >>> free, best = eq.solve(city, goal.reward), eq.solve(city, goal)
    >>> bool(3 * free.outcomes[2] > 0.75), bool(3 * best.outcomes[2] < 0.5 + 1e-6)
    (True, True)
    """
    system = bike_sharing_system(bikes, docks, distances)
    n = len(distances)
    if rides is None:
        return system.table({"ride": downhill_rides(n)})
    matrix = [
        check_probabilities(row, f"rides[{i}]", n, "station")
        for i, row in enumerate(check_list(rides, "rides", n, "station"))
    ]
    for i, row in enumerate(matrix):
        if row[i] != 0.0:
            raise ModelError(f"rides[{i}][{i}]: got {row[i]}; from a station to itself it is 0")
    chances = [float(matrix[i][j]) for i, j in itertools.permutations(range(n), 2)]
    if not math.fsum(chances) < 1.0:
        raise ModelError(f"rides: the probabilities sum to {math.fsum(chances)}; it must be less than 1")
    return system.table({"ride": [1.0 - math.fsum(chances), *chances]})
