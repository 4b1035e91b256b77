r"""A call centre: how lines grow and shrink is known, who calls and how long a call takes is not.

The states, actions, outcomes and parameters are those of `equipoise.models.queue`.

Noises.       done: whether the customer who is served is done at the end of the slot; a law for each class, and nothing
              to be seen where nobody is served. arrival_0, arrival_1, ...: whether a customer of that class
              arrives; one law each. An arrival is seen also when the line is full and the caller is turned away.
Usual laws.   The chance to be done falls from 0.9 to 0.7 from the first class to the last, that of an arrival from 0.5
              to 0.4, less if there are more than two classes, so that the load stays what it is. For two classes
              they are the defaults of the table.
"""

from __future__ import annotations

from equipoise import models
from equipoise.mechanics.usual import along, coin, size
from equipoise.mechanics.wording import in_the_words_of
from equipoise.models import Mechanics

Lengths = tuple[int, ...]


def queue(classes: int = 2, room: int = 3) -> Mechanics:
    """Tell how the lines work; they start empty.

    Parameters
    ----------
    classes : int
        How many classes of customers there are, at least 1.
    room : int
        How many customers of each class can wait, at least 1.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.models.queue : The same as a table.

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
    K = size(classes, "classes")
    arrivals = [chance * min(1.0, 2.0 / K) for chance in along([0.5, 0.4], K)]
    service = along([0.9, 0.7], K)
    table = models.queue(arrivals, service, room)
    server = {table.labels.action(0, k): k for k in range(K)}
    names = [f"arrival_{k}" for k in range(K)]

    def served(lengths: Lengths, action: str) -> int | None:
        k = server.get(action)
        return k if k is not None and lengths[k] else None

    def step(lengths: Lengths, action: str, done: bool, **arrived: bool) -> tuple[Lengths, list[float]]:
        at_work = served(lengths, action)
        left = [q - (done and k == at_work) for k, q in enumerate(lengths)]
        after = tuple(min(room, q + arrived[name]) for q, name in zip(left, names, strict=True))
        return after, [1.0 - q / room for q in after]

    def law(noise: str, lengths: Lengths, action: str) -> str | None:
        if noise != "done":
            return None
        at_work = served(lengths, action)
        return "nobody" if at_work is None else f"class {at_work}"

    return in_the_words_of(
        table,
        step,
        noises=dict.fromkeys(("done", *names), (False, True)),
        usual={"done": {f"class {k}": coin(chance) for k, chance in enumerate(service)}}
        | {name: coin(chance) for name, chance in zip(names, arrivals, strict=True)},
        law=law,
        given={"done": {"nobody": coin(0.0)}},
    )
