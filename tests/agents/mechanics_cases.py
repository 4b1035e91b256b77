"""Small systems with known mechanics, for the tests: each as the arguments of `Mechanics`, with its true laws.

Step functions are at the top level of the module, so that they can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import equipoise as eq
from tests.reference import mechanics as reference


@dataclass(frozen=True)
class Case:
    """The arguments of `eq.Mechanics`, and the laws of a world."""

    step: Callable[..., tuple[Any, Sequence[float]]]
    start: Hashable
    actions: Callable[[Any], Sequence[Any]]
    n_outcomes: int
    noises: Mapping[str, Sequence[Any]]
    truth: Mapping[str, Any]
    law: Callable[[str, Any, Any], Hashable] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    hidden: Sequence[str] = ()

    def mechanics(self) -> eq.Mechanics:
        names = [f"outcome {k}" for k in range(self.n_outcomes)]
        return eq.Mechanics(
            self.step, self.start, self.actions, names, self.noises, self.law, given=self.given, hidden=self.hidden
        )

    def reference(self) -> reference.Mechanics:
        given = {}
        for noise, content in self.given.items():
            for label, chances in content.items() if isinstance(content, Mapping) else [(None, content)]:
                given[noise, label] = chances
        return reference.Mechanics(
            self.step, self.start, self.actions, self.n_outcomes, self.noises, self.law, given, self.hidden
        )


def shop(stock, order, demand):
    """Room for three; what is ordered comes after the customers."""
    sold = min(stock, demand)
    return min(3, stock - sold + order), [sold / demand if demand else 1.0, 1.0 - (stock - sold) / 3]


def lost_sales(stock, order, demand):
    """The same, but only sales show: demand above the stock is lost unseen."""
    sold = min(stock, demand)
    return min(3, stock - sold + order), [sold / 3, 1.0 - (stock - sold) / 3]


def perishing(stock, order, demand, spoilt):
    """Some of what is left perishes."""
    left = max(0, stock - demand - spoilt)
    return min(2, left + order), [min(stock, demand) / 2, 1.0 - left / 2]


def market(state, price, demand, weather):
    """The demand depends on the price and the weather of the day, the next weather on that of today."""
    stock, _ = state
    sold = min(stock, demand)
    return (2 if stock == sold else stock - sold, weather), [sold * (1 + price) / 4, 1.0 if weather else 0.0]


def market_law(noise, state, price):
    return f"price {price}" if noise == "demand" else state[1]


def walk(place, way, slip):
    """Round a ring of four; a slip turns the step back."""
    return (place + (way if not slip else -way)) % 4, [float(place == 0), float(place == 2)]


def clock(hour, action):
    """Nothing is drawn."""
    return (hour + 1 + action) % 3, [float(hour == 0), action / 2]


def blurred(place, look, mood):
    """Mood is hidden. Looking at it one way tells {0,1} from {2,3}, the other way {0}, {1,2} and {3}: these cross."""
    told = (0, 0, 1, 1)[mood] if look == 0 else (0, 1, 1, 2)[mood]
    if look == 2:
        told = mood
    return told % 2, [told / 3, float(place)]


def queue(line, action, arrive, leave):
    """Room for three. Behind a closed door (1) nobody comes, with the counter closed (2) nobody goes."""
    came, went = (0 if action == 1 else arrive), (0 if action == 2 else leave)
    after = min(3, max(0, line + came - went))
    return after, [after / 3, float(came > 0)]


def half_hidden(stock, order, demand, spoilt):
    """What perished shows in an outcome; of the demand, only the sales do."""
    sold = min(stock, demand)
    left = max(0, stock - sold - spoilt)
    return min(2, left + order), [sold / 2, spoilt / 2]


def every_order(stock):
    return [0, 1]


def few_orders(stock):
    """No more than there is room for."""
    return list(range(min(2, 3 - stock) + 1))


CASES: dict[str, Case] = {
    "one noise": Case(shop, 3, every_order, 2, {"demand": range(4)}, {"demand": [0.3, 0.3, 0.3, 0.1]}),
    "actions by state": Case(shop, 0, few_orders, 2, {"demand": range(3)}, {"demand": [0.3, 0.1, 0.6]}),
    "a rare value": Case(shop, 3, every_order, 2, {"demand": range(4)}, {"demand": [0.5, 0.49, 0.0, 0.01]}),
    "two noises": Case(
        perishing, 2, every_order, 2, {"demand": range(3), "spoilt": range(2)},
        {"demand": [0.4, 0.4, 0.2], "spoilt": [0.7, 0.3]},
    ),
    "laws by state and action": Case(
        market, (2, 1), every_order, 2, {"demand": range(3), "weather": range(2)},
        {"demand": {"price 0": [0.1, 0.2, 0.7], "price 1": [0.5, 0.4, 0.1]}, "weather": {0: [0.8, 0.2], 1: [0.3, 0.7]}},
        market_law,
    ),
    "one law given": Case(
        perishing, 2, every_order, 2, {"demand": range(3), "spoilt": range(2)}, {"spoilt": [0.6, 0.4]},
        given={"demand": [0.4, 0.4, 0.2]},
    ),
    "one law of several given": Case(
        market, (2, 1), every_order, 2, {"demand": range(3), "weather": range(2)},
        {"demand": {"price 1": [0.5, 0.4, 0.1]}, "weather": {0: [0.8, 0.2], 1: [0.3, 0.7]}},
        market_law, given={"demand": {"price 0": [0.1, 0.2, 0.7]}},
    ),
    "lost sales": Case(
        lost_sales, 3, every_order, 2, {"demand": range(4)}, {"demand": [0.3, 0.3, 0.2, 0.2]}, hidden=["demand"]
    ),
    "crossing cells": Case(
        blurred, 0, lambda place: [0, 1, 2], 2, {"mood": range(4)}, {"mood": [0.1, 0.2, 0.3, 0.4]}, hidden=["mood"]
    ),
    "two hidden": Case(
        queue, 0, lambda line: [0, 1, 2], 2, {"arrive": range(3), "leave": range(2)},
        {"arrive": [0.5, 0.3, 0.2], "leave": [0.4, 0.6]}, hidden=["arrive", "leave"],
    ),
    "one seen, one hidden": Case(
        queue, 0, lambda line: [0, 1, 2], 2, {"arrive": range(3), "leave": range(2)},
        {"arrive": [0.5, 0.3, 0.2], "leave": [0.4, 0.6]}, hidden=["leave"],
    ),
    "hidden beside a seen one": Case(
        half_hidden, 2, every_order, 2, {"demand": range(3), "spoilt": range(3)},
        {"demand": [0.2, 0.5, 0.3], "spoilt": [0.6, 0.3, 0.1]}, hidden=["demand"],
    ),
    "a certain law": Case(walk, 0, lambda place: [1, -1], 2, {"slip": [0, 1]}, {"slip": [1.0, 0.0]}),
    "nothing is drawn": Case(clock, 0, every_order, 2, {}, {}),
}  # fmt: skip
