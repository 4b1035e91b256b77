"""What could be had with the model known: the offline programs, certified, and what stationary policies reach."""

from equipoise.offline.benchmark import Benchmark, solve
from equipoise.offline.knapsack import KnapsackBenchmark, solve_knapsack
from equipoise.offline.stationary import Deterministic, PolicyRun, Stationary, best_stationary, simulate_policy

__all__ = [
    "Benchmark",
    "Deterministic",
    "KnapsackBenchmark",
    "PolicyRun",
    "Stationary",
    "best_stationary",
    "simulate_policy",
    "solve",
    "solve_knapsack",
]
