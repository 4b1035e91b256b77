"""Models of environments: against closed forms, each other, and the traps of real environments."""

import copy
import math
import random
from functools import partial

import gymnasium
import mo_gymnasium
import mo_gymnasium.wrappers as mo
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils import EzPickle
from gymnasium.wrappers import TimeLimit, TransformObservation, TransformReward
from mo_gymnasium.envs.deep_sea_treasure import deep_sea_treasure
from mo_gymnasium.envs.four_room.four_room import FourRoom
from scipy.optimize import linprog

import equipoise as eq
from equipoise.adapters import to_gymnasium
from equipoise.errors import AdapterError

# MO-Gymnasium declares its ranges in double precision and has them cast to single.
pytestmark = pytest.mark.filterwarnings("ignore:.*precision lowered by casting to float32:UserWarning")


explore = partial(eq.adapters.explore, check=2_000)
model_from = partial(eq.adapters.model_from, check=2_000)


def clipped(observation, env):
    """The observation of breakable-bottles in its own space, where a place has a bottle or none."""
    return {**observation, "bottles_dropped": [min(1, count) for count in observation["bottles_dropped"]]}


def as_it_is(observation, env):
    return observation


# -- toy text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "states", "of"),
    [
        ("FrozenLake-v1", {}, 11, 16),
        ("FrozenLake-v1", {"map_name": "8x8", "success_rate": 0.5}, 53, 64),
        ("CliffWalking-v1", {}, 37, 48),
        ("CliffWalking-v1", {"is_slippery": True}, 37, 48),
        pytest.param("Taxi-v4", {}, 400, 500, marks=pytest.mark.slow),
        pytest.param("Taxi-v4", {"is_rainy": True}, 400, 500, marks=pytest.mark.slow),
    ],
)
def test_toy_text_works_at_the_first_attempt_and_the_search_agrees(name, options, states, of):
    env = gymnasium.make(name, **options)
    published, searched = explore(env), explore(env, state=as_it_is)
    model, other = published.model, searched.model
    assert model.n_states == states < of == env.observation_space.n
    assert model.is_communicating()
    assert published.scaling == searched.scaling
    assert model.labels.states == other.labels.states
    assert abs(model.transitions() - other.transitions()).max() < 1e-12
    assert model.means == pytest.approx(other.means, abs=1e-12)
    assert published.starts == pytest.approx(searched.starts, abs=1e-12)


def test_a_lake_that_is_not_slippery_is_crossed_in_six_steps():
    lake = explore(gymnasium.make("FrozenLake-v1", is_slippery=False), episodes=True)
    best = eq.solve(lake.model, eq.rewards.Linear([1.0, 0.0]))
    assert lake.model.labels.outcomes == ("reward", "episode ended")
    assert best.value == pytest.approx(1 / 6)
    assert lake.scaling.returns(best.outcomes) == pytest.approx([1.0, 1.0])


def test_the_cliff_is_walked_in_thirteen_steps():
    cliff = explore(gymnasium.make("CliffWalking-v1"), episodes=True)
    best = eq.solve(cliff.model, eq.rewards.Linear([0.0, 1.0]))
    assert best.value == pytest.approx(1 / 13)
    assert (cliff.scaling.low, cliff.scaling.high) == ((-100.0, 0.0), (-1.0, 1.0))
    assert cliff.scaling.returns(best.outcomes) == pytest.approx([-13.0, 1.0])


def test_a_slippery_lake_by_value_iteration_on_its_table():
    """The largest gain of a step, by relative value iteration with ends that lead to the start."""
    env = gymnasium.make("FrozenLake-v1").unwrapped
    ice = [s for s in range(16) if env.desc.ravel()[s] in b"SF"]
    p, r = np.zeros((16, 4, 16)), np.zeros((16, 4))
    for s in range(16):
        for a in range(4):
            for chance, after, reward, ended in env.P[s][a]:
                p[s, a, 0 if ended else after] += chance
                r[s, a] += chance * reward
    u, change = np.zeros(16), np.zeros(16)
    while np.ptp(change[ice]) > 1e-13 or not change[0]:
        change = 0.5 * ((r + p @ u).max(axis=1) - u)  # half of the time it stays, so that it converges
        u = u + change
    model = model_from(gymnasium.make("FrozenLake-v1"))
    assert eq.solve(model, eq.rewards.Linear([1.0])).value == pytest.approx(2 * change[0], abs=1e-9)


