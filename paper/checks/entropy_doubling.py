r"""Section 6.2: "the assumption of knowing T can be removed by a doubling trick that guesses T".

Phase h = 0, 1, 2, ... lasts 2^h steps and is a run of its own: a new agent, with mu(2^h) = 1 / (S^{2/3} 2^{h/3}) and Q
= L_mu, which starts where the last one stopped. H is concave and the average over all time is a mean of those of the
phases, so

    T Reg(T)  <=  sum over h of l(h) Reg_h,     l(h) the steps taken in phase h,

and each Reg_h is bounded by (6.3): the sum is of order T^{2/3}, and Reg(T) on H falls like T^(-1/3).

How it is measured. The phases are run one after the other in worlds where even visits are possible. The inequality is
held at the end of every phase. The slope of the regret over the last phases must be -1/3 at least, the regret must have
fallen from its plateau, and its ceiling is the regret of the anytime form of (6.3) with the model known, a hundred
times earlier. The price of forgetting is shown against the anytime form: each phase learns anew, and its cost of
learning, a share of order 1/2^h of it, is what is left to see.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._statistics import log_slope
from equipoise._types import Index, Vector
from equipoise.models.model import Model
from equipoise.rewards.entropy import Entropy
from equipoise.simulation import simulate
from paper import exploration
from paper.exploration import EARLIER, knower, largest, learner
from paper.findings import Checked, Finding, Picture, Size, Statement
from paper.rates import REACHED, Curve, picture

STATEMENT: Final = Statement(
    name="entropy-doubling",
    number="section 6.2",
    title="Exploring all states evenly, guessing T",
    says="phases of 2^h steps with μ(2^h) and Q = L_μ have Reg(T) = Õ(T^(−1/3)) on H, without T",
)
_THIRD: Final = 1.0 / 3.0
_ROUNDING: Final = 1e-12
_FEW: Final = 3  # phases before which there is hardly a mean to speak of
_LAST: Final = 7  # phases that the slope is taken over: two decades


def check(size: Size) -> Checked:
    """Run the phases; the inequality, the slope, and the ceiling."""
    phases, seeds = size.pick(20, 23), size.pick(3, 8)
    written: list[Finding] = []
    curves: list[tuple[str, Curve]] = []
    for name, model in exploration.small_worlds().items():
        several = exploration.seeds_of(model, seeds)
        runs = [_doubled(model, phases, seed) for seed in range(several)]
        curve = Curve(runs[0][0], np.array([regret for _, regret, _ in runs]))
        share = max(float((t * regret / owed)[_FEW:].max()) for t, regret, owed in runs)
        last = int(curve.t[-1])
        mean = curve.regret.mean(axis=0)
        anytime = exploration.regrets(learner, model, Entropy(model.n_states), 1.0, last, several)
        known = exploration.regrets(knower, model, Entropy(model.n_states), 1.0, last // EARLIER, several)
        plateau, start = float(mean[curve.t >= 10].max()), float(mean[-_LAST])
        instance = f"{name}, {phases} phases"
        written += [
            Finding(f"{instance}: T Reg(T) over the sum over phases, at worst", share, 1.0, error=_ROUNDING),
            Finding(f"{instance}: regret at {curve.t[-_LAST]}", start, REACHED * plateau, note="a quarter of the top"),
            Finding(
                f"{instance}: slope from {curve.t[-_LAST]} to {last}", log_slope(curve.t[-_LAST:], mean[-_LAST:]),
                -_THIRD * (1.0 - start / plateau),
            ),
            Finding(
                f"{instance}: regret at {last}", float(mean[-1]), largest(known, last // EARLIER),
                note=f"that of the anytime form with the model known, up to {last // EARLIER}",
            ),
        ]  # fmt: skip
        curves += [(name, curve), (f"{name}, anytime", anytime)]
    return Checked(STATEMENT, tuple(written), (), (_picture(curves),))


def begun_at(model: Model, state: int) -> Model:
    """The same world of visits, with another start."""
    pairs = [(int(s), int(pair - model.first_pair[s])) for pair, s in enumerate(model.state_of)]
    return Model.from_sparse(model.first_pair, model.transitions(), model.means, state, "none", pairs)


def _doubled(model: Model, phases: int, seed: int) -> tuple[Index, Vector, Vector]:
    """At the end of every phase: the time, the regret on H, and the sum over phases of l(h) Reg_h."""
    S = model.n_states
    judge = Entropy(S)
    state, total, owed = model.start, np.zeros(S), 0.0
    times, regrets, sums = [], [], []
    for h in range(phases):
        world = begun_at(model, state)
        agent = learner(world, Entropy(S, (S**2 * 2.0**h) ** -_THIRD))
        average = simulate(world, agent, 2**h, seed * phases + h, progress=False).outcomes[-1]
        state = agent.state
        total += 2**h * average
        owed += 2**h * (1.0 - judge.value(average))
        times.append(2 ** (h + 1) - 1)
        regrets.append(1.0 - judge.value(total / times[-1]))
        sums.append(owed)
    return np.array(times), np.array(regrets), np.array(sums)


def _picture(curves: list[tuple[str, Curve]]) -> Picture:
    return picture("Regret on H: phases that double, and the anytime form", curves, "−1/3")
