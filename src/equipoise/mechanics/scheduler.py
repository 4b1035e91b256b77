r"""A base station: what a channel carries at each level is known, how channels fade is not.

The states, actions, outcomes and parameters are those of `equipoise.models.scheduler`.

Noises.       channel_0, channel_1, ...: -1, 0 or 1, where the channel of that user goes; it stays where it cannot go
              on. One law each, at all levels. With noise "bernoulli" also packet: whether the packet that is sent
              gets through, a law for each user and level. Then the rates are not told: they are the usual law of
              packets, and only the number of levels is known.
Usual laws.   User k of K goes up with 0.6 / (2 + k) and down with 0.6 / (1 + K - k). For three users they are the
              defaults of the table.

There are 3^K combinations of noise, so that this form is for a few users.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equipoise import models
from equipoise.mechanics.usual import coin
from equipoise.mechanics.wording import in_the_words_of
from equipoise.models import Mechanics

Levels = tuple[int, ...]


def scheduler(
    rates: Sequence[Sequence[float]] = ((0.3, 1.0), (0.2, 0.8), (0.1, 0.5)), noise: str = "none"
) -> Mechanics:
    """Tell how the cell works; all channels start at their worst.

    Parameters
    ----------
    rates : sequence of sequences of float
        The rate of each user at each level, in [0, 1]; users may differ in the number of levels.
    noise : {"none", "bernoulli"}
        The rate itself, or a packet that gets through with that probability, which must be learnt.

    Raises
    ------
    ModelError
        Naming the parameter.

    Examples
    --------
    >>> cell = scheduler(rates=[[0.25, 1.0], [0.0, 0.5]])
    >>> world = cell.model(channel_0=[0.5, 0.0, 0.5], channel_1=[0.5, 0.25, 0.25])
    >>> world.transitions()[[world.pair(world.labels.state_index((1, 0)), 0)]].toarray().tolist()
    [[0.375, 0.125, 0.375, 0.125]]
    >>> scheduler(noise="bernoulli").usual["packet"]["user 0, level 0"]
    (0.7, 0.3)
    """
    K = len(rates) if isinstance(rates, Sequence) else 0
    up, down = [0.6 / (2 + k) for k in range(K)], [0.6 / (1 + K - k) for k in range(K)]
    table = models.scheduler(rates, up, down, noise)
    top = [len(row) - 1 for row in rates]
    users = {table.labels.action(0, k): k for k in range(K)}
    names = [f"channel_{k}" for k in range(K)]
    noises: dict[str, Sequence[Any]] = dict.fromkeys(names, (-1, 0, 1))
    usual: dict[str, Any] = {
        name: [worse, 1.0 - better - worse, better] for name, better, worse in zip(names, up, down, strict=True)
    }
    if noise == "bernoulli":
        noises["packet"] = (False, True)
        usual["packet"] = {
            f"user {k}, level {level}": coin(rate) for k, row in enumerate(rates) for level, rate in enumerate(row)
        }

    def step(levels: Levels, action: str, packet: bool | None = None, **moves: int) -> tuple[Levels, list[float]]:
        served = users[action]
        got = rates[served][levels[served]] if packet is None else float(packet)
        after = tuple(min(max(levels[k] + moves[name], 0), top[k]) for k, name in enumerate(names))
        return after, [got if k == served else 0.0 for k in range(K)]

    def law(noise: str, levels: Levels, action: str) -> str | None:
        return f"user {users[action]}, level {levels[users[action]]}" if noise == "packet" else None

    return in_the_words_of(table, step, noises, usual, law)
