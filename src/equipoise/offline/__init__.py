"""What could be had with the model known: the offline programs, certified, and what stationary policies reach."""

from equipoise.offline.benchmark import Benchmark, solve
from equipoise.offline.knapsack import KnapsackBenchmark, solve_knapsack

__all__ = ["Benchmark", "KnapsackBenchmark", "solve", "solve_knapsack"]
