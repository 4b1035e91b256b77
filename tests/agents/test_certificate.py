"""What an agent proves: bounds that hold, come down, are kept, and say where their slack comes from."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence.adaptive import likelihood_interval
from equipoise.confidence.bernstein import exact_ends
from equipoise.confidence.elementwise import Elementwise, interval_entry
from equipoise.errors import ParameterError, ProtocolError

R = eq.rewards
PROBLEMS = {
    "star, quadratic": (eq.models.star(3, 4), R.Quadratic([1 / 3] * 3)),
    "star, balance (gradient descent)": (eq.models.star(2, 2), R.Balance([0.5, 0.5])),
    "river, linear": (eq.models.riverswim(3), R.Linear([1.0])),
    "garnet, worst (doubling)": (eq.models.garnet(4, 2, 3, n_outcomes=2, seed=1), R.BottomSum(2, 1)),
    "garnet, fairness": (eq.models.garnet(4, 2, 3, n_outcomes=2, seed=2), R.ProportionalFairness(2, 0.05)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_with_the_model_known_it_is_the_optimum(name):
    model, reward = PROBLEMS[name]
    best = eq.solve(model, reward, 1e-9)
    agent = eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Known(model), tolerance=1e-7)
    eq.simulate(model, agent, 300, progress=False)
    certificate = agent.certificate(effort=60)
    assert certificate.probability == 1.0
    assert best.value - 1e-9 <= certificate.best_possible <= best.value + 3e-4


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_holds_and_comes_down(name):
    model, reward = PROBLEMS[name]
    optimum = eq.solve(model, reward, 1e-9).value
    agent = eq.recommended(model.space, reward)
    last = math.inf
    for steps in (10, 100, 1000, 10_000):
        run = eq.simulate(model, agent, steps, seed=4, progress=False)
        assert np.all(run.certified >= run.regret(optimum) - 1e-9)
        before = agent.best_possible
        plain, thorough = agent.certificate(), agent.certificate(effort=10)
        assert optimum - 1e-9 <= thorough.best_possible <= plain.best_possible <= before <= last
        assert plain.achieved == run.values[-1]
        assert plain.regret_at_most == plain.best_possible - plain.achieved
        assert plain.prices == dict(zip(model.space.outcome_names(), (-plain.theta).tolist(), strict=True))
        assert agent.best_possible == thorough.best_possible
        last = thorough.best_possible
    assert last < optimum + 0.35


def test_what_it_is_made_of():
    """The slack of a plan is the sum of what each uncertainty adds; with nothing unknown there is none."""
    model = eq.models.scheduler()
    agent = eq.recommended(model.space, R.ProportionalFairness(3, 0.05))
    eq.simulate(model, agent, 20_000, progress=False)
    slack = agent.certificate().slack
    assert slack.columns == ["state", "action", "source", "visits", "adds"]
    assert set(slack["source"]) <= {*model.space.outcome_names(), "transitions"}
    assert slack["adds"].is_sorted(descending=True)
    assert slack["adds"].min() > 0
    known = eq.TocUCRL2(model.space, R.ProportionalFairness(3, 0.05), confidence=eq.confidence.Known(model))
    eq.simulate(model, known, 100, progress=False)
    assert known.certificate().slack["adds"].sum() < 1e-9


def test_it_is_kept(tmp_path):
    model, reward = PROBLEMS["garnet, fairness"]
    agent = eq.recommended(model.space, reward)
    eq.simulate(model, agent, 1000, progress=False)
    agent.save(tmp_path / "agent.npz")
    again = eq.TocUCRL2.load(tmp_path / "agent.npz")
    assert math.isfinite(agent.best_possible)
    assert again.best_possible == agent.best_possible  # that of a plan
    one, other = agent.certificate(effort=3), again.certificate(effort=3)
    assert (one.best_possible, one.theta.tolist(), one.proven_at) == (
        other.best_possible,
        other.theta.tolist(),
        other.proven_at,
    )
    assert eq.simulate(model, agent, 100, seed=1).values[-1] == eq.simulate(model, again, 100, seed=1).values[-1]


def test_asking_changes_no_step():
    model, reward = PROBLEMS["star, quadratic"]
    one, other = (eq.recommended(model.space, reward) for _ in range(2))
    for _ in range(5):
        other.certificate(effort=2)
        a, b = (eq.simulate(model, agent, 500, seed=2, progress=False) for agent in (one, other))
        assert a.outcomes.tobytes() == b.outcomes.tobytes()
    assert one.episode_record.gain.tobytes() == other.episode_record.gain.tobytes()


def test_before_the_first_step_it_says_what_the_box_allows():
    model, reward = PROBLEMS["star, quadratic"]
    certificate = eq.recommended(model.space, reward).certificate()
    assert math.isnan(certificate.achieved)
    assert certificate.best_possible >= 1.0
    assert str(certificate).startswith("with probability 0.95, no policy reaches more than ")


def test_of_a_reward_that_changes_with_time_the_limit_is_meant():
    """As in the values of a run, and in its optimum: any theta bounds it, those of the smoothed entropy too."""
    model = eq.models.star(2, 4).visits()
    optimum = eq.solve(model, R.Entropy(5), 1e-9).value
    agent = eq.recommended(model.space, R.Entropy(5))
    run = eq.simulate(model, agent, 3000, progress=False)
    assert np.all(run.certified >= run.regret(optimum) - 1e-9)
    before = agent.best_possible
    certificate = agent.certificate(effort=20)
    assert certificate.reward == R.Entropy(5)
    assert optimum - 1e-9 <= certificate.best_possible <= before
    assert certificate.achieved == run.values[-1]
    known = eq.TocUCRL2(model.space, R.Entropy(5), confidence=eq.confidence.Known(model), tolerance=1e-7)
    eq.simulate(model, known, 3000, progress=False)
    assert optimum - 1e-9 <= known.certificate(effort=60).best_possible <= optimum + 3e-4
    run = eq.simulate(model, eq.recommended(model.space, R.Entropy(5)), 10**5, until=eq.Certified(regret=0.1))
    assert run.status == "certified"


def test_a_theta_that_is_not_minus_the_gradient_at_the_average():
    """An oracle may take Frank-Wolfe's step and begin elsewhere: g*(theta) is then not had at the average."""

    class Elsewhere(eq.oracles.Oracle):
        def check(self, reward):
            pass

        def initial_theta(self, reward):
            return np.full(reward.n_outcomes, 0.5)

        def kernel(self, reward):
            return eq.oracles.FrankWolfe().kernel(reward)

    model, reward = HARD["coins"]
    agent = eq.TocUCRL2(model.space, reward, Elsewhere(), confidence=eq.confidence.Known(model))
    agent.act(0)
    assert reward.conjugate([0.5, 0.5]) - 0.45 == pytest.approx(agent.loop.arrays.proof.bound[0])
    assert agent.best_possible >= eq.solve(model, reward).value


