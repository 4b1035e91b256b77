r"""(6.3): the regret of exploration on the entropy itself, with a smoothing that shrinks.

    mu(T) = 1 / (S^{2/3} T^{1/3}),   Q = L_{mu(T)}:
    Reg(T) on H = O~(D S^{1/3} / T^{1/3}) + O~(D sqrt(Gamma SA) / sqrt T).

The paper says it of an agent that knows T, and envisions the same of one that does not: Q = L_{mu(t)} and gradients of
H_{mu(t)} at time t, which is what `Entropy` does with no mu. No proof of the latter is given.

How it is measured. *The rule:* mu(t)^3 S^2 t = 1 for many t and S; every theta of a run against the gradient of
H_{mu(t)} at its average, written out here; and Psi, added up here from these thetas, against L_{mu(t)} at every step:
no step is taken with Psi above it, and every episode that the gradient ended has Psi above it, by little.
*An agent that knows T:* its regret on H is at most that on H_mu and S mu / log S, at every T; and it falls at least
like T^(-1/3). *The anytime form:* the slope of the regret on H over two decades, with the ceiling of
`paper.exploration`; and the powers of D S^{1/3} with the model known.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise._statistics import log_slope
from equipoise._types import Vector
from equipoise.agents.episodes import BY_GRADIENT
from equipoise.models.paper_instances import star
from equipoise.rewards.entropy import Entropy
from equipoise.simulation import simulate
from equipoise.theory import decompose
from paper import exploration
from paper.exploration import at_its_worst, evenly, knower, learner
from paper.findings import Checked, Finding, Size, Statement
from paper.rates import Curve, picture

STATEMENT: Final = Statement(
    name="entropy-anytime",
    number="(6.3)",
    title="Exploring all states evenly, with a smoothing that shrinks",
    says="μ(t) = 1/(S^(2/3) t^(1/3)), Q = L_μ(t): Reg(T) = Õ(D S^(1/3)/T^(1/3)) + Õ(D√(ΓSA)/√T) on H",
)
_THIRD: Final = 1.0 / 3.0
_DIAMETERS: Final = (2, 4, 8, 16, 32)
_ROUNDING: Final = 1e-12
_SUMMED: Final = 1e-9  # of Psi, a sum of differences over an episode
_EPISODES: Final = 20  # that the gradient must have ended, for the rule to be seen at work
_NEAR: Final = 1.5  # Psi at the end over Q: the step that exceeds Q adds a small part of it, once t is large


def check(size: Size) -> Checked:
    """The rule for mu(t), theta and Q; the regret when T is known; and the rate of the anytime form."""
    T, seeds, family = size.pick(10**6, 10**7), size.pick(4, 8), size.pick(3 * 10**4, 10**6)
    written = [_smoothing(), *_recorded(size.pick(20_000, 200_000)), *_told(size.pick(5, 7))]
    curves: list[tuple[str, Curve]] = []
    for name, model in exploration.small_worlds().items():
        reward, several = Entropy(model.n_states), exploration.seeds_of(model, seeds)
        learned = exploration.regrets(learner, model, reward, 1.0, T, several)
        known = exploration.regrets(knower, model, reward, 1.0, T // 10, several)
        written += [
            exploration.fallen(name, learned),
            exploration.falling(name, learned, _THIRD),
            exploration.falling(f"{name}, known", known, _THIRD),
            exploration.below_ceiling(name, learned, known),
        ]
        curves += [(name, learned), (f"{name}, known", known)]
    models = [star(2, D).visits() for D in _DIAMETERS]
    worst = [at_its_worst(model, Entropy(model.n_states), 1.0, family)[0] for model in models]
    unit = [D * model.n_states**_THIRD for D, model in zip(_DIAMETERS, models, strict=True)]
    written.append(
        Finding("star(2, D), visits, known, D from 2 to 32: power of D S^(1/3)", log_slope(unit, worst), 1.0)
    )
    return Checked(STATEMENT, tuple(written), (), (picture("Regret on H, anytime", curves, "−1/3"),))


def lipschitz_at(t: Vector, states: int) -> Vector:
    """L_{mu(t)}, by the corrected formula (erratum 8)."""
    mu = (states**2 * t) ** -_THIRD
    return np.maximum(np.log(1 / mu), np.log(1 + mu) + 1 / (1 + mu)) / math.log(states)


def _smoothing() -> Finding:
    """How far mu(t)^3 S^2 t is from 1, at worst."""
    off = [
        abs(float(Entropy(S).at(t).params[0]) ** 3 * S**2 * t - 1.0)
        for S in (2, 3, 10, 85, 1000)
        for t in (1, 2, 7, 100, 12345, 10**6, 10**12)
    ]
    return Finding("S from 2 to 1000, t from 1 to 10^12: |μ(t)³ S² t − 1|", max(off), 10 * _ROUNDING)


def _recorded(steps: int) -> list[Finding]:
    """Every theta and every Psi of a run, computed again."""
    model = star(2, 4).visits()
    S = model.n_states
    agent = learner(model, Entropy(S))
    run = decompose(model, agent, steps)
    t = run.t.astype(np.float64)
    average = np.cumsum(run.outcomes, axis=0) / t[:, None]
    mu = ((S**2 * t) ** -_THIRD)[:, None]
    theta = (np.log(average + mu) + average / (average + mu)) / math.log(S)  # minus the gradient: theta_{t+1}
    first = np.full((1, S), math.log(float(mu[0, 0])) / math.log(S))  # theta_1: the gradient at 0, with mu(1)
    off = float(np.abs(run.theta - np.vstack([first, theta[:-1]])).max())
    starts = run.episodes.start - 1  # rows
    moved = np.abs(run.theta - run.theta[starts][run.row]).max(axis=1)  # the dual norm is the largest entry
    psi = np.cumsum(moved)
    psi -= psi[starts][run.row]  # before the step: the first of an episode adds nothing
    share = psi / lipschitz_at(t, S)
    by_gradient = (agent.episode_record.ended[: starts.size - 1] & BY_GRADIENT) != 0
    ends = starts[1:][by_gradient]  # rows at which the next episode begins, and Psi is above Q
    at_end = psi[ends - 1] + np.abs(run.theta[ends] - run.theta[starts[:-1][by_gradient]]).max(axis=1)
    over = at_end / lipschitz_at(t[ends], S)
    name = f"star(2, 4), visits, T = {steps}"
    return [
        Finding(f"{name}: θ against −∇H_μ(t)", off, _ROUNDING * max(1.0, -math.log(float(mu[-1, 0])))),
        Finding(f"{name}: episodes that the gradient ended", float(ends.size), _EPISODES, ">="),
        Finding(f"{name}: largest Ψ over L_μ(t) at which a step was taken", float(share.max()), 1.0, error=_SUMMED),
        Finding(f"{name}: least Ψ over L_μ(t) that ended an episode", float(over.min()), 1.0, ">=", error=_SUMMED),
        Finding(f"{name}: the same in the last half, at its largest", float(over[t[ends] > steps / 2].max()), _NEAR),
    ]


def _told(runs: int) -> list[Finding]:
    """The agent that knows T and has mu(T), for T over two decades and more."""
    model = star(2, 4).visits()
    S = model.n_states
    times = np.rint(10.0 ** np.linspace(3.5, 3.5 + runs / 2, runs + 1)).astype(np.int64)
    regret, spare = [], []
    for T in times.tolist():
        mu = 1.0 / (S ** (2 / 3) * T**_THIRD)
        run = simulate(model, learner(model, Entropy(S, mu)), T, progress=False)
        regret.append(1.0 - Entropy(S).value(run.outcomes[-1]))
        spare.append(regret[-1] - (evenly(S, mu) - run.values[-1]) - S * mu / math.log(S))
    name = f"star(2, 4), visits, T known, from {times[0]} to {times[-1]}"
    return [
        Finding(f"{name}: regret on H less that on H_μ and Sμ/log S", max(spare), 0.0, error=_ROUNDING),
        Finding(f"{name}: slope", log_slope(times, np.maximum.accumulate(regret[::-1])[::-1]), -_THIRD),
    ]
