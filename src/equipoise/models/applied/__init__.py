"""Worlds that mean something, one a file: each opens with the system in a user's words, then in mathematics.

| world | what must balance | states |
|---|---|---|
| `queue` | the service levels of classes of customers | the lengths of the lines |
| `inventory` | fill rate, holding, the number of orders | the stock, and the orders on their way |
| `scheduler` | the rates of users on fading channels | the levels of the channels |
| `patrol` | the time spent in each cell of a building | the cells |
| `sites` | the work done at sites far apart | the depot, the roads, the sites |
| `pricing` | revenue against units of stock | the regimes of demand |
| `bidding` | value against money and impressions | the conditions of the market |

All are communicating for every parameter that they accept, and all outcomes lie in [0,1]. Their states, actions and
outcomes have labels: ``model.labels`` translates both ways.
"""

from equipoise.models.applied.bidding import bidding
from equipoise.models.applied.inventory import inventory
from equipoise.models.applied.patrol import patrol
from equipoise.models.applied.pricing import pricing
from equipoise.models.applied.queue import queue
from equipoise.models.applied.scheduler import scheduler
from equipoise.models.applied.sites import sites

__all__ = ["bidding", "inventory", "patrol", "pricing", "queue", "scheduler", "sites"]