@pytest.mark.slow
class Published(gymnasium.Env):
    """A coin that is thrown at every step, with a table of its own."""

    observation_space = spaces.Discrete(2)
    action_space = spaces.Discrete(1)

    def __init__(self, heads, published):
        self.heads = heads
        self.P = {s: {0: [(1 - published, 0, 0.0, False), (published, 1, 1.0, False)]} for s in (0, 1)}
        self.initial_state_distrib = [1.0, 0.0]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        side = int(self.np_random.random() < self.heads)
        return side, float(side), False, False, {}


def test_a_table_with_other_probabilities_than_the_steps_is_refused():
    assert best_of(model_from(Published(0.6, 0.6))) == pytest.approx(0.6)
    with pytest.raises(AdapterError, match=r"state \d, action 0: the state \d .* came \d+ times of \d+, .* 0\.[46]"):
        model_from(Published(0.9, 0.6))
    assert best_of(model_from(Published(0.9, 0.6), state=as_it_is)) == pytest.approx(0.9)  # searched, not read


class Restarting(Published):
    """Every throw ends an episode."""

    def __init__(self, published):
        super().__init__(0.5, 0.5)
        self.P = {s: {0: [(0.5, 0, 0.0, True), (0.5, 1, 1.0, True)]} for s in (0, 1)}
        self.initial_state_distrib = published

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return int(self.np_random.random() < 0.5), {}

    def step(self, action):
        side, reward, _, _, info = super().step(action)
        return side, reward, True, False, info


def test_starts_with_other_probabilities_than_resets_are_refused():
    assert explore(Restarting([0.5, 0.5])).starts == {0: 0.5, 1: 0.5}
    with pytest.raises(AdapterError, match=r"reset: 0 came \d+ times of 2000, and its probability is 0\.75"):
        explore(Restarting([0.75, 0.25]))


def test_a_table_without_rows_says_so():
    env = Published(0.5, 0.5)
    del env.P[1]
    with pytest.raises(AdapterError, match=r"P\[1\]\[0\]: it must list .* searched instead: state="):
        model_from(env)


def test_a_table_that_tells_less_than_the_steps_do_is_refused():
    env = gymnasium.make("Taxi-v4", fickle_passenger=True)
    with pytest.raises(AdapterError, match=r"state \d+, action .* has no probability.*give state="):
        model_from(env)
    seen = model_from(env, state=lambda observation, env: (observation, env.unwrapped.fickle_step))
    assert seen.n_states == 712


# -- MO-Gymnasium ------------------------------------------------------------------------------------------------


def test_fishwood_goes_on_after_its_time_is_up():
    fishwood = explore(mo_gymnasium.make("fishwood-v0"), episodes=True)
    model = fishwood.model
    assert model.labels.states == ((1,), (0,))
    fishing = model.labels.state_index((0,))
    assert model.means[model.first_pair[fishing]] == pytest.approx([0.1, 0.0, 0.0])  # outcome 0 is fish
    assert model.means[model.first_pair[1 - fishing]] == pytest.approx([0.0, 0.9, 0.0])
    assert not model.means[:, 2].any()  # no episode ends


def test_fishwood_has_the_known_optima():
    """Fishing a share x of the time brings .1 x and .9 (1 - x): equal at x = .9; half the wood, at .45 / .55."""
    model = model_from(mo_gymnasium.make("fishwood-v0", fishproba=0.1, woodproba=0.9))
    least = eq.rewards.BottomSum(2, kappa=1)
    assert eq.solve(model, least).value == pytest.approx(0.09)
    assert eq.solve(model, least.of([[1, 0], [0, 0.5]])).value == pytest.approx(0.045 / 0.55)


