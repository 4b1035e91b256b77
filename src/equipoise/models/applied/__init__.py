"""Worlds that mean something, one a file: each opens with the system in a user's words, then in mathematics.

| world | file | what must balance | states |
|---|---|---|---|
| `queue` | queueing | the service levels of classes of customers | `queue_states` |
| `inventory` | stock | fill rate, holding, the number of orders | `inventory_states` |
| `scheduler` | fading | the rates of users on fading channels | `scheduler_states` |
| `patrol` | coverage | the time spent in each cell of a building | `patrol_cells` |
| `sites` | field_service | the work done at sites far apart | by a formula |
| `pricing` | revenue | revenue against units of stock | the regime |
| `bidding` | auction | value against money and impressions | the condition |

All are communicating for every parameter that they accept, all outcomes lie in [0,1].
"""

from equipoise.models.applied.bidding import bidding
from equipoise.models.applied.inventory import inventory, inventory_states
from equipoise.models.applied.patrol import patrol, patrol_cells
from equipoise.models.applied.pricing import pricing
from equipoise.models.applied.queue import queue, queue_states
from equipoise.models.applied.scheduler import scheduler, scheduler_states
from equipoise.models.applied.sites import sites

__all__ = [
    "bidding",
    "inventory",
    "inventory_states",
    "patrol",
    "patrol_cells",
    "pricing",
    "queue",
    "queue_states",
    "scheduler",
    "scheduler_states",
    "sites",
]
