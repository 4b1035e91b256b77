r"""Section 7, "What about dynamic Qs?": Q(m) = Theta(tau(m)^a) brings no better bound.

With Q(m) = L tau(m)^a, -1 < a < 1, Lemma 4.5 gives delays of sum_m Q(m) and Lemma 4.3 the number of episodes: one that
begins at tau lasts n ~ sqrt(Q(m) tau / beta), so that M(T) = O(T^{(1-a)/2}), delays cost T^{(a-1)/2} and travel
T^{-(1+a)/2}:

    Reg(T) = O~(T^{-(1-|a|)/2}),    best at a = 0.

On the star with the model known M(T) can be counted as in `threshold-remarks`: n = sqrt(2 L tau^{1+a} / c) with c =
sqrt(1 - 1/K), and M(T) = (2 / (1-a)) sqrt(c / 2L) T^{(1-a)/2} to first order.

What the bound does not see: under a smooth g an imbalance of n/T costs its square. With g(w) = 1 - |w - 1/K|^2 / 2 the
time on the road does so too, and the exponent is 1 - |a|: a = 0 is the best. With the g of Claim B.1 the road costs its
length, and the exponent is min(1 - a, (1 + a) / 2), which is 2/3 at a = 1/3 and 1/2 at a = 0. So a dynamic Q can be
better on an instance, though not in the bound.

How it is measured. M(T) against its closed form, and its power of T; the slope of the largest regret in [T/2, T] over
two decades against the bound, and against the exponents above.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from equipoise._statistics import log_slope
from equipoise.agents.schedules import Power
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.paper_instances import star
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward
from equipoise.rewards.separable import Quadratic
from equipoise.simulation import log_spaced, simulate
from paper.checks.zero_threshold import claimed_reward
from paper.exploration import largest
from paper.findings import Checked, Finding, Picture, Size, Statement
from paper.rates import Curve, picture

STATEMENT: Final = Statement(
    name="dynamic-thresholds",
    number="section 7",
    title="Thresholds that change with time",
    says="Q(m) = Θ(τ(m)^a) has Reg(T) = Õ(T^(−(1−|a|)/2)) under FW: no bound is better than that of a = 0",
)
_K: Final = 3
_D: Final = 4
_EXACT: Final = 1e-6
_WINDOW: Final = 100
_FIRST_ORDER: Final = 0.1  # of the closed form of M(T): time on the road is left out
_NEAR: Final = 0.08  # how well a slope over two decades is known


class Measured(NamedTuple):
    """A run: slope and level of its regret, episodes in the end and their power of T."""

    curve: Curve
    slope: float
    episodes: int
    power: float


def check(size: Size) -> Checked:
    """Run a family of exponents on two rewards."""
    T = size.pick(10**6, 10**7)
    written: list[Finding] = []
    curves: list[tuple[str, Curve]] = []
    tried: dict[str, dict[float, float]] = {}
    for name, reward, exponents in (
        ("quadratic", Quadratic([1 / _K] * _K), (-0.25, 0.0, 0.25, 0.5)),
        ("the g of Claim B.1", claimed_reward(_K), (0.0, 1 / 3, 0.5)),
    ):
        best = reward.value(np.full(_K, 1 / _K))
        for a in exponents:
            run = _run(reward, best, a, T)
            c, L = math.sqrt(1 - 1 / _K), reward.lipschitz
            expected = 2 / (1 - a) * math.sqrt(c / (2 * L)) * T ** ((1 - a) / 2)
            instance = f"star(3, 4), known, {name}, a = {a:.2g}"
            start = largest(run.curve, T // _WINDOW) / float(run.curve.regret.max())
            written += [
                Finding(
                    f"{instance}: M(T), off its closed form, relative", abs(run.episodes / expected - 1), _FIRST_ORDER
                ),
                Finding(f"{instance}: power of T in M(T), off (1 − a)/2", abs(run.power - (1 - a) / 2), _NEAR),
                Finding(f"{instance}: slope of the regret", run.slope, -(1 - abs(a)) / 2 * (1 - start)),
            ]
            tried.setdefault(name, {})[a] = run.slope
            curves.append((f"{name}, a = {a:.2g}", run.curve))
    smooth, claimed = tried["quadratic"], tried["the g of Claim B.1"]
    best_other = min(slope for a, slope in smooth.items() if a != 0.0)
    written += [
        Finding("quadratic: slope at a = 0, against the best other", smooth[0.0], best_other),
        Finding("quadratic, a = 0: slope, off −1", abs(smooth[0.0] + 1.0), _NEAR),
        Finding("the g of Claim B.1, a = 0: slope, off −1/2", abs(claimed[0.0] + 0.5), _NEAR),
        Finding(
            "the g of Claim B.1, a = 1/3: slope, off −2/3", abs(claimed[1 / 3] + 2 / 3), _NEAR, note="faster than a = 0"
        ),
    ]
    return Checked(STATEMENT, tuple(written), (), (_picture(curves),))


def _run(reward: Reward, best: float, exponent: float, steps: int) -> Measured:
    model = star(_K, _D)
    planner = Planner(warm_start=True, relaxation=1.0)
    agent = TocUCRL2(model.space, reward, None, Power(exponent), 0.05, Known(model), _EXACT, planner=planner)
    times = log_spaced(1, steps, 40)
    curve = Curve(times, simulate(model, agent, steps, checkpoints=times, progress=False).regret(best)[None])
    late = times[times >= steps // _WINDOW]
    starts = agent.episode_record.start
    begun = np.searchsorted(starts, late, side="right")
    slope = log_slope(late, [largest(curve, int(t)) for t in late])
    return Measured(curve, slope, starts.size, log_slope(late, begun))


def _picture(curves: list[tuple[str, Curve]]) -> Picture:
    return picture("Regret with Q(m) = L τ(m)^a, the model known", curves, "−(1−|a|)/2")