def test_the_constant_reward_of_deep_sea_treasure_is_refused_with_the_way_out():
    env = mo_gymnasium.make("deep-sea-treasure-v0")
    with pytest.raises(AdapterError, match=r"reward 1: it is always -1, .* ranges=\{1: \(low, high\)\}.*drop=\[1\]"):
        model_from(env)
    assert model_from(env, drop=[1]).n_outcomes == 1
    assert model_from(env, ranges={1: (-1, 0)}).n_outcomes == 2


@pytest.mark.parametrize(
    ("name", "front"),
    [
        ("deep-sea-treasure-v0", deep_sea_treasure.CONVEX_FRONT),
        ("deep-sea-treasure-concave-v0", deep_sea_treasure.CONCAVE_FRONT),
        ("deep-sea-treasure-mirrored-v0", deep_sea_treasure.CONCAVE_FRONT),
    ],
)
def test_treasures_by_their_values_and_distances(name, front):
    """The most a step is the largest value over distance; the largest value alone, where returns are compared."""
    sea = explore(mo_gymnasium.make(name), drop=["time"], outcomes=["treasure", "time"], episodes=True)
    value = eq.solve(sea.model, eq.rewards.Linear([1.0, 0.0])).value
    assert sea.scaling.original([value, 0.0])[0] == pytest.approx(max(v / -t for v, t in front))
    largest, distance = max((v, -t) for v, t in front)
    sparing = eq.solve(
        sea.model, eq.rewards.Linear([1.0, -0.99])
    )  # an end costs almost what the largest treasure brings
    assert sea.scaling.returns(sparing.outcomes)[0] == pytest.approx(largest)
    assert 1 / sparing.outcomes[1] == pytest.approx(distance)


def test_breakable_bottles_are_refused_until_ranges_and_states_are_given():
    env = mo_gymnasium.make("breakable-bottles-v0")
    with pytest.raises(AdapterError, match=r"reward 0: its range is declared as -inf to 0, which is infinite"):
        model_from(env)
    with pytest.raises(AdapterError, match=r"'bottles_dropped' is not\); give state="):
        model_from(env, ranges={0: (-1, 0)})
    model = model_from(env, ranges={0: (-1, 0)}, drop=[0], state=clipped)
    assert model.n_states == 173
    assert model.is_communicating()


def test_bottles_that_do_not_break_have_a_state_that_a_clipped_count_hides():
    env = mo_gymnasium.make("breakable-bottles-v0", unbreakable_bottles=True)
    with pytest.raises(AdapterError, match="hidden state"):
        model_from(env, drop=[0], ranges={2: (-1, 1)}, state=clipped)


def test_bottles_carried_one_by_one():
    """One bottle at a time takes 1 + 2 x 4 steps and never drops one; two at a time may drop one in three places."""
    env = mo_gymnasium.make("breakable-bottles-v0", prob_drop=1.0)
    bottles = explore(env, drop=[0, 2], state=clipped, episodes=True)
    best = eq.solve(bottles.model, eq.rewards.Linear([1.0, 0.0]))
    # From the far end: 4 steps, pick one, 4 steps back (25 for a bottle), and again: 18 steps for two.
    assert bottles.scaling.original(best.outcomes)[0] == pytest.approx(50 / 18)


def test_the_fruit_tree_by_a_linear_program_over_its_fruits():
    env = mo_gymnasium.make("fruit-tree-v0")
    fruits = np.array(env.unwrapped.pareto_front(gamma=1.0), np.float32).astype(float)
    tree = explore(env)
    least = eq.solve(tree.model, eq.rewards.BottomSum(6, kappa=1)).value
    n = len(fruits)
    # The largest x with sum_i share_i fruit_i >= x in each nutrient; a fruit takes six steps.
    answer = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.hstack([-fruits.T, np.ones((6, 1))]),
        b_ub=np.zeros(6),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
    )
    assert 10 * least == pytest.approx(-answer.fun / 6)
    for weights in np.random.default_rng(0).dirichlet(np.ones(6), size=3):
        value = eq.solve(tree.model, eq.rewards.Linear(weights)).value
        assert 10 * value == pytest.approx((fruits @ weights).max() / 6)


