"""What agents refuse is named by its label, beside its number."""

import pytest

import equipoise as eq
from equipoise.agents.baselines import RoundRobin, StationaryAgent

LABELS = eq.Labels(states=["idle", "busy"], actions=["wait", "work"], outcomes=["sales", "waste"])
SPACE = eq.Space([2, 2], 2, labels=LABELS)
REWARD = eq.rewards.Quadratic([0.5, 0.5])


def test_a_policy_that_does_not_sum_to_one():
    with pytest.raises(eq.EquipoiseError, match=r'policy: in state 1 \("busy"\) it sums to 0.75; 1 is needed'):
        StationaryAgent(SPACE, REWARD, [0.5, 0.5, 0.5, 0.25])


def test_acting_in_another_state():
    with pytest.raises(eq.EquipoiseError, match=r'act: got state 1 \("busy"\); the start was state 0 \("idle"\)'):
        RoundRobin(SPACE, REWARD).act(1)


def test_an_outcome_out_of_range():
    agent = RoundRobin(SPACE, REWARD)
    agent.act(0)
    with pytest.raises(eq.EquipoiseError, match=r'outcomes, outcome 1 \("waste"\): got 2.0'):
        agent.observe([0.0, 2.0], 0)


def test_null_actions():
    with pytest.raises(eq.EquipoiseError, match=r'null_actions: state 1 \("busy"\) has no action 2'):
        eq.KnapsackAgent(SPACE, budget=0.5, horizon=10, null_actions=[0, 2])
    known = eq.Space([2, 2], 2, known={(1, 0): [0.0, 0.5]}, labels=LABELS)
    with pytest.raises(eq.EquipoiseError, match=r'state 1 \("busy"\), action 0 \("wait"\) is known to have'):
        eq.KnapsackAgent(known, budget=0.5, horizon=10, null_actions=0)
    agent = eq.KnapsackAgent(SPACE, budget=0.05, horizon=10, null_actions=0)
    assert agent.act(0) == 0  # half a unit for all ten steps: it has stopped
    with pytest.raises(eq.EquipoiseError, match=r'state 0 \("idle"\), action 0 \("wait"\) gave \[0.0, 1.0\]'):
        agent.observe([0.0, 1.0], 0)


def test_a_saved_agent_keeps_the_labels_of_its_space_and_of_a_known_world(tmp_path):
    model = eq.models.star(2, 2)
    reward, known = eq.rewards.Quadratic([0.5, 0.5]), eq.confidence.Known(model)
    eq.TocUCRL2(model.space, reward, confidence=known, tolerance=1e-3).save(tmp_path / "agent.npz")
    loaded = eq.TocUCRL2.load(tmp_path / "agent.npz")
    assert model.labels.states is not None
    assert loaded.space.labels == model.labels
    assert loaded.confidence.model.labels == model.labels
