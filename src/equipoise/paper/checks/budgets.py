r"""Proposition 6.1: what is lost under budgets, and that no budget is exceeded.

    T opt(P_C(b)) - earned  =  O~(K D T^{2/3}) + O~(K D sqrt(Gamma SA T)),       each resource has b T units,

so per step it falls like T^-1/3. The horizon is known, so each point of a curve is an agent of its own, at two
horizons a decade. How slopes are fitted over the last two decades, when the regime counts as reached and what the
slope is held against: see `paper.rates`. The proof has gaps (erratum 23), the exponent is what can be checked.

**Algorithm 2 exceeds its budgets as printed** (erratum 4): it acts as long as I_k >= 0, and at I_k = 0 the next
action may take a unit. As `KnapsackAgent` does it, an action is taken only if I_k >= 1 for all k: no budget is
exceeded, with certainty. The printed rule is run here as what it is, TOC-UCRL2 on g_C until some I_k < 0.

Instances. "arms": bandits with knapsacks, one state; do nothing, or earn 1/2 for a unit, or 1 for a unit half of the
time. pricing and bidding (two resources) with their states. The paper's agent, and one that knows the model, which
has only prices to learn and is in the regime sooner. Budgets also in random worlds, with one to three resources and
any b, bT whole or not.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise.agents.knapsack import KnapsackAgent
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.applied import bidding, pricing
from equipoise.models.model import Model
from equipoise.offline.knapsack import solve_knapsack
from equipoise.oracles.mirror_descent import TunedMirrorDescent
from equipoise.oracles.mirror_maps import SlackSimplex
from equipoise.paper.findings import Checked, Finding, Size, Statement
from equipoise.paper.markets import arms, random_market
from equipoise.paper.rates import TOLERANCE, Curve, picture, rate
from equipoise.rewards.knapsack import Knapsack
from equipoise.simulation import log_spaced, simulate

STATEMENT: Final = Statement(
    name="budgets",
    number="Proposition 6.1",
    title="Earning under budgets",
    says="T·opt(P_C(b)) − earned = Õ(KD T^⅔) + Õ(KD√(ΓSA·T)), by Algorithm 2, within the budgets",
    correction="the same, if Algorithm 2 acts while I_k ≥ 1 and not while I_k ≥ 0",
    erratum=4,
)
_RATE: Final = 1.0 / 3.0
_ROUNDING: Final = 1e-6  # of an average, times T


def check(size: Size) -> Checked:
    """Fit what is lost per step against the horizon, and look for the most that any budget was exceeded by."""
    T = size.pick(10**6, 10**8)
    cases = [
        ("arms, known", arms(), 0.25, 10**7, True),
        ("arms", arms(), 0.25, T, False),
        ("pricing", pricing(), 0.25, T, False),
        ("bidding", bidding(), 0.25, T, False),
    ]
    if size is Size.FULL:
        cases.append(("pricing, known", pricing(), 0.25, 10**7, True))
    curves, slopes, worst = [], [], -math.inf
    for name, model, b, last, known in cases:
        lost, excess = lost_per_step(model, b, last, 4, known)
        curves.append((name, lost))
        slopes.append(rate(f"{name}, lost per step", lost, _RATE, known=known))
        worst = max(worst, excess)
    count = size.pick(100, 2000)
    kept = [
        Finding("the runs above: most beyond a budget", worst, 0.0, error=_ROUNDING),
        Finding(f"{count} random worlds: most beyond a budget", _random_excess(count), 0.0, error=_ROUNDING),
    ]
    printed = Finding("arms, T = 1000, I ≥ 0: beyond the budget", excess_as_printed(arms(), 0.25, 1000), 0.0)
    named = picture("What is lost per step under budgets", curves, "−1/3")
    return Checked(STATEMENT, (printed, *slopes), (*kept, *slopes), (named,))


def excess_as_printed(model: Model, b: float, horizon: int) -> float:
    """How far Algorithm 2 as printed goes beyond a budget: by when it stops, as some I_k < 0."""
    reward = Knapsack(model.n_outcomes, b)
    agent = TocUCRL2(model.space, reward, TunedMirrorDescent(SlackSimplex(), horizon))
    run = simulate(model, agent, horizon, checkpoints=np.arange(1, horizon + 1), progress=False)
    excess = (run.outcomes[:, 1:] * run.t[:, None]).max(axis=1) - b * horizon
    over = np.flatnonzero(excess > _ROUNDING)
    return float(excess[over[0]]) if over.size else 0.0


def lost_per_step(model: Model, b: float, last: int, seeds: int, known: bool) -> tuple[Curve, float]:
    """What is lost per step at each horizon, and the most that a budget was exceeded by."""
    best = solve_knapsack(model, b, progress=False)
    horizons = log_spaced(1000, last, per_decade=2)
    lost, worst = np.empty((seeds, horizons.size)), -math.inf
    for i, horizon in enumerate(horizons.tolist()):
        for seed in range(seeds):
            exact = (Known(model), TOLERANCE) if known else (None, None)
            agent = KnapsackAgent(model.space, b, horizon, 0, 0.05, *exact)
            simulate(model, agent, horizon, seed, checkpoints=[horizon], progress=False)
            lost[seed, i] = agent.regret(best) / horizon
            worst = max(worst, _beyond(agent))
    return Curve(horizons, lost), worst


def _beyond(agent: KnapsackAgent) -> float:
    """How much more of a resource was taken than there was, at most."""
    return float(agent.average[1:].max() - agent.budget) * agent.horizon


def _random_excess(count: int) -> float:
    worst = -math.inf
    for index in range(count):
        rng = np.random.default_rng([61, index])
        model = random_market(int(rng.integers(2, 7)), int(rng.integers(1, 4)), index)
        horizon, b = int(rng.integers(10, 2000)), float(rng.uniform(0.02, 0.9))
        agent = KnapsackAgent(model.space, b, horizon, 0)
        simulate(model, agent, horizon, index, checkpoints=[horizon], progress=False)
        worst = max(worst, _beyond(agent))
    return worst