def test_resource_gathering_by_the_ways_that_its_authors_list():
    """The most gold and diamonds a step: what a way through the map brings, over how long it takes.

    Of the ways in the environment's own `pareto_front`, two can be made better. Both resources past both enemies bring
    .9 x .9 x 2; it lists the diamond first, with deaths at steps 7 and 9, and the other way round they are at 3 and 5.
    And both can be had past no enemy, in 5 + 7 + 6 steps.
    """
    ways = [(1.0, 10.0), (1.62, 0.7 + 0.81 + 9.72), (0.81, 0.3 + 0.45 + 6.48), (1.8, 0.7 + 12.6), (1.0, 12.0)]
    ways.append((1.62, 0.3 + 0.45 + 9.72))
    found = explore(mo_gymnasium.make("resource-gathering-v0"), outcomes=["death", "gold", "diamond"])
    best = eq.solve(found.model, eq.rewards.Linear([0.0, 1.0, 1.0]))
    assert best.value == pytest.approx(max(got / length for got, length in ways))
    safe = eq.solve(found.model, eq.rewards.Linear([100.0, 1.0, 1.0]))  # 1 in the first outcome is no death
    assert safe.outcomes[0] == pytest.approx(1.0)
    assert safe.outcomes[1:].sum() == pytest.approx(2 / 18)


SMALL_MAZE = np.array([["_", "1", "G"], ["_", "2", "X"]])


def test_four_rooms_draw_their_start_from_the_global_generator():
    env = FourRoom(maze=SMALL_MAZE)
    random.seed(3)
    before = random.getstate()
    found = explore(env, check=0)
    assert random.getstate() == before
    assert found.starts == pytest.approx({(0, 0, 0, 0): 0.5, (1, 0, 0, 0): 0.5})
    # From above: right, right. From below: right, up, right, with both shapes. Every end pays one of each of three.
    ends = eq.solve(found.model, eq.rewards.Linear([0.0, 0.0, 1.0]))
    assert ends.value == pytest.approx(1 / 2.5)


# -- environments of one's own -----------------------------------------------------------------------------------


class Walk(gymnasium.Env, EzPickle):
    """A walk on 0 ... size - 1 that slips with a chance; an end at the right, which pays 1."""

    observation_space = spaces.Discrete(100)
    action_space = spaces.Discrete(2)

    def __init__(self, size=4, slip=0.25):
        EzPickle.__init__(self, size, slip)
        self.size, self.slip, self.at, self.clock = size, slip, 0, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.clock = 0, 0
        return self.at, {}

    def slips(self):
        return self.np_random.random() < self.slip

    def step(self, action):
        self.clock += 1
        direction = 1 if bool(action) != bool(self.slips()) else -1
        self.at = max(0, self.at + direction)
        ended = self.at == self.size - 1
        return self.at, float(ended), *self.flags(ended), {}

    def flags(self, ended):
        return ended, False


def hitting_time(size, slip):
    """The mean time from 0 to size - 1, always to the right, by the equations of the walk."""
    n = size - 1
    system = np.eye(n)
    for s in range(n):
        system[s, max(0, s - 1)] -= slip
        if s + 1 < n:
            system[s, s + 1] -= 1 - slip
    return np.linalg.solve(system, np.ones(n))[0]


def best_of(model):
    return eq.solve(model, eq.rewards.Linear([1.0])).value


def test_a_walk_by_its_hitting_time():
    assert best_of(model_from(Walk())) == pytest.approx(1 / hitting_time(4, 0.25))


def test_a_copy_of_it_loses_its_state_and_the_model_does_not():
    env = Walk(slip=0.0)
    env.reset(seed=0)
    env.step(1)
    assert env.at == 1
    assert copy.deepcopy(env).at == 0
    assert model_from(env).n_states == 3


def test_an_environment_is_left_as_it_was_found():
    env = TransformReward(TimeLimit(Walk(), 50), lambda r: r)
    env.reset(seed=11)
    env.step(1)
    before = dict(vars(env.unwrapped)), env.env, env.env.env, env.unwrapped.np_random.bit_generator.state
    model_from(env)
    assert dict(vars(env.unwrapped)) == before[0]
    assert (env.env, env.env.env) == before[1:3]
    assert env.unwrapped.np_random.bit_generator.state == before[3]
    env.step(1)


