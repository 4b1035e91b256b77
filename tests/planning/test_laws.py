"""The planner over laws: against linear programs, against the planner of tables, and what must not matter."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.confidence import L1, Adaptive, Bernstein, EmpiricalBernstein
from equipoise.confidence.region import Region
from equipoise.planning import extended_value_iteration
from equipoise.planning.evi import plan_over_laws
from equipoise.planning.laws import LawWork, evaluate, law_work, row_rewards, spread_bounds
from tests.planning.test_evi import random_region
from tests.reference.linear import best_in_ball, best_in_box

LP = 1e-6  # what the linear programs are good for: their solver keeps constraints to 1e-7, and values are of order 1
EXACT = 1e-12


def fan(n_values: int) -> eq.models.space.Space:
    """One state; each value of the noise pays differently."""
    return eq.Mechanics(
        lambda s, a, w: (0, [w / n_values]), 0, [0], ["paid"], {"w": range(n_values)}, progress=False
    ).space


def region_of(listed, lo, hi, rest, rest_sum, radius) -> Region:
    """Of one law."""
    return Region(
        first=np.array([0, len(listed)]),
        successor=np.array(listed, dtype=np.int64),
        lo=np.asarray(lo, dtype=float),
        hi=np.asarray(hi, dtype=float),
        rest=np.array([float(rest)]),
        rest_sum=np.array([float(rest_sum)]),
        radius=np.array([float(radius)]),
        v_lo=np.zeros((1, 1)),
        v_hi=np.zeros((1, 1)),
    )


def values(space, region: Region, x: np.ndarray, u: np.ndarray | None = None) -> np.ndarray:
    """The value of each pair, where x are the rewards of the rows."""
    laws = space.laws.arrays
    work: LawWork = law_work(laws)
    spread_bounds(laws, region, work)
    evaluate(laws, region, np.asarray(x, dtype=float), np.zeros(space.n_states) if u is None else u, work)
    return work.value[laws.root]


def random_box(rng: np.random.Generator, size: int):
    """A box with some values never seen, which share a bound, around a point; as a region and dense."""
    point = rng.dirichlet(np.full(size, 0.4))
    listed = rng.permutation(size)[: rng.integers(0, size + 1)]
    unseen = np.ones(size, dtype=bool)
    unseen[listed] = False
    slack = rng.choice([0.0, 0.05, 1.0])
    lo, hi = np.zeros(size), np.zeros(size)
    rest = min(1.0, point[unseen].max(initial=0.0) + slack * rng.random())
    lo[listed] = np.maximum(0.0, point[listed] - slack * rng.random(listed.size))
    hi[listed] = np.minimum(1.0, point[listed] + slack * rng.random(listed.size))
    hi[unseen] = rest
    together = min(1.0, float(point[unseen].sum()) + slack * rng.random() * rng.choice([0.0, 1.0]))
    return region_of(listed, lo[listed], hi[listed], rest, together, 0.0), (lo, hi, unseen, together), point


def some_values(rng: np.random.Generator, size: int) -> np.ndarray:
    """Often with ties."""
    return np.round(rng.normal(size=size), int(rng.integers(0, 5)))


# --- one law ---


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 12))
def test_a_box_against_linear_programs(seed, size):
    rng = np.random.default_rng(seed)
    region, dense, point = random_box(rng, size)
    x = some_values(rng, size)
    found = values(fan(size), region, x)[0]
    assert found == pytest.approx(best_in_box(x, *dense), abs=LP)
    assert found >= point @ x - EXACT


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 12), radius=st.floats(1e-6, 2))
@example(seed=0, size=3, radius=2.0)
def test_a_ball_against_linear_programs(seed, size, radius):
    rng = np.random.default_rng(seed)
    centre = rng.dirichlet(np.full(size, 0.4)) * (rng.random(size) < 0.7)
    centre = centre / centre.sum() if centre.any() else np.eye(size)[0]
    listed = np.flatnonzero(centre)
    x = some_values(rng, size)
    found = values(fan(size), region_of(listed, centre[listed], centre[listed], 0, 1, radius), x)[0]
    assert found == pytest.approx(best_in_ball(x, centre, radius), abs=LP)


def test_a_law_never_seen_may_be_the_best_value():
    x = np.array([0.5, 3.0, -1.0])
    assert values(fan(3), region_of([], [], [], 1.0, 1.0, 0.0), x)[0] == 3.0
    assert values(fan(3), region_of([], [], [], 0.0, 1.0, 2.0), x)[0] == 3.0


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(70, 150))
def test_many_values(seed, size):
    """The order of many is found by another way than that of few."""
    rng = np.random.default_rng(seed)
    region, dense, _ = random_box(rng, size)
    x = some_values(rng, size)
    assert values(fan(size), region, x)[0] == pytest.approx(best_in_box(x, *dense), abs=LP)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 6))
def test_a_given_law_is_its_mean(seed, size):
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.ones(size))
    space = eq.Mechanics(
        lambda s, a, w: (0, [w / size]), 0, [0], ["paid"], {"w": range(size)}, given={"w": law}, progress=False
    ).space
    x = some_values(rng, size)
    assert space.laws.n_units == 0
    nothing = region_of([], [], [], 0, 0, 0)._replace(first=np.zeros(1, np.int64))
    assert values(space, nothing, x)[0] == pytest.approx(law @ x, abs=EXACT)


# --- what must not matter, and what must ---


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 9), ball=st.booleans())
def test_the_order_of_the_values_does_not_matter(seed, size, ball):
    rng = np.random.default_rng(seed)
    region, _, point = random_box(rng, size)
    if ball:
        region = region_of(np.arange(size), point, point, 0, 1, rng.uniform(0.01, 2))
    x = some_values(rng, size)
    moved = rng.permutation(size)  # value i is now number moved[i]
    turned = np.empty(size)
    turned[moved] = x
    other = region._replace(successor=moved[region.successor])
    assert values(fan(size), other, turned)[0] == pytest.approx(values(fan(size), region, x)[0], abs=EXACT)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 9))
def test_larger_regions_and_larger_values_give_more(seed, size):
    rng = np.random.default_rng(seed)
    region, _, _ = random_box(rng, size)
    x = some_values(rng, size)
    space = fan(size)
    plain = values(space, region, x)[0]
    wider = region._replace(
        lo=region.lo * rng.random(region.lo.size),
        hi=np.minimum(1.0, region.hi + 0.2 * rng.random(region.hi.size)),
        rest=np.minimum(1.0, region.rest + 0.1 * rng.random()),
        rest_sum=np.minimum(1.0, region.rest_sum + 0.1 * rng.random()),
    )
    assert values(space, wider, x)[0] >= plain - EXACT
    assert values(space, region, x + rng.random(size))[0] >= plain - EXACT
    assert values(space, region, x + 0.7)[0] == pytest.approx(plain + 0.7, abs=EXACT)
    assert values(space, region, 3.0 * x)[0] == pytest.approx(3.0 * plain, abs=EXACT)
    assert plain <= x.max() + EXACT


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_order_is_found_anew_in_every_sweep(seed):
    """Kept from sweep to sweep, and right whatever it was before."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 40))
    region, _, _ = random_box(rng, size)
    space = fan(size)
    laws, work = space.laws.arrays, law_work(space.laws.arrays)
    spread_bounds(laws, region, work)
    for _ in range(4):
        x = some_values(rng, size)
        evaluate(laws, region, x, np.zeros(1), work)
        assert work.value[laws.root[0]] == pytest.approx(values(space, region, x)[0], abs=EXACT)


