"""Systems that people run, with known mechanics and unknown laws: each is a function that returns a `Mechanics`.

| system | what is known | what is learnt |
|---|---|---|
| `inventory` | how stock moves, and orders on their way | the demand |
| `department` | triage classes, waits, limits, doctors | arrivals by time of day, how fast doctors are |
| `battery` | storage, prices, what is bought | the demand, the weather and the prices to come |
| `queue` | lines and their lengths | arrivals and services, by class |
| `scheduler` | levels of channels and their rates | how channels move |
| `pricing` | what a sale brings and takes | sales by regime and offer, the change of regimes |
| `bidding` | the rules of the auction | rivals, leads, the change of conditions |
| `patrol` | the map | how the wheels slip |
| `sites` | the roads | delays, and the luck at work |
| `bike_sharing` | stations, docks, the van and its ways | from where to where people ride |

All but `department` and `battery` are also models of `equipoise.models`, as tables. What is a law there is no parameter
here: only its support is. Every system has usual laws, ``mechanics.usual``; with them or others it makes a model:

>>> from equipoise import mechanics
>>> shop = mechanics.inventory(capacity=5)
>>> usual, other = shop.model(), shop.model(demand=[0.1, 0.2, 0.3, 0.4])
>>> usual == shop.model(**shop.usual), usual == other
(True, False)
"""

from equipoise.models.applied.battery import battery
from equipoise.models.applied.bidding import bidding
from equipoise.models.applied.bike_sharing import bike_sharing
from equipoise.models.applied.department import department
from equipoise.models.applied.inventory import inventory
from equipoise.models.applied.patrol import patrol
from equipoise.models.applied.pricing import pricing
from equipoise.models.applied.queue import queue
from equipoise.models.applied.scheduler import scheduler
from equipoise.models.applied.sites import sites

__all__ = [
    "battery",
    "bidding",
    "bike_sharing",
    "department",
    "inventory",
    "patrol",
    "pricing",
    "queue",
    "scheduler",
    "sites",
]