@pytest.mark.parametrize("size", [1e-13, 1.0, 1e13, 1e100])
def test_rounding_is_relative_to_the_size_of_the_reward(size):
    """For certain no policy has more: not in exact arithmetic either, nor as the average is rounded."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        means, weights = rng.random((5, 3)), size * rng.normal(size=3)
        model = eq.Model.from_arrays([[[1.0]] * 5], [list(means)], noise="none")
        exact = max(sum(Fraction(w) * Fraction(x) for w, x in zip(weights, row, strict=True)) for row in means)
        agent = eq.TocUCRL2(model.space, R.Linear(weights), confidence=eq.confidence.Known(model))
        eq.simulate(model, agent, 1000, progress=False)
        for effort in (0, 3):
            certificate = agent.certificate(effort)
            assert certificate.probability == 1.0
            for bound in (certificate.best_possible, agent.best_possible):
                assert Fraction(bound) >= exact
                assert bound >= certificate.achieved
                assert bound - float(exact) <= 1e-11 * np.abs(weights).sum()


def test_a_bound_grows_with_the_reward():
    """Twice, or 2^40 times, the reward: twice the bound, to the last bit."""
    model = eq.models.riverswim(4)
    bounds = []
    for power in (0, 1, 40):
        agent = eq.TocUCRL2(
            model.space, R.Linear([2.0**power]), confidence=eq.confidence.Known(model), tolerance=1e-3 * 2.0**power
        )
        eq.simulate(model, agent, 10, progress=False)
        bounds.append(agent.best_possible / 2.0**power)
        bounds.append(agent.certificate(effort=2).best_possible / 2.0**power)
    assert len(set(bounds[::2])) == len(set(bounds[1::2])) == 1


@pytest.mark.parametrize("price", [[-3.0, 3.0], [-3.0, -3.0], [3.0, 3.0], [0.0, -3.0]])
def test_a_plan_bounds_by_a_tangent_in_a_corner(price):
    """The maximiser of g + theta.w is a corner, where a supergradient is not minus theta."""

    class Fixed(eq.oracles.Oracle):
        def check(self, reward):
            pass

        def initial_theta(self, reward):
            return np.array(price)

        def kernel(self, reward):
            return eq.oracles.TunedGradientDescent().kernel(reward)

    model = eq.models.bandit(2)
    custom = R.Custom(
        2, lambda w: 1.0 - np.sum((w - 0.5) ** 2), lambda w: 1.0 - 2.0 * w, norm=2.0, lipschitz=2.0, smoothness=2.0
    )
    agent = eq.TocUCRL2(model.space, custom, Fixed(), confidence=eq.confidence.Known(model))
    agent.act(0)
    corner = np.where(np.array(price) > 0.0, 1.0, np.where(np.array(price) < 0.0, 0.0, 0.5))
    conjugate = 1.0 - np.sum((corner - 0.5) ** 2) + price @ corner
    assert agent.loop.arrays.proof.bound[0] == pytest.approx(conjugate + max(-np.array(price)), abs=1e-6)


def test_a_plan_that_runs_out_of_sweeps_proves_what_it_can():
    """The gain of every sweep bounds the optimum; the certificate says how much of it may be the planner's."""
    river, reward, regions = eq.models.riverswim(20), R.Linear([1.0]), eq.confidence.Adaptive()
    log = eq.simulate(river, eq.recommended(river.space, reward), 20_000, trace=True, progress=False).trace
    bounds = {}
    for limit in (5, 20, 10**6):
        agent = eq.TocUCRL2(river.space, reward, confidence=regions, planner=eq.planning.Planner(limit=limit))
        agent.absorb(log)
        bounds[limit] = agent.certificate()
    sharp = bounds.pop(10**6)
    tolerance = 0.01 / math.sqrt(20_001)  # of its plan
    assert sharp.loose == 0.0
    assert "sweeps" not in str(sharp)
    for hurried in bounds.values():
        assert hurried.loose > tolerance
        assert sharp.best_possible - tolerance <= hurried.best_possible <= sharp.best_possible + hurried.loose
        assert "its plan ran out of sweeps" in str(hurried)
    assert bounds[5].best_possible > sharp.best_possible + tolerance


