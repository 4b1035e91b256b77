"""The rewards that are held to the contract: each family at several sizes and parameters."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from equipoise import rewards
from equipoise.rewards import Reward


class Case(NamedTuple):
    """A reward, and whether its Lipschitz constant is attained inside the box."""

    make: Callable[[], Reward]
    tight: bool = True


CASES: dict[str, Case] = {
    "linear-1": Case(lambda: rewards.Linear([-2.0])),
    "linear-3": Case(lambda: rewards.Linear([1.0, -0.5, 0.0])),
    "linear-norm1": Case(lambda: rewards.Linear([1.0, -3.0], norm=1)),
    "linear-inf": Case(lambda: rewards.Linear([1.0, -3.0], norm=math.inf)),
    "quadratic-1": Case(lambda: rewards.Quadratic([0.3])),
    "quadratic-out": Case(lambda: rewards.Quadratic([4 / 3, -0.2])),
    "quadratic-4": Case(lambda: rewards.Quadratic([0.0, 1.0, 0.5, 0.2])),
    "squared-1": Case(lambda: rewards.TargetSquared([1.0])),
    "squared-3": Case(lambda: rewards.TargetSquared([0.2, 0.9, 0.0]), tight=False),
    "squared-ones": Case(lambda: rewards.TargetSquared([1.0] * 4)),
    **{
        f"distance-{norm}-{len(kpi)}": Case(lambda kpi=kpi, norm=norm: rewards.TargetDistance(kpi, norm))
        for norm in (1, 2, math.inf)
        for kpi in ([0.4], [0.3, 0.8], [0.7, 0.0, 1.0, 0.25, 0.7])
    },
    **{
        f"distance-box-{norm}": Case(
            lambda norm=norm: rewards.TargetDistance(rewards.TargetBox([0.3, 0.0, 0.5], [0.6, 0.4, 1.0]), norm)
        )
        for norm in (1, 2, math.inf)
    },
    "distance-p": Case(lambda: rewards.TargetDistance([0.3, 0.8, 0.0], p=3.0)),
    "distance-p-small": Case(lambda: rewards.TargetDistance([0.3, 0.8], p=1.25), tight=False),
    "distance-weighted-1": Case(lambda: rewards.TargetDistance([0.3, 0.8], 1, [2.0, 0.5])),
    "distance-weighted-2": Case(lambda: rewards.TargetDistance([0.7, 0.2, 0.5], 2, [0.5, 3.0, 1.0])),
    "distance-weighted-inf": Case(
        lambda: rewards.TargetDistance(rewards.TargetBox([0.3, 0.1], [0.5, 0.6]), math.inf, [0.5, 2.0])
    ),
    "distance-weighted-p": Case(lambda: rewards.TargetDistance([0.7, 0.2], math.inf, [0.5, 3.0], p=4.0), tight=False),
    **{
        f"distance-hull-{norm}": Case(
            lambda norm=norm: rewards.TargetDistance(
                rewards.TargetHull([[0.2, 0.3, 0.5], [0.6, 0.1, 0.9], [0.4, 0.8, 0.4]]), norm
            )
        )
        for norm in (1, 2, math.inf)
    },
    "distance-ball-1": Case(lambda: rewards.TargetDistance(rewards.TargetBall([0.5], 0.2))),
    "distance-ball-2": Case(lambda: rewards.TargetDistance(rewards.TargetBall([0.5, 0.4], 0.3))),
    "distance-ball-p": Case(lambda: rewards.TargetDistance(rewards.TargetBall([0.5, 0.4], 0.3), p=3.0), tight=False),
    "distance-polytope": Case(
        lambda: rewards.TargetDistance(rewards.TargetPolytope([[1.0, -1.0], [1.0, 1.0]], [0.0, 1.0]), 1)
    ),
    "distance-polytope-weighted": Case(
        lambda: rewards.TargetDistance(rewards.TargetPolytope([[1.0, -1.0], [1.0, 1.0]], [0.0, 1.0]), 2, [2.0, 0.5]),
        tight=False,
    ),
    "distance-zero": Case(lambda: rewards.TargetDistance([0.0, 0.0]), tight=False),
    "balance-1": Case(lambda: rewards.Balance([1.0])),
    "balance-4": Case(lambda: rewards.Balance([0.25, 0.25, 0.5, 0.0])),
    **{
        f"bottom-{K}-{kappa}": Case(lambda K=K, kappa=kappa: rewards.BottomSum(K, kappa))
        for K, kappa in ((1, 1), (3, 1), (3, 2), (4, 4), (5, 3))
    },
    "gini-1": Case(lambda: rewards.GeneralisedGini([2.0])),
    "gini-3": Case(lambda: rewards.GeneralisedGini([0.5, 0.3, 0.2])),
    "gini-5": Case(lambda: rewards.GeneralisedGini([1.0, 1.0, 0.5, 0.125, 0.0])),
    "proportional-1": Case(lambda: rewards.ProportionalFairness(1, 0.5)),
    "proportional-3": Case(lambda: rewards.ProportionalFairness(3, 0.05)),
    "proportional-large": Case(lambda: rewards.ProportionalFairness(2, 10.0)),
    "entropy-2": Case(lambda: rewards.Entropy(2, mu=0.1)),
    "entropy-one": Case(lambda: rewards.Entropy(3, mu=1.0)),
    "entropy-5": Case(lambda: rewards.Entropy(5, mu=0.01)),
    "entropy-at": Case(lambda: rewards.Entropy(3).at(50)),
    "relative-2": Case(lambda: rewards.RelativeEntropy([0.25, 0.75], mu=0.1)),
    "relative-4": Case(lambda: rewards.RelativeEntropy([0.0, 0.5, 0.2, 0.3], mu=0.02)),
    "relative-one": Case(lambda: rewards.RelativeEntropy([1.0, 0.0, 0.0], mu=1.0)),
    "cross-1": Case(lambda: rewards.CrossEntropy([1.0], mu=0.5)),
    "cross-4": Case(lambda: rewards.CrossEntropy([0.0, 0.5, 0.2, 0.3], mu=0.02)),
    "knapsack-2": Case(lambda: rewards.Knapsack(2, 0.5)),
    "knapsack-5": Case(lambda: rewards.Knapsack(5, 0.3)),
    "sum-shifted": Case(
        lambda: rewards.Sum([rewards.Linear([1.0, 0.5, 0.0]), rewards.BottomSum(3, 2)], [0.5, 2.0]), tight=False
    ),
    "sum-inf": Case(
        lambda: rewards.Sum([rewards.Linear([1.0, 0.5, 0.25]), rewards.BottomSum(3, 2)], [0.5, 2.0], math.inf)
    ),
    "sum-one": Case(lambda: rewards.Sum([rewards.TargetDistance([0.3, 0.8])], [3.0])),
    "within-proportional": Case(
        lambda: rewards.Within(rewards.ProportionalFairness(3, 0.05), [0.1, 0.0, 0.25], [0.9, 1.0, 0.5])
    ),
    "within-balance": Case(lambda: rewards.Within(rewards.Balance([0.25, 0.75]), [0.25, 0.1], [0.6, 0.75])),
    "within-entropy": Case(lambda: rewards.Within(rewards.Entropy(3, mu=0.01), [0.1] * 3, [0.8] * 3)),
    "within-relative": Case(
        lambda: rewards.Within(rewards.RelativeEntropy([0.25, 0.75], mu=0.02), [0.1, 0.0], [0.5, 0.9])
    ),
    "formula-quadratic": Case(lambda: rewards.Expression("1 - 0.5 * sum_squares(w - [0.2, 0.9, 0.4])", 3)),
    "formula-shortfall": Case(lambda: rewards.Expression("1 - mean(square(pos([0.7, 0.9] - w)))", 2)),
    "formula-log": Case(lambda: rewards.Expression("sum(log(w + 0.05)) / 4", 4)),
    "formula-entropy": Case(lambda: rewards.Expression("sum(entr(w + 0.1))", 2, 1.0)),
    "formula-distance": Case(lambda: rewards.Expression("-norm1(w - [0.25, 0.5])", 2, math.inf)),
    "formula-order": Case(lambda: rewards.Expression("3 * sum_smallest(w, 2) - 1", 4)),
    "formula-one": Case(lambda: rewards.Expression("min(hstack([w[0], 0.5])) + sqrt(w[0] + 0.01)", 1)),
}

SMOOTH = [name for name, case in CASES.items() if case.make().smoothness is not None]


def points(n: int, low: float = 0.0, high: float = 1.0) -> st.SearchStrategy[np.ndarray]:
    """Vectors with entries between two limits; the limits, 0 and ties among them often."""
    special = st.sampled_from([x for x in (low, 0.0, 0.25, high) if low <= x <= high])
    entry = st.one_of(special, st.floats(low, high, allow_subnormal=False))
    return st.lists(entry, min_size=n, max_size=n).map(np.array)


def vertices(n: int) -> np.ndarray:
    return np.array(list(itertools.product((0.0, 1.0), repeat=n)))


def grid(n: int) -> np.ndarray:
    """A few thousand points of the box, evenly placed."""
    side = {1: 2001, 2: 61, 3: 17, 4: 9, 5: 6}[n]
    return np.array(list(itertools.product(np.linspace(0.0, 1.0, side), repeat=n)))


def assert_same_elsewhere(reward: Reward, point: list[float], folder: Path) -> None:
    """A pickle of the reward has the same value and gradient in another process, where code lies elsewhere."""
    expected = [reward.value(point), *reward.gradient(point).tolist()]
    (folder / "reward").write_bytes(pickle.dumps(reward))
    code = (
        "import pathlib, pickle, sys\n"
        "padding = [bytearray(10**6) for _ in range(5)]\n"
        "reward = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\n"
        f"print([reward.value({point}), *reward.gradient({point}).tolist()])\n"
    )
    command = [sys.executable, "-c", code, str(folder / "reward")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == expected


def missing(reward: Reward, w: np.ndarray, theta: np.ndarray) -> float:
    """The Frank-Wolfe gap of g + theta at w: nothing on the box is better by more."""
    G = reward.gradient(w) + theta
    return float(np.sum(np.maximum(G * (1.0 - w), -G * w)))
