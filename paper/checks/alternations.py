r"""Claim 3.1: alternate too often or too seldom, either costs.

On the star with K loops, D steps apart, and g(w) = 1 - sum_k |w_k - 1/K| / 2, let N_alt(T) be the number of departures
from a loop in the first T steps, and N(T) that of all steps off the loops. For every policy and every alpha in (0, 1):

    often:   N_alt(T) >= T^alpha  implies  Reg(T) >= 1 / (2 T^(1 - alpha)),   as  Reg(T) >= N(T) / 2T >= N_alt(T) / 2T;
    seldom:  N_alt(T) < T^alpha   implies  that too, or  Reg(tau) = Omega(D / tau^alpha)  for some tau in [T/2, T].

Both hold; the constant that the proof gives to the second is too large, and it forgets departures that lead back to
the same loop (erratum 28). A proof that minds both: let N = N(T) < T^alpha. The steps after T/2 fall into at most N/D
+ 1 blocks with one loop k alone in each, so in one of them n steps are on k and e off it with n - 3e >= (floor(T/2) -
4N) / (N/D + 1). Let u be the share of k when the block begins. If u > 3/4, the regret is above 1/4. Else the share
grows by (n (1 - u) - u e) / T >= (n - 3e) / 4T at least; a share of 1/K + d costs d and one of 1/K - d costs d/2, so
at one end of the block the regret is a third of the growth at least:

    max of Reg(tau) over tau in [T/2, T]  >=  min(1/4, D (floor(T/2) - 4N) / (12 T (N + D))),

which is about D / (24 T^alpha) for large T. Both bounds are with certainty. They are checked with the numbers N_alt
and N themselves, that is, for the alpha that makes them sharpest: the first at every T, the second at 400 of them.

How it is measured. A scripted policy goes round the loops and leaves for the j-th time at time j^(1/alpha), or when it
has arrived and made one step, so that N_alt(t) ~ t^alpha for all t. Its path needs no simulation; that the path, its
regret, N_alt and N are those of the package's star and reward is seen by walking some of it. It pays T^(alpha - 1) for
travelling and T^(-alpha) for staying: the largest regret in [T/2, T] has the exponent min(alpha, 1 - alpha), best at
alpha = 1/2, which is fitted over the last two decades. Random scripts, some departures leading back, test the bounds
further, and so do runs of the agent with several Q, the model known or not.

How tight. Where every loop has at most 1/K, as when each is taken for one step in turn, Reg(T) = N(T) / 2T exactly. In
the second bound a factor of 24 is the best that was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from equipoise._statistics import log_slope
from equipoise._types import Index, Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.model import Model
from equipoise.models.paper_instances import star
from equipoise.offline.benchmark import solve
from equipoise.planning.options import Planner
from equipoise.rewards.distance import Balance
from equipoise.theory import decompose
from paper.findings import Checked, Finding, Picture, Size, Statement

STATEMENT: Final = Statement(
    name="alternations",
    number="Claim 3.1",
    title="Alternate too often or too seldom: either costs",
    says="N_alt(T) ≥ T^α ⇒ Reg(T) = Ω(T^(α−1)); N_alt(T) < T^α ⇒ that, or Reg(τ) = Ω(D/τ^α) for a τ in [T/2, T]",
    erratum=28,
)
_ALPHAS: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_NEAR: Final = 0.03  # how well the slope over two decades is known: what decays faster is still seen a little
_POINTS: Final = 400
_TINY: Final = 1e-300
_ROUNDING: Final = 1e-9
_EXACT: Final = 1e-6  # the tolerance of a plan
_SHARE: Final = 1 / 40  # 1/24, rounded down
_EXCURSION: Final = 2  # steps: away from a loop and back to it


class Path(NamedTuple):
    """What a script did at T = 1, 2, ...: its regret, departures from a loop, and steps off the loops."""

    regret: Vector
    departures: Index
    off: Index


def check(size: Size) -> Checked:
    """Hold both lower bounds against scripted paths, and fit the exponent of the regret."""
    written: list[Finding] = []
    rows: list[dict[str, object]] = []
    slopes: dict[float, float] = {}
    T = size.pick(10**6, 10**7)
    for K, D in ((3, 4), (2, 2), (5, 10)):
        for alpha in _ALPHAS if K == 3 else (0.3, 0.5, 0.7):
            path = follow(K, D, *script(K, D, alpha, T), T)
            name = f"star({K}, {D}), N_alt ~ t^{alpha}"
            written += _bounds(name, path, D)
            if K == 3:
                times, worst = _envelope(path.regret)
                late = times >= T // 100
                slopes[alpha] = -log_slope(times[late], worst[late])
                for t, regret in zip(times[::8].tolist(), worst[::8].tolist(), strict=True):
                    rows.append({"alpha": alpha, "T": t, "regret": regret})
    wandered = []
    for seed in range(size.pick(8, 100)):
        rng = np.random.default_rng(seed)
        K, D = int(rng.integers(2, 5)), 2 * int(rng.integers(1, 6))
        path = follow(K, D, *wander(rng, K, T // 10), T // 10)
        wandered.append(_bounds(f"star({K}, {D}), random script {seed}", path, D))
    for part in zip(*wandered, strict=True):
        written.append(min((one for one in part if one.reached), key=lambda one: one.measured / one.bound))
    written += [*_walked(size.pick(3000, 30_000)), *_agents(size.pick(10_000, 10**5)), *_tight(written)]
    for alpha, slope in slopes.items():
        miss = abs(slope - min(alpha, 1 - alpha))
        written.append(Finding(f"star(3, 4), α = {alpha}: exponent {slope:.3f}", miss, _NEAR, note="off min(α, 1 − α)"))
    others = max(slope for alpha, slope in slopes.items() if alpha != 0.5)
    written.append(Finding("star(3, 4): exponent at α = 1/2 against the best other", slopes[0.5], others, ">="))
    tent: list[dict[str, object]]
    tent = [{"alpha": alpha, "exponent": slope, "what": "measured"} for alpha, slope in slopes.items()]
    tent += [{"alpha": alpha, "exponent": min(alpha, 1 - alpha), "what": "min(α, 1 − α)"} for alpha in (0.1, 0.5, 0.9)]
    return Checked(STATEMENT, tuple(written), (), (_curves(rows), _tent(tent)))


def seldom_bound(T: Index, off: Index, D: int) -> Vector:
    """What the largest regret in [T/2, T] is at least, if so many of the first T steps were off the loops."""
    bound: Vector = np.minimum(0.25, D * (T // 2 - 4.0 * off) / (12.0 * T * (off + D)))
    return bound


def script(K: int, D: int, alpha: float, steps: int) -> tuple[Index, Index]:
    """Loops in turn, and how long to stay on each, so as to leave for the j-th time at j^(1/alpha) or soon after."""
    loops: list[int] = []
    stays: list[int] = []
    now = D // 2
    while now < steps:
        until = max(now + 1, int(np.ceil((len(stays) + 1) ** (1.0 / alpha))))
        loops.append(len(stays) % K)
        stays.append(until - now)
        now = until + D
    return np.array(loops), np.array(stays)


def wander(rng: np.random.Generator, K: int, steps: int) -> tuple[Index, Index]:
    """Random loops, the same one again included, and heavy-tailed stays."""
    tail = rng.uniform(0.4, 2.0)
    stays = np.minimum(np.ceil(rng.pareto(tail, steps // 2 + 8)) + 1, steps).astype(np.int64)
    return rng.integers(0, K, stays.size), stays


def follow(K: int, D: int, loops: Index, stays: Index, steps: int) -> Path:
    """Walk from the centre to each of `loops` in turn and stay; to the same loop again, by one step away and back.

    >>> path = follow(2, 2, np.array([0, 1]), np.array([2, 3]), 8)
    >>> path.off.tolist(), path.departures.tolist(), path.regret[[2, 7]].round(4).tolist()
    ([1, 1, 1, 2, 3, 3, 3, 3], [0, 0, 0, 1, 1, 1, 1, 1], [0.3333, 0.1875])
    """
    last = int(np.searchsorted(np.cumsum(stays), steps)) + 1
    loops, stays = loops[:last], stays[:last]
    between = np.where(np.diff(loops) != 0, D, _EXCURSION)
    lengths = np.ravel(np.column_stack([np.concatenate([[D // 2], between]), stays]))
    where = np.repeat(np.ravel(np.column_stack([np.full(loops.size, -1), loops])), lengths)[:steps]
    t = np.arange(1, steps + 1)
    regret = np.zeros(steps)
    for k in range(K):
        regret += 0.5 * np.abs(np.cumsum(where == k) / t - 1.0 / K)
    left = np.cumsum(lengths)[1::2][:-1] + 1  # when the first step of each departure is taken
    return Path(regret, np.searchsorted(left, t, side="right"), np.cumsum(where == -1))


def _walked(steps: int) -> list[Finding]:
    """Scripts taken step by step through the package's star, against the numbers of `follow`."""
    findings = []
    for K, D in ((3, 4), (2, 2), (5, 10)):
        rng = np.random.default_rng(K)
        loops, stays = wander(rng, K, steps)
        path, model = follow(K, D, loops, stays, steps), star(K, D)
        world = model.world(0)
        pairs, outcomes = np.empty(steps, np.int64), np.empty((steps, K))
        actions = _actions(D, loops, stays)
        for t in range(steps):
            action = next(actions)
            pairs[t] = model.pair(world.state, action)
            outcomes[t], _ = world.step(action)
        walked = _path(model, pairs, outcomes)
        off = float(np.abs(walked.regret - path.regret).max())
        counts = float(np.abs(walked.departures - path.departures).max() + np.abs(walked.off - path.off).max())
        name = f"star({K}, {D}), random script, walked"
        findings += [
            Finding(f"{name}: regret, off that of the script", off, _ROUNDING),
            Finding(f"{name}: N_alt and N, off those of the script", counts, 0.0),
        ]
    return findings


