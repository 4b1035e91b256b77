"""The department against patients who are followed one by one, by hand, and in closed form."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import equipoise as eq
from equipoise import mechanics
from tests.models.applied.frequencies import check_frequencies

WARD = mechanics.department()
WORLD = WARD.model()
LIMIT, ROOM = {"urgent": 1, "standard": 2}, {"urgent": 2, "standard": 3}


def outcomes_of(label):
    """What follows in a state and an action, by label: (probability, next state, outcomes) of each branch."""
    state, action = label
    s = WORLD.labels.state_index(state)
    pair = WORLD.pair(s, WORLD.labels.action_index(s, action))
    return [
        (WORLD.branch_probability[j], WORLD.labels.state(int(WORLD.branch_next[j])), WORLD.rows[WORLD.branch_row[j]])
        for j in range(WORLD.branch_first[pair], WORLD.branch_first[pair + 1])
    ]


def test_size_and_words():
    assert (WARD.space.n_states, WARD.space.n_pairs, WARD.space.n_outcomes) == (270, 1080, 6)
    assert WARD.labels.state(WARD.space.start) == ("night", (), ())
    actions = [WARD.labels.action(0, a) for a in range(4)]
    assert actions == [f"{n}, {k} first" for n in ("1 doctor", "2 doctors") for k in ("urgent", "standard")]
    assert WORLD.is_communicating()
    assert len(WARD.space.laws.names) == 8  # two of doctors, three for each class; the change of periods is known
    assert not any(name.startswith("change") for name in WARD.space.laws.names)


def test_by_hand():
    """Two doctors, standard first, both free by day: the two who waited longest go, and the third is past the limit."""
    for chance, after, outcomes in outcomes_of((("day", (1, 0), (2, 1, 0)), "2 doctors, standard first")):
        assert chance > 0
        seen = (outcomes[:4] * 2).round().astype(int).tolist()
        period, urgent, standard = after
        assert period in ("day", "evening")
        assert outcomes[5] == 0.0  # a further doctor was there
        assert seen[:2] == [0, 0]  # no urgent one was seen
        assert urgent == (1, 1)
        if seen[2] == 2:  # of whom one had waited too long
            assert seen[3] == 1
            assert standard in ((1,), (1, 0), (1, 0, 0))
        elif seen[2] == 1:
            assert seen[3] == 0
            assert standard in ((2, 1), (2, 1, 0))
        else:
            assert standard == (2, 2, 1)
    # The urgent line stays full, so that an urgent patient who comes is sent away, or a standard one without a chair.
    p = WARD.usual
    come, two = p["urgent_arrivals"]["day"][1], p["standard_arrivals"]["day"]
    free = p["free"]["2 doctors"]
    kept = (1 - come) * (free[2] + free[1] * (two[0] + two[1]) + free[0] * two[0])
    s = WORLD.labels.state_index(("day", (1, 0), (2, 1, 0)))
    mean = WORLD.means[WORLD.pair(s, WORLD.labels.action_index(s, "2 doctors, standard first"))]
    assert mean[4] == pytest.approx(kept)
    assert mean[2] == pytest.approx((free[1] + 2 * free[2]) / 2)
    assert mean[3] == pytest.approx(free[2] / 2)


def test_free_doctors_see_the_other_classes_too():
    branches = outcomes_of((("night", (0,), (1, 0)), "2 doctors, urgent first"))
    both = [(after, outcomes) for _, after, outcomes in branches if outcomes[0] + outcomes[2] == 1.0]
    assert both
    for after, outcomes in both:
        assert outcomes.tolist() == [0.5, 0.5, 0.5, 0.5, 1.0, 0.0]
        assert after[2][0] == 1  # one of the standard patients is left, and has waited a slot more


def test_usual_laws():
    """As many patients as the docstring says, twice as many standard ones; doctors are free in 7 of 10 slots."""
    p = WARD.usual
    for period, rate in {"night": 0.25, "day": 0.75, "evening": 0.5}.items():
        urgent = np.dot(p["urgent_arrivals"][period], [0, 1])
        standard = np.dot(p["standard_arrivals"][period], [0, 1, 2])
        assert urgent + standard == pytest.approx(rate)
        assert standard == pytest.approx(2 * urgent)
    assert p["free"]["1 doctor"] == pytest.approx((0.3, 0.7, 0.0))
    assert p["free"]["2 doctors"] == pytest.approx((0.09, 0.42, 0.49))
    # The three periods are alike in length: eight hours, 48 slots.
    p = WORLD.transitions().toarray()
    periods = [state[0] for state in WORLD.labels.states]
    leaves = p[:, [period != periods[0] for period in periods]].sum(axis=1)
    assert leaves[: WORLD.n_actions[0]] == pytest.approx(np.full(4, 1 / 48))


def test_no_more_doctors_are_free_than_are_there():
    """An agent that believes in two of one doctor must not believe in two patients seen."""
    laws = [{"free": {"1 doctor": law}} for law in ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0])]
    assert WARD.model(**laws[0]).means == pytest.approx(WARD.model(**laws[1]).means, abs=1e-12)


def test_one_chair_in_closed_form():
    """One class, one doctor, one chair: a = P(arrival), f = P(free), w = P(somebody waits) = a / (a + f - f a)."""
    call = mechanics.department(("calls",), (1,), (1,), (1,), 1, ("always",), 1.0)
    a, f = 0.35, 0.6
    world = call.model(calls_arrivals={"always": [1 - a, a]}, free={"1 doctor": [1 - f, f]})
    best = eq.solve(world, eq.rewards.Linear([1.0, 0.0, 0.0, 0.0]))
    w = a / (a + f - f * a)
    assert best.outcomes == pytest.approx([w * f, w * f * f, 1 - w * (1 - f) * a, 1.0], abs=1e-7)


BUSY = {
    "free": {"1 doctor": [0.5, 0.5, 0.0], "2 doctors": [0.3, 0.4, 0.3]},
    "urgent_arrivals": {"night": [0.6, 0.4], "day": [0.5, 0.5], "evening": [0.4, 0.6]},
    "standard_arrivals": {"night": [0.5, 0.3, 0.2], "day": [0.2, 0.5, 0.3], "evening": [0.3, 0.3, 0.4]},
}


def test_patients_followed_one_by_one():
    """Another program, which knows when everybody came; a busy department, in which actions are taken at random."""
    dice = random.Random(5)
    order = ["night", "day", "evening"]
    actions = [f"{n}, {k} first" for n in ("1 doctor", "2 doctors") for k in ("urgent", "standard")]
    period, patients, log = "night", [], []

    def drawn(noise, label):
        law = BUSY[noise][label]
        return dice.choices(range(len(law)), law)[0]

    def label(now):
        lines = []
        for kind in ("urgent", "standard"):
            waits = [min(now - when - 1, LIMIT[kind]) for who, when in patients if who == kind]
            lines.append(tuple(sorted(waits, reverse=True)))
        return (period, *lines)

    for now in range(60_000):
        state, action = label(now), dice.choice(actions)
        staff, first, _ = action.replace(",", "").rsplit(" ", 2)
        queue = sorted(patients, key=lambda one: (one[0] != first, one[1]))
        free = drawn("free", staff)
        called, patients = queue[:free], queue[free:]
        got = dict.fromkeys(("urgent", "standard"), 0)
        timely = dict(got)
        for kind, when in called:
            got[kind] += 1
            timely[kind] += now - when - 1 < LIMIT[kind]
        kept = True
        for kind in got:
            for _ in range(drawn(f"{kind}_arrivals", period)):
                if sum(who == kind for who, _ in patients) < ROOM[kind]:
                    patients.append((kind, now))
                else:
                    kept = False
        if dice.random() < 1 / 48:
            period = order[(order.index(period) + 1) % 3]
        seen = [n / 2 for kind in got for n in (got[kind], timely[kind])]
        log.append((state, action, label(now + 1), [*seen, float(kept), float(staff == "1 doctor")]))
    assert check_frequencies(WARD.model(**BUSY), log, least=150) > 60


def test_a_rule_of_thumb_in_the_users_units():
    """Urgent first, a further doctor when two wait: shares of those seen in time, from averages of counts."""
    reward = eq.rewards.Linear([1.0] * 6)
    rule = eq.agents.baselines.Rule(
        WARD.space, reward, lambda s: ("2 doctors" if len(s[1]) + len(s[2]) >= 2 else "1 doctor") + ", urgent first"
    )
    average = eq.simulate(WORLD, rule, 10**6, seed=2).outcomes[-1]
    pairs = WORLD.first_pair[:-1] + np.array(rule.rule)
    chain = WORLD.transitions().toarray()[pairs]
    stationary = np.linalg.matrix_power(chain, 2**14)[0]
    exact = stationary @ WORLD.means[pairs]
    assert average == pytest.approx(exact, abs=0.01)
    urgent, standard = exact[1] / exact[0], exact[3] / exact[2]
    assert (round(urgent, 3), round(standard, 3), round(exact[5], 3)) == (0.787, 0.838, 0.818)
    assert math.isclose(2 * (exact[0] + exact[2]), 0.5, abs_tol=0.01)  # half a patient a slot, but for those sent away
