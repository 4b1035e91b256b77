"""The explicit bound on an agent's regret, for a report to draw beside what was measured.

It is `theory.regret.regret` at every checkpoint. It needs the diameter of the world, which a large one would take long
to compute: above `MOST_STATES` states the bound is known to exist, and that is all. A model keeps its diameter, so it
is computed once a problem at most, and only if some agent there has a bound.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from equipoise.agents.base import Agent
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import ParameterError
from equipoise.models.model import Model
from equipoise.studies.results import Guarantee
from equipoise.theory.facts import Facts, Setting
from equipoise.theory.regret import regret

MOST_STATES: Final = 2000  # about ten seconds
FURTHEST: Final = 10**18


def find_guarantee(agent: Agent, model: Model, marks: Sequence[int]) -> Guarantee | None:
    """What is proven of the agent's regret for its own reward; None if that is nothing.

    There is a bound for a `TocUCRL2` that is a `Setting` of the theory: with the paper's regions, or such as lie within
    them, and a reward with a Lipschitz constant. Not if it is infinite (Q is, and theta can move) or holds with
    probability zero (delta >= 1/3), nor if the reward is constant.

    >>> import equipoise as eq
    >>> model, reward = eq.models.bandit(2), eq.rewards.Quadratic([0.5, 0.5])
    >>> guarantee = find_guarantee(eq.TocUCRL2(model.space, reward), model, [10**6])
    >>> [(t, round(bound, 3)) for t, bound in guarantee.bounds]
    [(1000000, 0.177)]
    >>> round(guarantee.largest, 3), round(guarantee.probability, 2)
    (1.0, 0.85)
    >>> find_guarantee(eq.TocUCRL2(model.space, reward, threshold=math.inf), model, [10**6])
    """
    if not isinstance(agent, TocUCRL2):
        return None
    try:
        setting = Setting.of(agent)
        smallest = regret(Facts.of(model, diameter=1.0), setting, 1)  # finite or not, whatever the diameter
    except ParameterError:
        return None
    if not (math.isfinite(smallest.value) and smallest.probability > 0.0 and setting.scale > 0.0):
        return None
    limit = FURTHEST if agent.horizon is None else min(agent.horizon, FURTHEST)
    if model.n_states > MOST_STATES:
        return Guarantee(smallest.probability, setting.scale, (), None, limit)
    facts = Facts.of(model)
    return Guarantee(
        probability=smallest.probability,
        largest=setting.scale,
        bounds=tuple((t, regret(facts, setting, t).value) for t in marks),
        telling=_telling(facts, setting, limit),
        limit=limit,
    )


def _telling(facts: Facts, setting: Setting, limit: int) -> int | None:
    """The first T at which the bound is below L ||1_K||, by bisection; None if there is none up to the limit.

    The bound rises at small T only, where it is far above that, and under `Doubling` by a few per cent at the start of
    each mega-episode: there what is found is one such T, and about the first.
    """

    def tells(steps: int) -> bool:
        return regret(facts, setting, steps).value < setting.scale

    first = 1 + bisect_left(range(1, limit + 1), True, key=tells)
    return first if first <= limit else None
