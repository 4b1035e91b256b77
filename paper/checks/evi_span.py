r"""Theorem B.4, quoted: extended value iteration ends, and the span of its bias.

If p lies in H^p and the world is communicating with diameter D, EVI(r, H^p; epsilon)

    (i)  ends after finitely many sweeps,        (ii) with a bias of span at most D max |r|.

Both need a word more (erratum 21). (i) If the region is {p} alone and p is periodic, the iteration swings for ever, as
on the ring. The regions of (3.5) leave some mass free for every pair, and there it ends; in {p} it ends with half
steps. (ii) is for rewards that are not negative. For others

    max bias - min bias <= D (max r - min r),

after any number of sweeps: from s one may first go to z, which takes D steps on average and costs at most max r - min
r for each. On `detour(n)`, a loop that pays 1 and a way round that pays -1, the span is 2 (n - 1) and D max |r| is n:
the quoted bound is wrong by nearly 2, the largest factor possible.

How it is measured. Random worlds with few successors a pair; regions of the form of (3.5) around the true transitions,
for random numbers of visits; random rewards and tolerances. Of all of them the span nearest to its bound is shown, and
the longest iteration. Rewards that are not negative are looked at apart: there the theorem holds as quoted. The gain
and the bias of the planner are held against Algorithm 3 written out here, sweep by sweep.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._types import Vector
from equipoise.confidence.region import Region
from equipoise.errors import ConvergenceError
from equipoise.models.model import Model
from equipoise.models.paper_instances import ring
from equipoise.models.standard import garnet
from equipoise.planning.evi import extended_value_iteration
from paper.findings import Checked, Finding, Picture, Size, Statement
from paper.written_terms import best_mean

STATEMENT: Final = Statement(
    name="evi-span",
    number="Theorem B.4",
    title="Extended value iteration ends; the span of its bias",
    says="if p ∈ H^p, EVI ends, and max γ̃ − min γ̃ ≤ D max |r̃|",
    correction="in the regions of (3.5) EVI ends, and max γ̃ − min γ̃ ≤ D (max r̃ − min r̃)",
    erratum=21,
)
_LIMIT: Final = 1_000_000  # sweeps; those that converge take a tenth of it at most
_DELTA: Final = 0.05
_ROUNDING: Final = 1e-9


class Planned(NamedTuple):
    """The span of a bias, both bounds on it, and how many sweeps it took; one more than the limit if it did not end."""

    name: str
    span: float
    quoted: float
    corrected: float
    sweeps: int


def check(size: Size) -> Checked:
    """Plan in many regions; compare the spans with both bounds, and see that every plan ends."""
    written, corrected, drawn = [], [], []
    for n in (3, 10, 30, size.pick(100, 300)):
        world, rewards = detour(n)
        one = planned(f"detour({n}), region {{p}}", world, rewards, alone(world), 1e-6)
        drawn.append(one)
        written.append(Finding(one.name, one.span, one.quoted))
        corrected.append(Finding(one.name, one.span, one.corrected))
        share = Finding(
            one.name, one.span, 2.0 * (n - 1), ">=", error=_ROUNDING, note="span, closed form: 1 − 1/n of D·2"
        )
        corrected.append(share)
    for signs in ("rewards of both signs", "rewards ≥ 0"):
        plans = [_drawn(signs, seed) for seed in range(size.pick(300, 10_000))]
        one = max(plans, key=lambda plan: plan.span / plan.quoted)
        quoted = Finding(one.name, one.span, one.quoted + _ROUNDING)
        if signs == "rewards ≥ 0":
            corrected.append(dataclasses.replace(quoted, note="D max |r̃|: holds as quoted"))
        else:
            written.append(quoted)
        one = max(plans, key=lambda plan: plan.span / plan.corrected)
        corrected.append(Finding(one.name, one.span, one.corrected + _ROUNDING))
        one = max(plans, key=lambda plan: plan.sweeps)
        corrected.append(Finding(one.name, one.sweeps, _LIMIT, note="sweeps, the most of all"))
        drawn += plans[:150]
    world = ring(4)
    rewards = world.means[:, 0]
    swinging = planned("ring(4), region {p}", world, rewards, alone(world), 1e-6)
    note = "sweeps" if swinging.sweeps <= _LIMIT else "sweeps, and no end of it"
    written.append(Finding(swinging.name, swinging.sweeps, _LIMIT, note=note))
    for visits in (10, 1000, 100_000):
        many = np.full(world.n_pairs, visits)
        one = planned(f"ring(4), {visits} visits of each pair", world, rewards, around(world, many), 1e-6)
        corrected.append(Finding(one.name, one.sweeps, _LIMIT, note="sweeps"))
    one = planned("ring(4), region {p}, half steps", world, rewards, alone(world), 1e-6, relaxation=0.5)
    corrected.append(Finding(one.name, one.sweeps, _LIMIT, note="sweeps"))
    corrected += _by_hand(size.pick(30, 300))
    return Checked(STATEMENT, tuple(written), tuple(corrected), (_picture(drawn),))


def _by_hand(count: int) -> list[Finding]:
    """The planner against Algorithm 3 written out, on small worlds: gain, bias and policy's value of the last sweep."""
    gain = bias = 0.0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        world = garnet(int(rng.integers(2, 6)), 2, 2, seed=seed)
        visits = rng.integers(50, 5_000, world.n_pairs)
        rewards, tolerance = rng.uniform(-1.0, 1.0, world.n_pairs), 10.0 ** rng.uniform(-4.0, -1.0)
        plan = extended_value_iteration(world.first_pair, around(world, visits), rewards, tolerance)
        difference, record = written_out(world, visits, rewards, tolerance)
        gain = max(gain, abs(plan.gain - float(difference.max())))
        bias = max(bias, float(np.abs(plan.bias - (record - record.min())).max()))
    worlds = f"Algorithm 3 written out, {count} worlds"
    return [
        Finding(f"{worlds}, φ̃", gain, _ROUNDING, note="largest difference"),
        Finding(f"{worlds}, γ̃", bias, _ROUNDING, note="largest difference"),
    ]


