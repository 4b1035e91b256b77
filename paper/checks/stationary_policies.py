r"""Claim 3.2: stationary policies fall short on the star.

A stationary policy ends in one of its recurrent classes, where the averages tend to some w. With g(w) = 1 - sum_k |w_k
- 1/K| / 2, whose optimum is 1, the limit 1 - g(w) of its regret is at least

    1 / 2K        if some loop is never left once it is entered: no other class has a share in it;
    q / (1 + q)   else, with q > 0 the least probability of leaving a loop: let lambda be the share of time at the ends
                  of the branches; elsewhere it is q lambda at least, as each departure leads there, so lambda is at
                  most 1 / (1 + q), and the loops' share (1 - q) lambda. Half of what that lacks to 1 is lost.

So the claim holds, each policy with a constant of its own, as it reads. A remark of ours (17 in docs/paper.md): no
constant serves all of them. With x* optimal and u the occupancy of the uniformly random policy, x = (1 - epsilon) x* +
epsilon u is the occupancy of a stationary policy too, and its limit is epsilon times that of u, which is 2/5 on
star(3, 4). So the infimum over policies is 0, and not attained. A small epsilon costs time: the average settles after
many alternations only. The agent, which is not stationary, goes below each of these limits.

How it is measured. What `best_stationary` says of the star, and the limits of its mixtures, against closed forms.
Limits are taken from the chain of the policy, class by class, and the least is compared with the constant above: of
all deterministic policies, by enumeration; of random ones; of some with arcs left out. E Reg(T) is estimated by runs.
The star and the agent are deterministic, so one run of the agent says all; its g is not smooth, and its regret falls
like T^(-1/3).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._types import Index, Vector
from equipoise.agents.baselines import StationaryAgent
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.model import Model
from equipoise.models.paper_instances import star
from equipoise.offline.chains import long_run, occupancy_policy
from equipoise.offline.stationary import best_stationary
from equipoise.rewards.distance import Balance
from equipoise.simulation import log_spaced, simulate
from paper.findings import Checked, Finding, Picture, Size, Statement

STATEMENT: Final = Statement(
    name="stationary-policies",
    number="Claim 3.2",
    title="Stationary policies have a regret that does not vanish",
    says="on the star every stationary policy has Reg(T) = Ω(1): a limit of at least q/(1 + q) or 1/2K > 0",
    erratum=17,
)
_K: Final = 3
_D: Final = 4
_REWARD: Final = Balance([1 / _K] * _K)
_NORMAL: Final = 3.2905  # 99.9 %, two-sided
_ROUNDING: Final = 1e-9
_SOLVED: Final = 1e-3  # relative: how well a limit of order epsilon is known


def check(size: Size) -> Checked:
    """Find the limits of many stationary policies, of a family where they tend to 0, and the regret of the agent."""
    model = star(_K, _D)
    best = best_stationary(model, _REWARD)
    mixed = {epsilon: best.policy(epsilon) for epsilon in (1.0, 0.3, 0.1, 0.03, 0.01, 0.001, 0.0001)}
    settled = {epsilon: min(limits(model, policy)) for epsilon, policy in mixed.items()}
    written = [
        Finding("recurrent classes of an optimum, off K", abs(best.classes - _K), 0.0, note="one for each loop"),
        Finding("the supremum over stationary policies, off 1", abs(best.supremum - 1.0), _ROUNDING),
        Finding("whether it is attained", float(best.attained), 0.0),
        Finding("the best deterministic policy: limit, off 1/2", abs(0.5 - best.deterministic.value), _ROUNDING),
    ]
    for epsilon in (1.0, 0.1, 0.01, 0.001, 0.0001):
        off = abs(settled[epsilon] / (0.4 * epsilon) - 1.0)
        note = "a remark: these limits are positive, and their infimum is 0"
        written.append(Finding(f"stationary, ε = {epsilon}: limit, off 2ε/5, relative", off, _SOLVED, note=note))
    families = _families(model, size.pick(300, 5000))
    ends = len(long_run(model, families["no loop is ever left"][0]))
    written.append(Finding("no loop is ever left: recurrent classes, off K", abs(ends - _K), 0.0))
    for name, policies in families.items():
        comparisons = [(min(limits(model, policy)), constant(model, policy)) for policy in policies]
        limit, floor = min(comparisons, key=lambda pair: pair[0] / pair[1])
        written.append(Finding(f"{name}: limit", limit, floor * (1.0 - _ROUNDING), ">="))
    rows: list[dict[str, object]] = []
    for epsilon in (1.0, 0.1, 0.01):
        times, mean, error = _simulated(model, mixed[epsilon], size.pick(10**5, 10**6), size.pick(20, 200))
        name, floor = f"stationary, ε = {epsilon}", constant(model, mixed[epsilon])
        written.append(Finding(f"{name}: E Reg({times[-1]})", float(mean[-1]), floor, ">=", error=float(error[-1])))
        rows += _rows(name, times, mean)
    run = simulate(model, TocUCRL2(model.space, _REWARD), size.pick(10**6, 10**7), progress=False)
    regret = run.regret(1.0)
    rows += _rows("TOC-UCRL2", run.t, regret)
    for epsilon in (1.0, 0.3, 0.1) + size.pick(0, 1) * (0.03,):
        name = f"TOC-UCRL2, Reg({run.t[-1]}), against the limit of ε = {epsilon}"
        written.append(Finding(name, float(regret[-1]), settled[epsilon]))
    return Checked(STATEMENT, tuple(written), (), (_picture(rows),))


def limits(model: Model, policy: Vector) -> list[float]:
    """What the regret may tend to, one number for each recurrent class of the policy."""
    return [1.0 - _REWARD.value(np.clip(model.means.T @ x, 0.0, 1.0)) for _, x in long_run(model, policy)]


def constant(model: Model, policy: Vector) -> float:
    """What each limit is at least, from the probabilities of leaving a loop alone."""
    leaving = 1.0 - policy[model.means.max(axis=1) > 0.0]
    q = float(leaving.min())
    return q / (1.0 + q) if q > 0.0 else 0.5 / _K


def _families(model: Model, draws: int) -> dict[str, list[Vector]]:
    """Policies at random, from nearly even choices to nearly deterministic ones; and some with arcs left out."""
    rng = np.random.default_rng(0)

    def random(allowed: Vector) -> Vector:
        weights = rng.gamma(10.0 ** rng.uniform(-1.0, 1.0), size=model.n_pairs) + _ROUNDING
        return occupancy_policy(model, weights * allowed)

    everything = np.ones(model.n_pairs)
    loop = np.flatnonzero(model.means[:, 0] > 0.0)[0]
    left_out = {
        "one loop is never taken": [loop],
        "one loop is never left": [loop + 1],
        "one branch is never entered": [0],
    }
    policies = {"random, every arc in use": [random(everything) for _ in range(draws)]}
    for name, pairs in left_out.items():
        allowed = everything.copy()
        allowed[pairs] = 0.0
        policies[name] = [random(allowed) for _ in range(draws // 10)]
    loops = np.where(model.means.max(axis=1) > 0.0, 1.0, 0.0)
    policies["no loop is ever left"] = [occupancy_policy(model, loops)]
    return policies


def _simulated(model: Model, policy: Vector, steps: int, runs: int) -> tuple[Index, Vector, Vector]:
    """The mean regret over time, and the half-width of its interval."""
    times = log_spaced(10, steps)
    regret = np.empty((runs, times.size))
    for seed in range(runs):
        agent = StationaryAgent(model.space, _REWARD, policy, seed)
        regret[seed] = simulate(model, agent, steps, seed, checkpoints=times, progress=False).regret(1.0)
    return times, regret.mean(axis=0), _NORMAL * regret.std(axis=0, ddof=1) / np.sqrt(runs)


def _rows(name: str, times: Index, regret: Vector) -> list[dict[str, object]]:
    return [{"who": name, "T": int(t), "regret": float(r)} for t, r in zip(times, regret, strict=True) if t >= 10]


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "Stationary policies and the agent on star(3, 4)",
        "Each stationary policy settles at a positive regret, 2ε/5, the smaller the later. The agent goes on falling.",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "T", "type": "quantitative", "scale": {"type": "log"}, "title": "T"},
                "y": {"field": "regret", "type": "quantitative", "scale": {"type": "log"}, "title": "regret"},
                "color": {"field": "who", "type": "nominal", "title": None},
            },
        },
    )
