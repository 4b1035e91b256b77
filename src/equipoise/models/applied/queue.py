r"""A call centre: several classes of customers, one server, and a service level for each class.

States        q = (q_1, ..., q_K): how many of each class wait, each from 0 to `room`; (room + 1)^K in all.
Actions       k < K serves class k, K rests. Serving an empty line is resting.
Noises        done: whether the customer who is served is done at the end of the slot; one law per class, none where
              nobody is served. arrival_k: whether a customer of class k arrives, seen also when the line is full.
Step          The line that is served loses one customer if `done`; then customers arrive, and leave if the line is
              full: q'_k = min(room, q_k - served_k + arrived_k).
Outcomes      V_k = 1 - q'_k / room. By Little's law a target for its average is a target for the mean wait.
Usual laws    `done` falls from 0.9 to 0.7 from the first class to the last, an arrival from 0.5 to 0.4, times 2 / K
              for more than two classes, so that the load stays the same.

Communicating if arrivals have probabilities strictly between 0 and 1, and services above 0.
"""

from __future__ import annotations

import itertools
from typing import Any

from equipoise.models.applied.system import System, check_size, coin, interpolate
from equipoise.models.checks import check_integer
from equipoise.models.mechanics import Mechanics

Lengths = tuple[int, ...]


def queue(classes: int = 2, room: int = 3) -> Mechanics:
    """Describe a call centre with one server; the lines start empty.

    A state is the tuple of the lengths of the lines. Action k serves class k, the last action rests. Outcome k is the
    service level of class k: 1 - (length of its line at the end of the slot) / room. Unknown are the arrivals and the
    services, by class.

    Parameters
    ----------
    classes : int
        How many classes of customers there are, at least 1.
    room : int
        How many customers of each class can wait, at least 1.

    Examples
    --------
    >>> centre = queue()
    >>> centre.laws
    {'done': ['nobody', 'class 1', 'class 0'], 'arrival_0': [None], 'arrival_1': [None]}
    >>> world = centre.model(arrival_0=[0.75, 0.25], arrival_1=[0.5, 0.5], done={"class 1": [0.0, 1.0]})
    >>> p = world.transitions()[[world.pair(world.labels.state_index((1, 1)), 1)]]  # class 1 is served
    >>> {world.labels.state(s): float(x) for s, x in zip(p.indices, p.data)}
    {(1, 0): 0.375, (1, 1): 0.375, (2, 0): 0.125, (2, 1): 0.125}
    """
    K = check_size(classes, "classes")
    arrivals = [chance * min(1.0, 2.0 / K) for chance in interpolate([0.5, 0.4], K)]
    return queue_system(K, room).mechanics(queue_laws(arrivals, interpolate([0.9, 0.7], K)))


def queue_system(classes: int, room: Any) -> System:
    """The lines of so many classes."""
    longest = check_integer(room, "room", 1)
    server = {f"serve class {k}": k for k in range(classes)}
    arrivals = [f"arrival_{k}" for k in range(classes)]

    def served(lengths: Lengths, action: str) -> int | None:
        k = server.get(action)
        return k if k is not None and lengths[k] else None

    def step(lengths: Lengths, action: str, done: bool, **arrived: bool) -> tuple[Lengths, list[float]]:
        at_work = served(lengths, action)
        left = [q - (done and k == at_work) for k, q in enumerate(lengths)]
        after = tuple(min(longest, q + arrived[name]) for q, name in zip(left, arrivals, strict=True))
        return after, [1.0 - q / longest for q in after]

    def law(noise: str, lengths: Lengths, action: str) -> str | None:
        if noise != "done":
            return None
        at_work = served(lengths, action)
        return "nobody" if at_work is None else f"class {at_work}"

    return System(
        step,
        start=(0,) * classes,
        states=list(itertools.product(range(longest + 1), repeat=classes)),
        actions=[*server, "rest"],
        outcomes=[f"service level of class {k}" for k in range(classes)],
        noises=dict.fromkeys(("done", *arrivals), (False, True)),
        law=law,
        given={"done": {"nobody": coin(0.0)}},
    )


def queue_laws(arrivals: list[float], service: list[float]) -> dict[str, Any]:
    """The laws with these probabilities of an arrival and of a service, by class."""
    done = {f"class {k}": coin(chance) for k, chance in enumerate(service)}
    return {"done": done} | {f"arrival_{k}": coin(chance) for k, chance in enumerate(arrivals)}