def written_out(model: Model, visits: NDArray[np.int64], rewards: Vector, tolerance: float) -> tuple[Vector, Vector]:
    """Algorithm 3, line by line, over the intervals of (3.5) around the truth: the last difference and u before it."""
    p = model.transitions().toarray()
    log_p = math.log(12.0 * model.n_states * model.n_pairs * (1.0 + float(visits.sum())) ** 2 / _DELTA)
    rate = (log_p / np.maximum(1, visits))[:, None]
    radius = np.sqrt(2.0 * p * rate) + 3.0 * rate
    lo, hi = np.maximum(0.0, p - radius), np.minimum(1.0, p + radius)
    u = np.zeros(model.n_states)
    for _ in range(_LIMIT):
        following = np.maximum.reduceat(rewards + best_mean(u, lo, hi), model.first_pair[:-1])
        if np.ptp(following - u) <= tolerance:
            return following - u, u
        u = following
    raise AssertionError("no end")


def detour(n: int) -> tuple[Model, Vector]:
    """Build a loop at state 0 that pays 1, and a way round of n steps that pay -1; the rewards stand apart.

    >>> detour(3)[0].diameter(), detour(3)[1].tolist()
    (3.0, [1.0, -1.0, -1.0, -1.0])
    """
    nothing = [0.0]
    states = [[[(1.0, 0, nothing)], [(1.0, 1 % n, nothing)]]]
    states += [[[(1.0, (s + 1) % n, nothing)]] for s in range(1, n)]
    return Model.from_branches(states), np.array([1.0, *[-1.0] * n])


def alone(model: Model) -> Region:
    """The region that holds the true transitions alone."""
    p, none, unknown = model.transition_probability, np.zeros(model.n_pairs), np.zeros((model.n_pairs, 1))
    return Region(model.transition_first, model.transition_state, p, p, none, none, none, unknown, unknown)


def around(model: Model, visits: NDArray[np.int64]) -> Region:
    """A region of the form of (3.5), with the true transitions for its estimates."""
    tau = 1.0 + float(visits.sum())
    log_p = math.log(12.0 * model.n_states * model.n_pairs * tau**2 / _DELTA)
    least = 3.0 * log_p / np.maximum(1, visits)
    p = model.transition_probability
    each = np.repeat(least, np.diff(model.transition_first))
    radius = np.sqrt(2.0 / 3.0 * p * each) + each
    return alone(model)._replace(
        lo=np.maximum(0.0, p - radius),
        hi=np.minimum(1.0, p + radius),
        rest=np.minimum(1.0, least),
        rest_sum=np.ones(least.size),
    )


def planned(
    name: str, model: Model, rewards: Vector, region: Region, tolerance: float, relaxation: float = 1.0
) -> Planned:
    """Run extended value iteration, from zero as the paper does."""
    D = model.diameter()
    quoted, corrected = D * float(np.abs(rewards).max()), D * float(np.ptp(rewards))
    try:
        plan = extended_value_iteration(
            model.first_pair, region, rewards, tolerance, limit=_LIMIT, relaxation=relaxation
        )
    except ConvergenceError:
        return Planned(name, 0.0, quoted, corrected, _LIMIT + 1)
    return Planned(name, float(np.ptp(plan.bias)), quoted, corrected, plan.sweeps)


def _drawn(signs: str, seed: int) -> Planned:
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    world = garnet(S, A, int(rng.integers(1, min(3, S) + 1)), seed=seed)
    visits = (10.0 ** rng.uniform(2.0, 6.5) * rng.dirichlet(np.ones(world.n_pairs))).astype(np.int64)
    rewards = rng.uniform(-1.0, 1.0, world.n_pairs)
    if rng.random() < 0.5:
        rewards = np.sign(rewards)
    rewards[:2] = 1.0, -1.0
    if signs == "rewards ≥ 0":
        rewards = np.maximum(0.0, rewards)
    name = f"garnet seed {seed}, {signs}"
    return planned(name, world, rewards, around(world, visits), 10.0 ** rng.uniform(-6.0, 0.0))


def _picture(plans: list[Planned]) -> Picture:
    rows = [
        {"bound": one.corrected, "span": one.span, "quoted": "kept" if one.span <= one.quoted else "exceeded"}
        for one in plans
        if one.span > 0.0
    ]
    ends = [min(float(str(row["bound"])) for row in rows), max(float(str(row["bound"])) for row in rows)]
    return Picture(
        "The span of the bias against D(max r̃ − min r̃)",
        "Random worlds and detours. None may lie above the diagonal; near to it the quoted D max |r̃| is exceeded.",
        {
            "layer": [
                {
                    "data": {"values": [{"bound": x, "span": x} for x in ends]},
                    "mark": {"type": "line", "strokeDash": [4, 4]},
                },
                {
                    "data": {"values": rows},
                    "mark": "point",
                    "encoding": {"color": {"field": "quoted", "type": "nominal", "title": "D max |r̃|"}},
                },
            ],
            "encoding": {
                "x": {"field": "bound", "type": "quantitative", "scale": {"type": "log"}, "title": "D(max r̃ − min r̃)"},
                "y": {"field": "span", "type": "quantitative", "scale": {"type": "log"}, "title": "span"},
            },
        },
    )
