r"""Claim A.3: the program P_C(b) as a benchmark under budgets, and as a function of b.

    (i)   E[earned within the budgets]  <=  T opt(P_C(b)) + 2D                      as written,
                                        <=  T opt(P_C(b)) + (phi + ||lambda||_1) D  in truth (erratum 23),
    (ii)  b/(b + eta) opt(P_C(b + eta))  <=  opt(P_C(b)),        and opt(P_C(b)) is concave in b, which (A.12) uses,

phi and lambda being the gain and the prices of the dual of P_C(b): opt = b ||lambda||_1 + phi. As phi >= 0 and b < 1,
phi + ||lambda||_1 <= opt/b <= 1/b: D/b is enough in any case, and 2D for b >= 1/2.

**(i) is false as written.** `detour` is erratum 23's world. A state A pays 1 for a unit of one of m resources, drawn
anew at each step, and is left with probability 1/n, or at once by its null action; the way back takes D steps, each
for a unit of one further resource. With n < mD and a small b that resource is the scarce one: opt = bn/D, with price
n/D, and phi = 0. Whoever starts in A earns the first n for nothing: T opt + n in the mean, if bT is a multiple of D,
and n may be far more than 2D. At T = 8000 the last trip takes the last unit, and nothing is exceeded; at T = 8020 one
unit is left over in the end, so that not even a literal "stops when any resource is depleted" interferes: that run
stops so.

**(i) for all policies at once.** With fixed prices nothing need be said of budgets (erratum 40): for *every* policy

    E[earned] - lambda.(E[consumed] - bT)  <=  T opt + (phi + ||lambda||_1) D,

and the best policy for the left side is found by T steps of value iteration for the rewards r - lambda.c, from any
start. On the detour it is n (1 - (1 - 1/n)^T), and the right side n: the constant is the best possible.

Where there is one resource the best of all policies within the budget can be had by dynamic programming over (time,
state, units left), from any start: on the pricing world and on random ones. (With one resource and r <= c no price is
above 1, so 2D is enough.)

(ii) holds by mixing with null actions, concavity because the value of a linear program is concave in its right-hand
side. What `solve_knapsack` says is recomputed from the model: flow, budgets, the dual constraints and the gap; where
P_C(b) can be solved by hand, it is held against that.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.models import bidding, pricing
from equipoise.models.model import Model
from equipoise.offline.knapsack import KnapsackBenchmark, solve_knapsack
from paper.findings import Checked, Finding, Picture, Size, Statement
from paper.markets import arms, raffle, random_market, stall, towns

STATEMENT: Final = Statement(
    name="budget-program",
    number="Claim A.3",
    title="The benchmark under budgets",
    says="(i) E[earned] ≤ T·opt(P_C(b)) + 2D within the budgets; (ii) opt(P_C(b))/b does not increase",
    correction="(i) E[earned] ≤ T·opt(P_C(b)) + (φ* + ‖λ*‖₁)D, at most D/b, within the budgets; (ii) as written",
    erratum=23,
)
_NORMAL: Final = 3.2905  # two-sided, 99.9 %
_ROUNDING: Final = 1e-7  # of the solver
_DIAMETER: Final = 4
_STAY: Final = 24
_RESOURCES: Final = 8
_BUDGET: Final = 0.05


def check(size: Size) -> Checked:
    """Simulate the counterexample to (i); compute best policies; solve P_C(b) over a grid of b."""
    written, corrected, rows = [], [_by_hand(), *_certificate(), *_prices_by_hand()], []
    model = detour()
    best = solve_knapsack(model, _BUDGET, progress=False)
    for T, stops in ((8000, False), (8020, True)):
        runs = stay_and_return(model, _BUDGET, T, size.pick(2_000, 50_000), stops=stops)
        mean, error = _estimate(_STAY * runs)
        name = f"(i) detour, T = {T}{', stops when depleted' * stops}: earned − T·opt"
        written.append(Finding(f"{name}, 2D", mean - T * best.value, 2.0 * model.diameter(), error=error))
        corrected.append(Finding(f"{name}, (φ* + ‖λ*‖₁)D", mean - T * best.value, slack(model, best), error=error))
    for name, models in _single(size.pick(10, 200)).items():
        excess = [_best_excess(model, b) for model in models for b in (0.1, 0.25, 0.5)]
        corrected.append(_closest(name, [(each.earned, each.slack) for each in excess]))
    corrected += _all_policies(size.pick(5, 50))
    budgets = np.linspace(0.02, 0.98, size.pick(17, 97))
    for name, models in _worlds(size.pick(5, 50)).items():
        values = [np.array([solve_knapsack(model, b, progress=False).value for b in budgets]) for model in models]
        ratio, bend = max(_ratio_excess(budgets, opt) for opt in values), min(_bend(opt) for opt in values)
        corrected += [
            Finding(f"(ii) {name}: b/(b+η)·opt(b+η) − opt(b)", ratio, 0.0, error=_ROUNDING),
            Finding(f"(ii) {name}: opt(b) − mean of its neighbours", bend, 0.0, ">=", error=_ROUNDING),
        ]
        if len(models) == 1:
            rows += [{"world": name, "b": float(b), "opt": float(v)} for b, v in zip(budgets, values[0], strict=True)]
    return Checked(STATEMENT, tuple(written), tuple(corrected), (_picture(rows),))


def _by_hand() -> Finding:
    """opt(P_C(b)) where it is known without a solver."""
    cases = [(arms(), b, b) for b in (0.1, 0.25, 0.5)] + [(towns(), b, 2.0 * b) for b in (0.1, 0.3, 0.45)]
    cases += [(stall(np.eye(n)), b, min(1.0, n * b)) for n in (1, 3, 8) for b in (0.1, 0.3, 0.6)]
    cases += [(raffle(5), b, min(1.0, 2.0 * b)) for b in (0.1, 0.3, 0.6)]
    cases += [(detour(), b, b * _STAY / _DIAMETER) for b in (0.02, 0.05)]
    apart = [abs(solve_knapsack(model, b, progress=False).value - opt) for model, b, opt in cases]
    return Finding(
        "opt(P_C(b)) furthest from what it is by hand", max(apart), 0.0, error=_ROUNDING, note=f"{len(cases)} cases"
    )


def _prices_by_hand() -> list[Finding]:
    """Prices where they are unique and known: 1 for each scarce resource of a stall, n/D for the detour's."""
    found = [solve_knapsack(stall(np.eye(3)), 0.2, progress=False).prices - 1.0]
    found += [
        solve_knapsack(detour(), _BUDGET, progress=False).prices - np.append(np.zeros(_RESOURCES), _STAY / _DIAMETER)
    ]
    apart = max(float(np.abs(each).max()) for each in found)
    above, all_worlds = -math.inf, [model for models in _worlds(5).values() for model in models]
    for model in all_worlds:
        for b in (0.05, 0.25, 0.5, 0.8):
            best = solve_knapsack(model, b, progress=False)
            above = max(above, best.gain + float(best.prices.sum()) - best.value / b)
    return [
        Finding("prices furthest from what they are by hand", apart, 0.0, error=_ROUNDING),
        Finding("φ* + ‖λ*‖₁ − opt/b, so that D/b is enough", above, 0.0, error=1e-5, note="a gap of 1e-6 over b"),
    ]