def test_wrappers_are_kept_and_limits_of_time_are_not():
    limited = TransformObservation(TimeLimit(Walk(), 2), lambda at: 2 * at, spaces.Discrete(100))
    model = model_from(limited)
    assert model.labels.states == (0, 2, 4)
    assert best_of(model) == pytest.approx(1 / hitting_time(4, 0.25))
    weighted = mo.LinearReward(mo_gymnasium.make("fishwood-v0"), np.array([0.5, 0.5]))
    scaled = explore(weighted)
    assert scaled.scaling.high == (0.5,)
    assert best_of(scaled.model) == pytest.approx(0.9)


class OwnGenerator(Walk):
    """It draws from a generator of its own."""

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        return super().reset(seed=seed)

    def slips(self):
        return self.rng.random() < self.slip


class GlobalGenerator(Walk):
    def slips(self):
        return np.random.rand() < self.slip  # noqa: NPY002


@pytest.mark.parametrize("kind", [OwnGenerator, GlobalGenerator])
def test_generators_wherever_they_are(kind):
    assert best_of(model_from(kind())) == pytest.approx(1 / hitting_time(4, 0.25))


class FirstGenerator(Walk):
    """It draws from a generator that it is made with, and that no reset changes."""

    def __init__(self):
        super().__init__()
        self.rng = np.random.default_rng(3)

    def slips(self):
        return self.rng.random() < self.slip


class BuriedGenerator(Walk):
    """It draws from a generator in a dictionary, in a list, in another object."""

    class Simulator:
        def __init__(self, walk):
            self.walk = walk  # a circle
            self.dice = [{"first": random.Random(3)}]

    def __init__(self):
        super().__init__()
        self.simulator = self.Simulator(self)

    def slips(self):
        return self.simulator.dice[0]["first"].random() < self.slip


class SpaceSample(Walk):
    """It draws from a space that it holds: one in four is a slip."""

    def __init__(self):
        super().__init__()
        self.lots = spaces.Discrete(4)

    def slips(self):
        return int(self.lots.sample()) == 3


@pytest.mark.parametrize("kind", [FirstGenerator, BuriedGenerator, SpaceSample])
def test_generators_that_are_buried(kind):
    assert best_of(model_from(kind())) == pytest.approx(1 / hitting_time(4, 0.25))


def test_buried_generators_are_left_as_they_were_found():
    env = BuriedGenerator()
    dice = env.simulator.dice[0]["first"]
    before = dice.getstate()
    model_from(env)
    assert env.simulator.dice[0]["first"] is dice
    assert dice.getstate() == before


class LostGenerator(Walk):
    """It draws by a function that holds a generator, which is nowhere to be found."""

    def __init__(self):
        super().__init__()
        self.draw = np.random.default_rng(3).random

    def slips(self):
        return self.draw() < self.slip


def test_a_generator_that_is_not_found_is_noticed():
    with pytest.raises(AdapterError, match=r"has no probability|not the same|after one history"):
        model_from(LostGenerator())


OUTSIDE = {"at": 0}


class StateElsewhere(Walk):
    """Where it is, is no attribute of it."""

    def reset(self, *, seed=None, options=None):
        OUTSIDE["at"] = 0
        return super().reset(seed=seed)

    def step(self, action):
        self.at = OUTSIDE["at"]
        answer = super().step(action)
        OUTSIDE["at"] = self.at
        return answer


def test_a_state_that_cannot_be_put_back_is_noticed():
    with pytest.raises(AdapterError, match=r"has no probability|after one history"):
        model_from(StateElsewhere())


class Tired(Walk):
    """From the tenth step of an episode on it does not slip any more."""

    def slips(self):
        return super().slips() if self.clock < 10 else False


def test_a_hidden_state_is_noticed_and_can_be_read():
    with pytest.raises(AdapterError, match=r"after one history and .* after another, so it has a hidden state"):
        model_from(Tired(size=6))
    read = model_from(Tired(size=6), state=lambda at, env: (at, min(env.clock, 9)))
    assert read.n_states > 10