# --- several noises ---


def regions_of(parts: list[Region]) -> Region:
    """Of several laws."""
    return Region(
        first=np.concatenate([[0], np.cumsum([part.successor.size for part in parts])]).astype(np.int64),
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("successor", "lo", "hi", "rest", "rest_sum", "radius", "v_lo", "v_hi")
        },
    )


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), sizes=st.tuples(st.integers(2, 4), st.integers(2, 4), st.integers(2, 3)))
def test_nested_maxima_in_the_order_of_the_noises(seed, sizes):
    """The innermost is the last noise, and the middle one is given."""
    rng = np.random.default_rng(seed)
    n = int(np.prod(sizes))
    middle = rng.dirichlet(np.ones(sizes[1]))
    space = eq.Mechanics(
        lambda s, a, x, y, z: (0, [((x * sizes[1] + y) * sizes[2] + z) / n]), 0, [0], ["paid"],
        {"x": range(sizes[0]), "y": range(sizes[1]), "z": range(sizes[2])}, given={"y": middle}, progress=False,
    ).space  # fmt: skip
    assert space.laws.names == ("x", "z")
    outer, inner = random_box(rng, sizes[0]), random_box(rng, sizes[2])
    paid = some_values(rng, n)
    cube = paid.reshape(sizes)
    by_x = [middle @ [best_in_box(cube[i, j], *inner[1]) for j in range(sizes[1])] for i in range(sizes[0])]
    found = values(space, regions_of([outer[0], inner[0]]), paid)[0]
    assert found == pytest.approx(best_in_box(np.array(by_x), *outer[1]), abs=LP)
    assert found >= np.einsum("xyz,x,y,z", cube, outer[2], middle, inner[2]) - EXACT  # any laws of the regions


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(3, 6))
def test_hazards_are_nested_too(seed, size):
    """Lost sales: "none or more", then "one or more"... and what the laws of the regions give is never more."""
    rng = np.random.default_rng(seed)
    most = size - 1

    def step(stock, order, demand):
        return (order if min(stock, demand) < stock else 0), [min(stock, demand) / most]

    mechanics = eq.Mechanics(
        step, most, range(size), ["sold"], {"demand": range(size)}, hidden=["demand"], progress=False
    )
    space = mechanics.space
    assert [len(v) for v in space.laws.values] == [2] * most
    boxes = [random_box(rng, 2) for _ in range(most)]
    rewards, u = rng.normal(size=space.laws.arrays.rows.shape[0]), rng.normal(size=space.n_states)
    found = values(space, regions_of([box[0] for box in boxes]), rewards, u)
    rows = space.laws.arrays.rows[:, 0].tolist()
    stocks = [mechanics.labels.state(s) for s in range(space.n_states)]
    law = np.ones(size)  # that of the points within the boxes
    for d, (_, _, point) in enumerate(boxes):
        law[d] *= point[0]
        law[d + 1 :] *= point[1]
    for pair, (stock, order) in enumerate(itertools.product(stocks, range(size))):
        x = []
        for demand in range(size):
            after, (sold,) = step(stock, order, demand)
            x.append(rewards[rows.index(sold)] + u[stocks.index(after)])
        best = x[most]
        for d in range(most - 1, -1, -1):
            best = best_in_box(np.array([x[d], best]), *boxes[d][1])
        assert found[pair] == pytest.approx(best, abs=LP)
        assert found[pair] >= law @ x - EXACT