def test_a_conjugate_found_by_iteration_is_bounded_from_above():
    model = eq.models.bandit(2)
    custom = R.Custom(
        2,
        lambda w: 1.0 - (w[0] - 0.5) ** 2 - (w[1] - 0.5) ** 2,
        lambda w: np.array([1.0 - 2.0 * w[0], 1.0 - 2.0 * w[1]]),
        norm=2.0, lipschitz=math.sqrt(2.0), smoothness=2.0, compiled=False,
    )  # fmt: skip
    assert not custom.exact_conjugate
    for theta in np.random.default_rng(0).normal(size=(50, 2)):
        grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 101)] * 2), axis=-1).reshape(-1, 2)
        largest = max(1.0 - ((w - 0.5) ** 2).sum() + theta @ w for w in grid)
        assert largest - 1e-9 <= custom.conjugate_bound(theta) <= largest + 1e-3
    agent = eq.recommended(model.space, custom)
    eq.simulate(model, agent, 1000, progress=False)
    assert agent.best_possible >= 1.0 - 1e-9
    assert agent.certificate().best_possible >= 1.0 - 1e-9
    assert 1.0 - 1e-9 <= agent.certificate(effort=20).best_possible <= 1.0 + 1e-3  # without an expression


def test_who_proves_nothing_says_so():
    model, reward = PROBLEMS["star, quadratic"]
    with pytest.raises(ProtocolError, match="RoundRobin keeps no confidence regions"):
        eq.agents.baselines.RoundRobin(model.space, reward).certificate()
    sampling = eq.recommended(model.space, reward, guarantee=False)
    with pytest.raises(ProtocolError, match="are not proven to contain the true model"):
        sampling.certificate()
    run = eq.simulate(model, sampling, 100, progress=False)
    assert np.all(np.isnan(run.certified))
    with pytest.raises(ParameterError, match=r"effort: got -1"):
        eq.recommended(model.space, reward).certificate(effort=-1)


def test_under_budgets():
    model = eq.models.pricing()
    agent = eq.KnapsackAgent(model.space, 0.25, 20_000, 0, confidence=eq.confidence.Adaptive())
    best = eq.solve_knapsack(model, 0.25)
    for _ in range(4):
        eq.simulate(model, agent, 5000, progress=False)
        certificate = agent.certificate()
        assert certificate.best_possible >= best.value - 1e-9
        assert certificate.t == agent.t - 1
    assert certificate.achieved == agent.reward.value(agent.average)


# -- coverage -----------------------------------------------------------------------------------------------------

DELTA = 0.3
HARD = {
    "rare": (
        eq.Model.from_branches(
            [[[(0.9, 0, [0.0]), (0.1, 1, [1.0])], [(1.0, 1, [0.2])]], [[(0.5, 0, [1.0]), (0.5, 1, [0.0])]]]
        ),
        R.Linear([1.0]),
    ),
    "coins": (eq.Model.from_arrays([[[1.0], [1.0]]], [[[0.5, 0.4], [0.4, 0.5]]]), R.Quadratic([0.6, 0.6])),
    "river": (eq.models.riverswim(3), R.Linear([1.0])),
}


