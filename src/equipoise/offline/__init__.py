"""The best achievable values of a known model: the offline programs, certified, and what stationary policies reach."""

from equipoise.offline.benchmark import Benchmark, solve
from equipoise.offline.conflict import Conflict
from equipoise.offline.frontier import Frontier, frontier
from equipoise.offline.knapsack import KnapsackBenchmark, solve_knapsack
from equipoise.offline.stationary import Deterministic, Stationary, best_stationary

__all__ = [
    "Benchmark",
    "Conflict",
    "Deterministic",
    "Frontier",
    "KnapsackBenchmark",
    "Stationary",
    "best_stationary",
    "frontier",
    "solve",
    "solve_knapsack",
]
