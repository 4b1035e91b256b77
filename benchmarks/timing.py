"""Times that can be compared: the two sides in turns, the best of several rounds each."""

from __future__ import annotations

import time
from collections.abc import Callable

ROUNDS = 5


def best_times(*sides: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The shortest time of each side; all sides run once before the clock starts."""
    for side in sides:
        side()
    best = [float("inf")] * len(sides)
    for _ in range(rounds):
        for index, side in enumerate(sides):
            began = time.perf_counter()
            side()
            best[index] = min(best[index], time.perf_counter() - began)
    return best
