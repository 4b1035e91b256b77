"""The contract of oracles: all of ours keep it, and whoever breaks a clause is found by that clause."""

from __future__ import annotations

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise import oracles as o
from equipoise import rewards as r
from equipoise.errors import ContractError, OracleError
from equipoise.oracles import Oracle
from equipoise.oracles.base import OracleKernel, OracleTheory, Phase
from equipoise.oracles.frame import gradient, opened, oracle_entry
from equipoise.testing import ORACLE_CLAUSES, check_oracle

KPI = [0.7, 0.5, 0.6]
REWARD = r.Quadratic(KPI)
HORIZON = 200

OURS = [
    (o.FrankWolfe(), REWARD),
    (o.FrankWolfe(), r.TargetSquared(KPI)),
    (o.FrankWolfe(), r.ProportionalFairness(3, 0.1)),
    (o.FrankWolfe(), r.Linear([0.5, -0.3, 0.2])),
    (o.FrankWolfe(), r.Entropy(3)),
    (o.FrankWolfe(), r.Quadratic([0.5])),
    (o.TunedGradientDescent(), r.TargetDistance(KPI, 2)),
    (o.TunedGradientDescent(), REWARD),
    (o.TunedMirrorDescent(o.EuclideanBall(), HORIZON), r.TargetDistance(KPI, 2)),
    (o.TunedMirrorDescent(o.EuclideanBall(), 1), r.TargetDistance(KPI, 2)),
    (o.TunedMirrorDescent(o.Box(), HORIZON), r.TargetDistance(KPI, 1)),
    (o.TunedMirrorDescent(o.SignedSimplex(), HORIZON), r.BottomSum(3, 2)),
    (o.TunedMirrorDescent(o.SlackSimplex(), HORIZON), r.Knapsack(3, 0.4)),
    (o.TunedMirrorDescent(o.CrossPolytope(), 10**6), r.TargetDistance(KPI, math.inf)),
    *((o.Doubling(o.Box(), inherit), r.TargetDistance(KPI, 1)) for inherit in (False, True)),
    *((o.Doubling(o.SignedSimplex(), inherit), r.BottomSum(3, 1)) for inherit in (False, True)),
    (o.Doubling(o.SlackSimplex()), r.Knapsack(3, 0.4)),
    (o.Doubling(o.EuclideanBall(), inherit=True), r.TargetDistance(KPI, 2)),
    (o.TunedGradientDescent(3.0, -0.5), r.TargetDistance(KPI, 2)),
    (o.TunedGradientDescent(0.2, -0.9), r.Balance(KPI)),
    (o.TunedMirrorDescent(o.Box(), HORIZON, 2.0, -0.5), r.TargetDistance(KPI, 1)),
    (o.Doubling(o.SignedSimplex(), False, 0.3, -0.8), r.BottomSum(3, 2)),
    (o.TunedMirrorDescent(o.SlackSimplex(), HORIZON), r.TargetDistance(KPI, math.inf)),
    (o.DoublingFrankWolfe(), REWARD),
    (o.DoublingFrankWolfe(inherit=True), r.Entropy(3)),
    (o.FrankWolfeUntil(HORIZON), r.Entropy(3)),
    (o.StartingAt(o.FrankWolfe(), [0.5, -0.3, 0.4]), REWARD),
    (o.StartingAt(o.FrankWolfe(), [0.2, 0.1, 0.0]), r.Linear([0.5, -0.3, 0.2])),
    (o.StartingAt(o.TunedGradientDescent(), [0.6, 0.8, 0.0]), r.TargetDistance(KPI, 2)),
    (o.StartingAt(o.TunedMirrorDescent(o.EuclideanBall(), HORIZON), [0.6, 0.8, 0.0]), r.TargetDistance(KPI, 2)),
    (o.StartingAt(o.Doubling(o.SignedSimplex()), [-2.0, 0.0, 0.0]), r.BottomSum(3, 2)),
    (o.StartingAt(o.DoublingFrankWolfe(), [0.5, 0.5, 0.5]), REWARD),
]


@pytest.mark.parametrize("clause", ORACLE_CLAUSES.values(), ids=ORACLE_CLAUSES)
@pytest.mark.parametrize(("oracle", "reward"), OURS, ids=lambda part: repr(part))
def test_ours_keep_it(oracle, reward, clause):
    clause(oracle, reward)