# --- a table as mechanics ---


def as_mechanics(n_actions: list[int], outcomes: np.ndarray, given=None) -> eq.Mechanics:
    """Every pair has a law of its own, over all states; its outcomes are known."""
    first = np.concatenate([[0], np.cumsum(n_actions)])
    return eq.Mechanics(
        lambda s, a, to: (to, outcomes[first[s] + a].tolist()), 0, lambda s: range(n_actions[s]),
        [f"v{k}" for k in range(outcomes.shape[1])], {"to": range(len(n_actions))},
        lambda noise, s, a: (s, a), states=range(len(n_actions)), progress=False, given=given,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_table_as_mechanics_plans_as_a_table_does(seed):
    rng = np.random.default_rng(seed)
    n_actions = rng.integers(1, 4, size=rng.integers(2, 7)).tolist()
    n_pairs = sum(n_actions)
    outcomes, theta = rng.random((n_pairs, 2)), rng.normal(size=2)
    space = as_mechanics(n_actions, outcomes).space
    assert space.laws.n_units == n_pairs
    region, _, _ = random_region(rng, len(n_actions), n_pairs)
    region = region._replace(
        rest=np.maximum(region.rest, 0.02), hi=np.minimum(1.0, region.hi + 0.02),
        v_lo=np.zeros((n_pairs, 2)), v_hi=np.zeros((n_pairs, 2)),
    )  # fmt: skip
    for pair in np.flatnonzero(rng.random(n_pairs) < 0.3):  # some are balls
        listed = slice(region.first[pair], region.first[pair + 1])
        if region.lo[listed].sum() > 0:
            region.lo[listed] /= region.lo[listed].sum()
            region.radius[pair] = rng.uniform(0.01, 2)
    relaxation, epsilon = float(rng.choice([0.5, 0.9])), 10 ** -rng.uniform(1, 6)
    expected = extended_value_iteration(space.first_pair, region, outcomes @ -theta, epsilon, relaxation=relaxation)
    bias = np.zeros(space.n_states)
    plan, _ = plan_over_laws(space.first_pair, space.laws.arrays, region, theta, epsilon, relaxation, bias)
    assert plan.policy.tolist() == expected.policy.tolist()
    assert plan.sweeps == expected.sweeps
    assert plan.gain == pytest.approx(expected.gain, abs=EXACT * 10)
    np.testing.assert_allclose(plan.bias, expected.bias, rtol=0, atol=EXACT * 100)
    assert plan.span <= epsilon


@pytest.mark.parametrize("confidence", [Bernstein(), EmpiricalBernstein(), Adaptive(), L1(), L1("laplace")], ids=repr)
def test_an_agent_told_that_takes_the_steps_of_one_told_the_outcomes(confidence):
    """The same regions, the same plans: the two differ in nothing but the way to them."""
    model = eq.models.garnet(4, 2, 3, 2, seed=8)
    mechanics = as_mechanics([2] * 4, model.means)
    known = {(s, a): model.means[model.pair(s, a)] for s in range(4) for a in range(2)}
    table = eq.Space([2] * 4, 2, known=known)
    reward = eq.rewards.TargetSquared([0.6, 0.6])
    one, other = (eq.TocUCRL2(space, reward, confidence=confidence) for space in (mechanics.space, table))
    chances = {(s, a): model.transitions().toarray()[model.pair(s, a)] for s in range(4) for a in range(2)}
    world = mechanics.model(to=chances).world(2)
    for t in range(1, 801):
        action = one.act(world.state)
        assert action == other.act(world.state), f"time {t}"
        outcomes, after = world.step(action)
        one.observe(outcomes, after, world.noise)
        other.observe(outcomes, after)
    assert one.episode_starts.tolist() == other.episode_starts.tolist()
    assert one.visits.tolist() == other.visits.tolist()
    np.testing.assert_allclose(one.episode_record.gain, other.episode_record.gain, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_all_laws_given_is_a_known_model(seed):
    """The gain is that of a linear program."""
    from tests.reference.planner import optimum_by_lp

    rng = np.random.default_rng(seed)
    n_actions, outcomes, theta = [2, 1, 3], rng.random((6, 2)), rng.normal(size=2)
    chances = rng.dirichlet(np.ones(3), size=6)
    labels = [(s, a) for s, n in enumerate(n_actions) for a in range(n)]
    laws = dict(zip(labels, chances, strict=True))
    space = as_mechanics(n_actions, outcomes, {"to": laws}).space
    nothing = region_of([], [], [], 0, 0, 0)
    plan, _ = plan_over_laws(space.first_pair, space.laws.arrays, nothing, theta, 1e-11, 0.5, np.zeros(3))
    best, _ = optimum_by_lp(outcomes @ -theta, chances, n_actions)
    assert plan.gain == pytest.approx(best, abs=1e-8)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_names_of_values_do_not_matter_to_an_agent(seed):
    """Declared in another order, with the same things drawn, it takes the same steps."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(4).tolist()

    def step(stock, bought, demand):
        sold = min(stock, demand)
        return min(3, stock - sold + bought), [sold / 3, 1 - (stock - sold) / 3]

    plain, turned = (
        eq.Mechanics(step, 3, [0, 1], ["a", "b"], {"demand": values}, states=range(4), progress=False)
        for values in (range(4), order)
    )
    confidence = (Bernstein(), Adaptive(), L1())[int(rng.integers(3))]
    agents = [
        eq.TocUCRL2(mechanics.space, eq.rewards.TargetSquared([0.5, 0.8]), confidence=confidence, threshold=0.5)
        for mechanics in (plain, turned)
    ]
    world = plain.model(demand=rng.dirichlet(np.ones(4))).world(int(rng.integers(1000)))
    for _ in range(150):
        actions = [agent.act(world.state) for agent in agents]
        assert actions[0] == actions[1]
        outcomes, after = world.step(actions[0])
        for agent in agents:
            agent.observe(outcomes, after, world.noise)
    assert agents[0].episode_starts.tolist() == agents[1].episode_starts.tolist()


def test_rewards_of_rows():
    """(-theta).v for each row of outcomes."""
    space = fan(4)
    out, theta = np.zeros(4), np.array([-2.0])
    row_rewards(space.laws.arrays, theta, region_of([], [], [], 0, 0, 0), out)
    assert out.tolist() == pytest.approx([0.0, 0.5, 1.0, 1.5])


# -- what is periodic --------------------------------------------------------------------------------------------


def clock(hour, action, w):
    """Every hour is followed by the next; only the first pays."""
    return (hour + 1) % 3, [float(hour == 0) * (0.5 + 0.5 * w)]


def swing(side, action, w):
    """To and fro pays half of the time, and to stay never; what can happen is not periodic, what is best is."""
    return (side if action == "stay" else 1 - side), [float(action == "go" and side == 0) * (0.5 + 0.5 * w)]


PERIODIC = {
    "a clock": (eq.Mechanics(clock, 0, ["go"], ["x"], {"w": [0, 1]}), 0.25),
    "a swing": (eq.Mechanics(swing, 0, ["stay", "go"], ["x"], {"w": [0, 1]}), 0.375),
}


@pytest.mark.parametrize("leaps", [False, True])
@pytest.mark.parametrize("name", PERIODIC)
def test_periodic_systems(name, leaps):
    """The sweeps go round with the system; damped, they converge, and certify the same."""
    mechanics, best = PERIODIC[name]
    world = mechanics.model(w=[0.5, 0.5])
    reward = eq.rewards.Linear([1.0])
    assert eq.solve(world, reward).value == pytest.approx(best, abs=1e-9)
    planner = eq.planning.Planner(leaps=leaps)
    agent = eq.TocUCRL2(mechanics.space, reward, planner=planner)  # the paper's regions, whose sweeps are not damped
    assert agent.loop.constants.relaxation == 1.0
    run = eq.simulate(world, agent, 600, seed=1, progress=False)
    assert agent.episode_record.sweeps.max() > 1000
    assert run.values[-1] == pytest.approx(best, abs=0.05)
    assert agent.certificate().best_possible >= best
    exact = eq.TocUCRL2(
        mechanics.space, reward, confidence=eq.confidence.L1(), tolerance=1e-6, planner=eq.planning.Planner(leaps=leaps)
    )
    exact.act(exact.state)
    assert exact.gain == pytest.approx(2 * best / 1.5, abs=1e-6)  # nothing seen yet: w may be 1 for certain