class Normal(Walk):
    def slips(self):
        return self.np_random.normal() < 0


class Continuous(Walk):
    observation_space = spaces.Box(-100.0, 100.0, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = float(self.np_random.uniform(0, 1))
        return np.array([self.at]), {}

    def step(self, action):
        answer = super().step(action)
        return np.array([self.at]), *answer[1:]


def test_draws_that_cannot_be_enumerated_are_refused_by_name():
    with pytest.raises(AdapterError, match=r"state 0, action 0: np_random\.normal: this draw cannot be enumerated"):
        model_from(Normal())
    with pytest.raises(AdapterError, match=r"^reset: np_random\.uniform: .* used as a number"):
        model_from(Continuous(), state=lambda observation, env: int(observation[0]))


class Wandering(Continuous):
    """Without chance, and never twice at the same place."""

    def reset(self, *, seed=None, options=None):
        Walk.reset(self, seed=seed)
        self.at = 1.0
        return np.array([self.at]), {}

    def step(self, action):
        self.at = 99 * math.sin(self.at + action)
        return np.array([self.at]), 0.0, False, False, {}


def test_observations_that_are_not_finite_are_refused_with_what_to_do():
    ways = r"^the observations are not finite.* eq\.adapters\.drive\(.*state=.* eq\.adapters\.GradientThreshold \("
    with pytest.raises(AdapterError, match=ways + r"reset draws np_random\.uniform"):
        model_from(gymnasium.make("CartPole-v1"))
    with pytest.raises(AdapterError, match=ways + r"more than 50 states were found"):
        model_from(Wandering(), limit=50)

    def coarse(observation, env):
        return tuple((observation > 0).tolist())

    run = eq.adapters.drive(
        gymnasium.make("CartPole-v1"),
        lambda space: eq.recommended(space, eq.rewards.Linear([1.0])),
        steps=30,
        ranges=[(0, 1)],
        state=coarse,
    )
    assert run.status == "done"


class Counting(Walk):
    def step(self, action):
        _, *rest = super().step(action)
        return self.clock, *rest


def test_states_without_end_are_refused():
    env = Counting()
    env.observation_space = spaces.Discrete(10**6)
    with pytest.raises(
        AdapterError, match=r"more than 50 states were found, such as \d+; give a larger limit=, or state="
    ):
        model_from(env, limit=50)


class BothFlags(Walk):
    def flags(self, ended):
        return ended, ended


def test_both_flags_at_once_are_asked_about():
    with pytest.raises(AdapterError, match=r"state 2, action \d: .* terminated and truncated at once; .* ends="):
        model_from(BothFlags())
    end = model_from(BothFlags(), ends=lambda terminated, truncated: terminated)
    assert best_of(end) == pytest.approx(1 / hitting_time(4, 0.25))


class BothAtTheTime(Walk):
    """Both flags after two steps, and at no other time."""

    def step(self, action):
        answer = super().step(action)
        self.at = min(self.at, self.size - 1)
        return self.at, *answer[1:]

    def flags(self, ended):
        return self.clock == 2, self.clock == 2


def test_a_limit_of_time_with_both_flags_is_none_if_one_says_so():
    with pytest.raises(AdapterError, match="is that an end, or a limit of time"):
        model_from(BothAtTheTime(size=5))
    model = model_from(BothAtTheTime(size=5), ends=lambda terminated, truncated: terminated and not truncated)
    assert model.n_states == 5
    assert model.max_successors == 2


class OwnLimit(Walk):
    """It truncates by itself, after three steps: too early to get to the end."""

    def flags(self, ended):
        return ended, self.clock == 3 and not ended


def test_a_truncation_is_no_event():
    assert best_of(model_from(OwnLimit(size=5))) == pytest.approx(1 / hitting_time(5, 0.25))


class Absorbing(Walk):
    """It never ends: at the right it stays."""

    def step(self, action):
        if self.at == self.size - 1:
            return self.at, 1.0, False, False, {}
        answer = super().step(action)
        return answer[0], 0.0, False, False, {}


def test_what_is_only_passed_is_left_out():
    assert model_from(Absorbing(slip=0.0), ranges=[(0, 1)]).n_states == 4  # one may stay at the left
    assert model_from(Absorbing(slip=0.5), ranges=[(0, 1)]).labels.states == (3,)


class Treasury(gymnasium.Env):
    """Seven rooms in a row, behind one of ten doors each; a wrong door leads back to the first room.

    What is in the bag changes in place, in the last room, where no short walk gets to.
    """

    observation_space = spaces.MultiDiscrete([8, 2])
    action_space = spaces.Discrete(10)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.room, self.bag = 0, []
        return self.seen(), {}

    def seen(self):
        return np.array([self.room, len(self.bag)])

    def step(self, action):
        sold = self.room == 0 and bool(self.bag)
        if sold:
            self.bag.clear()
        self.room = min(self.room + 1, 7) if action == 3 else 0
        if self.room == 7 and not self.bag:
            self.bag.append("gold")
        return self.seen(), float(sold), False, False, {}


def test_an_attribute_that_changes_in_place_in_one_far_state_only():
    """Seven steps to the gold, one back, one to sell it and be in the second room: eight steps a round."""
    model = model_from(Treasury())
    assert set(model.labels.states) == {(room, 0) for room in range(7)} | {(7, 1), (0, 1)}
    assert best_of(model) == pytest.approx(1 / 8)
    sixth, full, empty = (model.labels.state_index(label) for label in ((6, 0), (0, 1), (0, 0)))
    for door in range(10):
        if door != 3:
            assert model.transitions().toarray()[model.pair(sixth, door), empty] == 1.0
        assert model.means[model.pair(full, door)] == 1.0


class Grid(gymnasium.Env):
    """Two coordinates modulo 3 that are moved together; rewards in units of their own."""

    observation_space = spaces.MultiDiscrete([3, 3])
    action_space = spaces.MultiDiscrete([2, 3], start=[0, -1])
    reward_space = spaces.Box(np.array([-2.0, 0.0]), np.array([2.0, 10.0]), dtype=np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = np.zeros(2, np.int64)
        return self.at, {}

    def step(self, action):
        self.at += action  # in place: what it returned before changes as well
        self.at %= 3
        return self.at, np.array([self.at[0] - 1.0, 5.0 * (self.at[1] == 2)]), False, False, {}


def test_arrays_that_change_in_place_and_actions_of_several_parts():
    grid = explore(Grid(), outcomes=["drift", "prize"])
    assert grid.model.n_states == 9
    assert grid.model.labels.actions == ((0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1))
    best = eq.solve(grid.model, grid.scaling.in_units(eq.rewards.Linear([1.0, 1.0])))
    assert grid.scaling.original(best.outcomes) == pytest.approx([1.0, 5.0])
    assert best.value == pytest.approx(6.0)


class OneArray(Grid):
    """The same grid, which never has another array to be in."""

    def __init__(self):
        self.at = np.zeros(2, np.int64)

    def reset(self, *, seed=None, options=None):
        gymnasium.Env.reset(self, seed=seed)
        self.at[:] = 0
        return self.at, {}


def test_what_changes_in_place_is_left_as_it_was_found():
    env = OneArray()
    env.reset(seed=0)
    held = env.step(np.array([1, 1]))[0]
    model_from(env)
    assert held is env.at
    assert held.tolist() == [1, 1]


def test_ranges_by_name_and_what_is_outside_of_them():
    with pytest.raises(
        AdapterError, match=r"state \(0, 0\), action \(0, -1\): prize is 5, outside of its range, 0 to 4"
    ):
        explore(Grid(), outcomes=["drift", "prize"], ranges={"prize": (0, 4)})
    dropped = explore(Grid(), outcomes=["drift", "prize"], drop=["drift"], ranges={"prize": (0, 5)})
    assert dropped.scaling.names == ("prize",)
    assert best_of(dropped.model) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranges": {2: (0, 1)}}, r"ranges: got 2; the components of the reward are \['reward 0', 'reward 1'\]"),
        ({"ranges": [(0, 1)]}, r"ranges: got 1; 2 are needed"),
        ({"ranges": {0: 3}}, r"ranges, reward 0: got 3; two numbers are needed"),
        ({"ranges": {0: (1, 1)}}, r"ranges, reward 0: got \(1, 1\); two finite numbers are needed, the lower one"),
        ({"ranges": {0: (1, -1)}}, r"ranges, reward 0: got \(1, -1\); .* the lower one first"),
        ({"ranges": {0: (0, float("inf"))}}, r"ranges, reward 0: got \(0, inf\); two finite numbers"),
        ({"ranges": {0: (float("nan"), 1)}}, r"ranges, reward 0: got"),
        ({"drop": ["prize"]}, r"drop: got 'prize'"),
        ({"drop": [0, 1]}, r"drop: nothing is left"),
        ({"outcomes": ["one"]}, r"outcomes: got \['one'\]; 2 names are needed"),
        ({"outcomes": ["one", 2]}, r"outcomes: got \['one', 2\]; 2 names are needed"),
        ({"limit": 0}, r"limit: got 0"),
        ({"check": -1}, r"check: got -1"),
    ],
)
def test_what_is_asked_for_wrongly(options, message):
    with pytest.raises(AdapterError, match=message):
        explore(Grid(), **options)