@oracle_entry
def _follow(frame):
    """A part of the way to minus the gradient; what params[1] asks for goes wrong. memory[0] counts the steps."""
    step = opened(frame)
    n = step.theta.shape[0]
    fault = step.params[1]
    gradient(step, step.average, step.scratch)
    for k in range(n):
        step.theta[k] += step.params[0] * (-step.scratch[k] - step.theta[k])
    step.memory[0] += 1.0
    if fault == 1.0:
        step.theta[0] = np.nan
    elif fault == 2.0:
        step.theta[0] = 100.0
    elif fault == 3.0:
        step.outcome[0] = 0.5
    elif fault == 4.0:
        step.average[1] = 0.25
    elif fault == 5.0:
        step.params[0] = 0.9
    elif fault == 6.0:
        step.reward.params[0] = 0.1
    elif fault == 7.0:
        step.memory[1] = 1.0  # beyond its one number
    elif fault == 8.0:
        step.theta[n] = 1.0
    elif fault == 9.0:
        step.theta[0] = 0.001 * (step.scratch[n] == 0.0)  # never written
    elif fault == 10.0 and step.t > 150:
        step.theta[0] = np.inf


class Follower(Oracle):
    """Theta follows minus the gradient; it keeps to everything."""

    fault = 0.0

    def __init__(self, weight: float = 0.5) -> None:
        self.weight = weight

    def check(self, reward):
        if reward.smoothness is None:
            raise OracleError("a smooth reward is needed")

    def initial_theta(self, reward):
        return np.zeros(reward.n_outcomes)

    def kernel(self, reward):
        params = np.array([self.weight, self.fault])
        return OracleKernel(_follow, params, memory=1, scratch=reward.n_outcomes + 1, calls=("gradient",))


def faulty(fault: float) -> type[Follower]:
    return type(f"Fault{fault:.0f}", (Follower,), {"fault": fault})


class Renamed(Follower):
    def __init__(self, weight: float = 0.5) -> None:
        self.weight = weight + 1.0


class Unkept(Follower):
    def __init__(self, weight: float = 0.5) -> None:
        pass


class BareTheory(Follower):
    theory = None


class NoHorizon(Follower):
    horizon = 0


class NoKernel(Follower):
    def kernel(self, reward):
        return super().kernel(reward)[:2]


class RewardsEntry(Follower):
    def kernel(self, reward):
        return super().kernel(reward)._replace(entry=reward.kernels.gradient)


class NotFinite(Follower):
    def kernel(self, reward):
        return super().kernel(reward)._replace(params=[math.nan, 0.0])


class NegativeScratch(Follower):
    def kernel(self, reward):
        return super().kernel(reward)._replace(scratch=-1)


class UnknownCall(Follower):
    def kernel(self, reward):
        return super().kernel(reward)._replace(calls=("value",))


class Undeclared(Follower):
    """It calls what it does not declare."""

    def kernel(self, reward):
        return super().kernel(reward)._replace(calls=())


class RefusesAll(Follower):
    def check(self, reward):
        raise OracleError("never")


class AcceptsAll(Follower):
    """In the ball of its own norm, which is not that of all rewards that it accepts."""

    def check(self, reward):
        pass

    def initial_theta(self, reward):
        return np.full(reward.n_outcomes, reward.lipschitz / math.sqrt(reward.n_outcomes))


class WrongRefusal(Follower):
    def check(self, reward):
        if reward.smoothness is None:
            raise ValueError("not smooth")


class Short(Follower):
    def initial_theta(self, reward):
        return np.zeros(1)


class Listed(Follower):
    def initial_theta(self, reward):
        return [0.0] * reward.n_outcomes


class StartsNowhere(Follower):
    def initial_theta(self, reward):
        return np.full(reward.n_outcomes, np.nan)


class StartsFar(Follower):
    def initial_theta(self, reward):
        return np.full(reward.n_outcomes, 2.0 * reward.lipschitz)


class InPhases(Follower):
    """Of ten steps each."""

    share, inherit, length, off = 1.0, True, 10, 0

    def phase(self, index):
        return Phase(Follower(self.weight), self.length, self.share, self.inherit, (10 + self.off) * (index - 1))


class Overspent(InPhases):
    share, inherit = 0.5, False


class Misplaced(InPhases):
    off = 1


class Empty(InPhases):
    length = 0


class Nothing(InPhases):
    share = 0.0


class Fickle(InPhases):
    def phase(self, index):
        return super().phase(index)._replace(share=float(np.random.default_rng().uniform(0.1, 1.0)))


class Overdue(InPhases):
    """Its phases are longer than their oracle is made for."""

    def phase(self, index):
        return super().phase(index)._replace(oracle=o.TunedMirrorDescent(o.EuclideanBall(), 9))


