"""The public API and changed files with numba's bounds checks: an index that leaves its array raises `IndexError`.

`python -m tests.bounds` sets ``NUMBA_BOUNDSCHECK=1`` and a cache folder of its own, in which all kernels are compiled
with checks (some minutes). It then runs every kind of agent and model, the offline solvers, certificates and logs, and
some hundreds of the files that `tests.fuzz` makes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def use_everything(folder: Path) -> None:
    """One pass of what calls kernels."""
    import equipoise as eq
    from equipoise import testing
    from tests import fuzz
    from tests.pins.cases import confidences, made_of_more, oracles, rewards, saved

    for name, make in {**saved(), **made_of_more()}.items():
        model, agent = make()
        eq.simulate(model, agent, 250, seed=1, progress=False)
        agent.save(folder / "agent.npz")
        fuzz.use_agent(eq.agents.Agent.load(folder / "agent.npz"), model, folder / "agent.npz")
        print(name, flush=True)
    small = eq.models.garnet(5, 3, 3, 3, seed=8)
    for reward in rewards().values():
        eq.simulate(small, eq.TocUCRL2(small.space, reward), 250, seed=1, progress=False)
        reward.conjugate(np.zeros(3))
    for oracle, reward in oracles().values():
        eq.simulate(small, eq.TocUCRL2(small.space, reward, oracle), 250, seed=1, progress=False)
    for confidence in confidences(small).values():
        agent = eq.TocUCRL2(small.space, eq.rewards.Quadratic([0.4, 0.3, 0.3]), confidence=confidence)
        eq.simulate(small, agent, 250, seed=1, progress=False)
        eq.confidence.intervals(small.space, eq.simulate(small, agent, 50, seed=2, trace=True, progress=False).trace)
    for model in fuzz.models().values():
        fuzz.use_model(model)
        if model.n_states < 100:
            eq.solve(model, eq.rewards.BottomSum(model.n_outcomes, 1), progress=False)
            eq.solve(model, eq.rewards.TargetSquared([0.5] * model.n_outcomes), progress=False)
    best = eq.best_stationary(small, eq.rewards.Quadratic([0.4, 0.3, 0.3]))
    assert best is not None
    eq.solve_knapsack(saved()["knapsack"]()[0], 0.4, progress=False)
    shop = eq.mechanics.inventory()
    rule = eq.agents.baselines.StationaryAgent(shop.space, eq.rewards.TargetSquared([0.9] * shop.space.n_outcomes))
    log = eq.simulate(shop.model(), rule, 500, seed=1, trace=True, progress=False).trace
    print(eq.certify(shop.space, rule.reward, log))
    eq.theory.decompose(small, eq.TocUCRL2(small.space, eq.rewards.Quadratic([0.4, 0.3, 0.3])), 200, seed=1)
    testing.check_reward(eq.rewards.Quadratic([0.4, 0.3, 0.3]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=600)
    given = parser.parse_args()
    if os.environ.get("NUMBA_BOUNDSCHECK") != "1":
        with tempfile.TemporaryDirectory() as cache:
            checked = {"NUMBA_BOUNDSCHECK": "1", "EQUIPOISE_CACHE_DIR": cache, "EQUIPOISE_QUIET": "1"}
            return subprocess.run(
                [sys.executable, "-m", "tests.bounds", *sys.argv[1:]], env={**os.environ, **checked}, check=False
            ).returncode
    from equipoise._runtime.compiler import kernel
    from tests import fuzz

    first_after = kernel(lambda array: array[array.shape[0]])
    try:
        first_after(np.zeros(3))
        print("no bounds are checked")
        return 1
    except IndexError:
        pass
    with tempfile.TemporaryDirectory() as folder:
        use_everything(Path(folder))
    tally = fuzz.fuzz(given.mutations, seed=7, tell=lambda text: print(text, flush=True))
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
