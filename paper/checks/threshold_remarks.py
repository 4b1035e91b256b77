r"""Section 3, in passing: what the threshold Q does to the agent.

"It is interesting to note that TOC-UCRL2 does not converge to a stationary policy, except when we force Q = infinity";
"a small Q makes the agent alternate frequently, while a large Q avoids visiting sub-optimal states".

On the star with g(w) = 1 - |w - 1/K|^2 / 2, the model known, this can be counted. On a loop the average moves by c / t
in a step, c = sqrt(1 - 1/K), so that after n steps of an episode that began at tau Psi is c n^2 / (2 tau). It is Q when
n = sqrt(2 Q tau / c), and the sum of 1/n over time is

    N_alt(T) = sqrt(2 c T / Q)    to first order, one departure an episode:

it falls with Q, and grows with T for every finite Q: the agent never settles. At Q = infinity an agent that knows the
model has one episode and one policy. One that learns has not: the doubling of visits goes on ending episodes, ever more
seldom, and each new plan sees that the loop of the last one is ahead. So it does not converge either, though it
alternates O(SA log T) times only, which is too seldom (Claim 3.1).

How it is measured. Departures from the loops are counted in runs: against the closed form for Q from L to 100 L; at Q =
infinity with the model known; and while learning, from T/10 to T, with what ended the episodes.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise._statistics import log_slope
from equipoise._types import Index
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.paper_instances import star
from equipoise.offline.benchmark import solve
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance
from equipoise.rewards.separable import Quadratic
from equipoise.theory import bounds, decompose
from paper.findings import Checked, Finding, Picture, Size, Statement

STATEMENT: Final = Statement(
    name="threshold-remarks",
    number="section 3",
    title="The agent never settles, the less so the smaller Q",
    says="TOC-UCRL2 does not converge to a stationary policy, except with Q = ∞; a small Q makes it alternate often",
    correction="with Q = ∞ it settles only if nothing is learnt; else it goes on changing, O(SA log T) times",
    erratum=41,
)
_K: Final = 3
_D: Final = 4
_EXACT: Final = 1e-6
_SHARES: Final = (1.0, 3.0, 10.0, 30.0, 100.0)  # of Q in L
_FIRST_ORDER: Final = 0.1  # time on the road and short episodes at the start are left out of the closed form
_POWER: Final = 0.05  # the same for a power over two decades


def check(size: Size) -> Checked:
    """Count departures from the loops, for many Q."""
    T = size.pick(10**5, 10**6)
    quadratic, balance = Quadratic([1 / _K] * _K), Balance([1 / _K] * _K)
    unit, c = quadratic.lipschitz, math.sqrt(1 - 1 / _K)
    counts, corrected = [], []
    rows: list[dict[str, object]] = []
    for share in _SHARES:
        departures, _ = _departures(quadratic, share * unit, T, known=True)
        expected = math.sqrt(2 * c * T / (share * unit))
        counts.append(departures[-1])
        off = abs(departures[-1] / expected - 1.0)
        corrected.append(
            Finding(f"star(3, 4), known, Q = {share:g} L: N_alt({T}), off √(2cT/Q), relative", off, _FIRST_ORDER)
        )
        times = np.unique(np.geomspace(10, T, 40).astype(np.int64))
        rows += [{"Q": f"{share:g} L", "T": int(t), "N": int(departures[t - 1])} for t in times]
        if share == 1.0:
            late = times[times >= T // 100]
            power = log_slope(late, departures[late - 1])
            corrected.append(Finding("the same, Q = L: power of T, off 1/2", abs(power - 0.5), _POWER))
    power = log_slope(_SHARES, counts)
    corrected.append(Finding("the same, Q from L to 100 L: power of Q, off −1/2", abs(power + 0.5), _POWER))
    written = []
    for name, reward in (("quadratic", quadratic), ("balance", balance)):
        departures, episodes = _departures(reward, math.inf, T, known=True)
        corrected.append(Finding(f"{name}, known, Q = ∞: departures", float(departures[-1]), 0.0))
        corrected.append(Finding(f"{name}, known, Q = ∞: episodes", float(episodes), 1.0))
        departures, episodes = _departures(reward, math.inf, T, known=False)
        last = float(departures[-1] - departures[T // 10 - 1])
        name = f"{name}, learning, Q = ∞"
        written.append(Finding(f"{name}: departures from {T // 10} to {T}", last, 0.0, note="had it settled"))
        corrected.append(Finding(f"{name}: departures from {T // 10} to {T}", last, 1.0, ">="))
        corrected.append(
            Finding(f"{name}: episodes", float(episodes), 1.0 + bounds.visit_episodes(star(_K, _D).n_pairs, T))
        )
    return Checked(STATEMENT, tuple(written), tuple(corrected), (_picture(rows),))


def _departures(reward: Reward, threshold: float, steps: int, *, known: bool) -> tuple[Index, int]:
    """How often a loop was left by each time, and the number of episodes."""
    model = star(_K, _D)
    best = solve(model, reward, progress=False)
    if known:
        planner = Planner(warm_start=True, relaxation=1.0)
        agent = TocUCRL2(model.space, reward, None, threshold, 0.05, Known(model), _EXACT, planner=planner)
    else:
        agent = TocUCRL2(model.space, reward, None, threshold)
    pairs = decompose(model, agent, steps, best=best).pair
    loops = np.flatnonzero(model.means.max(axis=1) > 0.0)  # the other action at an end is the next pair
    return np.cumsum(np.isin(pairs, loops + 1)), agent.episode_record.start.size


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "Departures from a loop on star(3, 4), the model known",
        "For every finite Q they go on like √(T/Q).",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "T", "type": "quantitative", "scale": {"type": "log"}, "title": "T"},
                "y": {"field": "N", "type": "quantitative", "scale": {"type": "log"}, "title": "N_alt"},
                "color": {"field": "Q", "type": "nominal", "title": "Q"},
            },
        },
    )
