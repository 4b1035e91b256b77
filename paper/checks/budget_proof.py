r"""The proof of Proposition 6.1, (A.10) to (A.16) and its last step, inequality by inequality.

**As printed, four steps fail** (errata 23, 39, 40):

- (A.11) uses Claim A.3 (i) with the random budget b + eta^free. `raffle`: to play takes a unit of resource 1 half
  of the time. Playing T times earns T, and T E[opt(P_C(b + eta))] = E[min(2 C_1, T)] = T - E|C_1 - T/2|, which is less
  by .4 sqrt T.
- (A.15) takes the mean of (A.10), which holds with probability 1 - O(delta) only: who spends everything with
  probability delta has E[T eta] = delta (1 - b) T.
- (A.16): eta^free is no sum of independent terms. Who flips one coin, and spends all or nothing, is off its mean by
  (1 - b) T/2, always, where Hoeffding's inequality allows sqrt(T log(2/delta) / 2).
- "For each unit of violation, the agent at most earns K units of rewards." Resource 1 for bT steps, then resource 2: no
  violation, and bT units of reward after the stop. True is, with I_k(tau) left at the stop,

      earned by T - earned by tau  <=  (K-1) T eta + sum over k of I_k(tau).

**What is true.** For every t <= T, with E(t) = L' [T^{2/3} + t T^{-2/3}] + the path's own errors up to t,

    (A.10)_t    t opt - earned_t + (2/b) max_k (used_t - bt)^+  <=  E(t),        with certainty,

and at the stop used > bT - 1 for some k, so (2/b)(used - b tau)^+ >= 2 (T - tau) - 2/b, and

    T opt - earned_tau  <=  E(tau) + 2/b - (2 - opt)(T - tau)  <=  E(tau) + 2/b:

the proposition, without the factor K, without Claim A.3 and without (A.11) to (A.16). By fixed prices (erratum 40)

    (A.14)_t    earned_t  <=  t opt + lambda.(used_t - bt) + (phi + ||lambda||_1) D + a martingale,

and 2/b - ||lambda||_1 >= 1/b, so the budgets are never exceeded by much: used_t - bt <= b (E(t) + slack + martingale).

Where it is tight. A path on which nothing is ever consumed uses up L' T^{2/3} of (A.10)_t: the prices fall from
2(K-1)/(bK) to 0, and the sum of b ||y_t||_1 is at least (2/b) sqrt(log K) T^{2/3} (1 - log(1 + (K-1) e^{-c}) / log K),
c = b sqrt(log K) T^{1/3}.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy.stats import binom

from equipoise._statistics import log_slope
from equipoise._types import Vector
from equipoise.agents.knapsack import KnapsackTocUCRL2
from equipoise.models import bidding, pricing
from equipoise.models.model import Model
from equipoise.offline.benchmark import solve
from equipoise.offline.knapsack import KnapsackBenchmark, solve_knapsack
from equipoise.rewards.penalties import Knapsack
from equipoise.simulation import simulate
from paper.findings import LEVEL, Checked, Finding, Size, Statement
from paper.free_runs import FreeRun, free_run
from paper.markets import arms, raffle, random_market, stall, towns

STATEMENT: Final = Statement(
    name="budget-proof",
    number="(A.10)–(A.16)",
    title="The proof under budgets, step by step",
    says="E[R] ≤ T·E[opt(P_C(b+η))] + 2D; T·E[η]/b and T·η/b = Õ(D T^⅔); K units of reward for each of violation",
    correction="t·opt − R_t + (2/b)max(C_t − bt)⁺ ≤ E(t) at every t ≤ T, so T·opt − earned ≤ E(τ) + 2/b, without K",
    erratum=39,
)
_ROUNDING: Final = 1e-6
_DELTA: Final = 0.05
_SEEDS: Final = 3  # of the worlds with a name


def check(size: Size) -> Checked:
    """Refute the four steps; then every inequality of the repaired proof along recorded runs."""
    cases = _cases(size.pick(20, 200), size.pick(2000, 5000))
    runs = [(name, model, solve_knapsack(model, run.b, progress=False), run) for name, model, run in cases]
    corrected = [
        *_surrogate(size.pick(200, 5000)),
        *_same_optimum(),
        *_along(runs),
        *_raffle(200),
        *_fixed_prices(runs),
    ]
    corrected += [*_tight(size.pick(10**5, 10**6)), _power(size.pick(10**5, 10**6)), *_after_the_stop(runs)]
    return Checked(STATEMENT, (_random_budget(400), _in_the_mean(), _one_coin(1000), _last_step()), tuple(corrected))


# -- as printed --------------------------------------------------------------------------------------------


def two_in_turn(T: int, b: float) -> FreeRun:
    """Resource 1 for bT steps, then resource 2 for as many, then nothing."""
    units, outcomes = round(b * T), np.zeros((T, 3))
    outcomes[: 2 * units, 0] = outcomes[:units, 1] = outcomes[units : 2 * units, 2] = 1.0
    return FreeRun(b, np.zeros((T, 3)), outcomes)


def _last_step() -> Finding:
    run = two_in_turn(1000, 0.25)
    lost = float(run.earned[-1] - run.earned[run.tau - 1])
    note = f"free run {run.earned[-1]:.0f}, stopped {run.earned[run.tau - 1]:.0f}"
    return Finding(
        "last step, two resources in turn: lost by stopping, over K × violation", lost, 3 * run.violation, note=note
    )


def _random_budget(T: int) -> Finding:
    """(A.11) on the raffle, exactly: the number of steps that take resource 1 is binomial."""
    model, b = raffle(5), 0.1
    used = np.arange(T + 1)
    chance = binom.pmf(used, T, 0.5)
    eta = np.maximum(used / T - b, 0.0)
    mean = sum(p * _opt(model, b + e) for p, e in zip(chance, eta, strict=True) if p > 1e-12)
    note = "eta is that of resource 1: the others take a fifth of it"
    return Finding(f"(A.11), raffle, T = {T}: E[R] − T·E[opt(b+η)]", T - T * mean, 2.0 * model.diameter(), note=note)


def _in_the_mean() -> Finding:
    """(A.15): spends everything with probability delta, else within the budgets."""
    T = np.array([1e3, 1e4, 1e5, 1e6])
    mean = _DELTA * np.array([_spent_all(int(each), 0.25) for each in T])
    return Finding("(A.15), all spent with probability δ: power of T in E[Tη]", log_slope(T, mean), 2.0 / 3.0)


def _one_coin(T: int) -> Finding:
    """(A.16): one coin decides whether all is spent or nothing, so T eta is (1-b)T or 0."""
    off = 0.5 * _spent_all(T, 0.25)
    allowed = math.sqrt(0.5 * T * math.log(2.0 / _DELTA))
    return Finding(f"(A.16), one coin, T = {T}: Tη off its mean", off, allowed, note="by Hoeffding's inequality")


def _spent_all(T: int, b: float) -> float:
    """T eta of a run that takes a unit at every step."""
    return FreeRun(b, np.zeros((T, 2)), np.ones((T, 2))).violation


# -- the surrogate -----------------------------------------------------------------------------------------


def _surrogate(count: int) -> list[Finding]:
    """g_C, its Lipschitz constant and its conjugate against the formulas of the paper."""
    rng = np.random.default_rng(610)
    value, steep, length, dual, attained = 0.0, 0.0, 0.0, 0.0, math.inf
    for _ in range(count):
        n, b = int(rng.integers(1, 6)), float(rng.uniform(0.05, 0.9))
        reward, L = Knapsack(n + 1, b), 1.0 + 2.0 / b
        u, w = rng.random(n + 1), rng.random(n + 1)
        value = max(value, abs(reward.value(u) - _penalised(u, b)))
        steep = max(steep, abs(reward.value(u) - reward.value(w)) / (float(np.abs(u - w).max()) * L))
        low, high = np.full(n + 1, 0.5 * (1.0 + b)), np.append(1.0, np.full(n, b))  # reward up, consumptions down
        attained = min(attained, (reward.value(high) - reward.value(low)) / (0.5 * (1.0 - b) * L))
        length = max(length, abs(reward.lipschitz - L))
        y = rng.dirichlet(np.ones(n + 1))[:n] * 2.0 / b
        theta = np.append(-1.0, y)
        best = reward.conjugate_argmax(theta)
        dual = max(dual, abs(reward.value(best) + float(theta @ best) - b * float(y.sum())))
    return [
        Finding("g_C: furthest from its formula", value, 0.0, error=1e-9),
        Finding("g_C: steepest, over 1 + 2/b", steep, 1.0, error=1e-9),
        Finding("g_C: reward up, consumptions down, over 1 + 2/b", attained, 1.0, ">=", error=1e-9, note="attained"),
        Finding("g_C: L furthest from 1 + 2/b", length, 0.0, error=1e-9),
        Finding("g*(−1, y) − b‖y‖₁, ‖y‖₁ ≤ 2/b: furthest from 0", dual, 0.0, error=1e-9),
    ]


def _penalised(w: Vector, b: float) -> float:
    return float(w[0] - 2.0 / b * max(0.0, float((w[1:] - b).max())))


def _same_optimum() -> list[Finding]:
    """opt(P_S-C) = opt(P_C(b)), as the penalty 2/b is above ||lambda||_1 <= opt/b."""
    worlds = [
        arms(),
        towns(),
        pricing(),
        bidding(),
        stall(np.eye(3)),
        *(random_market(4, 3, seed) for seed in range(3)),
    ]
    gap, price, above = 0.0, -math.inf, -math.inf
    for model in worlds:
        for b in (0.1, 0.4, 0.7):
            best = solve_knapsack(model, b, progress=False)
            free = solve(model, Knapsack(model.n_outcomes, b), progress=False).value
            gap, above = max(gap, best.value - free), max(above, free - best.value)
            price = max(price, float(best.prices.sum()) - best.value / b)
    # nine actions, each with a scarce resource of its own: nine prices of 1, and opt = 9b
    tight = solve_knapsack(stall(np.eye(9)), 0.1, progress=False)
    share = float(tight.prices.sum()) * 0.1 / tight.value
    return [
        Finding("(A.10): opt(P_C(b)) − opt of g_C", gap, 0.0, error=1e-5, note="two solvers at 1e-6 each"),
        Finding("(A.10): opt of g_C − opt(P_C(b))", above, 0.0, error=1e-5, note="so they are equal"),
        Finding("‖λ*‖₁ − opt/b", price, 0.0, error=_ROUNDING),
        Finding("9 stalls, b = .1: ‖λ*‖₁ over opt/b", share, 1.0, ">=", error=_ROUNDING),
    ]


# -- along recorded runs -----------------------------------------------------------------------------------

_Run = tuple[str, Model, KnapsackBenchmark, FreeRun]


def _cases(count: int, T: int) -> list[tuple[str, Model, FreeRun]]:
    """Learned and known, one resource and several, random and not."""
    named = [("arms", arms()), ("towns", towns()), ("pricing", pricing()), ("bidding", bidding())]
    found = [(name, model, free_run(model, 0.25, T, seed)) for name, model in named for seed in range(_SEEDS)]
    crowd = stall(np.eye(64)[:1])
    found += [("stalls, known", stall(np.eye(15)), free_run(stall(np.eye(15)), 1.0 / 16.0, T, known=True))]
    found += [("crowd, known", crowd, free_run(crowd, 0.5, T, known=True))]
    for index in range(count):
        rng = np.random.default_rng([615, index])
        model, b = random_market(int(rng.integers(2, 7)), int(rng.integers(1, 4)), index), float(rng.uniform(0.05, 0.6))
        found.append(("random worlds", model, free_run(model, b, T, index)))
    return found


def _along(runs: list[_Run]) -> list[Finding]:
    """(A.10) at every t in its two parts, the same path until the stop, and the conclusion."""
    inside = max(_outside_domain(run) for *_, run in runs)
    descent = max(float(((run.dual - run.surrogate) / run.descent).max()) for *_, run in runs)
    weak = min(float((run.dual + run.errors(best) - run.t * best.value).min()) for *_, best, run in runs)
    ten = max(
        float(((run.t * best.value - run.surrogate) - run.allowed(best)).max() / run.allowed(best)[-1])
        for *_, best, run in runs
    )
    same = max(_other_path(model, run, i % _SEEDS) for i, (_, model, _, run) in enumerate(runs[: 4 * _SEEDS]))
    stopped = [run for *_, run in runs if run.tau < run.T]
    early = max(run.T - run.tau - (float(run.lead[run.tau - 1]) + 1.0) / run.b for run in stopped)
    ratio = [_lost_share(run, best) for *_, best, run in runs]
    count = f"{len(runs)} runs"
    return [
        Finding(f"{count}: prices beyond y ≥ 0, ‖y‖₁ ≤ 2/b", inside, 0.0, error=_ROUNDING),
        Finding(f"(A.10)ₜ, {count}: Σf_q(θ_q) − t·g_C(average), over L′[T^⅔ + tT^−⅔]", descent, 1.0),
        Finding(f"(A.10)ₜ, {count}: Σf_q(θ_q) + errors − t·opt", weak, 0.0, ">=", error=1e-3, note="rounding of sums"),
        Finding(f"(A.10)ₜ, {count}: t·(opt − g_C(average)) − E(t), over E(T)", ten, 0.0, error=_ROUNDING),
        Finding("free and stopped run: earned until the stop, furthest apart", same, 0.0, error=_ROUNDING),
        Finding(f"{len(stopped)} runs that stopped: T − τ − (C_τ − bτ + 1)/b", early, 0.0, error=_ROUNDING),
        Finding(f"{count}: T·opt − earned, over E(τ) + 2/b", max(ratio), 1.0),
    ]


def _lost_share(run: FreeRun, best: KnapsackBenchmark) -> float:
    """T opt - earned of the stopped run, over E(tau) + 2/b."""
    lost = run.T * best.value - float(run.earned[run.tau - 1])
    return lost / (float(run.allowed(best)[run.tau - 1]) + 2.0 / run.b)


def _outside_domain(run: FreeRun) -> float:
    y = run.theta[:, 1:]
    return max(float((-y).max()), float(y.sum(axis=1).max()) - 2.0 / run.b, float(np.abs(run.theta[:, 0] + 1.0).max()))


def _other_path(model: Model, run: FreeRun, seed: int) -> float:
    """How far apart what Algorithm 2 earned is from the first tau steps of the free run with the same seed."""
    agent = KnapsackTocUCRL2(model.space, run.b, run.T, 0)
    simulate(model, agent, run.T, seed, checkpoints=[run.T], progress=False)
    return abs(agent.earned - float(run.earned[run.tau - 1]))


def _fixed_prices(runs: list[_Run]) -> list[Finding]:
    """(A.14) along the path, by the prices of P_C(b), and the consumption that follows from it at every t."""
    martingale, lead, tight = -math.inf, -math.inf, 0.0
    for name, model, best, run in runs:
        D = model.diameter()
        slack = float(best.gain + best.prices.sum()) * D
        width = 1.0 + float(best.prices.sum()) + slack
        chance = width * math.sqrt(0.5 * run.T * math.log(len(runs) / (1.0 - LEVEL)))
        beyond = run.earned - run.t * best.value - (run.used - run.b * run.t[:, None]) @ best.prices
        martingale = max(martingale, float(beyond.max()) / (slack + chance))
        room = run.allowed(best) + np.maximum(beyond, 0.0)
        share = float((run.lead * (2.0 / run.b - float(best.prices.sum())) / np.maximum(room, _ROUNDING)).max())
        lead = max(lead, share)
        tight = share if name == "crowd, known" else tight
    return [
        Finding("(A.14)ₜ: R_t − t·opt − λ*(C_t − bt), over (φ* + ‖λ*‖₁)D + Azuma", martingale, 1.0),
        Finding("(A.15)ₜ: (2/b − ‖λ*‖₁)·max(C_t − bt), over E(t) + that", lead, 1.0),
        Finding(
            "(A.15)ₜ, 64 resources of which one is in use: the same",
            tight,
            0.15,
            ">=",
            note="best factor found, rounded",
        ),
    ]


def _raffle(T: int) -> list[Finding]:
    """(A.12) to (A.14) on the raffle, exactly, with the slack of the corrected claim."""
    model, b = raffle(5), 0.1
    used = np.arange(T + 1)
    eta = float(binom.pmf(used, T, 0.5) @ np.maximum(used / T - b, 0.0))
    best = solve_knapsack(model, b, progress=False)
    wider = solve_knapsack(model, b + eta, progress=False)
    slack, more = (float(each.gain + each.prices.sum()) * model.diameter() for each in (best, wider))
    steps = [
        ("(A.12)", T * wider.value, more),
        ("(A.13)", T * (b + eta) / b * best.value, slack),
        ("(A.14)", T * (best.value + eta / b), slack),
    ]
    return [Finding(f"{name}, raffle, T = {T}: E[R] − the right side", T - right, room) for name, right, room in steps]


# -- tight, and the last step ------------------------------------------------------------------------------


def _tight(T: int) -> list[Finding]:
    """Nothing is ever consumed: the prices fall from their start, and that is all that mirror descent allows."""
    found = []
    for n, b in ((1, 0.5), (3, 0.5)):
        run = free_run(Model.from_branches([[[(1.0, 0, np.zeros(n + 1))]]]), b, T)
        c = b * math.sqrt(math.log(n + 1.0)) * T ** (1.0 / 3.0)
        floor = (1.0 - math.log1p(n * math.exp(-c)) / math.log(n + 1.0)) / (1.0 + T ** (-1.0 / 3.0))
        share = float((run.dual - run.surrogate)[-1] / run.descent[-1])
        name = f"(A.10), nothing consumed, K = {n + 1}, T = 10^{round(math.log10(T))}: share of L′[T^⅔ + T^⅓] used"
        found += [
            Finding(name, share, floor, ">=", error=_ROUNDING, note="closed form"),
            Finding(name + ", at most", share, 1.0),
        ]
    stalls = stall(np.eye(15))
    share = _lost_share(free_run(stalls, 1.0 / 16.0, T, known=True), solve_knapsack(stalls, 1.0 / 16.0, progress=False))
    name = "stalls, K = 1/b = 16, known: T·opt − earned, over E(τ) + 2/b"
    return [*found, Finding(name, share, 0.5, ">=", note="best factor found, rounded down")]


def _power(last: int) -> Finding:
    """How the largest lead grows with T where one of 64 resources is in use, whose price starts too low."""
    T = np.geomspace(1000, last, 4).round().astype(np.int64)
    crowd = stall(np.eye(64)[:1])
    lead = np.array([float(free_run(crowd, 0.5, int(each), known=True).lead.max()) for each in T])
    return Finding("64 resources, one in use: power of T in max over t of C_t − bt", log_slope(T, lead), 2.0 / 3.0)


def _after_the_stop(runs: list[_Run]) -> list[Finding]:
    """What the free run earns after tau, against (K-1) T eta and what is left of each resource at tau."""
    excess = []
    for run in (two_in_turn(1000, 0.25), *(run for *_, run in runs)):
        left = run.b * run.T - run.used[run.tau - 1]
        lost = float(run.earned[-1] - run.earned[run.tau - 1])
        excess.append((lost, (run.outcomes.shape[1] - 1) * run.violation + float(left.sum())))
    scripted = excess[0]
    worst = max(lost - bound for lost, bound in excess)
    return [
        Finding(
            "last step: lost by stopping − (K−1)Tη − Σ I_k(τ)", worst, 0.0, error=_ROUNDING, note=f"{len(excess)} runs"
        ),
        Finding(
            "last step, two resources in turn: share of that used",
            scripted[0] / scripted[1],
            1.0,
            ">=",
            error=_ROUNDING,
        ),
    ]


def _opt(model: Model, b: float) -> float:
    return solve_knapsack(model, min(b, 1.0 - 1e-9), progress=False).value
