r"""(6.2): the regret of exploration on the smoothed entropy H_mu, mu fixed, with Frank-Wolfe and Q = L_mu.

    Reg(T) on H_mu = O~(sqrt(beta_mu L_mu) ||1||^{3/2} D / sqrt T) + O~(L_mu ||1|| D sqrt(Gamma SA) / sqrt T)
                   = O~(sqrt(log(1/mu) / mu) S^{3/2} D / sqrt T)   + O~(log(1/mu) D sqrt(Gamma S^3 A) / sqrt T).

It follows from Theorem 3.4 with the constants of `entropy-constants`; what is better than that is in `entropy-refined`.
Section 6.2 adds that the like holds for the divergence from a fixed distribution and for the cross-entropy.

How it is measured, in worlds where even visits are possible, so that the optimum has a closed form
(`paper.exploration`), which is also held against the offline program:

- *T.* The slope over two decades of the largest regret from T/2 to T, against -1/2. Two decades before the end the
  regret must be a quarter of its plateau, else the check fails; and the learner's ceiling is the regret of an agent
  that knows the model, a hundred times earlier. Regret falls faster than the bound, like 1/T: near the even
  distribution H_mu is flat, so that an imbalance costs its square, and in these worlds travelling costs nothing.
- *mu.* With the model known, mu from .3 to .001: the power of sqrt(log(1/mu)/mu) in the regret, at most 1; and that
  of sqrt(beta_mu/L_mu) in the number of episodes, at most 1.
- *D.* On star(2, D), D from 2 to 32, the model known: the power of D in the regret, at most 1.
- *Certainty.* With the model known and nothing random, the bound of `paper.rates` holds without O~.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._statistics import log_slope
from equipoise.models.model import Model
from equipoise.models.paper_instances import star
from equipoise.offline.benchmark import solve
from equipoise.rewards.base import Reward
from equipoise.rewards.entropy import Entropy, RelativeEntropy
from equipoise.rewards.separable import CrossEntropy
from paper import exploration
from paper.exploration import at_its_worst, complete, evenly, knower, learner
from paper.findings import Checked, Finding, Size, Statement
from paper.rates import Curve, Instance, known_bound, picture

STATEMENT: Final = Statement(
    name="maximum-entropy",
    number="(6.2)",
    title="Exploring all states evenly, at a fixed smoothing",
    says="Reg(T) = Õ(√(log(1/μ)/μ) S^(3/2) D/√T) + Õ(log(1/μ) D√(ΓS³A)/√T) on H_μ, with Q = L_μ",
)
_MU: Final = 0.1
_SMOOTHINGS: Final = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
_DIAMETERS: Final = (2, 4, 8, 16, 32)
_TARGET: Final = (0.1, 0.2, 0.4, 0.2, 0.1)  # in the order centre, branch, end, branch, end
_HALF: Final = 0.5
_SOLVED: Final = 1e-9


def check(size: Size) -> Checked:
    """Measure how the regret depends on T, mu and D, with a ceiling for the learner."""
    T, seeds, family = size.pick(10**6, 10**7), size.pick(4, 8), size.pick(3 * 10**4, 10**6)
    written: list[Finding] = []
    curves: list[tuple[str, Curve]] = []
    for name, model in exploration.small_worlds().items():
        reward, several = Entropy(model.n_states, _MU), exploration.seeds_of(model, seeds)
        optimum = evenly(model.n_states, _MU)
        learned = exploration.regrets(learner, model, reward, optimum, T, several)
        known = exploration.regrets(knower, model, reward, optimum, T // 10, several)
        solved = abs(solve(model, reward, _SOLVED, progress=False).value - optimum)
        written += [
            Finding(f"{name}: optimum against log(S/(1 + Sμ))/log S", solved, 2 * _SOLVED),
            exploration.fallen(name, learned),
            exploration.falling(name, learned, _HALF),
            exploration.falling(f"{name}, known", known, _HALF),
            exploration.below_ceiling(name, learned, known),
        ]
        if several == 1:
            written.append(_certain(name, model, reward, known))
        curves += [(name, learned), (f"{name}, known", known)]
    written += [*_over_mu(family), _over_diameters(family), *_other_entropies(T)]
    return Checked(STATEMENT, tuple(written), (), (picture("Regret on H_μ, μ = .1", curves, "−1/2"),))


def _certain(name: str, model: Model, reward: Reward, known: Curve) -> Finding:
    """The largest share of the bound that holds with certainty where the model is known."""
    instance = Instance(name, model, reward, int(known.t[-1]), known=True)
    shares = known.regret[0] / np.array([known_bound(instance, reward.lipschitz, int(t)) for t in known.t])
    at = int(np.argmax(shares))
    return Finding(f"{name}, known: share of the proof's bound at {known.t[at]}", float(shares[at]), 1.0)


def _over_mu(steps: int) -> list[Finding]:
    """The powers of sqrt(log(1/mu) / mu) in the regret and of sqrt(beta / L) in M(T); with the model known."""
    findings = []
    mu = np.array(_SMOOTHINGS)
    for name, model in (("five states", complete(5)), ("star(2, 8), visits", star(2, 8).visits())):
        rewards = [Entropy(model.n_states, one) for one in _SMOOTHINGS]
        runs = [at_its_worst(model, g, evenly(model.n_states, one), steps) for g, one in zip(rewards, mu, strict=True)]
        worst, episodes = zip(*runs, strict=True)
        unit = np.sqrt([reward.smoothness / reward.lipschitz for reward in rewards])
        instance = f"{name}, known, μ from .3 to .001"
        findings += [
            Finding(f"{instance}: power of √(log(1/μ)/μ)", log_slope(np.sqrt(np.log(1 / mu) / mu), worst), 1.0),
            Finding(f"{instance}: power of √(β/L) in M(T)", log_slope(unit, episodes), 1.0),
        ]
    return findings


def _over_diameters(steps: int) -> Finding:
    """The power of D."""
    models = [star(2, D).visits() for D in _DIAMETERS]
    worst = [
        at_its_worst(model, Entropy(model.n_states, _MU), evenly(model.n_states, _MU), steps)[0] for model in models
    ]
    return Finding("star(2, D), visits, known, D from 2 to 32: power of D", log_slope(_DIAMETERS, worst), 1.0)


def _other_entropies(steps: int) -> list[Finding]:
    """The same of the divergence from a distribution, and of the cross-entropy: what section 6.2 says at its end."""
    model = star(2, 4).visits()
    rewards: dict[str, Reward] = {
        "relative entropy": RelativeEntropy(_TARGET, _MU),
        "cross-entropy": CrossEntropy(_TARGET, _MU),
    }
    findings = []
    for name, reward in rewards.items():
        optimum = solve(model, reward, _SOLVED, progress=False).value
        curve = exploration.regrets(learner, model, reward, optimum, steps)
        instance = f"{name}, star(2, 4), visits"
        findings += [exploration.fallen(instance, curve), exploration.falling(instance, curve, _HALF)]
    return findings
