"""Where the time goes: the parts of `solve` and of a learning agent's plans, as tables of docs/performance.md.

    python -m benchmarks.profiles        two minutes

`solve` is profiled by the interpreter: its kernels are a handful, and each is one call. An agent's loop is one kernel,
which no profiler looks into; so its parts are run again by themselves, on what an agent has learnt after so many steps.
One thread.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import time
from collections.abc import Callable
from typing import Final

import numpy as np

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.pages import put
from equipoise._runtime.threads import THREADS_VARIABLE
from equipoise.confidence.base import fill_region
from equipoise.planning.evi import workspace
from equipoise.planning.kernels import iterate, optimistic_rewards

PARTS: Final = {
    "improve": "greedy sweeps",
    "follow_on": "sweeps of a policy",
    "restrict": "its transitions",
    "settle": "its distribution",
    "strong_components": "its classes",
}
EDGED: Final = eq.rewards.BottomSum(3, 2)
SMOOTH: Final = eq.rewards.Quadratic([0.5, 0.7, 0.9])
STEPS: Final = 500_000


def world(n_states: int) -> eq.Model:
    """A random one."""
    return eq.models.garnet(n_states, 4, 5, n_outcomes=3, seed=1)


def least(run: Callable[[], object]) -> float:
    """Seconds, the least of five."""
    times = []
    for _ in range(5):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return min(times)


def solving(n_states: int, reward: eq.rewards.Reward) -> list[str]:
    """The shares of a solution."""
    model = world(n_states)
    eq.solve(model, reward, method="columns", progress=False)
    profile = cProfile.Profile()
    profile.runcall(eq.solve, model, reward, method="columns", progress=False)
    stats = pstats.Stats(profile)
    spent = dict.fromkeys(PARTS, 0.0)
    for (_, _, name), (_, _, own, _, _) in stats.stats.items():  # type: ignore[attr-defined]
        if name in spent:
            spent[name] += own
    total = stats.total_tt  # type: ignore[attr-defined]
    shares = [spent[name] / total for name in PARTS]
    return [f"{total:.3g}", *(f"{share:.0%}" for share in shares), f"{1.0 - sum(shares):.0%}"]


def learning(n_states: int) -> list[str]:
    """Microseconds of the parts of a plan, after some steps; of a step, nanoseconds."""
    model = world(n_states)
    agent = eq.recommended(model.space, SMOOTH)
    assert isinstance(agent, eq.TocUCRL2)
    run = eq.simulate(model, agent, STEPS, seed=1, progress=False)
    machine, space = agent.loop.arrays, model.space
    reward, u, policy = np.zeros(space.n_pairs), np.zeros(n_states), np.zeros(n_states, dtype=np.int64)
    buffers = workspace(n_states, space.n_pairs)
    region = machine.region
    stream = agent.confidence.first_stream()
    whole = least(lambda: fill_region(agent.confidence, space, machine.counts, agent.t, agent.delta, stream, region))
    rewards = least(lambda: optimistic_rewards(agent.theta, region.v_lo, region.v_hi, reward))

    def swept(count: int) -> float:
        def sweep() -> None:
            u[:] = 0.0
            iterate(None, space.first_pair, region, reward, 0.0, count, 0.9, u, policy, buffers, count + 1)

        return least(sweep)

    known = eq.TocUCRL2(space, SMOOTH, threshold=np.inf, confidence=eq.confidence.Known(model), tolerance=0.1)
    eq.simulate(model, known, 1000, seed=1, progress=False)
    step = least(lambda: eq.simulate(model, known, 100_000, seed=1, progress=False)) / 100_000
    first, two, five = swept(1), swept(2), swept(5)
    plans = run.episodes.height
    cells = [f"{1e9 * step:.0f}", f"{STEPS / plans:,.0f}"]
    return [*cells, *(f"{1e6 * part:,.0f}" for part in (whole, rewards, first, two - first, (five - two) / 3.0))]


def measured() -> str:
    """Both tables."""
    solved = [
        [f"{n_states:,}", name, *solving(n_states, reward)]
        for n_states in (10_000, 100_000, 1_000_000)
        for name, reward in (("smooth", SMOOTH), ("edges", EDGED))
    ]
    learnt = [[f"{n_states:,}", *learning(n_states)] for n_states in (1000, 10_000, 100_000)]
    return "\n".join(
        [
            "`solve` by columns, as shares of the time on the clock, some of it the profiler's:\n",
            table(["S", "g", "s", *PARTS.values(), "the rest"], solved),
            f"The recommended agent after {STEPS:,} steps: nanoseconds of a step, steps from plan to plan so far, and "
            "microseconds of the parts of a plan:\n",
            table(
                [
                    "S",
                    "a step",
                    "steps a plan",
                    "all regions anew",
                    "rewards",
                    "first sweep",
                    "second",
                    "each after that",
                ],
                learnt,
            ),
        ]
    )


def main() -> None:
    """Measure, and write the page."""
    os.environ[THREADS_VARIABLE] = "1"
    eq.solve(world(50), SMOOTH, method="columns", progress=False)
    eq.solve(world(50), EDGED, method="columns", progress=False)
    put("profiles", measured())


if __name__ == "__main__":
    main()
