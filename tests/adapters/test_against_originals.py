"""Models against simulations of their environments: frequencies and outcomes within 5 standard errors."""

import gymnasium
import mo_gymnasium
import numpy as np
import pytest

import equipoise as eq
from equipoise.adapters.gym_api import to_label

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*precision lowered by casting to float32:UserWarning"),
]
STEPS = 100_000


def clipped(observation, env=None):
    return {**observation, "bottles_dropped": [min(1, count) for count in observation["bottles_dropped"]]}


CASES = {
    "fishwood-v0": {},
    "fruit-tree-v0": {},
    "resource-gathering-v0": {},
    "deep-sea-treasure-v0": {"drop": [1]},
    "breakable-bottles-v0": {"drop": [0], "state": clipped},
    "FrozenLake-v1": {},
    "CliffWalking-v1": {},
    "Taxi-v4": {},
}


def disagreements(found, env, label, steps=STEPS):
    """Which pairs of a model have other frequencies of next states, or other mean outcomes, than its environment."""
    model, scaling, rng = found.model, found.scaling, np.random.default_rng(1)
    visits = np.zeros(model.n_pairs)
    moves = np.zeros((model.n_pairs, model.n_states))
    outcomes = np.zeros((model.n_pairs, model.n_outcomes))
    observation, _ = env.reset(seed=1)
    state = model.labels.state_index(label(observation))
    for _ in range(steps):
        action = int(rng.integers(model.n_actions[state]))
        observation, reward, terminated, truncated, _ = env.step(action)
        ended = terminated and not truncated
        pair = model.pair(state, action)
        visits[pair] += 1
        outcomes[pair] += scaling.outcomes(np.ravel(reward).tolist(), ended)
        if terminated:
            observation, _ = env.reset()
        state = model.labels.state_index(label(observation))
        if ended or not terminated:  # a limit of time leads nowhere
            moves[pair, state] += 1
    seen = np.flatnonzero(visits >= 30)
    assert visits[seen].sum() > steps / 2
    p, n = model.transitions().toarray()[seen], visits[seen, None]
    counted = moves[seen].sum(axis=1, keepdims=True)
    spread = np.sqrt(p * (1 - p) / counted)
    # One count more or less, since rare events are not normal; what is certain or impossible must be exact.
    moved = np.abs(moves[seen] / counted - p) > 5 * spread + 2 / counted * (spread > 0) + 1e-12
    second = np.zeros((model.n_pairs, model.n_outcomes))
    pairs = np.repeat(np.arange(model.n_pairs), np.diff(model.branch_first))
    np.add.at(second, pairs, model.branch_probability[:, None] * model.rows[model.branch_row] ** 2)
    spread = np.sqrt(np.maximum(0.0, second - model.means**2)[seen] / n)
    paid = np.abs(outcomes[seen] / n - model.means[seen]) > 5 * spread + 2 / n * (spread > 1e-9) + 1e-6
    return seen[moved.any(axis=1) | paid.any(axis=1)].tolist()


@pytest.mark.parametrize("name", CASES)
def test_frequencies_and_outcomes_are_those_of_the_environment(name):
    make = gymnasium.make if name[0].isupper() else mo_gymnasium.make
    found = eq.adapters.explore(make(name), check=0, episodes=True, **CASES[name])
    label = (lambda one: to_label(clipped(one))) if "state" in CASES[name] else to_label
    assert disagreements(found, make(name).unwrapped, label) == []


def test_a_model_that_is_wrong_would_be_noticed():
    other = eq.adapters.explore(mo_gymnasium.make("fishwood-v0", fishproba=0.12), check=0, episodes=True)
    assert disagreements(other, mo_gymnasium.make("fishwood-v0").unwrapped, to_label, 50_000) == [2, 3]
    lake = eq.adapters.explore(gymnasium.make("FrozenLake-v1", success_rate=0.4), check=0, episodes=True)
    assert disagreements(lake, gymnasium.make("FrozenLake-v1").unwrapped, to_label, 50_000)
