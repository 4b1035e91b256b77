r"""How fast regret falls: slopes over the last two decades, whether the regime is reached, and the proofs' constants.

**Slope.** For each seed the line of least squares through (log t, log Reg(t)) at the checkpoints, ten a decade, of
the window T/100 <= t <= T: the last two decades, always. Points with Reg <= 0 are left out; they come late, so that
this makes it less steep. The mean over seeds is reported, with a t-interval at 99.9 %; where nothing is random there
is one run and no interval.

**Reached.** The plateau P is the largest mean regret from t = 10 on. An instance has reached the regime if the mean
regret R at T/100 is at most P/4. Before that the slope says nothing about the rate: on a *large* instance it is shown,
and not counted. A *small* instance must be reached: that is a finding of its own, and the slope counts in any case.
So it does for an agent that knows the model, which has nothing to learn.

**Ceiling.** A small instance must also stay below what two others would do one after the other: one that tries every
pair n times, with a journey of D steps before each try, and then the agent that knows the model. E = n D SA outcomes
out of T move the average by ||1|| E / T at most, and g by L times that; so

    Reg(T)  <=  Reg_known(T) + L ||1|| E / T,      E = n D SA,

where n is the least number of visits after which every radius of (3.4) and (3.5) at time T is at most 1/2, so that a
region is less than everything. Reg_known is that of a run of the same instance with the model known. Under `Doubling`
with fresh counts each mega-episode of 2^h steps explores anew, for min(2^h, E_h) steps. That optimism costs no more
than this is not a theorem; an agent that does not learn, or learns far too slowly, is above it.

**Bound.** A theorem that says Reg <= C T^-e allows any curve below it; one that comes down from P as 1/(1/P + T^e/C)
has slope -e (1 - Reg/P). So the slope is held against -e (1 - R/P), which is -e in the limit. The logarithm that an
O~ hides under the root, log(KSAT/delta), adds its own slope where the theorem has one at the leading term: Theorem
3.4 does.

**Constants.** If the model is known and nothing is random, the proofs give a bound without "O" and without
probability, `known_bound`: with tolerance eps and M(T) episodes, all of them ended by Psi,

    T Reg(T)  <=  T oracle(T) + 2 Q ||1|| M(T) + (L ||1|| + eps) D M(T) + eps T,

with the oracle's own term of `theory.bounds`, by club and heart, spade (an episode moves the bias by one span at most)
and P; diamond is 0. An agent that does not alternate as it should exceeds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from equipoise._statistics import log_slope, mean_interval
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.model import Model
from equipoise.offline.benchmark import solve
from equipoise.oracles.base import Oracle
from equipoise.oracles.choice import fitting_oracle
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones
from equipoise.simulation import simulate
from equipoise.theory import bounds
from equipoise.theory.bounds import oracle_term
from equipoise.theory.facts import Setting
from paper.findings import LEVEL, Checked, Finding, Picture, Statement

TOLERANCE: Final = 1e-6
"""Of the planner when the model is known; erratum 9 says why it must be small."""
_DELTA: Final = 0.05
_WINDOW: Final = 100  # the slope is that from T over this number to T: two decades
_FROM: Final = 10  # the plateau is looked for from here on
REACHED: Final = 0.25  # of the plateau
NEAR: Final = 0.1
"""How near to a stated power a measured one must come where the power is attained: lower orders are still seen."""
SHARES: Final = 10.0 ** np.arange(-2.0, 3.01, 0.5)  # of Q in L
# The loops of the star make it aperiodic: value iteration converges on it without relaxation.
EXACT: Final = Planner(warm_start=True, relaxation=1.0)


@final
@dataclass(frozen=True, eq=False)
class Instance:
    """A world and a reward, to be run for so many steps with so many seeds; a small one must reach its rate."""

    name: str
    model: Model
    reward: Reward
    steps: int
    seeds: int = 1
    oracle: Oracle | None = None
    known: bool = False
    small: bool = False

    def agent(self, threshold: float | None = None) -> TocUCRL2:
        """The paper's; or one that knows the model, with exact plans."""
        space, reward, oracle = self.model.space, self.reward, self.oracle
        if not self.known:
            return TocUCRL2(space, reward, oracle, threshold, _DELTA)
        return TocUCRL2(space, reward, oracle, threshold, _DELTA, Known(self.model), TOLERANCE, planner=EXACT)


class Curve(NamedTuple):
    """Regret at the checkpoints, one row a seed."""

    t: NDArray[np.int64]
    regret: NDArray[np.float64]


def curve(instance: Instance) -> Curve:
    """Run all seeds."""
    best = solve(instance.model, instance.reward, progress=False)
    runs = [
        simulate(instance.model, instance.agent(), instance.steps, seed, progress=False)
        for seed in range(instance.seeds)
    ]
    return Curve(runs[0].t, np.array([run.regret(best) for run in runs]))