def _certificate() -> list[Finding]:
    """Flow, budgets and both sides of the duality, recomputed from the model alone."""
    flow, over, dual, gap = 0.0, -math.inf, -math.inf, 0.0
    for models in _worlds(5).values():
        for model in models:
            best = solve_knapsack(model, 0.25, progress=False)
            P, x = model.transitions().toarray(), best.occupancy
            leaves = np.add.reduceat(x, model.first_pair[:-1])
            flow = max(flow, float(np.abs(leaves - x @ P).max()), abs(float(x.sum()) - 1.0), -float(x.min()))
            over = max(over, float((x @ model.means[:, 1:]).max()) - 0.25, -float(best.prices.min()))
            scores = model.means[:, 0] - model.means[:, 1:] @ best.prices
            home = np.repeat(best.bias, np.diff(model.first_pair))
            dual = max(dual, float((scores + P @ best.bias - home).max()) - best.gain)
            gap = max(gap, abs(0.25 * float(best.prices.sum()) + best.gain - float(x @ model.means[:, 0])))
    return [
        Finding("P_C(.25): flow that is not kept", flow, 0.0, error=_ROUNDING),
        Finding("P_C(.25): beyond a budget, or a price below 0", over, 0.0, error=_ROUNDING),
        Finding("P_C(.25): r − λ·c + pγ − γ above φ", dual, 0.0, error=1e-6, note="the solver's tolerance"),
        Finding("P_C(.25): b‖λ‖₁ + φ − Σ r x", gap, 0.0, error=1e-6, note="the solver's tolerance"),
    ]


