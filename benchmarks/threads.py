"""What threads inside a sweep gain: one thread beside as many as there are cores, in one run.

    python -m benchmarks.threads        the table of docs/performance.md

Random worlds with 4 actions and 5 successors. A sweep is one of `solve`; a plan is that of an agent which was told the
model and plans to 1e-6. Both are forced into parts however small they are; the package does that from some size on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.pages import put
from equipoise._runtime import threads
from equipoise.offline import gains
from equipoise.planning import parallel

SIZES: Final = (1000, 3000, 10_000, 30_000, 100_000, 300_000)
TIME: Final = 1.0  # seconds for each measurement, about


def best(run: Callable[[], object]) -> float:
    """Seconds on the clock, the least of several; threads have no common processor."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < TIME:
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def swept(model: eq.Model, number: int) -> float:
    """A greedy sweep, in so many parts."""
    u, after, pairs = (
        np.random.default_rng(0).random(model.n_states),
        np.empty(model.n_states),
        model.first_pair[:-1].copy(),
    )
    dynamics = (model.transition_first, model.transition_state, model.transition_probability)
    arrays = (model.first_pair, *dynamics, model.means[:, 0].copy(), u, pairs, after)
    parts = [(model.n_states * i // number, model.n_states * (i + 1) // number) for i in range(number)]
    return best(lambda: threads.parallel_map(lambda begin, end: gains.improve(*arrays, begin, end), parts))


def planned(model: eq.Model, number: int) -> float:
    """A plan of an agent that knows the model."""
    os.environ[threads.THREADS_VARIABLE] = str(number)
    known, reward = eq.confidence.Known(model), eq.rewards.Quadratic([0.5, 0.7, 0.9])

    def plan() -> None:
        eq.TocUCRL2(model.space, reward, confidence=known, tolerance=1e-6).act(model.start)

    return best(plan)


def rows(number: int) -> Iterator[list[str]]:
    """One a size."""
    for n_states in SIZES:
        model = eq.models.garnet(n_states, 4, 5, n_outcomes=3, seed=1)
        cells = [f"{n_states:,}"]
        for measure in (swept, planned):
            one, many = measure(model, 1), measure(model, number)
            cells += [f"{1e3 * one:.3g}", f"{1e3 * many:.3g}", f"{one / many:.2f}"]
        print(cells, flush=True)
        yield cells


def forced() -> None:
    """Cut everything into parts, however small it is."""
    threads.MIN_SUCCESSORS = 1  # type: ignore[misc]
    parallel.LARGE = 1  # type: ignore[misc]


def report() -> list[tuple[str, str, str]]:
    """A row of the table of `make bench`."""
    number = threads.core_count()
    if number == 1:
        return []
    model = eq.models.garnet(100_000, 4, 5, n_outcomes=3, seed=1)
    swept(eq.models.garnet(100, 4, 5, n_outcomes=3), 1)
    return [
        (f"a sweep, S=100,000: one thread over {number}", f"{swept(model, 1) / swept(model, number):.2f}", ">= 1.3")
    ]


def main() -> None:
    """Measure, and write the page."""
    forced()
    number = threads.core_count()
    swept(eq.models.garnet(100, 4, 5, n_outcomes=3), number)
    planned(eq.models.garnet(100, 4, 5, n_outcomes=3), number)
    head = ["S", "a sweep, ms", f"{number} threads", "times", "a plan, ms", f"{number} threads", "times"]
    put("threads", table(head, list(rows(number))))


if __name__ == "__main__":
    main()
