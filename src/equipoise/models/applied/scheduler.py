r"""A base station: users on fading channels, of whom one is served at a time.

States        (l_1, ..., l_K): the level of every channel, from 0 (the worst) to n_k - 1.
Actions       k serves user k.
Noises        channel_k: -1, 0 or 1, where the channel of user k goes; one law each, at all levels. With noise
              "bernoulli" also packet: whether the packet that is sent gets through, one law per user and level.
Step          Every channel goes up or down one level or stays, and stays where it cannot go on. With two levels this
              is the Gilbert-Elliott channel.
Outcomes      rates[k][l_k] for the user k who is served, 0 for all others; with noise "bernoulli", whether the packet
              got through, of which the rate is the usual law.
Usual laws    User k of K goes up with 0.6 / (2 + k) and down with 0.6 / (1 + K - k).

Communicating if going up and going down have positive probabilities. There are 3^K combinations of noise: this is for
a few users.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from equipoise.errors import ModelError
from equipoise.models.applied.system import System, coin
from equipoise.models.checks import check_list, check_noise, check_probabilities
from equipoise.models.mechanics import Mechanics

Levels = tuple[int, ...]


def scheduler(
    rates: Sequence[Sequence[float]] = ((0.3, 1.0), (0.2, 0.8), (0.1, 0.5)), noise: str = "none"
) -> Mechanics:
    """Describe a base station with fading channels, all of which start at their worst level.

    A state is the tuple of the levels of the channels. Action k serves user k, and outcome k is the rate that user k
    gets. Unknown is how the channels move and, with noise, which packets get through.

    Parameters
    ----------
    rates : sequence of sequences of float
        The rate of each user at each level, in [0, 1]; users may differ in the number of levels.
    noise : {"none", "bernoulli"}
        The rate itself, or a packet that gets through with that probability, which must be learnt.

    Examples
    --------
    >>> cell = scheduler(rates=[[0.25, 1.0], [0.0, 0.5]])
    >>> world = cell.model(channel_0=[0.5, 0.0, 0.5], channel_1=[0.5, 0.25, 0.25])
    >>> world.transitions()[[world.pair(world.labels.state_index((1, 0)), 0)]].toarray().tolist()
    [[0.375, 0.125, 0.375, 0.125]]
    >>> scheduler(noise="bernoulli").usual["packet"]["user 0, level 0"]
    (0.7, 0.3)
    """
    table = check_rates(rates)
    K, packets = len(table), check_noise(noise) == "bernoulli"
    usual = channel_laws([0.6 / (2 + k) for k in range(K)], [0.6 / (1 + K - k) for k in range(K)])
    if packets:
        usual["packet"] = {
            f"user {k}, level {level}": coin(rate) for k, row in enumerate(table) for level, rate in enumerate(row)
        }
    return scheduler_system(table, packets).mechanics(usual)


def scheduler_system(rates: Sequence[Sequence[float]], packets: bool = False) -> System:
    """The cell, where an outcome is a rate, or whether a packet got through."""
    top = [len(row) - 1 for row in rates]
    users = {f"serve user {k}": k for k in range(len(rates))}
    channels = [f"channel_{k}" for k in users.values()]
    noises: dict[str, Sequence[Any]] = dict.fromkeys(channels, (-1, 0, 1))
    if packets:
        noises["packet"] = (False, True)

    def step(levels: Levels, action: str, packet: bool | None = None, **moves: int) -> tuple[Levels, list[float]]:
        served = users[action]
        got = rates[served][levels[served]] if packet is None else float(packet)
        after = tuple(min(max(levels[k] + moves[name], 0), top[k]) for k, name in enumerate(channels))
        return after, [got if k == served else 0.0 for k in users.values()]

    def law(noise: str, levels: Levels, action: str) -> str | None:
        return f"user {users[action]}, level {levels[users[action]]}" if noise == "packet" else None

    return System(
        step,
        start=(0,) * len(rates),
        states=list(itertools.product(*(range(len(row)) for row in rates))),
        actions=list(users),
        outcomes=[f"rate of user {k}" for k in users.values()],
        noises=noises,
        law=law,
    )


def channel_laws(up: Sequence[float], down: Sequence[float]) -> dict[str, Any]:
    """The laws in which the channel of each user goes up and down with these probabilities."""
    moves = zip(up, down, strict=True)
    return {f"channel_{k}": [worse, 1.0 - better - worse, better] for k, (better, worse) in enumerate(moves)}


def check_rates(rates: Any) -> list[list[float]]:
    """The rates of at least one user, by level."""
    table = [check_probabilities(row, f"rates[{k}]").tolist() for k, row in enumerate(check_list(rates, "rates"))]
    if not table:
        raise ModelError("rates: got no entries; at least one user is needed")
    return table
