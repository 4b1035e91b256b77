"""The mixture agent against its transcription: every action between plans, and the value of every plan."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import equipoise as eq
from equipoise.planning.mixture import MixturePlanner
from tests.reference.mixture import Play, average_to_expect, best_ahead, worse_average

TANGENTS = {  # of the least of three, and of the first one less twice over the budget what the second exceeds it by
    "least": [(row, 0.0) for row in np.eye(3)],
    "budget": [(np.array([1.0, 0.0]), 0.0), (np.array([1.0, -2.0 / 0.3]), 2.0)],
}
CASES = {
    "star": (eq.models.star(3, 4), eq.rewards.BottomSum(3, 1), "least"),
    "sites": (eq.models.sites(), eq.rewards.BottomSum(3, 1), "least"),
    "scheduler": (eq.models.scheduler(), eq.rewards.BottomSum(3, 1), "least"),
    "pricing": (eq.models.pricing(), eq.rewards.Knapsack(n_outcomes=2, budget=0.3), "budget"),
}
CONFIDENCES = {
    "known": eq.confidence.Known,
    "adaptive": lambda _: eq.confidence.Adaptive(),
    "drawn": lambda _: eq.confidence.PosteriorSampling(),
}


def transcribed(rounds, space, credit):
    """The turns of an agent's plan as plain lists."""

    def rows(turn):
        for s in range(space.n_states):
            own = rounds.share[turn, space.first_pair[s] : space.first_pair[s + 1]]
            yield own.tolist() if rounds.inside[turn, s] else None

    turns = range(rounds.length.size)
    play = rounds.play[0]
    return Play(
        [list(rows(turn)) for turn in turns], rounds.way.tolist(), rounds.length.tolist(), int(play["again"]),
        int(play["until"]), credit,
    )  # fmt: skip


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("name", CASES)
def test_it_takes_the_steps_of_the_transcription(name, confidence):
    compare(name, confidence, 1.0)


def compare(name, confidence, growth):
    model, reward, _ = CASES[name]
    agent = eq.MixtureUCRL2(model.space, reward, CONFIDENCES[confidence](model), visits=growth)
    world, space = model.world(seed=11), model.space
    credit = [[0.0] * n for n in space.n_actions]
    play, plans, visits, fresh = None, 0, np.zeros(space.n_pairs), np.zeros(space.n_pairs)
    for t in range(1, 1_201):
        state = world.state
        action = agent.act(state)
        expected = None if play is None else play.act(state, t)
        if expected is not None and confidence != "known":
            pair = space.first_pair[state] + expected
            if fresh[pair] >= max(1, growth * visits[pair]):
                expected = None
        if expected is None:  # the transcription says: plan again
            plans += 1
            visits, fresh = visits + fresh, np.zeros(space.n_pairs)
            rounds = agent._rounds
            play = transcribed(rounds, space, credit)
            play.turn, play.left = 0, int(rounds.length[0])
            expected = play.act(state, t)
        assert agent.episode_record.start.size == plans
        assert action == expected
        play.took(state, action)
        fresh[space.first_pair[state] + action] += 1
        agent.observe(*world.step(action))


def test_it_plans_again_before_visits_have_doubled():
    compare("scheduler", "adaptive", 0.3)


@pytest.mark.parametrize("name", CASES)
def test_plans_of_a_known_model_are_worth_what_a_linear_program_says(name, monkeypatch):
    model, reward, tangents = CASES[name]
    rows = model.transitions().toarray()
    by_pair = [(int(state), row) for state, row in zip(model.state_of, rows, strict=True)]
    seen, agent = [], None
    plain = MixturePlanner.plan

    def plan(self, average, share, tolerance):
        mixture = plain(self, average, share, tolerance)
        if agent is None or self is not agent._planner:  # it compiles, or proves a bound
            return mixture
        seen.append((average.copy(), share, tolerance, mixture))
        return mixture

    monkeypatch.setattr(MixturePlanner, "plan", plan)
    agent = eq.MixtureUCRL2(model.space, reward, eq.confidence.Known(model))
    eq.simulate(model, agent, 2_000, seed=3, progress=False)
    assert len(seen) > 5
    for average, share, tolerance, mixture in seen[:: max(1, len(seen) // 20)]:
        best = best_ahead(by_pair, model.means, TANGENTS[tangents], average, share)
        assert mixture.upper >= best - 1e-7
        assert mixture.lower <= best + 1e-7
        assert mixture.lower >= best - share * tolerance - 1e-7
        ahead = (1.0 - share) * average + share * mixture.outcomes
        assert reward.value(ahead) == pytest.approx(mixture.lower, abs=1e-9)


@pytest.mark.parametrize("confidence", ["known", "adaptive", "drawn"])
@pytest.mark.parametrize("name", ["pricing", "scheduler"])
def test_plans_leave_the_margin_of_the_transcription(name, confidence, monkeypatch):
    model, reward, _ = CASES[name]
    seen, agent = [], None
    plain = MixturePlanner.plan

    def plan(self, average, share, tolerance):
        mixture = plain(self, average, share, tolerance)
        if agent is None or self is not agent._planner:  # it compiles, or proves a bound
            return mixture
        seen.append((agent.t, average.copy(), share, mixture.outcomes, agent._rounds.length.size))
        return mixture

    monkeypatch.setattr(MixturePlanner, "plan", plan)
    agent = eq.MixtureUCRL2(model.space, reward, CONFIDENCES[confidence](model))
    trace = eq.simulate(model, agent, 3_000, seed=3, trace=True, progress=False).trace
    names = list(model.space.outcome_names())
    outcomes = trace.select(names).to_numpy()
    np.testing.assert_array_equal(seen[0][1], np.zeros(len(names)))
    squared, followed, moved = np.zeros(len(names)), 0, 0
    missed, faded = np.zeros(len(names)), 0.0
    for (then, _, _, z, _), (t, used, share, _, turns) in itertools.pairwise(seen):
        if turns == 1:
            squared += (outcomes[then - 1 : t - 1].sum(axis=0) - (t - then) * z) ** 2
            followed += t - then
        average = outcomes[: t - 1].mean(axis=0)
        expected = average
        if followed >= 0.9 * (t - 1):
            leads_to = np.clip((1 - share) * average + share * z, 0, 1)
            ahead = share * (t - 1) / (1 - share)
            expected = worse_average(squared / followed, t - 1, ahead, reward.value, average, leads_to)
        if confidence == "adaptive":
            error = outcomes[then - 1 : t - 1].sum(axis=0) - (t - then) * z
            missed, faded = 0.8 * missed + error, 0.8 * faded + (t - then)
            expected = average_to_expect(expected, missed / faded, share, t)
        np.testing.assert_allclose(used, expected, atol=1e-9)
        moved += not np.allclose(expected, average, atol=1e-6)
    assert moved > 20
