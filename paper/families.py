r"""How regret and the number of episodes depend on each quantity of the theorems, one at a time.

A family is a row of instances in which one quantity x changes. Over it the power p of x in the measured number is
fitted, by least squares on log-log axes, and compared with the power that the theorem states, as an upper bound. Where
the family attains the power, the measured one must also come within `NEAR` of it: a schedule that was changed is then
seen even if it makes the number smaller.

**First terms: the model known, plans exact.** All on the star with two loops, D steps apart; regret is measured as the
mean of T^e Reg(T) over the last decade, e the theorem's exponent. As k g with threshold k Q steers as g does with Q,
and costs k times as much, scaled rewards need no runs of their own.

- T: M(2T) - M(T) at T = 2^j >= 2^10, which leaves out constants in M. An episode has a whole length, and begins
  with up to D steps of travel in which theta moves otherwise: 1 + D steps more than theta asks for. As episodes grow
  longer this matters less; the error allowed is the slope of that alone.
- D: stars of diameter 2 to 32, the differences from one to the next, as the regret has a part without D. M hardly
  moves; S and SA grow, which a known model does not feel.
- Q: from L/100 to L (`rates.by_threshold` for the regret).
- ||1||: K = 2 to 32 outcomes, half of which each loop yields. With `Balance` and `Quadratic` L is proportional to
  ||1||_2 as well, so the stated power is that of both; with `TargetDistance` L = 1 stays.
- L: `Quadratic` with its target at c 1, c from 8 to 128, moves L = sqrt(2) c and nothing else. What a step of travel
  costs is the gradient at the optimum, sqrt(2) (c - 1/2); the slope of that is the bound, 1 in the limit.
  `GeneralisedGini` with weights (s, 0) has L = s and L' = s sqrt(log 2).
- beta: beta (1 - |w - (c/beta) 1|^2 / 2) has smoothness beta and L = sqrt(2) c whatever beta is, if c >= beta/2. It is
  run as `Quadratic` with threshold Q/beta.

**Second term: the paper's agent, linear rewards** (for which beta = 0, and the first term is 0). Its stated power is
that of the worst instance, not of one whose gap between good and bad stays as it is: there regret is of order SA log T
/ T, and grows like SA itself. So each point of a family is the largest regret over a range of gaps. At the T that can
be run, the terms in 1/T that an O~ hides are still seen, so the power is compared with that of the explicit bound
(`theory.bounds.regret`) over the same family, which has them all.

- SA: n arms, n = 16 to 128, all Bernoulli(1/2 - gap/2) but one; S = Gamma = D = 1.
- D: two states, in one of which every step pays 1. It is left with probability 1/D, and reached with probability 1/D
  by one action and (1 + gap)/D by the other; S = Gamma = 2, SA = 4.
- Gamma: a centre with two actions that lead to Gamma of 32 places, every other of which pays 1, one action evenly, the
  other with odds 1 + gap for those that pay; all places lead back. So that S, SA and D stay as they are, every place
  can be reached from a desk, three steps from the centre.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from equipoise._statistics import log_slope
from equipoise._types import Branch, Index
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.model import Model
from equipoise.models.paper_instances import star
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance, TargetDistance
from equipoise.rewards.ordered import BottomSum, GeneralisedGini
from equipoise.rewards.separable import Linear, Quadratic
from equipoise.simulation import simulate
from equipoise.theory import bounds
from paper.findings import Finding, Size
from paper.rates import EXACT, NEAR, half_width

_TOLERANCE: Final = 1e-4  # of the plans; the regret that is measured is thirty times that at least
_COARSE: Final = 1e-3  # the same where regret and threshold are larger: value iteration takes long if L is large
_DIAMETERS: Final = (2, 4, 8, 16, 32)
_OUTCOMES: Final = (2, 4, 8, 16, 32)
_LARGE: Final = 16.0  # Q, where L is large as well
_FIRST: Final = 10  # the power of two from which on M(2T) - M(T) is looked at
_PLACES: Final = 32
_DESK: Final = 3  # steps from the centre to the desk


class Level(NamedTuple):
    """The mean of T^e Reg(T) over the last decade, and the number of episodes."""

    regret: float
    episodes: int


def level(
    model: Model,
    reward: Reward,
    optimum: float,
    threshold: float,
    steps: int,
    exponent: float,
    tolerance: float = _TOLERANCE,
) -> Level:
    """Run an agent that knows the model, with plans that are all but exact."""
    agent = TocUCRL2(model.space, reward, None, threshold, 0.05, Known(model), tolerance, planner=EXACT)
    run = simulate(model, agent, steps, progress=False)
    late = run.t >= steps // 10
    return Level(float((run.regret(optimum)[late] * run.t[late] ** exponent).mean()), agent.episode_record.start.size)


def powers(
    name: str, x: Sequence[float], y: Sequence[float], stated: float, *, attained: bool = False, error: float = 0.0
) -> list[Finding]:
    """The fitted power against the stated one, and that it is attained."""
    power = log_slope(np.array(x), np.array(y))
    found = [Finding(f"power of {name}", power, stated, error=error)]
    if attained:
        found.append(Finding(f"power of {name}, attained", power, stated - NEAR, ">="))
    return found


def frank_wolfe(size: Size) -> list[Finding]:
    """Theorem 3.4 and Lemma 4.3: regret sqrt(beta) [sqrt(Q) + LD/sqrt(Q)] ||1||^{3/2}, M sqrt(beta ||1|| T/Q)."""
    T = size.pick(10**5, 10**6)

    def centred(c: float, beta: float = 1.0, D: int = 4, Q: float = 1.0, tolerance: float = _TOLERANCE) -> Level:
        """Beta (1 - |w - (c/beta) 1|^2 / 2), with threshold Q."""
        reward = Quadratic([c / beta] * 2)
        found = level(star(2, D), reward, reward.value([0.5] * 2), Q / beta, T, 0.5, tolerance)
        return Level(beta * found.regret, found.episodes)

    def many(K: int) -> Level:
        return level(halves(K, 4), Quadratic([0.75] * K), 1.0 - K / 32.0, 1.0, T, 0.5)

    targets, curvatures = (8.0, 16.0, 32.0, 64.0, 128.0), (0.25, 0.5, 1.0, 2.0, 4.0)
    by_diameter = [centred(0.75, D=D).regret for D in _DIAMETERS]
    by_target = [centred(c, Q=_LARGE, tolerance=_COARSE).regret for c in targets]
    by_curvature = [centred(48.0, beta, Q=_LARGE, tolerance=_COARSE) for beta in curvatures]
    by_norm = [many(K) for K in _OUTCOMES]
    slope = log_slope(np.array(targets), np.array(targets) - 0.5)
    return [
        *powers("D in the regret", _DIAMETERS[:-1], np.diff(by_diameter).tolist(), 1.0, attained=True),
        *powers("L in the regret", targets, by_target, slope, attained=True),
        *powers("β in the regret", curvatures, [each.regret for each in by_curvature], 0.5, attained=True),
        *powers("β in M", curvatures, [float(each.episodes) for each in by_curvature], 0.5, attained=True),
        *_by_norm(by_norm, 2.5, 0.5),
        *_by_threshold([(q, centred(0.75, Q=q).episodes) for q in (0.03, 0.1, 0.3, 1.0)]),
        *_by_time(star(2, 4), Quadratic([0.75] * 2), 1.0, T, 0.5),
    ]


def gradient_descent(size: Size) -> list[Finding]:
    """Theorem 5.1 and Lemma C.3: regret [sqrt(LQ) + L^{3/2} D/sqrt(Q)] ||1||, M sqrt(L/Q) T^{2/3}."""
    T, e = size.pick(3 * 10**4, 10**5), 1.0 / 3.0
    balance = Balance([0.5] * 2)
    by_diameter = [level(star(2, D), balance, 1.0, 1.0, T, e).regret for D in _DIAMETERS]
    both = [level(halves(K, 4), Balance([0.5] * K), 1.0, 1.0, T, e) for K in _OUTCOMES]
    alone = [level(halves(K, 4), TargetDistance([0.75] * K), 1.0 - 0.25 * math.sqrt(K), 1.0, T, e) for K in _OUTCOMES]
    norms = [math.sqrt(K) for K in _OUTCOMES]
    by_threshold = [(q, level(star(2, 4), balance, 1.0, q, T, e).episodes) for q in (0.03, 0.1, 0.3, 1.0)]
    return [
        *powers("D in the regret", _DIAMETERS[:-1], np.diff(by_diameter).tolist(), 1.0),
        *_by_norm(both, 2.5, 0.5),
        *powers("‖1‖ alone in the regret", norms, [each.regret for each in alone], 1.0, attained=True),
        *powers("‖1‖ alone in M", norms, [float(each.episodes) for each in alone], 0.0, attained=True),
        *_by_threshold(by_threshold),
        *_by_time(star(2, 4), balance, 1.0, T, 2.0 / 3.0),
    ]


def mirror_descent(size: Size) -> list[Finding]:
    """Theorem 5.2 and Lemma C.8: regret [L' + sqrt(L'Q) + sqrt(L') LD/sqrt(Q)] ||1||, M sqrt(L'/Q) T^{2/3}."""
    T, e = size.pick(3 * 10**4, 10**5), 1.0 / 3.0
    worst, scales = BottomSum(2, 1), (1.0, 2.0, 4.0, 8.0, 16.0)
    by_diameter = [level(star(2, D), worst, 0.5, 1.0, T, e).regret for D in _DIAMETERS]
    by_scale = [level(star(2, 4), GeneralisedGini([s, 0.0]), 0.5 * s, 1.0, T, e) for s in scales]
    by_threshold = [(q, level(star(2, 4), worst, 0.5, q, T, e).episodes) for q in (0.03, 0.1, 0.3, 1.0)]
    return [
        *powers("D in the regret", _DIAMETERS[:-1], np.diff(by_diameter).tolist(), 1.0),
        *powers("L and L′ in the regret", scales, [each.regret for each in by_scale], 1.5, attained=True),
        *powers("L′ in M", scales, [float(each.episodes) for each in by_scale], 0.5, attained=True),
        *_by_threshold(by_threshold),
        *_by_time(star(2, 4), worst, 0.5, T, 2.0 / 3.0),
    ]


def learning(size: Size) -> list[Finding]:
    """The second term, L ||1|| D sqrt(Gamma SA / T), on linear rewards: the worst gap at each point."""
    T, seeds = 10**6, size.pick(3, 12)
    sizes, slow, wide = (16, 32, 64, 128), (4, 8, 16, 32, 64), (2, 4, 8, 16, 32)
    gaps = [factor / math.sqrt(T) for factor in (3.5, 5.0, 7.0, 10.0, 14.0)]  # the worst is among these
    return [
        _worst("SA", sizes, lambda n: [arms(n, gap * math.sqrt(n)) for gap in gaps], T, seeds),
        _worst("D", slow, lambda D: [slow_return(D, gap) for gap in (0.06, 0.12, 0.25, 0.5, 1.0)], T, seeds),
        _worst("Γ", wide, lambda n: [fan(n, gap) for gap in (0.2, 0.4, 0.8)], T, seeds),
    ]


def two_states() -> Model:
    """Each state has a loop that yields its own outcome, and a way to the other that works every other time."""
    transitions, outcomes = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    for s in range(2):
        transitions[s, 0, s] = outcomes[s, 0, s] = 1.0
        transitions[s, 1] = 0.5
    return Model.from_arrays(transitions, outcomes)


def halves(K: int, D: int) -> Model:
    """The star of two loops, each of which yields half of K outcomes."""
    Z, first = np.zeros(K), (np.arange(K) < K // 2).astype(np.float64)
    half = D // 2
    states: list[list[list[Branch]]] = [[[(1.0, 1, Z)], [(1.0, 1 + half, Z)]]]
    for k, yields in enumerate((first, 1.0 - first)):
        for d in range(1, half + 1):
            here = k * half + d
            onward = (1.0, here, yields) if d == half else (1.0, here + 1, Z)
            states.append([[onward], [(1.0, here - 1 if d > 1 else 0, Z)]])
    return Model.from_branches(states)


class Gamble(NamedTuple):
    """A world with one outcome, and its optimum."""

    model: Model
    optimum: float


def arms(n: int, gap: float) -> Gamble:
    """One state, n actions that pay 0 or 1, the last one more often."""
    means = np.full((1, n, 1), 0.5 - gap / 2.0)
    means[0, -1, 0] += gap
    return Gamble(Model.from_arrays(np.ones((1, n, 1)), means), 0.5 + gap / 2.0)


def slow_return(D: int, gap: float) -> Gamble:
    """Two states; the second pays 1, is left with probability 1/D, and one way back is better than the other."""
    down, up = 1.0 / D, min(1.0, (1.0 + gap) / D)
    transitions = np.array([[[1.0 - down, down], [1.0 - up, up]], [[down, 1.0 - down]] * 2])
    means = np.array([[[0.0], [0.0]], [[1.0], [1.0]]])
    return Gamble(Model.from_arrays(transitions, means), up / (up + down))


def fan(successors: int, gap: float) -> Gamble:
    """A centre, a corridor to the desk, and 32 places of which every other one pays."""
    nothing, one = np.zeros(1), np.ones(1)
    first = _DESK + 1

    def drawn(more: float) -> list[Branch]:
        return [((1.0 + (more if i % 2 == 0 else -more)) / successors, first + i, nothing) for i in range(successors)]

    states: list[list[list[Branch]]] = [[drawn(0.0), drawn(gap), [(1.0, 1, nothing)]]]
    states += [[[(1.0, s + 1, nothing)]] for s in range(1, _DESK)]
    states.append([[(1.0, first + i, nothing)] for i in range(_PLACES)])
    states += [[[(1.0, 0, one if i % 2 == 0 else nothing)]] for i in range(_PLACES)]
    return Gamble(Model.from_branches(states), (1.0 + gap) / 4.0)


def _worst(name: str, x: Sequence[int], made: Callable[[int], list[Gamble]], steps: int, seeds: int) -> Finding:
    """The power of x in the largest mean regret over all gaps, against that of the explicit bound.

    Its interval is the jackknife's over the seeds.
    """
    reward = Linear([1.0])
    setting = bounds.Setting(reward=reward)
    regrets, limits = [], []
    for value in x:
        worlds = made(value)
        rows = []
        for model, optimum in worlds:
            runs = (
                simulate(model, TocUCRL2(model.space, reward), steps, seed, checkpoints=[steps], progress=False)
                for seed in range(seeds)
            )
            rows.append([float(run.regret(optimum)[-1]) for run in runs])
        regrets.append(np.array(rows))
        limits.append(bounds.regret(bounds.Facts.of(worlds[0].model), setting, steps).value)
    over = np.array(x, dtype=float)

    def power(kept: Index) -> float:
        """Of the largest mean regret over the seeds that are kept."""
        return log_slope(over, np.array([rows[:, kept].mean(axis=1).max() for rows in regrets]))

    every = np.arange(seeds)
    whole = power(every)
    values = np.array([seeds * whole - (seeds - 1) * power(np.delete(every, seed)) for seed in every])
    first, last = regrets[0].mean(axis=1).max(), regrets[-1].mean(axis=1).max()
    note = f"regret {first:.3g} to {last:.3g}; the bound is the power of the explicit bound over the same worlds"
    stated = log_slope(over, np.array(limits))
    return Finding(f"learned, power of {name} in the regret", whole, stated, error=half_width(values), note=note)


def _by_norm(found: Sequence[Level], regret: float, episodes: float) -> list[Finding]:
    """The powers of ||1||, with which L grows."""
    norms = [math.sqrt(K) for K in _OUTCOMES]
    return [
        *powers("‖1‖ and L in the regret", norms, [each.regret for each in found], regret, attained=True),
        *powers("‖1‖ and L in M", norms, [float(each.episodes) for each in found], episodes, attained=True),
    ]


def _by_threshold(found: Sequence[tuple[float, int]]) -> list[Finding]:
    """The power of 1/Q in M: 1/2, and attained."""
    return powers("1/Q in M", [1.0 / q for q, _ in found], [float(n) for _, n in found], 0.5, attained=True)


def _by_time(model: Model, reward: Reward, threshold: float, steps: int, stated: float) -> list[Finding]:
    """The power of T in M(2T) - M(T)."""
    agent = TocUCRL2(model.space, reward, None, threshold, 0.05, Known(model), _TOLERANCE, planner=EXACT)
    simulate(model, agent, steps, progress=False)
    times = 2.0 ** np.arange(_FIRST, math.floor(math.log2(steps)) + 1)
    more = np.diff(np.searchsorted(agent.episode_record.start, times, side="right").astype(float))
    rare = 1.0 + (1.0 + model.diameter()) * more / times[:-1]  # how many more, were each episode so much shorter
    rounding = math.log(rare[0] / rare[-1]) / math.log(times[-2] / times[0])
    return powers("T in M", times[:-1].tolist(), more.tolist(), stated, attained=True, error=rounding)