def _all_policies(count: int) -> list[Finding]:
    """The best of all policies at fixed prices, against the three forms of the slack."""
    shares: dict[str, list[float]] = {"(φ* + ‖λ*‖₁)D": [], "D·opt/b": [], "2D, b ≥ 1/2": []}
    for models in _worlds(count).values():
        for model in models:
            D = model.diameter()
            for b in (0.05, 0.25, 0.5, 0.75):
                best = solve_knapsack(model, b, progress=False)
                ahead = max(best_at_prices(model, best, T) for T in (1, 10, 100))
                shares["(φ* + ‖λ*‖₁)D"].append(ahead / max(slack(model, best), _ROUNDING))
                shares["D·opt/b"].append(ahead * b / (D * best.value))
                if b >= 0.5:
                    shares["2D, b ≥ 1/2"].append(ahead / (2.0 * D))
    found = [
        Finding(
            f"(i) every policy, fixed prices: ahead of T·opt, over {bound}",
            max(each),
            1.0,
            error=1e-5,
            note=f"{len(each)} cases",
        )
        for bound, each in shares.items()
    ]
    model, T = detour(), 100
    tight = solve_knapsack(model, _BUDGET, progress=False)
    share, floor = best_at_prices(model, tight, T) / max(slack(model, tight), _ROUNDING), 1.0 - (1.0 - 1.0 / _STAY) ** T
    found.append(
        Finding(f"(i) detour, T = {T}, fixed prices: share used", share, floor, ">=", error=1e-5, note="closed form")
    )
    return found


def best_at_prices(model: Model, best: KnapsackBenchmark, T: int) -> float:
    """The most of E[earned] - lambda.(E[consumed] - bT) - T opt over all policies and starts: value iteration."""
    scores = model.means[:, 0] - model.means[:, 1:] @ best.prices
    P, value = model.transitions(), np.zeros(model.n_states)
    for _ in range(T):
        value = np.maximum.reduceat(scores + P @ value, model.first_pair[:-1])
    return float(value.max()) + T * (float(best.budget @ best.prices) - best.value)


def detour(D: int = _DIAMETER, n: int = _STAY, m: int = _RESOURCES) -> Model:
    """Erratum 23's world: state 0 is A, states 1 ... D the way back; action 0 is null.

    >>> detour().diameter(), round(solve_knapsack(detour(), 0.05).value, 9)  # D and bn/D
    (4.0, 0.3)
    """
    nothing, units = np.zeros(m + 2), np.eye(m + 2)
    stays, leaves = (1.0 - 1.0 / n) / m, 1.0 / (n * m)
    play = [(stays, 0, units[0] + units[1 + k]) for k in range(m)]
    play += [(leaves, 1, units[0] + units[1 + k]) for k in range(m)]
    states = [[[(1.0, 1, nothing)], play]]
    states += [[[(1.0, s, nothing)], [(1.0, (s + 1) % (D + 1), units[m + 1])]] for s in range(1, D + 1)]
    return Model.from_branches(states, known=[(s, 0) for s in range(D + 1)])


def stay_and_return(model: Model, b: float, T: int, runs: int, *, stops: bool = False) -> Vector:
    """How often each run leaves A that takes action 1 everywhere, as long as no budget could be exceeded by it.

    If it `stops`, it ends when any resource is depleted, whether it would be needed or not.

    Every step in A pays 1 and leaves it with probability 1/n, so by Wald's identity n times the mean of this is the
    mean of what is earned; and it varies far less.
    """
    rng = np.random.default_rng(23)
    chosen = model.first_pair[:-1] + 1
    takes = model.means[chosen, 1:] > 0.0  # what the action of each state may take
    cumulative = model.branch_cumulative + np.repeat(np.arange(model.n_pairs), np.diff(model.branch_first))
    state, left, departures = np.zeros(runs, np.int64), np.full((runs, takes.shape[1]), b * T), np.zeros(runs)
    active = np.arange(runs)
    for _ in range(T):
        needed = np.ones_like(takes[state[active]]) if stops else takes[state[active]]
        active = active[(left[active] >= needed * (1.0 - _ROUNDING)).all(axis=1)]
        if not active.size:
            break
        pair = chosen[state[active]]
        branch = np.searchsorted(cumulative, pair + rng.random(active.size), side="right")
        branch = np.minimum(branch, model.branch_first[pair + 1] - 1)
        left[active] -= model.rows[model.branch_row[branch], 1:]
        departures[active] += (state[active] == 0) & (model.branch_next[branch] != 0)
        state[active] = model.branch_next[branch]
    return departures