def _actions(D: int, loops: Index, stays: Index) -> Iterator[int]:
    """The script as actions on the star: outwards or loop is 0, inwards 1; at the centre, the branch."""
    here = -1
    for k, stay in zip(loops.tolist(), stays.tolist(), strict=True):
        if k == here:
            yield 1  # one step in, and out again
            yield k if D == 2 else 0
        else:
            if here >= 0:
                yield from [1] * (D // 2)
            yield k
            yield from [0] * (D // 2 - 1)
        yield from [0] * stay
        here = k


def _path(model: Model, pairs: Index, outcomes: Vector) -> Path:
    """What was walked: regret by the package's reward; departures and steps off the loops by its pairs."""
    K = model.n_outcomes
    reward = Balance([1.0 / K] * K)
    t = np.arange(1, pairs.size + 1)
    averages = np.cumsum(outcomes, axis=0) / t[:, None]
    loops = np.flatnonzero(model.means.max(axis=1) > 0.0)  # the other action at an end is the next pair
    regret = 1.0 - np.array([reward.value(w) for w in averages])
    return Path(regret, np.cumsum(np.isin(pairs, loops + 1)), np.cumsum(~np.isin(pairs, loops)))


def _agents(steps: int) -> list[Finding]:
    """Both bounds on runs of the agent: whatever it does, it pays."""
    findings = []
    model, reward = star(3, 4), Balance([1 / 3] * 3)
    best = solve(model, reward, progress=False)
    planner = Planner(warm_start=True, relaxation=1.0)
    agents = {
        f"TOC-UCRL2, known, Q = {q} L": TocUCRL2(
            model.space, reward, None, q * reward.lipschitz, 0.05, Known(model), _EXACT, planner=planner
        )
        for q in (0.1, 1.0, 10.0)
    } | {"TOC-UCRL2, learning": TocUCRL2(model.space, reward)}
    for name, agent in agents.items():
        run = decompose(model, agent, steps, best=best)
        findings += _bounds(f"star(3, 4), {name}", _path(model, run.pair, run.outcomes), 4)
    return findings


def _tight(found: list[Finding]) -> list[Finding]:
    """Where the bounds are met: Reg(T) = N(T) / 2T, and the least of the factors by which the second is exceeded."""
    findings = []
    for K, D in ((2, 2), (3, 4), (5, 10)):
        steps = 10_000
        path = follow(K, D, np.arange(steps) % K, np.ones(steps, np.int64), steps)
        most = float((path.regret * 2.0 * np.arange(1, steps + 1) / np.maximum(path.off, 1)).max())
        findings.append(Finding(f"star({K}, {D}), each loop once in turn: Reg over N/2T", most, 1.0, error=_ROUNDING))
    share = max(one.bound / one.measured for one in found if "seldom" in one.instance and one.reached)
    note = "1/24 is the best that was found"
    return [
        *findings,
        Finding("seldom: largest share of the regret that the bound explains", share, _SHARE, ">=", note=note),
    ]


def _envelope(regret: Vector) -> tuple[Index, Vector]:
    """The largest regret in [T/2, T], for T on a grid."""
    times = np.unique(np.geomspace(2, regret.size, _POINTS).astype(np.int64))
    return times, np.array([regret[-(-T // 2) - 1 : T].max() for T in times.tolist()])


def _bounds(name: str, path: Path, D: int) -> list[Finding]:
    """Both parts, each where the regret comes nearest to its bound."""
    every = np.arange(1, path.regret.size + 1)
    times, worst = _envelope(path.regret)
    return [
        _nearest(f"{name}: often", every, path.regret, path.departures / (2.0 * every)),
        _nearest(f"{name}: seldom", times, worst, seldom_bound(times, path.off[times - 1], D)),
    ]


def _nearest(name: str, times: Index, regret: Vector, bound: Vector) -> Finding:
    ratio = np.where(bound > 0.0, regret / np.maximum(bound, _TINY), np.inf)
    i = int(np.argmin(ratio))
    if np.isinf(ratio[i]):
        note = "the bound is void: at every T, an eighth of the steps is off the loops"
        return Finding(name, float(regret[-1]), float(bound[-1]), ">=", reached=False, note=note)
    return Finding(f"{name}, T = {times[i]}", float(regret[i]), float(bound[i]), ">=")


def _curves(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "The largest regret in [T/2, T] of scripts that alternate T^α times, on star(3, 4)",
        "Often: the price of travel. Seldom: the price of imbalance. The steepest line is that of α = 1/2.",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "T", "type": "quantitative", "scale": {"type": "log"}, "title": "T"},
                "y": {"field": "regret", "type": "quantitative", "scale": {"type": "log"}, "title": "regret"},
                "color": {"field": "alpha", "type": "ordinal", "title": "α"},
            },
        },
    )


def _tent(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "The exponent of the regret against that of the alternations",
        "Regret falls like T^(−min(α, 1 − α)); no α does better than 1/2.",
        {
            "data": {"values": rows},
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "alpha", "type": "quantitative", "title": "α"},
                "y": {"field": "exponent", "type": "quantitative", "title": "exponent"},
                "color": {"field": "what", "type": "nominal", "title": None},
            },
        },
    )
