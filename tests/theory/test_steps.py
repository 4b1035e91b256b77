"""A number of steps may be written as 1e5, wherever one is taken; 1.5 steps may not."""

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.oracles import Box, Doubling, EuclideanBall, FrankWolfe, TunedMirrorDescent
from equipoise.planning import Planner
from equipoise.theory import bounds, coverage, decompose, printed

MODEL = eq.models.bandit(2)
REWARD = eq.rewards.Quadratic([0.5, 0.5])
FACTS, SETTING = bounds.Facts.of(MODEL), bounds.Setting(reward=REWARD)

TAKERS = {
    "visit_episodes": lambda T: bounds.visit_episodes(4, T),
    "gradient_episodes": lambda T: bounds.gradient_episodes(REWARD, FrankWolfe(), 1.0, T),
    "episodes": lambda T: bounds.episodes(REWARD, FrankWolfe(), 1.0, 4, T),
    "inverse_roots": lambda T: bounds.inverse_roots(4, T),
    "inverses": lambda T: bounds.inverses(4, T),
    "planning": lambda T: bounds.planning(4, T),
    "planning, tolerance": lambda T: bounds.planning(4, T, 0.5),
    "diamond": lambda T: bounds.diamond(1.0, FACTS, 0.05, T),
    "spade": lambda T: bounds.spade(1.0, FACTS, 0.05, 50.0, T),
    "errors": lambda T: bounds.errors(FACTS, SETTING, T),
    "oracle_term": lambda T: bounds.oracle_term(SETTING, T),
    "regret": lambda T: bounds.regret(FACTS, SETTING, T),
    "benchmark_slack": lambda T: bounds.benchmark_slack(FACTS, SETTING, T),
    "printed.gradient_episodes": lambda T: printed.gradient_episodes(REWARD, FrankWolfe(), 1.0, T),
    "printed.episodes": lambda T: printed.episodes(REWARD, FrankWolfe(), 1.0, 4, T),
    "printed.planning": printed.planning,
    "printed.diamond": lambda T: printed.diamond(1.0, FACTS, 0.05, T),
    "printed.diamond_mended": lambda T: printed.diamond_mended(1.0, FACTS, 0.05, T),
    "printed.oracle_term": lambda T: printed.oracle_term(SETTING, T),
    "printed.benchmark_slack": lambda T: printed.benchmark_slack(FACTS, SETTING, T),
    "coverage": lambda T: coverage(MODEL, eq.TocUCRL2(MODEL.space, REWARD), T),
    "decompose": lambda T: decompose(MODEL, eq.TocUCRL2(MODEL.space, REWARD), T).sums,
    "phases": lambda T: [taken for _, taken in Doubling(Box()).phases(T)],
    "horizon": lambda T: TunedMirrorDescent(EuclideanBall(), T).horizon,
    "budget's horizon": lambda T: eq.agents.KnapsackTocUCRL2(MODEL.space, 0.5, T, 0).horizon,
    "planner's limit": lambda T: Planner(limit=T).limit,
    "policies' limit": lambda T: eq.best_stationary(MODEL, REWARD, limit=T).deterministic.exact,
}


@pytest.mark.parametrize("name", TAKERS)
def test_steps_written_as_a_power_of_ten(name):
    take = TAKERS[name]
    assert take(1e3) == take(np.float64(1e3)) == take(1000)
    for wrong in (1000.5, math.nan, math.inf, "1000", True):
        with pytest.raises(eq.EquipoiseError, match="a whole number is needed"):
            take(wrong)
