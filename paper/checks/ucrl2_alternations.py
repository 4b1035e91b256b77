r"""Section 3: UCRL2 alternates among the loops only O(SA log T) times, which is too seldom.

With Q = infinity episodes end by visits alone, and there are at most SA (1 + log2 T) + 1 of them, with certainty (4.8).
Nor are there fewer than 1 + log2(T/SA): an episode at most doubles the visits of a pair, and some pair has T/SA.
A policy that has been learned leaves at most one loop an episode: it goes to the loop it is for, and stays. So from
some time on departures from a loop are no more than episodes,

    N_alt(10 T) - N_alt(T)  <=  m(10 T) - m(T) + 1  <=  SA log2(10) + 1 + 1.

Before that there may be more: while the world is being learned one policy may leave a loop many times, and come back to
it. So the O is not one with the constant of (4.8) from the first step on; it is one of the instance.

Measured on star(3, 4) with `Balance`. At the end UCRL2's regret is a constant, about that of one loop alone, and the
paper's agent, with Q = L, has left the loops T^{2/3} times and has a regret a tenth as large or less.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.paper_instances import star
from equipoise.rewards.distance import Balance
from equipoise.simulation import simulate
from paper.findings import Checked, Finding, Size, Statement

STATEMENT: Final = Statement(
    name="ucrl2-alternations",
    number="Section 3",
    title="UCRL2 alternates too seldom",
    says="with Q = ∞ the loops of the star are left only O(SA log T) times, and regret does not vanish",
)
_LOOPS: Final = 3
_DIAMETER: Final = 4


class _Walk(NamedTuple):
    departures: int
    episodes: int
    regret: float


def check(size: Size) -> Checked:
    """Count episodes and departures with Q = infinity and with Q = L."""
    T = size.pick(10**7, 3 * 10**7)
    early, late, steered = walk(math.inf, T // 10), walk(math.inf, T), walk(None, T)
    pairs = star(_LOOPS, _DIAMETER).n_pairs
    name = f"star(3, 4), T = {T:.0e}"
    return Checked(
        STATEMENT,
        (
            Finding(f"{name}: episodes, Q = ∞", late.episodes, pairs * (1.0 + math.log2(T)) + 1.0),
            Finding(f"{name}: episodes, Q = ∞, at least", late.episodes, 1.0 + math.log2(T / pairs), ">="),
            Finding(
                f"{name}: departures since T/10, Q = ∞",
                late.departures - early.departures,
                late.episodes - early.episodes + 1.0,
                note=f"{late.departures} in all",
            ),
            Finding(f"{name}: episodes since T/10, Q = ∞", late.episodes - early.episodes, pairs * math.log2(10.0) + 1),
            Finding(f"{name}: departures, Q = L", steered.departures, T ** (2.0 / 3.0) / 10.0, ">="),
            Finding(f"{name}: regret, Q = ∞, over that with Q = L", late.regret / steered.regret, 10.0, ">="),
        ),
    )


def walk(threshold: float | None, steps: int) -> _Walk:
    """Run the paper's agent on the star, whose optimum is 1, and count."""
    model = star(_LOOPS, _DIAMETER)
    agent = TocUCRL2(model.space, Balance([1.0 / _LOOPS] * _LOOPS), threshold=threshold)
    run = simulate(model, agent, steps, checkpoints=[steps], progress=False)
    half = _DIAMETER // 2
    leaving = [model.pair((k + 1) * half, 1) for k in range(_LOOPS)]
    return _Walk(int(agent.visits[leaving].sum()), agent.episode_record.start.size, float(run.regret(1.0)[-1]))
