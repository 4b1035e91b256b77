"""Worlds and runs for exploration (section 6.2), shared by the checks of maximum entropy.

In all these worlds the states can be visited evenly, which is best for H and for every H_mu, so that the optimum is
known in closed form: 1 for H / log S, and log(S / (1 + S mu)) / log S for H_mu. On a `patrol` whose cells are all
within reach, actions drawn evenly make the transitions symmetric; on the visits of star(2, D) half of each end's time
is on its loop; in `complete` every state leads to every other.

A learned regret has a ceiling of its own: that of an agent which knows the model, a hundred times earlier. To learn
may cost time, and no more than that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from equipoise._statistics import log_slope
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models import patrol
from equipoise.models.model import Model
from equipoise.models.paper_instances import star
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward
from equipoise.simulation import log_spaced, simulate
from paper.findings import Finding
from paper.rates import REACHED, TOLERANCE, Curve, half_width

EARLIER: Final = 100
"""A learner's ceiling is the regret of one that knows the model, this many times earlier."""
_A_DECADE: Final = 20  # checkpoints
_FROM: Final = 10  # the plateau is looked for from here on, as for the other rates
_DELTA: Final = 0.05


def complete(states: int) -> Model:
    """Build a world in which every state has an action that leads to each, and whose outcomes are visits; D = 1.

    >>> complete(3).diameter()
    1.0
    """
    nothing = [0.0]
    return Model.from_branches([[[(1.0, after, nothing)] for after in range(states)] for _ in range(states)]).visits()


def small_worlds() -> dict[str, Model]:
    """Four that are learnt within a few thousand steps; the last two are drawn at random as they go."""
    return {
        "two states": complete(2),
        "star(2, 4), visits": star(2, 4).visits(),
        "room of 9 cells": patrol("...\n...\n..."),
        "hall of 5 cells": patrol("..#\n..."),
    }


def evenly(states: int, mu: float) -> float:
    """H_mu of the even distribution, log(S / (1 + S mu)) / log S: its optimum.

    >>> evenly(4, 0.0), round(evenly(2, 0.5), 3)
    (1.0, 0.0)
    """
    return 1.0 - math.log1p(states * mu) / math.log(states)


Maker = Callable[[Model, Reward], TocUCRL2]


def learner(model: Model, reward: Reward) -> TocUCRL2:
    """The paper's agent, with the paper's Q = L."""
    return TocUCRL2(model.space, reward, delta=_DELTA)


def knower(model: Model, reward: Reward, threshold: float | None = None) -> TocUCRL2:
    """One that knows the model and plans exactly; its steps are halved, as the worlds may be periodic."""
    planner = Planner(warm_start=True)
    return TocUCRL2(model.space, reward, None, threshold, _DELTA, Known(model), TOLERANCE, planner=planner)


def regrets(make: Maker, model: Model, reward: Reward, optimum: float, steps: int, seeds: int = 1) -> Curve:
    """The regret of all seeds at twenty checkpoints a decade."""
    times = log_spaced(1, steps, _A_DECADE)
    runs = [
        simulate(model, make(model, reward), steps, seed, checkpoints=times, progress=False) for seed in range(seeds)
    ]
    return Curve(times, np.array([run.regret(optimum) for run in runs]))


def at_its_worst(model: Model, reward: Reward, optimum: float, steps: int) -> tuple[float, int]:
    """With the model known: the largest regret from T/2 to T, and the number of episodes."""
    agent = knower(model, reward)
    curve = regrets(lambda _model, _reward: agent, model, reward, optimum, steps)
    return largest(curve, steps), agent.episode_record.start.size


def seeds_of(model: Model, several: int) -> int:
    """One where nothing is random."""
    return 1 if model.max_successors == 1 else several


def largest(curve: Curve, steps: int) -> float:
    """The largest mean regret from T/2 to T: what oscillates is seen at its worst."""
    mean = curve.regret.mean(axis=0)
    return float(mean[(2 * curve.t >= steps) & (curve.t <= steps)].max())


def falling(name: str, curve: Curve, exponent: float) -> Finding:
    """The slope over the last two decades of the largest regret from T/2 to T, against -exponent.

    Regret that falls from a plateau P as 1/(1/P + T^e/C) has the slope -e (1 - Reg/P); that is allowed for.
    """
    last = int(curve.t[-1])
    window = curve.t[curve.t >= last // EARLIER]
    each = np.array(
        [log_slope(window, [largest(Curve(curve.t, row[None]), int(t)) for t in window]) for row in curve.regret]
    )
    return Finding(
        f"{name}: slope from {last // EARLIER} to {last}", float(each.mean()),
        -exponent * (1.0 - largest(curve, last // EARLIER) / _plateau(curve)), error=half_width(each),
        note=f"{each.size} seed{'s' * (each.size > 1)}",
    )  # fmt: skip


def fallen(name: str, curve: Curve) -> Finding:
    """Two decades before the end the regret must be a quarter of its plateau: one that never falls fails."""
    start = int(curve.t[-1]) // EARLIER
    return Finding(
        f"{name}: regret around {start}", largest(curve, start), REACHED * _plateau(curve),
        note="a quarter of its plateau: else the rate says nothing",
    )  # fmt: skip


def below_ceiling(name: str, learned: Curve, known: Curve) -> Finding:
    """The learner's regret against that of the agent that knows the model, a hundred times earlier."""
    last = int(learned.t[-1])
    return Finding(
        f"{name}: regret up to {last}", largest(learned, last), largest(known, last // EARLIER),
        note=f"that with the model known, up to {last // EARLIER}",
    )  # fmt: skip


def _plateau(curve: Curve) -> float:
    return float(curve.regret.mean(axis=0)[curve.t >= _FROM].max())
