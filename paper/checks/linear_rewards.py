r"""After Theorem 3.4: with a linear g and Frank-Wolfe, TOC-UCRL2 is UCRL2.

The gradient of a linear g is constant: theta never moves, Psi stays 0, and episodes end by the doubling of visits
alone, whatever Q is, 0 included. So the trajectory for any Q is that for Q = infinity, which is UCRL2's schedule ("up
to the difference in" the regions), to the last bit. Theorem 3.4 with beta = 0 is then the bound of UCRL2, O~(L ||1||
D sqrt(Gamma SA / T)).

Measured on random worlds, noisy or not, with random weights of either sign and Q from 0 to 1000 L: the number of runs
that differ from Q = infinity in anything (starts of episodes, what ended them, gains, visits, averages), the farthest
that theta moves, and the episodes ended by Psi; all must be 0, with certainty. The rate of UCRL2 must be reached on a
river of three states, and stay below its ceiling (`paper.rates`). On RiverSwim-6 it is reached at 10^7 steps, and not
yet at 10^6, in a quick check. And the dependence of the bound on SA, D and Gamma, the worst gap at each point, is
measured over families of worlds (`paper.families`).
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from equipoise.agents.episodes import BY_GRADIENT
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.model import Model
from equipoise.models.standard import garnet, riverswim
from equipoise.rewards.base import Reward
from equipoise.rewards.separable import Linear
from equipoise.simulation import simulate
from paper import families
from paper.findings import Checked, Finding, Size, Statement
from paper.rates import Instance, curve, learned, picture, rate, sizes

STATEMENT: Final = Statement(
    name="linear-rewards",
    number="After Theorem 3.4",
    title="With a linear reward it is UCRL2",
    says="g linear: θ never moves, and episodes end by visits alone, whatever Q is",
)
_SHARES: Final = (0.0, 1e-9, 0.01, 1.0, 1000.0)  # of Q in L


class _Tally(NamedTuple):
    runs: int
    different: int
    moved: float
    by_gradient: int


def check(size: Size) -> Checked:
    """Compare runs at all thresholds with Q = infinity, and fit the slope of UCRL2's regret on rivers."""
    runs, different, moved, by_gradient = _tally(size.pick(60, 1000), size.pick(2_000, 20_000))
    name = f"{runs} random worlds, Q from 0 to 1000 L"
    T, seeds = size.pick(10**6, 10**7), size.pick(4, 8)
    small = Instance("RiverSwim-3", riverswim(3), Linear([1.0]), T, seeds, small=True)
    swim = Instance("RiverSwim-6", riverswim(6), Linear([1.0]), T, seeds)
    short, measured = curve(small), curve(swim)
    findings = (
        Finding(f"{name}: runs unlike Q = ∞", different, 0.0),
        Finding(f"{name}: how far θ moves", moved, 0.0),
        Finding(f"{name}: episodes ended by Ψ", by_gradient, 0.0),
        *learned(small, short, 0.5, inside=sizes(small)),
        rate(swim.name, measured, 0.5, inside=sizes(swim)),
        *families.learning(size),
    )
    named = [(small.name, short), (swim.name, measured)]
    return Checked(STATEMENT, findings, (), (picture("Regret of UCRL2 on rivers", named, "−1/2"),))


def _tally(worlds: int, steps: int) -> _Tally:
    total = _Tally(worlds, 0, 0.0, 0)
    for index in range(worlds):
        rng = np.random.default_rng([34, index])
        S, K, noise = int(rng.integers(1, 8)), int(rng.integers(1, 4)), ("none", "bernoulli")[index % 2]
        model = garnet(S, int(rng.integers(1, 4)), min(S, 3), K, index, noise)
        reward = Linear(rng.normal(size=K))
        whole = _run(model, reward, math.inf, steps, index)
        first = TocUCRL2(model.space, reward).theta
        for share in _SHARES:
            agent = _run(model, reward, share * reward.lipschitz, steps, index)
            total = _Tally(
                worlds,
                total.different + (_trace(agent) != _trace(whole)),
                max(total.moved, float(np.abs(agent.theta - first).max()), agent.drift),
                total.by_gradient + int((agent.episode_record.ended & BY_GRADIENT > 0).sum()),
            )
    return total


def _run(model: Model, reward: Reward, threshold: float, steps: int, seed: int) -> TocUCRL2:
    agent = TocUCRL2(model.space, reward, threshold=threshold)
    simulate(model, agent, steps, seed, checkpoints=[steps], progress=False)
    return agent


def _trace(agent: TocUCRL2) -> list[bytes]:
    """Every number that the run left behind."""
    return [part.tobytes() for part in (*agent.episode_record, agent.visits, agent.average, agent.theta)]