def misses(model, reward, confidence, runs, steps=1000):
    """In how many runs the certified regret was below the true one at any checkpoint."""
    optimum = eq.solve(model, reward, 1e-9).value
    count = 0
    for seed in range(runs):
        agent = eq.TocUCRL2(model.space, reward, delta=DELTA, confidence=confidence)
        run = eq.simulate(model, agent, steps, seed, checkpoints=np.arange(10, steps + 1, 10), progress=False)
        count += bool(np.any(run.certified < run.regret(optimum) - 1e-9))
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_coverage(name):
    """Certified regret is below the true one, at any time, in at most delta of a thousand runs."""
    model, reward = HARD[name]
    assert misses(model, reward, eq.confidence.Adaptive(), 1000) <= DELTA * 1000


@pytest.mark.slow
@pytest.mark.parametrize("share", [1e-6, 0.25])
def test_coverage_would_notice(share, monkeypatch):
    """Without optimism, or with a quarter of what is proven, certificates miss in more than delta of the runs."""
    monkeypatch.setattr(eq.confidence.Scaled, "caveat", "")  # it says that it proves nothing; here it claims to
    model, reward = HARD["coins"]
    assert misses(model, reward, eq.confidence.Scaled(eq.confidence.Adaptive(), share), 300) > DELTA * 300


@interval_entry
def _at_worst(tau, delta, count, binary, n, total, squares, floats, bounds):
    """The least that each mean outcome may be: where more is better, the gain is then the pessimistic one."""
    bounds[0] = 0.0 if binary != 0 else likelihood_interval(n, total, True, delta / (2.0 * count))[0]
    bounds[1] = 1.0 if binary != 0 else bounds[0]


class Pessimistic(Elementwise):
    guarantee = "none; it claims one"
    interval = property(lambda self: _at_worst)


@pytest.mark.slow
def test_coverage_would_notice_pessimism():
    """With the least of what is possible in the place of the most, every run misses."""
    model, reward = HARD["coins"]
    assert misses(model, reward, Pessimistic(), 100) > DELTA * 100


@interval_entry
def _each_at_delta(tau, delta, count, binary, n, total, squares, floats, bounds):
    """As `Adaptive` would be if every interval had all of delta, and none had to share it."""
    if binary != 0:
        bounds[0], bounds[1] = likelihood_interval(n, total, True, delta)
    else:
        lower, upper = likelihood_interval(n, total, False, delta)
        least, most = exact_ends(n, total, delta)
        bounds[0], bounds[1] = max(lower, least), min(upper, most)


class Unshared(Elementwise):
    guarantee = "none; it claims one"
    interval = property(lambda self: _each_at_delta)


@pytest.mark.slow
def test_coverage_would_notice_if_the_share_of_delta_were_ignored():
    """The worst of eighty fair coins: its bound is that of the coin with the least luck, so one failure is enough."""
    K, runs = 80, 60
    model, reward = eq.Model.from_arrays([[[1.0]]], [[[0.5] * K]]), R.BottomSum(K, 1)
    oracle = eq.oracles.Doubling(eq.oracles.SignedSimplex(), inherit=True)

    def missed(confidence, seed):
        agent = eq.TocUCRL2(model.space, reward, oracle, delta=DELTA, confidence=confidence)
        for steps in (30, 70, 200, 700):
            eq.simulate(model, agent, steps, seed, progress=False)
            agent.certificate(effort=1)
        return agent.best_possible < 0.5 - 1e-9

    assert sum(missed(eq.confidence.Adaptive(), seed) for seed in range(runs)) <= DELTA * runs
    assert sum(missed(Unshared(), seed) for seed in range(runs)) > DELTA * runs


def test_stopping_by_proof():
    model, reward = PROBLEMS["star, quadratic"]
    agent = eq.recommended(model.space, reward)
    run = eq.simulate(model, agent, 10**6, until=eq.Certified(regret=0.02), progress=False)
    assert run.status == "certified"
    assert run.certified[-1] <= 0.02 < run.certified[-2]
    assert run.t[-1] == agent.t - 1 == run.steps < 10**5
    same = eq.recommended(model.space, reward)
    eq.simulate(model, same, 777, progress=False)
    assert eq.simulate(model, same, 10**6, until=eq.Certified(regret=0.02)).t[-1] == run.t[-1]
    with pytest.raises(ParameterError, match="RoundRobin proves nothing"):
        eq.simulate(model, eq.agents.baselines.RoundRobin(model.space, reward), 10, until=eq.Certified(regret=0.1))
    with pytest.raises(ParameterError, match=r"until: got 0\.01"):
        eq.simulate(model, agent, 10, until=0.01)
    with pytest.raises(ParameterError, match="must be above 0"):
        eq.Certified(regret=0.0)