def rate(name: str, measured: Curve, exponent: float, *, known: bool = False, inside: float = 0.0) -> Finding:
    """The slope of the last two decades against the theorem's; `inside` is what multiplies T in a logarithm.

    If the model is `known`, or the instance a small one, it counts in any case, and is held against what a regime that
    was reached would have.
    """
    last = int(measured.t[-1])
    start = last // _WINDOW
    share = fallen_to(measured)
    limit = -exponent
    if inside:
        limit += 0.5 * math.log(math.log(inside * last) / math.log(inside * start)) / math.log(_WINDOW)
    each = np.array([_slope(measured.t[measured.t >= start], row[measured.t >= start]) for row in measured.regret])
    return Finding(
        f"{name}, {_until(last)}",
        float(each.mean()),
        limit * (1.0 - min(max(share, 0.0), REACHED if known else 1.0)),
        error=half_width(each),
        reached=known or share <= REACHED,
        note=f"{each.size} seed{'s' * (each.size > 1)}; regret at T/{_WINDOW} is {share:.2g} of its plateau",
    )


def fallen_to(measured: Curve) -> float:
    """The mean regret at T/100, as a share of its plateau."""
    mean = measured.regret.mean(axis=0)
    plateau = float(mean[measured.t >= _FROM].max())
    return float(mean[measured.t >= int(measured.t[-1]) // _WINDOW][0]) / plateau


def learned(instance: Instance, measured: Curve, exponent: float, *, inside: float = 0.0) -> list[Finding]:
    """What a small instance must show: that the rate is reached, the slope, and the ceiling."""
    last = int(measured.t[-1])
    name = f"{instance.name}, {_until(last)}"
    return [
        Finding(
            f"{name}: regret at T/{_WINDOW} over its plateau", fallen_to(measured), REACHED, note="must be reached"
        ),
        rate(instance.name, measured, exponent, known=True, inside=inside),
        below_ceiling(name, instance, measured),
    ]


def below_ceiling(name: str, instance: Instance, measured: Curve) -> Finding:
    """Regret at T against that of exploring first, and then acting with the model known."""
    known = curve(replace(instance, known=True)).regret[:, -1]
    last = measured.regret[:, -1]
    allowed = exploring(instance, int(measured.t[-1]))
    return Finding(
        f"{name}: regret",
        float(last.mean()),
        float(known.mean()) + allowed,
        error=half_width(last - known),
        note=f"ceiling: {known.mean():.2g} with the model known, and {allowed:.2g} for exploring first",
    )


def exploring(instance: Instance, T: int) -> float:
    """What exploring first costs at most, L ||1|| E / T."""
    model, reward = instance.model, instance.reward
    oracle = instance.oracle or fitting_oracle(reward)
    parts = list(oracle.phases(T))
    if parts[0][0].inherit:
        parts = [(parts[0][0], T)]
    diameter = model.diameter()
    steps = 0.0
    for phase, taken in parts:
        logarithm = math.log(12.0 * max(model.n_outcomes, model.n_states) * model.n_pairs * taken**2)
        logarithm -= math.log(_DELTA * phase.share)
        # x = 1/sqrt(n) solves 3 log x^2 + sqrt(2 log) x = 1/2
        root = (math.sqrt(2.0 * logarithm + 6.0 * logarithm) - math.sqrt(2.0 * logarithm)) / (6.0 * logarithm)
        steps += min(taken, diameter * model.n_pairs * math.ceil(root**-2))
    return reward.lipschitz * ones(reward.n_outcomes, reward.norm) * steps / T


def check_rate(
    statement: Statement,
    exponent: float,
    instances: Sequence[Instance],
    families: Sequence[Finding],
    narrow: int,
    *,
    logarithm: bool = False,
) -> Checked:
    """Fit slopes; compare the instances whose model is known with the constants of the proof; vary Q."""
    first = next(instance for instance in instances if instance.known)
    curves = [(instance, curve(instance)) for instance in instances]
    found: list[Finding] = []
    for instance, measured in curves:
        inside = sizes(instance) if logarithm else 0.0
        if instance.small:
            found += learned(instance, measured, exponent, inside=inside)
        else:
            found.append(rate(instance.name, measured, exponent, known=instance.known, inside=inside))
        if instance.known:
            found.append(within_constants(instance, measured))
        if instance is first:
            found.append(attained(instance.name, measured, exponent))
    power, within, thresholds = by_threshold(Instance("star, known", first.model, first.reward, narrow, known=True))
    named = [(instance.name, measured) for instance, measured in curves]
    drawn = picture(statement.title, named, f"−1/{round(1.0 / exponent)}")
    return Checked(statement, (*found, power, within, *families), (), (drawn, thresholds))


def attained(name: str, measured: Curve, exponent: float) -> Finding:
    """That the exponent is the theorem's and no better, on the known star that is first: travel costs what it must."""
    late = measured.t >= int(measured.t[-1]) // _WINDOW
    slope = _slope(measured.t[late], measured.regret[0, late])
    return Finding(f"{name}, {_until(int(measured.t[-1]))}: no steeper", slope, -exponent - NEAR, ">=")


def sizes(instance: Instance) -> float:
    """KSA/delta, as it stands in the logarithm."""
    return instance.model.n_outcomes * instance.model.n_pairs / _DELTA


def within_constants(instance: Instance, measured: Curve) -> Finding:
    """Regret against the bound with the constants of the proof, where it comes closest; model known, nothing random."""
    limit = np.array([known_bound(instance, instance.reward.lipschitz, int(t)) for t in measured.t])
    at = int(np.argmax(measured.regret[0] / limit))
    return Finding(f"{instance.name}, regret at T = {measured.t[at]}", float(measured.regret[0, at]), float(limit[at]))


def known_bound(instance: Instance, threshold: float, T: int) -> float:
    """Reg(T) is at most this with certainty, if the model is known and nothing is random."""
    reward, oracle = instance.reward, instance.oracle or fitting_oracle(instance.reward)
    setting = Setting(reward=reward, oracle=oracle, threshold=threshold)
    episodes = sum(
        bounds.gradient_episodes(reward, phase.oracle, threshold, taken) for phase, taken in oracle.phases(T)
    )
    delay, motion = 2.0 * threshold * setting.ones, (setting.scale + TOLERANCE) * instance.model.diameter()
    return oracle_term(setting, T) + (delay + motion) * episodes / T + TOLERANCE


def by_threshold(instance: Instance) -> tuple[Finding, Finding, Picture]:
    """Regret at one T for Q from L/100 to 1000 L: its growth as Q falls to 0, its bound, and both in a picture."""
    reward, T = instance.reward, instance.steps
    best = solve(instance.model, reward, progress=False)
    Q = reward.lipschitz * SHARES
    regret = np.array(
        [simulate(instance.model, instance.agent(q), T, progress=False).regret(best)[-1] for q in Q.tolist()]
    )
    limit = np.array([known_bound(instance, q, T) for q in Q.tolist()])
    name = f"{instance.name}, {_until(T)}"
    slope = _slope(Q[SHARES <= 1.0], regret[SHARES <= 1.0])
    power = Finding(f"{name}, Q from L/100 to L: power of Q", slope, -0.5, ">=")
    at = int(np.argmax(regret / limit))
    inside = Finding(f"{name}, regret at Q = {SHARES[at]:.2g} L", float(regret[at]), float(limit[at]))
    rows = [
        {"Q": float(share), "value": float(value), "line": line}
        for line, values in (("regret", regret), ("bound", limit))
        for share, value in zip(SHARES, values, strict=True)
    ]
    return power, inside, _threshold_picture(name, rows)


def half_width(values: NDArray[np.float64]) -> float:
    """Of the t-interval of a mean at 99.9 %; 0 if there is but one value, which nothing random had a part in."""
    if not np.isfinite(values).all():
        return 0.0  # a slope of minus infinity: some regret is gone altogether, and no interval is needed
    return mean_interval(values, LEVEL).half or 0.0


def _until(T: int) -> str:
    power = round(math.log10(T))
    return f"T = 10^{power}" if 10**power == T else f"T = {T}"


def picture(title: str, curves: Sequence[tuple[str, Curve]], exponent: str) -> Picture:
    """Mean regret of all instances against t."""
    rows = [
        {"instance": name, "t": int(t), "regret": float(value)}
        for name, measured in curves
        for t, value in zip(measured.t[::2], measured.regret.mean(axis=0)[::2], strict=True)
        if value > 0 and t >= _FROM
    ]
    axes = {
        "x": {"field": "t", "type": "quantitative", "scale": {"type": "log"}},
        "y": {"field": "regret", "type": "quantitative", "scale": {"type": "log"}},
        "color": {"field": "instance", "type": "nominal", "title": None},
    }
    caption = f"Mean over seeds. The theorem says that regret falls at least like t^{exponent} in the end."
    return Picture(title, caption, {"data": {"values": rows}, "mark": "line", "encoding": axes})


def _slope(x: NDArray[np.float64] | NDArray[np.int64], y: NDArray[np.float64]) -> float:
    taken = y > 0.0
    if taken.sum() < 2:
        return -math.inf  # fewer than two positive regrets: nothing is left that could fall more slowly
    return log_slope(x[taken], y[taken])


def _threshold_picture(name: str, rows: list[dict[str, object]]) -> Picture:
    axes = {
        "x": {"field": "Q", "type": "quantitative", "scale": {"type": "log"}, "title": "Q / L"},
        "y": {"field": "value", "type": "quantitative", "scale": {"type": "log"}, "title": "regret"},
        "strokeDash": {"field": "line", "type": "nominal", "title": None, "sort": ["regret", "bound"]},
    }
    return Picture(
        "Regret and the threshold Q",
        f"{name}, the model known. A small Q makes the agent travel too often, a large one too seldom: √Q + LD/√Q.",
        {"data": {"values": rows}, "mark": {"type": "line", "point": True}, "encoding": axes},
    )
