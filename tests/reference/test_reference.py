"""The reference's own sanity: it is compared with linear programs, with identities and with the star."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.reference import confidence, oracles, planner, rewards
from tests.reference.knapsack import KnapsackReference
from tests.reference.toc_ucrl2 import Reference
from tests.reference.worlds import World, random_world, star

REWARDS = {
    "linear": rewards.Linear([0.3, -0.2, 0.9]),
    "quadratic": rewards.Quadratic([0.2, 0.5, 0.3]),
    "claim": rewards.ClaimQuadratic(3),
    "target_squared": rewards.TargetSquared([0.7, 0.1, 0.4]),
    "target_distance_1": rewards.TargetDistance([0.7, 0.1, 0.4], 1),
    "target_distance_2": rewards.TargetDistance([0.7, 0.1, 0.4], 2),
    "target_distance_inf": rewards.TargetDistance([0.7, 0.1, 0.4], math.inf),
    "balance": rewards.Balance([0.2, 0.5, 0.3]),
    "bottom_sum_1": rewards.BottomSum(3, 1),
    "bottom_sum_2": rewards.BottomSum(3, 2),
    "gini": rewards.GeneralisedGini([0.6, 0.3, 0.1]),
    "proportional": rewards.ProportionalFairness(3, 0.1),
    "entropy": rewards.Entropy(3, 0.2),
    "entropy_wide": rewards.Entropy(3, 1.0),
    "knapsack": rewards.Knapsack(3, 0.4),
}
GRID = np.array(list(itertools.product(np.linspace(0, 1, 11), repeat=3)))


@pytest.fixture(params=REWARDS)
def reward(request):
    return REWARDS[request.param]


def thetas(reward, rng, n):
    """Random points: minus supergradients, and points anywhere in the dual ball of radius L."""
    for _ in range(n):
        yield -reward.gradient(rng.random(3))
        x = rng.normal(size=3)
        yield x * rng.random() * reward.lipschitz / rewards.dual_norm(x, reward.norm)


def run(world: World, agent, steps: int, seed: int = 0, *, noisy: bool = True) -> None:
    rng = np.random.default_rng(seed)
    state = world.start
    for _ in range(steps):
        action = agent.act(state)
        outcomes, after = world.step(state, action, rng, noisy=noisy)
        agent.observe(outcomes, after)
        state = after


# --- rewards ---


def test_supergradient_inequality_and_lipschitz(reward):
    rng = np.random.default_rng(1)
    for w, u in rng.random((300, 2, 3)):
        gradient = reward.gradient(w)
        assert reward.value(u) <= reward.value(w) + gradient @ (u - w) + 1e-12
        assert rewards.dual_norm(gradient, reward.norm) <= reward.lipschitz + 1e-12
    for w in np.round(rng.random((200, 3)), 1):  # ties and kinks
        gradient = reward.gradient(w)
        assert np.all([reward.value(u) <= reward.value(w) + gradient @ (u - w) + 1e-12 for u in GRID[::7]])


def test_fenchel_young(reward):
    """g*(theta) - theta.w >= g(w), with equality at theta = -grad g(w); and the argmax beats a grid."""
    rng = np.random.default_rng(2)
    for theta in thetas(reward, rng, 60):
        best = rewards.conjugate(reward, theta)
        for w in rng.random((20, 3)):
            assert best - theta @ w >= reward.value(w) - 1e-9
        argmax = reward.conjugate_argmax(theta)
        assert np.all((argmax >= 0) & (argmax <= 1))
    for theta in thetas(reward, rng, 4):
        assert rewards.conjugate(reward, theta) >= max(reward.value(w) + theta @ w for w in GRID) - 1e-9
    for w in rng.random((60, 3)):
        theta = -reward.gradient(w)
        assert rewards.conjugate(reward, theta) - theta @ w == pytest.approx(reward.value(w), abs=1e-9)


@pytest.mark.parametrize("name", ["quadratic", "claim", "target_squared", "proportional", "entropy"])
def test_gradients_of_smooth_rewards_numerically(name):
    smooth = REWARDS[name]
    rng = np.random.default_rng(3)
    for w in rng.uniform(0.05, 0.95, (30, 3)):
        numeric = [(smooth.value(w + h) - smooth.value(w - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        assert smooth.gradient(w) == pytest.approx(numeric, abs=1e-7)


def test_ties_go_to_the_lowest_index():
    assert rewards.BottomSum(4, 2).gradient(np.array([0.5, 0.2, 0.5, 0.5])).tolist() == [1, 1, 0, 0]
    assert rewards.TargetDistance([0.5] * 3, math.inf).gradient(np.zeros(3)).tolist() == [1, 0, 0]
    assert rewards.Balance([0.5, 0.5, 0.5]).gradient(np.array([0.5, 0.0, 1.0])).tolist() == [0, 0.5, -0.5]
    assert rewards.Knapsack(3, 0.4).gradient(np.array([1, 0.8, 0.8])).tolist() == [1, -5, 0]
    # at the uniform point n = 0 and n = K are equally good, up to rounding
    for n_outcomes in range(2, 12):
        uniform = np.full(n_outcomes, -1 / n_outcomes)
        assert not rewards.BottomSum(n_outcomes, 1).conjugate_argmax(uniform).any()


# --- confidence ---


def test_regions_by_hand():
    box = confidence.outcome_region(np.array([[0.0], [50.0]]), np.array([0.0, 200.0]), 201, 0.1)
    log = math.log(12 * 1 * 2 * 201**2 / 0.1)
    assert (box.lo[0, 0], box.hi[0, 0]) == (0, 1)
    radius = math.sqrt(2 * 0.25 * log / 200) + 3 * log / 200
    assert box.lo[1, 0] == pytest.approx(max(0, 0.25 - radius))
    assert box.hi[1, 0] == pytest.approx(0.25 + radius)
    log = math.log(12 * 3 * 2 * 10**2 / 0.1)
    box = confidence.transition_region(np.array([[0.0] * 3, [900, 100, 0]]), np.array([0.0, 1000]), 10, 0.1)
    assert box.hi[1, 2] == pytest.approx(3 * log / 1000)
    assert box.lo[1, 0] == pytest.approx(0.9 - math.sqrt(1.8 * log / 1000) - 3 * log / 1000)
    told = confidence.outcome_region(np.zeros((2, 2)), np.zeros(2), 1, 0.1, {1: [0.2, 0.3]})
    assert told.lo[1].tolist() == told.hi[1].tolist() == [0.2, 0.3]
    assert told.hi[0].tolist() == [1, 1]


def test_optimistic_reward_is_the_best_corner():
    rng = np.random.default_rng(4)
    lo = rng.random((5, 3)) / 2
    box = confidence.Box(lo, lo + rng.random((5, 3)) / 2)
    theta = rng.normal(size=3)
    choices = list(itertools.product([0, 1], repeat=3))
    corners = [[-theta @ np.where(c, hi, lo) for c in choices] for lo, hi in zip(box.lo, box.hi, strict=True)]
    assert confidence.optimistic_rewards(theta, box) == pytest.approx(np.max(corners, axis=1))


# --- planner ---


def random_regions(rng, n_pairs, n_states):
    """Regions of every kind: vacuous, singletons, and those of random counts."""
    visits = rng.integers(0, 400, n_pairs).astype(float)
    laws = rng.dirichlet(np.ones(n_states), n_pairs)
    counts = np.array([rng.multinomial(int(n), law) for n, law in zip(visits, laws, strict=True)], dtype=float)
    box = confidence.transition_region(counts, visits, 500, 0.1)
    sure = rng.random(n_pairs) < 0.2
    point = rng.dirichlet(np.ones(n_states), n_pairs)
    box.lo[sure] = box.hi[sure] = point[sure]
    return box


def test_inner_maximum_against_linear_programs():
    rng = np.random.default_rng(5)
    for n_states in (1, 2, 5, 9):
        for _ in range(8):
            box = random_regions(rng, 4, n_states)
            u = np.round(rng.normal(size=n_states), int(rng.integers(0, 3)))
            many = planner.best_distributions(np.argsort(-u, kind="stable"), box.lo, box.hi)
            for pair, p in enumerate(many):
                one = planner.best_distribution(u, box.lo[pair], box.hi[pair])
                assert p == pytest.approx(one, abs=1e-14)
                assert p.sum() == pytest.approx(1)
                assert np.all((p >= box.lo[pair] - 1e-14) & (p <= box.hi[pair] + 1e-14))
                assert p @ u == pytest.approx(
                    planner.inner_maximum_by_duality(u, box.lo[pair], box.hi[pair]), abs=1e-12
                )


@pytest.mark.parametrize("seed", range(6))
def test_certificate_of_known_models(seed):
    """min difference <= optimum <= gain, and the policy is epsilon-optimal; three solvers agree."""
    rng = np.random.default_rng(seed)
    world = random_world((2, 3, 1, 2), 1, rng)
    r = world.means[:, 0]
    value, occupancy = planner.optimum_by_lp(r, world.transitions, world.n_actions)
    best = planner.optimum_by_enumeration(r, world.transitions, world.n_actions, 0)
    assert best == pytest.approx(value, abs=1e-8)
    assert occupancy @ r == pytest.approx(value)
    for renormalise in (False, True):
        for epsilon in (0.3, 1e-3, 1e-9):
            plan = planner.extended_value_iteration(
                r, world.transitions, world.transitions, world.n_actions, epsilon, renormalise=renormalise
            )
            assert plan.span <= epsilon
            assert plan.gain - epsilon - 1e-12 <= value <= plan.gain + 1e-12
            rows = [world.pair(s, int(a)) for s, a in enumerate(plan.policy)]
            gain = planner.cesaro_limit(world.transitions[rows])[0] @ r[rows]
            assert value - epsilon - 1e-9 <= gain <= value + 1e-9


def test_certificate_of_regions():
    """phi + gamma(s) >= r(s,a) + max over H^p of p.gamma, up to nothing, and within epsilon at the policy."""
    rng = np.random.default_rng(6)
    n_actions = (2, 2, 3, 1)
    box = random_regions(rng, 8, 4)
    r = rng.normal(size=8)
    plan = planner.extended_value_iteration(r, box.lo, box.hi, n_actions, 1e-6)
    for state, pairs in enumerate(planner.pairs_by_state(n_actions)):
        for action, pair in enumerate(pairs):
            future = planner.inner_maximum_by_duality(plan.bias, box.lo[pair], box.hi[pair])
            slack = plan.gain + plan.bias[state] - r[pair] - future
            assert slack >= -1e-8
            if plan.policy[state] == action:
                assert slack <= 1e-6 + 1e-8


def test_cesaro_limit_of_a_reducible_periodic_chain():
    chain = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0.25, 0, 0.25, 0.5], [0, 0, 0, 1.0]])
    expected = np.array([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [1 / 6, 1 / 6, 0, 2 / 3], [0, 0, 0, 1]])
    assert planner.cesaro_limit(chain) == pytest.approx(expected)


def test_no_convergence_is_an_error():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])  # periodic
    with pytest.raises(ArithmeticError, match="span"):
        planner.extended_value_iteration(np.array([0.0, 1.0]), swap, swap, (1, 1), 1e-3, max_sweeps=50)


# --- oracles ---


# mirror map, reward, and L' |1_K|
MIRRORS = {
    "ball": (oracles.EuclideanBall(3, 1.0), REWARDS["target_distance_2"], math.sqrt(1 / 2) * math.sqrt(3)),
    "cube": (oracles.Cube(3, 0.5), REWARDS["balance"], 0.5 * math.sqrt(3 / 2) * 3),
    "simplex": (oracles.SignedSimplex(3, 2.0), REWARDS["bottom_sum_2"], 2 * math.sqrt(math.log(3))),
    "slack": (oracles.target_distance_simplex(3), REWARDS["target_distance_inf"], math.sqrt(math.log(4))),
    "knapsack": (oracles.knapsack_simplex(3, 0.4), REWARDS["knapsack"], 5 * math.sqrt(math.log(3))),
}


@pytest.mark.parametrize("name", MIRRORS)
def test_mirror_descent_approaches_the_supergradient(name):
    """Fed the same outcomes w for ever, TMD minimises g*(theta) - theta.w, whose least value is g(w).

    The mean excess is at most L'^2 / (T eta) + eta R'^2, the paper's theorem on it, with R' = 2 |1_K|.
    """
    mirror, reward, size = MIRRORS[name]
    w = np.array([0.35, 0.6, 0.5])
    horizon = 8000
    oracle = oracles.TunedMirrorDescent(reward, mirror, horizon)
    total = 0.0
    for _ in range(horizon):
        assert rewards.dual_norm(oracle.theta, reward.norm) <= reward.lipschitz + 1e-12
        total += rewards.conjugate(reward, oracle.theta) - oracle.theta @ w
        oracle.update(w)
    bound = size * (horizon ** (-1 / 3) + 4 * horizon ** (-2 / 3))
    assert -1e-9 <= total / horizon - reward.value(w) <= bound


@pytest.mark.parametrize("name", MIRRORS)
def test_mirror_steps_are_argmaxima(name):
    """theta maximises -theta.(eta Z) - F(theta) over dom(F): no point near it, or far, does better."""
    mirror, _, _ = MIRRORS[name]
    rng = np.random.default_rng(7)
    horizon = 50.0
    rate = horizon ** (-2 / 3)

    def entropy(weights):
        return float(np.sum(weights * np.log(weights)))

    for total in rng.normal(size=(20, 3)) * 20:
        theta = mirror.theta(total, horizon)
        if isinstance(mirror, oracles.EuclideanBall | oracles.Cube):
            ball = isinstance(mirror, oracles.EuclideanBall)
            spread = 1 / math.sqrt(2) if ball else 0.5 * math.sqrt(3 / 2)
            eta = spread / (math.sqrt(3) if ball else 3) * rate
            others = rng.uniform(-1, 1, (200, 3)) * mirror.lipschitz
            if ball:
                others = others[np.linalg.norm(others, axis=1) <= mirror.lipschitz]
            scores = [-eta * p @ total - p @ p / 2 for p in others]
            mine = -eta * theta @ total - theta @ theta / 2
        elif isinstance(mirror, oracles.SignedSimplex):
            eta = math.sqrt(math.log(3)) * rate  # in units of L
            points = rng.dirichlet(np.ones(3), 200)
            scores = [eta * p @ total - entropy(p) for p in points]
            mine = eta * (-theta / mirror.lipschitz) @ total - entropy(-theta / mirror.lipschitz)
        else:
            size = len(mirror.coords) + 1
            eta = math.sqrt(math.log(size)) * rate
            gain = np.append(-eta * mirror.scale / np.abs(mirror.scale).max() * total[mirror.coords], 0)
            points = rng.dirichlet(np.ones(size), 200)
            scores = [gain @ p - entropy(p) for p in points]
            weights = mirror.weights(total, horizon)
            mine = gain @ weights - entropy(weights)
            expected = mirror.base.copy()
            expected[mirror.coords] += mirror.scale * weights[:-1]
            assert theta == pytest.approx(expected)
        assert mine >= max(scores) - 1e-12


def test_first_gradients():
    assert oracles.FrankWolfe(rewards.ClaimQuadratic(3), 3).theta == pytest.approx([-4 / 3] * 3)
    assert not oracles.TunedGradientDescent(REWARDS["target_distance_2"], 3).theta.any()
    firsts = {
        name: oracles.TunedMirrorDescent(reward, mirror, 8).theta for name, (mirror, reward, _) in MIRRORS.items()
    }
    assert not firsts["ball"].any()
    assert not firsts["cube"].any()
    assert firsts["simplex"] == pytest.approx([-2 / 3] * 3)
    assert firsts["slack"] == pytest.approx([-1 / 4] * 3)
    assert firsts["knapsack"] == pytest.approx([-1, 5 / 3, 5 / 3])


def test_gradient_descent_by_hand():
    reward = rewards.TargetDistance([0.5, 0.5], 2)
    oracle = oracles.TunedGradientDescent(reward, 2)
    first = oracle.update(np.array([0.0, 1.0]))  # z = (0.5, -0.5), eta = 1/sqrt(2)
    assert first == pytest.approx(np.array([-0.5, 0.5]) / math.sqrt(2))
    second = oracle.update(np.array([0.0, 0.0]))  # z = (0.5, 1), eta = 1/(sqrt(2) 2^(2/3))
    assert second == pytest.approx(first - np.array([0.5, 1]) / (math.sqrt(2) * 2 ** (2 / 3)))


# --- the algorithm ---


def learner(world: World, reward, oracle, **options) -> Reference:
    return Reference(world.n_actions, world.n_outcomes, world.start, reward, oracle, **options)


class Watched(Reference):
    """Checks the while condition at every step, from records of its own."""

    def act(self, state):
        action = super().act(state)
        pair = self._pair(state, action)
        assert self.nu[pair] < self.n_plus[pair]
        assert self.drift <= self.Q
        assert self.n_plus[pair] == max(1, self.visits[pair] - self.nu[pair])
        since = self.thetas[self.episode_starts[-1] - 1 :]
        drift = sum(rewards.dual_norm(theta - since[0], self.norm) for theta in since)
        assert self.drift == pytest.approx(drift)
        return action


@pytest.mark.parametrize("name", ["quadratic", "bottom_sum_1", "target_distance_2"])
def test_episodes_of_a_random_world(name):
    world = random_world((2, 1, 3), 3, np.random.default_rng(8))
    reward = REWARDS[name]
    oracle = {
        "quadratic": oracles.FrankWolfe(reward, 3),
        "bottom_sum_1": oracles.TunedMirrorDescent(reward, oracles.SignedSimplex(3, 1.0), 500),
        "target_distance_2": oracles.TunedGradientDescent(reward, 3),
    }[name]
    agent = Watched(world.n_actions, 3, world.start, reward, oracle, Q=0.5)
    run(world, agent, 500)
    assert agent.triggers[0] == "start"
    assert set(agent.triggers[1:]) <= {"gradient", "visits", "both"}
    assert {"gradient", "visits"} <= set(agent.triggers)
    assert agent.visits.sum() == 500
    assert agent.successor_counts.sum(axis=1).tolist() == agent.visits.tolist()
    starts = agent.episode_starts
    assert starts == sorted(set(starts))
    assert agent.tolerances == [1 / math.sqrt(tau) for tau in starts]
    assert all(plan.span <= epsilon for plan, epsilon in zip(agent.plans, agent.tolerances, strict=True))
    assert len(agent.thetas) == 500


def test_linear_reward_never_drifts_and_learns():
    world = random_world((2, 2), 1, np.random.default_rng(9))
    reward = rewards.Linear([1.0])
    agent = learner(world, reward, oracles.FrankWolfe(reward, 1), Q=0.0)
    run(world, agent, 4000)
    assert set(agent.triggers[1:]) == {"visits"}
    value, _ = planner.optimum_by_lp(world.means[:, 0], world.transitions, world.n_actions)
    assert agent.average[0] > value - 0.1
    assert all(gain >= value - 1e-12 for gain in agent.gains)  # optimism


def test_known_outcomes_and_anytime_entropy():
    world = random_world((2, 2, 2), 3, np.random.default_rng(10))
    visits = World(world.n_actions, world.transitions, np.repeat(np.eye(3), 2, axis=0))
    reward = rewards.AnytimeEntropy(3)
    known = {(s, a): np.eye(3)[s] for s in range(3) for a in range(2)}
    agent = learner(visits, reward, oracles.FrankWolfe(reward, 3), Q=lambda t: reward.at(t).lipschitz, known=known)
    run(visits, agent, 300, noisy=False)
    assert agent.norm == 1
    assert agent.average.sum() == pytest.approx(1)
    assert agent.thetas[40] == pytest.approx(-reward.at(40).gradient(agent_average(agent, visits, 40)))


def agent_average(agent, world, t):
    """Average of the first t outcomes, from a second run of the same seed."""
    again = learner(
        world, agent.reward, oracles.FrankWolfe(agent.reward, 3), Q=agent.Q,
        known={(s, a): np.eye(3)[s] for s in range(3) for a in range(2)},
    )  # fmt: skip
    run(world, again, t, noisy=False)
    return again.average


@pytest.mark.parametrize("inherit", [False, True])
def test_doubling(inherit):
    world = random_world((2, 1, 2), 3, np.random.default_rng(11))
    reward = REWARDS["bottom_sum_1"]
    mirror = oracles.SignedSimplex(3, 1.0)
    doubling = oracles.Doubling(lambda horizon: oracles.TunedMirrorDescent(reward, mirror, horizon), inherit)
    agent = learner(world, reward, doubling, Q=1.0, delta=0.1)
    run(world, agent, 2 + 4 + 8 + 16 + 32 + 10)
    restarts = [t for t, why in zip(agent.episode_starts, agent.triggers, strict=True) if why == "restart"]
    assert restarts == [3, 7, 15, 31, 63]
    assert agent.mega_episode == 6
    assert agent.oracle.horizon == 64
    for t in [1, *restarts]:
        assert agent.thetas[t - 1] == pytest.approx([-1 / 3] * 3)
    at_63 = agent.episode_starts.index(63)
    if inherit:
        assert agent.clock == agent.t == 73
        assert agent.visits.sum() == 72
        assert agent.delta == 0.1
        assert agent.tolerances[at_63] == 1 / math.sqrt(63)
    else:
        assert agent.clock == 11
        assert agent.visits.sum() == 10
        assert agent.delta == 0.1 / 64
        assert agent.tolerances[at_63] == 1
        alone = learner(
            World(world.n_actions, world.transitions, world.means, agent_state_at(agent, world, 63)),
            reward, oracles.TunedMirrorDescent(reward, mirror, 64), Q=1.0, delta=0.1 / 64,
        )  # fmt: skip
        alone.act(alone.state)
        assert alone.gains[0] == agent.gains[at_63]


def agent_state_at(agent, world, t):
    """State at time t, from a second run of the same seed."""
    again = learner(world, agent.reward, agent.doubling, Q=1.0, delta=0.1)
    run(world, again, t - 1)
    return again.state


def test_knapsack_keeps_its_budget():
    # state 0: null, or a costly action that pays; state 1 the same, and all actions move at random
    transitions = np.full((4, 2), 0.5)
    means = np.array([[0, 0, 0], [0.9, 0.8, 0.3], [0, 0, 0], [0.6, 0.2, 0.7]])
    world = World((2, 2), transitions, means)
    agent = KnapsackReference((2, 2), 3, 0, budget=0.3, horizon=400, null_actions=[0, 0])
    run(world, agent, 400)
    assert agent.stopped
    assert agent.steps < 400
    assert np.all(agent.inventory >= 0)
    assert agent.inner.t == agent.steps + 1


def test_turns_are_enforced():
    world = star(2, 2)
    reward = rewards.ClaimQuadratic(2)
    agent = learner(world, reward, oracles.FrankWolfe(reward, 2), Q=1.0)
    with pytest.raises(ValueError, match="turn"):
        agent.observe(np.zeros(2), 0)
    agent.act(0)
    with pytest.raises(ValueError, match="turn"):
        agent.act(0)


# --- the star: erratum 9 ---


def star_regret(Q: float, times: list[int], **options) -> list[float]:
    world, reward = star(3, 4), rewards.ClaimQuadratic(3)
    agent = learner(
        world, reward, oracles.FrankWolfe(reward, 3), Q=Q, tolerance=1e-9,
        known_model=(world.transitions, world.means), **options,
    )  # fmt: skip
    regrets, done = [], 0
    for t in times:
        for _ in range(t - done):
            action = agent.act(agent.state)
            pair = world.pair(agent.state, action)
            agent.observe(world.means[pair], int(np.argmax(world.transitions[pair])))
        done = t
        regrets.append(1 - reward.value(agent.average))
    return regrets


def test_star_shape():
    world = star(3, 4)
    assert world.n_actions == (3, 2, 2, 2, 2, 2, 2)
    targets = np.argmax(world.transitions, axis=1).tolist()
    assert targets == [1, 3, 5, 2, 0, 2, 1, 4, 0, 4, 3, 6, 0, 6, 5]
    assert [(int(p), int(k)) for p, k in np.argwhere(world.means)] == [(5, 0), (9, 1), (13, 2)]


def test_star_with_a_known_model():
    """The regret table holds when visits do not end episodes, as nothing is to be learned."""
    assert star_regret(1.0, [100, 1000, 10_000]) == pytest.approx([0.360, 0.137, 0.048], abs=0.0015)
    assert star_regret(0.0, [100]) == pytest.approx([0.831], abs=0.0015)
    assert star_regret(math.inf, [100, 1000]) == pytest.approx([0.340, 0.334], abs=0.0015)


def test_star_to_the_letter():
    """With nu < N+ in force as well, Algorithm 1 gives other numbers, and Q = inf is no longer constant."""
    assert star_regret(1.0, [100, 1000], visit_rule=True) == pytest.approx([0.4527, 0.1458], abs=0.0015)
    assert star_regret(math.inf, [100, 1000], visit_rule=True) == pytest.approx([0.4527, 0.0832], abs=0.0015)
    assert star_regret(0.0, [100], visit_rule=True) == pytest.approx([0.831], abs=0.0015)
