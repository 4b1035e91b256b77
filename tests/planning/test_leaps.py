"""Value iteration that leaps: the same certificates with far fewer sweeps."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence.nonzero import copy_arrays
from equipoise.confidence.region import Region
from equipoise.planning import Planner, extended_value_iteration
from equipoise.planning.evi import workspace
from equipoise.planning.leaps import iterate_with_leaps
from tests.planning.test_evi import random_region

ERRATUM_9 = {100: 0.831, 1000: 0.816, 10_000: 0.816}  # regret of the known star at Q = 0, see docs/paper.md


def known(model: eq.Model) -> Region:
    P = model.n_pairs
    return Region(
        first=np.array(model.transition_first), successor=np.array(model.transition_state),
        lo=np.array(model.transition_probability), hi=np.array(model.transition_probability),
        rest=np.zeros(P), rest_sum=np.ones(P), radius=np.zeros(P), v_lo=np.zeros((P, 1)), v_hi=np.zeros((P, 1)),
    )  # fmt: skip


def leaping(model_pairs: np.ndarray, region: Region, reward: np.ndarray, tolerance: float, relaxation: float = 0.5):
    n = model_pairs.size - 1
    u, policy, work = np.zeros(n), np.zeros(n, np.int64), workspace(n, int(model_pairs[-1]))
    own = copy_arrays(region)
    reached = iterate_with_leaps(
        None, np.array(model_pairs), own, reward, tolerance, 10**6, relaxation, u, policy, work, 10**6
    )
    gain, span, sweeps = work.certificate[0].item()
    return reached, u, policy, gain, span, sweeps


@pytest.mark.parametrize("lead", [1e-2, 1e-4, 1e-6])
def test_a_small_difference_between_loops_takes_few_sweeps(lead: float) -> None:
    """Loop 1 pays more than loop 0 by `lead`: the best gain is 0.5 + lead, and from loop 0 it pays to leave."""
    model = eq.models.star(3, 4)
    reward = model.means @ np.array([0.5, 0.5 + lead, 0.4])
    reached, u, policy, gain, span, sweeps = leaping(model.first_pair, known(model), reward, 1e-9)
    assert reached
    assert span <= 1e-9
    assert 0.5 + lead <= gain <= 0.5 + lead + 1e-9
    assert u.min() == 0.0
    assert sweeps <= 1500
    ends = np.flatnonzero(model.means.max(axis=1) > 0.0)
    states = model.state_of[ends]
    stays = policy[states] == ends - model.first_pair[states]
    assert stays.tolist() == [False, True, False]
    after = np.maximum.reduceat(reward + model.transitions() @ u, model.first_pair[:-1]) - u
    assert after.max() == pytest.approx(gain, abs=1e-12)
    assert np.ptp(after) <= 1e-9 + 1e-12
    if lead >= 1e-4:
        plain = extended_value_iteration(model.first_pair, known(model), reward, 1e-9, relaxation=0.5)
        assert plain.gain == pytest.approx(gain, abs=2e-9)
        assert sweeps < plain.sweeps


@pytest.mark.parametrize("seed", range(8))
def test_on_random_regions_it_finds_the_same_gain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_states = int(rng.integers(2, 9))
    first_pair = np.concatenate([[0], np.cumsum(rng.integers(1, 4, n_states))])
    region, _, _ = random_region(rng, n_states, int(first_pair[-1]))
    region = region._replace(rest=np.maximum(region.rest, 0.05))  # every state may follow: communicating
    reward = rng.random(int(first_pair[-1]))
    reached, _, _, gain, _, _ = leaping(first_pair, region, reward, 1e-8)
    assert reached
    assert gain == pytest.approx(
        extended_value_iteration(first_pair, region, reward, 1e-8, relaxation=0.5).gain, abs=2e-8
    )


def test_a_reward_that_is_no_number_ends_it() -> None:
    model = eq.models.ring(3)
    assert not leaping(model.first_pair, known(model), np.array([np.nan, 0.0, 0.0]), 1e-9)[0]


def test_exact_plans_at_every_step_of_the_known_star() -> None:
    model = eq.models.star(branches=3, diameter=4)
    reward = eq.rewards.Quadratic([4 / 3] * 3)
    agent = eq.TocUCRL2(
        model.space, reward, threshold=0.0, confidence=eq.confidence.Known(model), tolerance=1e-9,
        planner=Planner(leaps=True),
    )  # fmt: skip
    run = eq.simulate(model, agent, 10_000, seed=0, checkpoints=list(ERRATUM_9), progress=False)
    assert run.regret(reward.value([1 / 3] * 3)) == pytest.approx(list(ERRATUM_9.values()), abs=0.00051)
    assert run.episodes["sweeps"].mean() < 1000  # without leaps, tens of thousands


def test_descriptions_from_before_there_were_leaps_are_what_they_were() -> None:
    assert Planner().arguments()["leaps"] is False
    assert Planner(leaps=True).arguments()["leaps"] is True
    assert Planner() != Planner(leaps=True)