class Forgetful(InPhases):
    """A later phase remembers more than it asks for."""

    def phase(self, index):
        return super().phase(index)._replace(oracle=self if index == 1 else o.TunedGradientDescent())


class TooGood(Follower):
    @property
    def theory(self):
        return OracleTheory(regret_term=lambda reward, steps: 0.01 / steps)


class TooFew(Follower):
    @property
    def theory(self):
        return OracleTheory(gradient_episodes=lambda reward, threshold, steps: 1.0)


class Moves(Follower):
    @property
    def theory(self):
        return OracleTheory(moves=lambda reward: False)


class Modest(Follower):
    """What it declares is true: the mean of f_t(theta_t) is never further from its least than L ||1||."""

    @property
    def theory(self):
        return OracleTheory(
            regret_term=lambda reward, steps: 2.0 * reward.lipschitz * math.sqrt(reward.n_outcomes),
            gradient_episodes=lambda reward, threshold, steps: float(steps),
            moves=lambda reward: True,
        )


class Restless(Follower):
    """Another at every call: what it was is lost when it is made again."""

    calls = 0

    def kernel(self, reward):
        Restless.calls += 1
        return super().kernel(reward)._replace(params=np.array([0.5 + 0.01 * (Restless.calls % 17), 0.0]))


class Shallow(o.MirrorMap):
    """|theta|^2 / 4 on the ball, which is 1/2-strongly convex, with the step of |theta|^2 / 2."""

    norm, step = 2.0, o.EuclideanBall.step

    def value(self, reward, theta):
        return 0.5 * o.EuclideanBall().value(reward, theta)

    def radius(self, reward):
        return o.EuclideanBall().radius(reward)

    def initial_theta(self, reward):
        return o.EuclideanBall().initial_theta(reward)

    def params(self, reward, eta):
        return o.EuclideanBall().params(reward, eta)


class Narrow(Shallow):
    """Its domain holds no minus supergradient but 0."""

    def value(self, reward, theta):
        return np.where(np.any(theta != 0.0, axis=-1), np.inf, 0.0)


class Rushed(Shallow):
    """F is right; its step goes twice as far as the minimiser."""

    def value(self, reward, theta):
        return o.EuclideanBall().value(reward, theta)

    def params(self, reward, eta):
        return super().params(reward, 2.0 * eta)


class Small(Rushed):
    """Its L' is too small."""

    def radius(self, reward):
        return 0.5 * super().radius(reward)


class Single(Rushed):
    """Its F takes one theta only."""

    def value(self, reward, theta):
        return super().value(reward, theta).sum()


def descending(mirror_map: type[o.MirrorMap]):
    made = lambda: o.TunedMirrorDescent(mirror_map(), HORIZON)  # noqa: E731
    made.__name__ = mirror_map.__name__
    return made


@pytest.mark.parametrize("oracle", [Follower(), Follower(1.0), Modest(), InPhases()], ids=repr)
def test_one_of_somebody_else_keeps_it(oracle):
    check_oracle(oracle, REWARD)


