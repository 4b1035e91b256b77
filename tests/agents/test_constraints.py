"""What agents, runs and certificates report of constraints, and what an agent does where no policy meets them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import FileError
from equipoise.rewards import Constrained, Constraint, Custom, Linear, at_least, at_most

ARMS = eq.models.bandit(2)


def shares(*levels, price=None):
    """The most of arm 0, with a share of the time of at least `levels` for each arm."""
    model = eq.models.bandit(len(levels))
    floors = [at_least(arm, level, model) for arm, level in enumerate(levels)]
    return model, Constrained(Linear([1.0, *[0.0] * (len(levels) - 1)]), floors, price)


def round_robin_log(model, goal, steps):
    agent = eq.agents.baselines.RoundRobin(model.space, goal)
    return eq.simulate(model, agent, steps, trace=True, progress=False).trace


def test_an_agent_and_its_run_report_every_constraint():
    """Two arms in turn: both have a share of one half."""
    goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.75, ARMS), at_most(0, 0.625, ARMS, name="few")])
    agent = eq.agents.baselines.RoundRobin(ARMS.space, goal)
    before = agent.constraints
    assert [one.name for one in before] == ["arm 1 at least 0.75", "few"]
    assert all(math.isnan(one.reached) and one.violation == 0.0 for one in before)
    run = eq.simulate(ARMS, agent, 100, progress=False)
    assert run.constraints == agent.constraints
    first, second = run.constraints
    assert (first.level, first.reached, first.violation) == (0.75, 0.5, 0.25)
    assert (second.level, second.reached, second.violation) == (-0.625, -0.5, 0.0)
    assert all(one.best_possible == math.inf and not one.impossible for one in run.constraints)


def test_without_constraints_there_is_nothing_to_report():
    agent = eq.agents.baselines.RoundRobin(ARMS.space, Linear([1.0, 0.0]))
    assert eq.simulate(ARMS, agent, 10, progress=False).constraints == agent.constraints == ()


@pytest.mark.parametrize("make", [eq.MixtureUCRL2, eq.recommended])
def test_what_certificates_have_proven_stays_with_the_agent(make):
    """The best share of time at the far end of the river is below 0.99."""
    model = eq.models.riverswim(3)
    goal = Constrained(Linear([0.0]), [at_least(0, 0.99, model)])
    most = eq.solve(model, Linear([1.0])).value
    agent = make(model.space, goal)
    run = eq.simulate(model, agent, 20_000, seed=1, progress=False)
    assert not run.constraints[0].impossible  # nothing was asked
    first = agent.certificate(effort=2)
    assert most <= first.constraints[0].best_possible < 0.99
    assert agent.constraints == first.constraints
    assert f"{goal.names[0]!r}" in str(first)
    later = eq.simulate(model, agent, 1_000, seed=1, progress=False)
    assert later.constraints[0].impossible
    assert agent.certificate(effort=0).constraints[0].best_possible <= first.constraints[0].best_possible


def test_a_log_certifies_each_constraint():
    """One arm of three in turn: each has a third of the time, and no more than all of it is possible."""
    model, goal = shares(0.25, 0.25, 0.5)
    certificate = eq.certify(model.space, goal, round_robin_log(model, goal, 3_000))
    assert [one.name for one in certificate.constraints] == list(goal.names)
    assert [one.reached for one in certificate.constraints] == pytest.approx([1 / 3] * 3)
    assert [one.violation for one in certificate.constraints] == pytest.approx([0.0, 0.0, 1 / 6])
    assert [one.best_possible for one in certificate.constraints] == pytest.approx([1.0] * 3, abs=1e-6)
    assert certificate.conflict == ()  # half, a quarter and a quarter
    assert certificate.achieved == pytest.approx(1 / 3)  # no price was given: the reward alone
    assert certificate.reward is goal
    assert certificate.best_possible >= eq.solve(model, goal).value - 1e-9
    assert "is violated by 0.167" in str(certificate)


def test_with_a_price_a_log_is_judged_by_the_penalised_reward():
    model, goal = shares(0.25, 0.25, 0.5, price=2.0)
    certificate = eq.certify(model.space, goal, round_robin_log(model, goal, 3_000))
    assert certificate.achieved == pytest.approx(goal.value([1 / 3] * 3))
    assert certificate.achieved < 1 / 3 - 0.2
    assert certificate.constraints[2].violation == pytest.approx(1 / 6)


def test_a_log_proves_a_conflict():
    """Shares of one day that sum to 1.25, of which the one in the middle can be met with either of the others."""
    model, goal = shares(0.7, 0.05, 0.6)
    log = round_robin_log(model, goal, 20_000)
    certificate = eq.certify(model.space, goal, log)
    assert set(certificate.conflict) == {goal.names[0], goal.names[2]}
    assert not any(one.impossible for one in certificate.constraints)
    possible = Constrained(goal.reward, [goal.constraints[0], at_least(2, 0.25, model)])
    assert eq.certify(model.space, possible, log).conflict == ()


def test_until_a_conflict_is_proven_the_violation_is_minimised():
    """Arm A pays (1, 0), arm B (0.4, 0.56). With a share x of A, the violations of 0.7 and 0.3 sum to

        max(0, 0.3 - 0.6 x) + max(0, 0.56 x - 0.26),

    which is least, 0.02, at x = 1/2. The reward, the second outcome, pulls towards B by 0.56, and the derived price of
    ten towards x = 1/2 by 10 (0.6 - 0.56) = 0.4 only: at that price the agent would stay at x = 0.4643.
    """
    model = eq.Model.from_arrays([[[1.0], [1.0]]], [[[1.0, 0.0], [0.4, 0.56]]], noise="bernoulli")
    goal = Constrained(Linear([0.0, 1.0]), [at_least(0, 0.7, model), at_least(1, 0.3, model)])
    assert eq.solve(model, goal).status == "infeasible"
    assert goal.price.tolist() == [10.0, 10.0]
    agent = eq.MixtureUCRL2(model.space, goal)
    run = eq.simulate(model, agent, 10_000, seed=3, progress=False)
    assert agent.certificate(effort=5).conflict == ()
    coins = 3.0 * math.sqrt(0.25 / 10_000)  # three standard errors of the average of so many coins, at most
    assert sum(one.violation for one in run.constraints) == pytest.approx(0.02, abs=coins)
    run = eq.simulate(model, agent, 290_000, seed=3, progress=False)
    assert sum(one.violation for one in run.constraints) == pytest.approx(0.02, abs=3.0 * math.sqrt(0.25 / 300_000))
    assert agent.visits[0] / agent.visits.sum() == pytest.approx(0.5, abs=0.01)
    assert set(agent.certificate(effort=5).conflict) == set(goal.names)


def least(compiled):
    """The least outcome of three, as a user would write it: without an expression for cvxpy."""
    return Custom(
        3, lambda w: np.min(w), lambda w: np.eye(3)[np.argmin(w)], math.inf, 1.0, compiled=compiled, samples=50
    )


@pytest.mark.parametrize("compiled", [True, False])
def test_functions_without_an_expression_work(compiled, tmp_path):
    """At least a fifth of the time for each of three arms leaves three fifths to the first."""
    model = eq.models.bandit(3)
    whole = Custom(3, lambda w: w[0], lambda w: np.array([1.0, 0.0, 0.0]), math.inf, 1.0, compiled=compiled, samples=50)
    goal = Constrained(whole, [Constraint(least(compiled), 0.2, "each")])
    agent = eq.MixtureUCRL2(model.space, goal)
    eq.simulate(model, agent, 10_000, seed=1, progress=False)
    (one,) = agent.constraints
    assert one.violation <= 1e-3
    assert agent.average[0] == pytest.approx(0.6, abs=0.01)
    certificate = agent.certificate(effort=5)
    assert 0.6 - 1e-9 <= certificate.best_possible <= 0.62
    assert certificate.constraints[0].best_possible >= 1 / 3 - 1e-9
    with pytest.raises(FileError, match="a Custom reward is made of functions, which cannot be saved"):
        agent.save(tmp_path / "agent.npz")


def test_a_conflict_of_functions_without_an_expression_is_proven():
    model = eq.models.bandit(3)
    goal = Constrained(Linear([1.0, 0.0, 0.0]), [Constraint(least(True), 0.4, "each")])
    agent = eq.MixtureUCRL2(model.space, goal)
    eq.simulate(model, agent, 5_000, seed=1, progress=False)
    certificate = agent.certificate(effort=10)
    assert certificate.conflict == ("each",)
    assert certificate.constraints[0].impossible
    assert certificate.constraints[0].violation == pytest.approx(0.4 - 1 / 3, abs=1e-3)