class Broken(Walk):
    def __init__(self, reward=0.0):
        super().__init__()
        self.reward = reward

    def step(self, action):
        if self.reward is None:
            raise RuntimeError("no power")
        observation, _, *rest = super().step(action)
        return observation, self.reward, *rest


def test_errors_of_the_environment_are_told_with_their_place():
    with pytest.raises(AdapterError, match=r"the environment raised RuntimeError: no power"):
        explore(Broken(None))
    with pytest.raises(AdapterError, match=r"state 0, action \d: the reward is nan; finite numbers are needed"):
        explore(Broken(float("nan")))
    with pytest.raises(AdapterError, match=r"reward: it is always 0, so there is nothing to control"):
        explore(Broken(0.0))


class OldWays(Walk):
    """It answers as environments did before Gymnasium."""

    def __init__(self, bare_reset=False):
        super().__init__()
        self.bare_reset = bare_reset

    def reset(self, *, seed=None, options=None):
        first = super().reset(seed=seed)
        return first[0] if self.bare_reset else first

    def step(self, action):
        observation, reward, ended, _, info = super().step(action)
        return observation, reward, ended, info


def test_environments_that_answer_otherwise_are_told_what_gymnasium_asks_for():
    of_agents = partial(eq.recommended, reward=eq.rewards.Linear([1.0]))
    for ask in (explore, partial(eq.adapters.drive, agent=of_agents, steps=10, ranges=[(0, 1)])):
        with pytest.raises(AdapterError, match=r"state 0, action \d: the step returned \(.*asks for five things"):
            ask(OldWays())
        with pytest.raises(AdapterError, match=r"reset: got 0; Gymnasium asks for two things"):
            ask(OldWays(bare_reset=True))


def test_what_is_no_finite_environment():
    with pytest.raises(AdapterError, match=r"env: got str; a gymnasium\.Env is needed"):
        explore("FrozenLake-v1")
    with pytest.raises(AdapterError, match=r"the actions are Box\(.*a finite space is needed"):
        explore(mo_gymnasium.make("water-reservoir-v0"))
    with pytest.raises(AdapterError, match=r"env: got str"):
        model_from("FrozenLake-v1")


def test_there_and_back():
    model = eq.models.star(branches=3, diameter=4)
    assert model_from(to_gymnasium(model)) is model
    assert model_from(TimeLimit(to_gymnasium(model), 10)) is model
    for env, options in ((mo.MOClipReward(to_gymnasium(model), 0, 0, 0.5), {}), (to_gymnasium(model), {"drop": [0]})):
        with pytest.raises(AdapterError, match=r"made of a model; take that, env\.unwrapped\.model"):
            model_from(env, **options)


def test_returns_need_the_outcome_that_counts_them():
    with pytest.raises(AdapterError, match="episodes=True"):
        explore(Walk()).scaling.returns([0.5])
