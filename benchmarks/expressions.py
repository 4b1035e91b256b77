"""What a formula costs: one call of its gradient, and a step of an agent, against the reward that is built in.

    python -m benchmarks.expressions        the table of docs/expressions.md

A gradient is called in a compiled loop, as an agent calls it. `make bench` has the same as rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import cvxpy as cp
import numba
import numpy as np

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.pages import put
from benchmarks.stepping import learning, speed
from benchmarks.timing import best_times
from equipoise._runtime import threads
from equipoise._runtime.compiler import call_entry
from equipoise.rewards import Reward, from_cvxpy

PAGE: Final = Path(__file__).parents[1] / "docs" / "expressions.md"
CALLS = 10**6
STEPS = 3 * 10**6
TARGET = np.full(3, 1 / 3)
EPS = 0.05

W = cp.Variable(3)
FORMULAS: dict[str, tuple[Reward | None, cp.Expression]] = {
    "distance to a target, squared": (eq.rewards.Quadratic(TARGET), 1 - 0.5 * cp.sum_squares(W - TARGET)),
    "shortfall from KPIs, squared": (
        eq.rewards.TargetSquared(TARGET),
        1 - cp.mean(cp.square(cp.pos(TARGET - W))),
    ),
    "sum of logarithms": (
        eq.rewards.ProportionalFairness(3, EPS),
        cp.sum(cp.log(1 + W / EPS)) / (3 * np.log1p(1 / EPS)),
    ),
    "smallest": (eq.rewards.BottomSum(3, 1), cp.min(W)),
    "smallest, roots and a norm": (None, cp.min(W) + 0.1 * cp.sum(cp.sqrt(W + 0.01)) - 0.2 * cp.norm(W - TARGET)),
}


@numba.njit
def repeated(address, x, params, out, calls):
    """Call a gradient as the loops do."""
    total = 0.0
    for i in range(calls):
        x[0] = (i % 7) / 7.0
        call_entry(address, i, x, params, out)
        total += out[0]
    return total


def calling(reward: Reward) -> None:
    repeated(reward.kernels.gradient.address, np.full(3, 0.4), reward.params, np.empty(3), CALLS)


def gradients() -> Iterator[tuple[str, str, str]]:
    """One a formula: what it is, the time of a gradient, and that of the reward that is built in, if there is one."""
    for name, (built_in, expression) in FORMULAS.items():
        formula = from_cvxpy(expression, W)
        sides = [partial(calling, formula)] + ([] if built_in is None else [partial(calling, built_in)])
        own, *other = (f"{seconds / CALLS * 1e9:.0f} ns" for seconds in best_times(*sides, rounds=10))
        yield name, own, other[0] if other else ""


def stepped() -> tuple[float, float]:
    """Seconds of an agent on the star with the squared distance as a formula, and with the reward that is built in."""
    model = eq.models.star(branches=3, diameter=4)
    quadratic, expression = FORMULAS["distance to a target, squared"]
    assert quadratic is not None
    own, other = best_times(
        partial(learning, model, from_cvxpy(expression, W), STEPS), partial(learning, model, quadratic, STEPS)
    )
    return own, other


def report() -> list[tuple[str, str, str]]:
    """Rows of the table: what, measured, asked."""
    rows = []
    for name, own, other in gradients():
        beside = f"  (built in: {other})" if other else ""
        rows.append((f"a gradient of a formula, K=3: {name}", f"{own}{beside}", "< 1000 ns"))
    own_time, time = stepped()
    what = "star, K=3, D=4, FrankWolfe, the squared distance as a formula: time over that of Quadratic"
    rows.append((what, f"{own_time / time:.2f}  ({speed(STEPS, own_time)} and {speed(STEPS, time)})", ""))
    return rows


def main() -> None:
    """Measure, and write the page."""
    head = ["a gradient, for three outcomes", "as a formula", "built in"]
    found = table(head, [[name, own, other or "none"] for name, own, other in gradients()])
    own, other = stepped()
    ratio = f"{own / other:.1f}"
    text = f"""On a machine with {threads.core_count()} cores:

{found}
On the star, an agent with the squared distance as a formula took {ratio} times as long as with `Quadratic`."""
    put("costs", text, PAGE)


if __name__ == "__main__":
    main()
