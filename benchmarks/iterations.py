"""Ways to plan with a known model, side by side: how long each takes to bound the best average to within 1e-6.

    python -m benchmarks.iterations        a table of docs/performance.md

All of them stop at the same certificate: max (Tu - u) - min (Tu - u) <= 1e-6, by a greedy sweep from u = 0 on.

    full steps      u <- Tu: value iteration, which never converges where a world is periodic
    nine tenths     u <- u + .9 (Tu - u)
    in place        u(s) <- max_a r - g + p.u, state by state: Gauss and Seidel's order. Here g is the middle of the
                    bounds, which are those of a sweep that is not in place, and that it takes besides
    anchored        u <- u_0 / (k+1) + (1 - 1/(k+1)) Tu, from u_0 = 0: Halpern's iteration
    modified        nine tenths, and six sweeps of the policy after each greedy one
    solve           that of `eq.solve`: modified, and factorisations where it is slow
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import numpy as np

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.pages import put
from equipoise._runtime.compiler import kernel
from equipoise.offline.gains import GainSearch

TOLERANCE: Final = 1e-6
LIMIT: Final = 50_000  # greedy sweeps; then it is given up
FULL, DAMPED, IN_PLACE, ANCHORED, MODIFIED = range(5)
WAYS: Final = {
    "full steps": FULL,
    "nine tenths": DAMPED,
    "in place": IN_PLACE,
    "anchored": ANCHORED,
    "modified": MODIFIED,
}


@kernel
def _value(first, successor, probability, scores, pair, u):
    total = scores[pair]
    for i in range(first[pair], first[pair + 1]):
        total += probability[i] * u[successor[i]]
    return total


@kernel
def iterate(way, first_pair, first, successor, probability, scores, u, after, policy, limit):
    """Greedy sweeps until the span is within the tolerance, or 0 if it never is."""
    n_states = u.shape[0]
    for count in range(1, limit + 1):
        least, most = np.inf, -np.inf
        for s in range(n_states):
            top = -np.inf
            for pair in range(first_pair[s], first_pair[s + 1]):
                value = _value(first, successor, probability, scores, pair, u)
                if value > top:
                    top = value
                    policy[s] = pair
            after[s] = top
            least = min(least, top - u[s])
            most = max(most, top - u[s])
        if most - least <= TOLERANCE:
            return count
        if way == FULL:
            for s in range(n_states):
                u[s] = after[s]
        elif way in (DAMPED, MODIFIED):
            for s in range(n_states):
                u[s] += 0.9 * (after[s] - u[s])
        elif way == ANCHORED:  # from zero, so that the anchor adds nothing
            for s in range(n_states):
                u[s] = (1.0 - 1.0 / (count + 1.0)) * after[s]
        else:
            middle = 0.5 * (least + most)
            for s in range(n_states):
                top = -np.inf
                for pair in range(first_pair[s], first_pair[s + 1]):
                    top = max(top, _value(first, successor, probability, scores, pair, u))
                u[s] = top - middle
        if way == MODIFIED:
            for _ in range(6):
                for s in range(n_states):
                    after[s] = _value(first, successor, probability, scores, policy[s], u)
                for s in range(n_states):
                    u[s] += 0.9 * (after[s] - u[s])
        if way != ANCHORED:
            base = np.inf
            for s in range(n_states):
                base = min(base, u[s])
            for s in range(n_states):
                u[s] -= base
    return 0


def worlds() -> dict[str, tuple[eq.Model, np.ndarray]]:
    """Worlds that mix slowly and fast, each with a price for its outcomes."""
    goals = [(0, 29), (29, 0), (29, 29)]
    return {
        "riverswim(1000)": (eq.models.riverswim(1000), np.ones(1)),
        "star(3, 400)": (eq.models.star(3, 400), np.array([0.5, 0.3, 0.2])),
        "queue of one class": (eq.models.queue(arrivals=[0.5], service=[0.6], room=1000), np.ones(1)),
        "queue of two classes": (eq.models.queue(room=30), np.array([0.5, 0.9])),
        "grid of 30 x 30": (eq.models.grid(30, 30, goals=goals), np.array([0.5, 0.3, 0.2])),
        "random, 1,000": (eq.models.garnet(1000, 4, 5, n_outcomes=3, seed=1), np.array([0.5, 0.3, 0.2])),
        "random, 10,000": (eq.models.garnet(10_000, 4, 5, n_outcomes=3, seed=1), np.array([0.5, 0.3, 0.2])),
    }


def seconds(model: eq.Model, scores: np.ndarray, way: int) -> str:
    """How long a way takes, and its greedy sweeps; nothing if it was given up."""
    dynamics = (model.first_pair, model.transition_first, model.transition_state, model.transition_probability)

    def swept(limit: int) -> int:
        u, after, policy = np.zeros(model.n_states), np.zeros(model.n_states), np.zeros(model.n_states, dtype=np.int64)
        return int(iterate(way, *dynamics, scores, u, after, policy, limit))

    swept(1)
    began = time.process_time()
    sweeps = swept(LIMIT)
    taken = time.process_time() - began
    return f"{taken:.2g} ({sweeps:,})" if sweeps else ""


def searched(model: eq.Model, scores: np.ndarray) -> str:
    """How long `solve` takes for the same."""
    for _ in range(2):  # the first compiles, or loads what it needs
        began = time.process_time()
        found = GainSearch(model).best(scores, TOLERANCE)
        taken = time.process_time() - began
    return f"{taken:.2g}" if found.upper - found.lower <= TOLERANCE else ""


def rows() -> Iterator[list[str]]:
    """One a world."""
    for name, (model, weights) in worlds().items():
        scores = np.ascontiguousarray(model.means @ weights)
        cells = [name, *(seconds(model, scores, way) for way in WAYS.values()), searched(model, scores)]
        print(cells, flush=True)
        yield cells


def main() -> None:
    """Measure, and write the page."""
    put("iterations", table(["world", *WAYS, "`solve`"], list(rows())))


if __name__ == "__main__":
    main()