BROKEN = [
    (Renamed, "says_what_it_is", "made from its arguments again"),
    (Unkept, "says_what_it_is", "its parameter 'weight' is not kept"),
    (BareTheory, "says_what_it_is", "theory: got None"),
    (NoHorizon, "says_what_it_is", "horizon: got 0"),
    (NoKernel, "says_what_it_is", "an OracleKernel is needed"),
    (RewardsEntry, "says_what_it_is", "declare the step by @oracle_entry"),
    (NotFinite, "says_what_it_is", "params.*finite numbers"),
    (NegativeScratch, "says_what_it_is", "scratch: got -1"),
    (UnknownCall, "says_what_it_is", r"calls: got \('value',\)"),
    (RefusesAll, "refuses_what_does_not_fit", "check refuses Quadratic.*never"),
    (AcceptsAll, "refuses_what_does_not_fit", "check accepts .*of length"),
    (WrongRefusal, "refuses_what_does_not_fit", "check raises ValueError for TargetDistance"),
    (Short, "starts_within_reach", "phase 1: the first theta is .*of 3 numbers"),
    (Listed, "starts_within_reach", "float64 vector"),
    (StartsNowhere, "starts_within_reach", "nan.*finite numbers"),
    (StartsFar, "starts_within_reach", "no supergradient is longer than L = 1.0488"),
    (Overspent, "has_phases_that_follow_one_another", "phase 3: up to it 1.5 of delta"),
    (Misplaced, "has_phases_that_follow_one_another", "phase 2: its origin is 11; 10 steps"),
    (Empty, "has_phases_that_follow_one_another", "its length is 0"),
    (Nothing, "has_phases_that_follow_one_another", "its share of delta is 0.0"),
    (Fickle, "has_phases_that_follow_one_another", "when asked again"),
    (Overdue, "has_phases_that_follow_one_another", "it has 10 steps, and TunedMirrorDescent.* is made for 9"),
    (Forgetful, "has_phases_that_follow_one_another", "phase 2: it remembers 3 numbers.*asks for 1"),
    (faulty(3.0), "writes_only_its_own", "it changes outcome from .* to "),
    (faulty(4.0), "writes_only_its_own", "it changes average"),
    (faulty(5.0), "writes_only_its_own", "it changes params"),
    (faulty(6.0), "writes_only_its_own", "it changes the reward's params"),
    (faulty(7.0), "writes_only_its_own", "beyond the 1 numbers of memory"),
    (faulty(8.0), "writes_only_its_own", "beyond the 3 numbers of theta"),
    (faulty(9.0), "is_a_function_of_what_it_is_given", "theta is .* and when called again"),
    (faulty(1.0), "stays_within_reach", "theta after 1 steps is .*finite numbers"),
    (faulty(2.0), "stays_within_reach", "of length 100"),
    (faulty(10.0), "stays_within_reach", "theta after 151 steps"),
    (Undeclared, "stays_within_reach", "finite numbers"),
    (TooGood, "keeps_its_regret_term", "after .* steps its own part of the regret is .* more than"),
    (TooFew, "keeps_its_episode_bound", "the gradient ends .* episodes in 300 steps, more than the 1 "),
    (Moves, "keeps_its_episode_bound", "theta moves"),
    (descending(Shallow), "steps_by_its_mirror_map", "not 1-strongly convex: midway"),
    (descending(Narrow), "steps_by_its_mirror_map", "is inf; the domain of F must hold it"),
    (descending(Rushed), "steps_by_its_mirror_map", "step 1: theta = .* is not the minimiser"),
    (descending(Small), "steps_by_its_mirror_map", "radius: L'.2 = .* F ranges over"),
    (descending(Single), "steps_by_its_mirror_map", "one number each"),
    (Restless, "is_kept_with_an_agent", "after 300 steps theta is"),
]


@pytest.mark.parametrize(("kind", "clause", "message"), BROKEN, ids=lambda part: getattr(part, "__name__", ""))
def test_each_clause_finds_what_it_is_for(kind, clause, message):
    with pytest.raises(ContractError, match=message) as raised:
        ORACLE_CLAUSES[clause](kind(), REWARD)
    assert str(raised.value).startswith(f"{clause}:")


def test_every_clause_has_somebody_who_breaks_it():
    assert {clause for _, clause, _ in BROKEN} == set(ORACLE_CLAUSES)


def test_what_is_no_oracle_is_named():
    with pytest.raises(ContractError, match="got Quadratic; an Oracle is needed"):
        check_oracle(REWARD, REWARD)


class Multiple(Oracle):
    """One of ours, which declares a multiple of its regret term."""

    def __init__(self, factor: float = 0.05) -> None:
        self.factor, self.inner = factor, o.TunedGradientDescent()

    def check(self, reward):
        self.inner.check(reward)

    def initial_theta(self, reward):
        return self.inner.initial_theta(reward)

    def kernel(self, reward):
        return self.inner.kernel(reward)

    @property
    def theory(self):
        whole = self.inner.theory.regret_term
        return OracleTheory(regret_term=lambda reward, steps: self.factor * whole(reward, steps))


def test_a_regret_term_that_is_too_small_is_found_on_some_path():
    clause = ORACLE_CLAUSES["keeps_its_regret_term"]
    clause(Multiple(1.0), r.TargetDistance(KPI, 2))
    with pytest.raises(ContractError, match="more than the"):
        clause(Multiple(), r.TargetDistance(KPI, 2))


def test_it_is_exact_at_one_step():
    """After one step the term is g*(theta_1) - theta_1.V_1 - g(V_1), by hand, and nothing smaller is accepted."""
    reward = r.Quadratic([0.25])
    first = -0.25  # theta_1 = -grad g(0)
    worst = max((1.0 + 0.25 * first + first**2 / 2.0) - first * v - (1.0 - (v - 0.25) ** 2 / 2.0) for v in (0.0, 1.0))
    assert eq.oracles.FrankWolfe().theory.regret_term(reward, 1) == pytest.approx(worst)  # attained at V_1 = 1
