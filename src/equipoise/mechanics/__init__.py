"""Systems that people run, with known mechanics and unknown laws: each is a function that returns a `Mechanics`.

| system | what is told | what is learnt |
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

All but `department` and `battery` are worlds of `equipoise.models` too, as tables, with the same states, actions,
outcomes and parameters. What is a law there is no parameter here: only its support is. Every system knows its usual
laws, ``mechanics.usual``. With them, and with any others in their place, it makes a world:

>>> from equipoise import mechanics
>>> shop = mechanics.inventory(capacity=5)
>>> usual, other = shop.model(), shop.model(demand=[0.1, 0.2, 0.3, 0.4])
>>> usual == shop.model(**shop.usual), usual == other
(True, False)

The labels of laws are texts, so that a file can name them.
"""

from equipoise.mechanics.battery import battery
from equipoise.mechanics.bidding import bidding
from equipoise.mechanics.department import department
from equipoise.mechanics.inventory import inventory
from equipoise.mechanics.patrol import patrol
from equipoise.mechanics.pricing import pricing
from equipoise.mechanics.queue import queue
from equipoise.mechanics.scheduler import scheduler
from equipoise.mechanics.sites import sites

__all__ = ["battery", "bidding", "department", "inventory", "patrol", "pricing", "queue", "scheduler", "sites"]