def best_within(model: Model, units: int, T: int) -> float:
    """The most that any policy earns on average in T steps with so many units of the resource, from the best start."""
    P = model.transitions().toarray()
    uses = np.zeros_like(P)  # P and a unit is taken
    counts = np.diff(model.branch_first)
    np.add.at(
        uses,
        (np.repeat(np.arange(model.n_pairs), counts), model.branch_next),
        model.branch_probability * model.rows[model.branch_row, 1],
    )
    free = uses.sum(axis=1) == 0.0
    value = np.zeros((model.n_states, units + 1))
    for _ in range(T):
        action = np.empty((model.n_pairs, units + 1))
        action[:, 1:] = model.means[:, :1] + uses @ value[:, :-1] + (P - uses) @ value[:, 1:]
        action[:, 0] = np.where(free, model.means[:, 0] + P @ value[:, 0], -math.inf)
        value = np.maximum.reduceat(action, model.first_pair[:-1], axis=0)
    return float(value[:, units].max())


def slack(model: Model, best: KnapsackBenchmark) -> float:
    """(phi + ||lambda||_1) D."""
    return float(best.gain + best.prices.sum()) * model.diameter()


class _Excess(NamedTuple):
    """What the best policy earns beyond T opt, and the bound on that."""

    earned: float
    slack: float


def _best_excess(model: Model, b: float) -> _Excess:
    best, T = solve_knapsack(model, b, progress=False), 200
    earned = best_within(model, round(b * T), T) - T * best.value
    return _Excess(earned, slack(model, best))


def _closest(name: str, excess: list[tuple[float, float]]) -> Finding:
    earned, bound = max(excess, key=lambda each: each[0] / max(each[1], _ROUNDING))
    label = f"(i) {name}, best policy: earned − T·opt"
    return Finding(label, earned, bound, error=_ROUNDING, note=f"closest of {len(excess)}")


def _single(count: int) -> dict[str, list[Model]]:
    """Worlds with one resource."""
    markets = [random_market(5, 1, seed) for seed in range(count)]
    return {"pricing": [pricing()], "arms": [arms()], f"{count} random worlds": markets}


def _worlds(count: int) -> dict[str, list[Model]]:
    """Worlds with one resource or several."""
    markets = [random_market(5, 3, seed) for seed in range(count)]
    named = {"pricing": [pricing()], "bidding": [bidding()], "arms": [arms()], "detour": [detour()]}
    return named | {f"{count} random worlds": markets}


def _estimate(values: Vector) -> tuple[float, float]:
    """The mean, and the half-width of its interval."""
    return float(values.mean()), float(_NORMAL * values.std(ddof=1) / math.sqrt(values.size))


def _ratio_excess(b: Vector, opt: Vector) -> float:
    """The largest b/b' opt(b') - opt(b) over b < b'."""
    excess = opt[None, :] * b[:, None] / b[None, :] - opt[:, None]
    return float(excess[np.triu_indices(b.size, 1)].max())


def _bend(opt: Vector) -> float:
    """The smallest of opt(b) less the mean of its two neighbours on an even grid: not negative if concave."""
    return float((opt[1:-1] - 0.5 * (opt[:-2] + opt[2:])).min())


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "opt(P_C(b)) against the budget b",
        "Concave, and from the origin: twice the budget never earns more than twice as much.",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "b", "type": "quantitative"},
                "y": {"field": "opt", "type": "quantitative", "title": "opt(P_C(b))"},
                "color": {"field": "world", "type": "nominal", "title": None},
            },
        },
    )
