"""`observe` of an agent that is told mechanics: what may be left out, and what cannot have happened."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence import Adaptive
from equipoise.errors import ParameterError, ProtocolError
from tests.agents.mechanics_cases import CASES, shop

SHOP = eq.Mechanics(shop, 3, [0, 1], ["fill", "low stock"], {"demand": range(4)})
LOST = CASES["lost sales"].mechanics()


def agent_in(mechanics: eq.Mechanics, state: object) -> eq.TocUCRL2:
    """One whose action of that state is waiting, after as many steps as it takes."""
    agent = eq.TocUCRL2(mechanics.space, eq.rewards.TargetSquared([0.9, 0.5]), confidence=Adaptive())
    laws = {name: [1 / len(support)] * len(support) for name, support in zip(*noises_of(mechanics), strict=True)}
    world = mechanics.model(**laws).world(0)
    while mechanics.labels.state(world.state) != state:
        outcomes, after = world.step(agent.act(world.state))
        agent.observe(outcomes, after, world.noise)
    agent.act(world.state)
    return agent


def noises_of(mechanics: eq.Mechanics):
    return mechanics.space.laws.noises, mechanics.space.laws.supports


def follow(mechanics: eq.Mechanics, agent: eq.TocUCRL2, step, **noise) -> tuple[list[float], int]:
    state = mechanics.labels.state(agent.state)
    after, outcomes = step(state, mechanics.labels.action(agent.state, int(agent.policy[agent.state])), **noise)
    return list(outcomes), [mechanics.labels.state(s) for s in range(mechanics.space.n_states)].index(after)


def test_a_noise_may_be_left_out_where_state_and_outcomes_tell_it():
    told, silent = agent_in(SHOP, 3), agent_in(SHOP, 3)
    outcomes, after = follow(SHOP, told, shop, demand=2)
    told.observe(outcomes, after, noise={"demand": 2})
    silent.observe(outcomes, after)
    assert told.visits.tolist() == silent.visits.tolist() == [1]
    assert told.loop.arrays.counts.pool_state.tolist() == silent.loop.arrays.counts.pool_state.tolist()


def test_where_they_do_not_it_is_asked_for():
    agent = agent_in(SHOP, 0)
    outcomes, after = follow(SHOP, agent, shop, demand=2)
    with pytest.raises(ProtocolError, match=r"demand may have been 1, 2, 3; give it") as error:
        agent.observe(outcomes, after)
    assert "state" in str(error.value)
    assert "hidden=['demand']" in str(error.value)
    before = agent.visits.sum()
    agent.observe(outcomes, after, noise={"demand": 2})
    assert agent.visits.sum() == before + 1


def test_a_hidden_noise_is_not_used_even_if_it_is_given():
    """Or it would be seen in some steps only, and the values seen were no sample of the law."""
    told, silent = agent_in(LOST, 1), agent_in(LOST, 1)
    step = CASES["lost sales"].step
    outcomes, after = follow(LOST, told, step, demand=3)
    told.observe(outcomes, after, noise={"demand": 3})
    silent.observe(outcomes, after)
    for one, other in zip(told.loop.arrays.counts, silent.loop.arrays.counts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ({"demand": 7}, r"noise, state 0 .*, action 0 .*, demand: 7 is not one of its values, 0, 1, 2, 3"),
        ({"demnd": 1}, r"noise, state 0 \(3\), action 0 \(0\): there is no 'demnd'.*demand"),
        ({"demand": 3}, r"cannot lead to .* and demand=3"),
        ([1], r"noise, state 0 .*: got \[1\]; a mapping"),
        ({"demand": [1]}, r"noise, state 0 .*, demand: \[1\] is not one"),
        ({"demand": None}, r"noise, state 0 .*, demand: None is not one"),
    ],
)
def test_bad_noise(noise, message):
    agent = agent_in(SHOP, 3)
    outcomes, after = follow(SHOP, agent, shop, demand=2)
    with pytest.raises(ProtocolError, match=message):
        agent.observe(outcomes, after, noise=noise)
    assert agent.t == 1
    agent.observe(outcomes, after, noise={"demand": 2})  # nothing was spoilt
    assert agent.t == 2


def test_what_cannot_have_happened():
    agent = agent_in(SHOP, 3)
    outcomes, after = follow(SHOP, agent, shop, demand=2)
    for wrong in ([outcomes[0] / 2, outcomes[1]], [outcomes[0], outcomes[1] + 1e-6]):
        with pytest.raises(ProtocolError, match=r"state.*3.*action.*cannot lead to"):
            agent.observe(wrong, after)
    agent.observe([outcomes[0], outcomes[1] + 1e-12], after)  # computed in another order


def test_noise_is_refused_by_an_agent_that_was_told_no_mechanics():
    agent = eq.TocUCRL2(SHOP.space.table, eq.rewards.TargetSquared([0.9, 0.5]))
    agent.act(0)
    with pytest.raises(ProtocolError, match="noise: the agent was not told any mechanics"):
        agent.observe([1.0, 0.0], 0, noise={"demand": 0})


def test_a_world_of_other_mechanics_is_refused():
    agent = eq.TocUCRL2(SHOP.space, eq.rewards.TargetSquared([0.9, 0.5]))
    other = eq.Mechanics(
        lambda stock, order, demand: (shop(stock, order, demand)[0], [0.123, 0.5]), 3, [0, 1],
        ["fill", "low stock"], {"demand": range(4)},
    )  # fmt: skip
    with pytest.raises(ParameterError, match=r"model: it is not of the mechanics that the agent was told"):
        eq.simulate(other.model(demand=[0.25] * 4), agent, 10)


def test_a_world_whose_branches_tell_what_was_drawn_will_do():
    """A model made by hand, without laws, in which every branch shows the demand."""
    mechanics = LOST
    model = mechanics.model(demand=[0.3, 0.3, 0.2, 0.2])
    plain = eq.Model.from_sparse(model.first_pair, model.transitions(), model.means, labels=model.labels)
    agent = eq.TocUCRL2(mechanics.space, eq.rewards.TargetSquared([0.9, 0.5]))
    with pytest.raises(ParameterError, match=r"^model: "):  # outcomes and next states are drawn apart
        eq.simulate(plain, agent, 10)
    branches = [
        [
            [
                (
                    float(model.branch_probability[j]),
                    int(model.branch_next[j]),
                    model.rows[model.branch_row[j]].tolist(),
                )
                for j in range(model.branch_first[pair], model.branch_first[pair + 1])
            ]
            for pair in range(model.first_pair[s], model.first_pair[s + 1])
        ]
        for s in range(model.n_states)
    ]
    by_hand = eq.Model.from_branches(branches, start=model.start, labels=model.labels)
    ends = []
    for world in (model, by_hand):
        agent = eq.TocUCRL2(mechanics.space, eq.rewards.TargetSquared([0.9, 0.5]))
        eq.simulate(world, agent, 300, seed=4)
        ends.append((agent.visits.tolist(), agent.average.tolist()))
    assert ends[0] == ends[1]


def test_a_world_in_which_a_given_law_is_another_is_refused():
    """As one with other outcomes than those that are told is: certificates would be false."""
    ring = eq.Mechanics(
        lambda place, walk, slip: ((place + (walk and not slip)) % 3, [float(place == 0)]), 0, [False, True], ["home"],
        {"slip": [False, True]}, given={"slip": {True: 0.25}},
    )  # fmt: skip
    agent = eq.TocUCRL2(ring.space, eq.rewards.Linear([1.0]))
    eq.simulate(ring.model(), agent, 5)
    eq.simulate(ring.model(slip={True: 0.25}), agent, 5)
    with pytest.raises(ParameterError, match=r"state 0 \(0\), action 1 \(True\).* probability 0.5, .* was told 0.25"):
        eq.simulate(ring.model(slip=[0.5, 0.5]), agent, 5)
    assert agent.t == 11


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"known_transitions": {(1, 1): {0: 0.1, 1: 0.5, 2: 0.4}}}, r"state 1.* to state 0 .* 0.05, .* was told 0.1"),
        ({"same_law": [{(0, 1): [0, 1, 2], (1, 1): [1, 2, 0]}]}, r"state 1, action 1"),
    ],
)
def test_a_table_in_which_what_was_told_is_not_so_is_refused(facts, message):
    river = eq.models.riverswim(3)
    agent = eq.TocUCRL2(river.space.knowing(**facts), eq.rewards.Linear([1.0]))
    with pytest.raises(ParameterError, match=r"^model: it is not of the mechanics that the agent was told: " + message):
        eq.simulate(river, agent, 5)
