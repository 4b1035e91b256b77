"""Labels: both ways, in every message, in files, and of no influence on anything that is computed."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

import equipoise as eq
from equipoise._files import read_npz, write_npz
from equipoise.errors import FileError, ModelError, ParameterError, ProtocolError
from equipoise.models import Labels, Model, Space
from equipoise.models.labels import RESERVED

P2 = [[[0.25, 0.75], [1.0, 0.0]], [[0.5, 0.5]]]
V2 = [[[0.1, 0.2], [0.3, 0.4]], [[1.0, 0.0]]]
SHARED = Labels(["empty", (1, "x")], ["wait", "order 5"], ["sales", "waste"])
RAGGED = Labels(["empty", 7], [["wait", 3], [("sell", 1)]], ["sales", "waste"])


def model(labels=SHARED):
    return Model.from_arrays(P2, V2, labels=labels)


@pytest.mark.parametrize("labels", [SHARED, RAGGED])
def test_there_and_back(labels):
    for s, count in enumerate([2, 1]):
        assert labels.state_index(labels.state(s)) == s
        for a in range(count):
            assert labels.action_index(s, labels.action(s, a)) == a
    for k in range(2):
        assert labels.outcome_index(labels.outcome(k)) == k


def test_a_state_with_fewer_actions_uses_the_first_of_them():
    assert SHARED.action(1, 0) == "wait"
    assert RAGGED.action(1, 0) == ("sell", 1)
    assert SHARED.actions == ("wait", "order 5")
    assert RAGGED.actions == [["wait", 3], [("sell", 1)]]


def test_numbers_stand_in_for_what_has_no_label():
    none = Labels()
    assert not none
    assert (none.state(3), none.action(0, 2), none.outcome(1)) == (3, 2, "1")
    assert (none.state_index(3), none.action_index(0, 2), none.outcome_index(1)) == (3, 2, 1)
    assert none.name_pair(3, 2) == "state 3, action 2"
    assert (none.states, none.actions, none.outcomes) == (None, None, None)


def test_names():
    assert SHARED.name_pair(0, 1) == 'state 0 ("empty"), action 1 ("order 5")'
    assert SHARED.name_state(1) == "state 1 (1, 'x')"
    assert RAGGED.name_pair(1, 0) == "state 1 (7), action 0 ('sell', 1)"
    assert SHARED.name_outcome(1) == 'outcome 1 ("waste")'
    space = model().space
    assert [space.name_pair(pair) for pair in range(3)] == [
        'state 0 ("empty"), action 0 ("wait")',
        'state 0 ("empty"), action 1 ("order 5")',
        "state 1 (1, 'x'), action 0 (\"wait\")",
    ]
    assert (space.name_state(0), space.name_outcome(0)) == ('state 0 ("empty")', 'outcome 0 ("sales")')


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"states": 5}, "labels, states: got 5; a sequence"),
        ({"states": "ab"}, "labels, states: got 'ab'; a sequence"),
        ({"states": []}, "labels, states: got no labels"),
        ({"states": ["a", "b", "a"]}, r"labels, states\[2\]: 'a' is the label of number 0 already"),
        ({"states": [["a"], "b"]}, r"labels, states\[0\]: got \['a'\]; a label must be hashable"),
        ({"states": [("a", []), "b"]}, r"labels, states\[0\]: .* must be hashable"),
        ({"states": [float("nan")]}, r"labels, states\[0\]: got nan, which is not equal to itself"),
        ({"actions": ["a", ["b"]]}, r"labels, actions\[0\]: got 'a'; a list is needed for every state, or for none"),
        ({"actions": [["a"], ["b", "b"]]}, r"labels, actions\[1\]\[1\]: 'b' is the label of number 0"),
        ({"actions": [["a"], [{}]]}, r"labels, actions\[1\]\[0\]: got {}; a label must be hashable"),
        ({"outcomes": [3]}, r"labels, outcomes\[0\]: got 3; a text"),
        ({"outcomes": ["a", " "]}, r"labels, outcomes\[1\]: got ' '; a text"),
        ({"outcomes": ["a", "a"]}, r"labels, outcomes\[1\]: 'a' is the label of number 0"),
        *(
            ({"outcomes": ["a", name]}, rf"labels, outcomes\[1\]: '{name}' is the name of another column")
            for name in (*RESERVED, "outcome_0", "outcome_12")
        ),
    ],
)
def test_bad_labels_are_named(arguments, message):
    with pytest.raises(ModelError, match=message):
        Labels(**arguments)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Labels(states=["a"]), "labels, states: got 1; 2 are needed, one for each state"),
        (Labels(actions=["a"]), "labels, actions: got 1; 2 are needed, as many as state 0 has actions"),
        (Labels(["e", "f"], ["a", "b", "c"]), r'labels, actions: got 3; 2 .* state 0 \("e"\)'),
        (Labels(actions=[["a", "b"]]), "labels, actions: got 1; 2 are needed, a list for each state"),
        (Labels(actions=[["a", "b"], ["a", "b"]]), "labels, actions of state 1: got 2; 1 are needed"),
        (Labels(outcomes=["a", "b", "c"]), "labels, outcomes: got 3; 2 are needed, one for each outcome"),
        (["a", "b"], r"labels: got \['a', 'b'\]; a Labels is needed"),
    ],
)
def test_a_wrong_number_of_labels_is_refused_by_every_constructor(labels, message):
    sparse = csr_array([row for state in P2 for row in state])
    branches = [[[(1.0, 0, [0, 0])], [(1.0, 1, [0, 0])]], [[(1.0, 0, [0, 0])]]]
    for build in (
        lambda: Model.from_arrays(P2, V2, labels=labels),
        lambda: Model.from_branches(branches, labels=labels),
        lambda: Model.from_sparse([0, 2, 3], sparse, [row for state in V2 for row in state], labels=labels),
        lambda: Space([2, 1], 2, labels=labels),
    ):
        with pytest.raises(ModelError, match=message):
            build()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: SHARED.state_index("emty"), r"state: there is no 'emty' \(did you mean 'empty'\?\); the labels are"),
        (lambda: SHARED.state_index((1, "y")), r"state: there is no \(1, 'y'\) \(did you mean \"\(1, 'x'\)\"\?\)"),
        (lambda: SHARED.state_index([1]), r"state: there is no \[1\]"),
        (lambda: SHARED.state_index(0), "state: there is no 0"),
        (lambda: RAGGED.action_index(1, "wait"), r"state 1 \(7\), action: there is no 'wait'; the labels are \('sell'"),
        (lambda: SHARED.outcome_index("sale"), r"outcome: there is no 'sale' \(did you mean 'sales'\?\)"),
        (lambda: SHARED.state(2), "state: got 2; it must be below 2"),
        (lambda: SHARED.state(-1), "state: got -1; the number of one is needed"),
        (lambda: SHARED.action(0, "wait"), r'state 0 \("empty"\), action: got \'wait\'; the number'),
        (lambda: Labels().state_index("a"), "state: got 'a'; the number of one is needed"),
    ],
)
def test_what_is_not_there_is_an_error(ask, message):
    with pytest.raises(ModelError, match=message):
        ask()


@pytest.mark.parametrize("labels", [SHARED, RAGGED, Labels()])
def test_immutable_equal_by_value_and_copied(labels):
    for again in (copy.deepcopy(labels), pickle.loads(pickle.dumps(labels)), eval(repr(labels))):
        assert again == labels
        assert hash(again) == hash(labels)
    assert labels != Labels(states=["a"])
    assert labels != "labels"
    with pytest.raises(AttributeError, match="states cannot be set"):
        labels.states = None


def test_numpy_labels_become_plain_ones():
    labels = Labels(np.arange(3), np.array(["a", "b"]), np.array(["x", "y"]))
    assert [type(one) for one in (*labels.states, *labels.actions, *labels.outcomes)] == [int] * 3 + [str] * 4


# -- with models and spaces --------------------------------------------------------------------------------------


def test_labels_are_no_part_of_what_a_world_is():
    plain, labelled = model(None), model()
    assert plain == labelled
    assert plain.space == labelled.space
    assert plain.space.difference(labelled.space) == ""
    assert plain.pack()[0] == labelled.pack()[0]
    assert labelled.labels == labelled.space.labels == SHARED
    assert Space([2, 1], 2, labels=SHARED).labels == SHARED


def test_an_agent_made_without_labels_runs_in_the_labelled_world():
    reward = eq.rewards.Quadratic([0.5, 0.5])
    runs = []
    for space in (model(None).space, model().space):
        agent = eq.TocUCRL2(space, reward)
        runs.append(eq.simulate(model(), agent, 500, seed=2, progress=False))
    assert np.array_equal(runs[0].outcomes, runs[1].outcomes)


def test_ids_do_not_depend_on_labels():
    from equipoise.studies.plan import model_hash

    assert model_hash(model()) == model_hash(model(None))


@pytest.mark.parametrize("labels", [SHARED, RAGGED, Labels(states=[None, True]), Labels(states=[1.5, ((), "é")])])
def test_files_give_back_every_label_exactly(labels, tmp_path):
    model(labels).save(tmp_path / "m")
    again = Model.load(tmp_path / "m")
    assert again == model(labels)
    assert again.labels == labels
    assert repr(again.labels) == repr(labels)  # equality does not tell 1 from True
    assert Labels.unpack(json.loads(json.dumps(labels.pack()))) == labels


def test_a_file_without_labels_loads(tmp_path):
    header, arrays = model().pack()
    write_npz(tmp_path / "old", arrays, header, "model", 1)
    assert Model.load(tmp_path / "old") == model()
    assert not Model.load(tmp_path / "old").labels


@pytest.mark.parametrize(
    "content",
    [7, {"colours": ["a"]}, {"states": 3}, {"states": ["a"]}, {"states": ["a", "a"]}, {"states": [{"set": [1]}, "b"]}],
)
def test_damaged_labels_are_refused(content, tmp_path):
    model().save(tmp_path / "m")
    header, arrays = read_npz(tmp_path / "m", "model", 1)
    write_npz(tmp_path / "bad", arrays, header | {"labels": content}, "model", 1)
    with pytest.raises(FileError, match=r"bad: .*label"):
        Model.load(tmp_path / "bad")


def test_what_no_file_can_hold_is_said_when_saving(tmp_path):
    odd = model(Labels(states=[frozenset({1}), frozenset({2})]))
    with pytest.raises(FileError, match=r"the label frozenset\(\{1\}\) is of type frozenset; only texts"):
        odd.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()
    assert pickle.loads(pickle.dumps(odd)).labels == odd.labels


def test_copies_keep_their_labels():
    for rebuild in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert rebuild(model()).labels == SHARED
        assert rebuild(model().space).labels == SHARED


def test_visits_are_called_after_the_states():
    visits = model().visits()
    assert visits.labels == Labels(SHARED.states, SHARED.actions, ["empty", "(1, 'x')"])
    assert model(None).visits().labels == Labels()
    assert Labels(states=["on", "t"]).visits().outcomes == ("'on'", "'t'")
    assert Labels(states=["outcome_1", "on"]).visits().outcomes == ("'outcome_1'", "'on'")
    clash = Labels(states=["1", 1])
    assert clash.visits().outcomes == ("'1'", "1")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Model.from_arrays([[[0.5, 0.4], [1, 0]], P2[1]], V2, labels=SHARED),
            r'^state 0 \("empty"\), action 0 \("wait"\): the probabilities sum to 0.9',
        ),
        (
            lambda: Model.from_arrays(P2, [V2[0], [[1.0, 2.0]]], labels=SHARED),
            r"^state 1 \(1, 'x'\), action 0 \(\"wait\"\), next state 0 \(\"empty\"\), outcome 1 \(\"waste\"\): the",
        ),
        (lambda: Model.from_arrays([P2[0], []], [V2[0], []], labels=SHARED), r"^state 1 \(1, 'x'\): it has no actions"),
        (lambda: Model.from_arrays(P2, [V2[0]], labels=SHARED), "outcomes: got 1 entries"),
        (lambda: Model.from_arrays([P2[0], 5], V2, labels=SHARED), r"transitions, state 1 \(1, 'x'\): got 5"),
        (lambda: Model.from_arrays(P2, V2, known=[(0, 2)], labels=SHARED), r'known\[0\], state 0 \("empty"\), action'),
        (
            lambda: Space([2, 1], 2, known={(0, 1): [0, 2]}, labels=SHARED),
            r'state 0 .* \("order 5"\), outcome 1 \("was',
        ),
        (lambda: model().pair(0, 2), r'pair, state 0 \("empty"\), action: got 2'),
        (
            lambda: Model.from_arrays([[[1, 0]], [[1, 0]]], [[[0]], [[0]]], labels=Labels(["a", "b"])).diameter(),
            r'from state 0 \("a"\) no policy reaches state 1 \("b"\)',
        ),
    ],
)
def test_messages_show_labels(build, message):
    with pytest.raises(ModelError, match=message):
        build()


def test_the_world_names_its_state():
    with pytest.raises(ProtocolError, match=r'state 0 \("empty"\): got the action 2'):
        model().world(0).step(2)


def test_a_difference_is_told_by_name():
    told = Space([2, 1], 2, known={(0, 1): [0, 1]}, labels=SHARED)
    assert told.difference(Space([2, 2], 2)).startswith("state 1 (1, 'x') has 1 actions here")
    assert told.difference(Space([2, 1], 2)).startswith('state 0 ("empty"), action 1 ("order 5"): its outcomes')


# -- of the named worlds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["queue", "inventory", "scheduler", "patrol", "sites", "pricing", "bidding", "star"])
def test_the_applied_worlds_have_all_labels(name):
    labels = getattr(eq.models, name)().labels
    assert None not in (labels.states, labels.actions, labels.outcomes)


def test_labels_of_the_star_and_the_hub():
    star = eq.models.star(3, 4).labels
    assert star.name_pair(0, 2) == 'state 0 ("centre"), action 2 ("to end 2")'
    assert [star.state_index(f"end {k}") for k in range(3)] == [2, 4, 6]
    hub = eq.models.hub(2, centre=eq.models.hub(2))  # labels that are made of the same words
    assert len(set(hub.labels.states)) == 6
    assert hub.labels.state_index("spoke 1") == 5
    assert hub.labels.action_index(1, "to spoke 1") == hub.n_actions[1] - 1


# -- columns -----------------------------------------------------------------------------------------------------


def toss(state, action, coin):
    return coin, [float(coin)]


def test_a_trace_and_a_log_have_all_columns_that_are_reserved():
    """The list is complete: whatever a trace has besides outcomes and noises is on it."""
    labels = Labels(states=["a", "b"], actions=["go"], outcomes=["outcome_0", "pay"])
    world = Model.from_arrays([[[0.5, 0.5]], [[0.5, 0.5]]], [[[0.5, 1.0]], [[0.5, 1.0]]], labels=labels)
    agent = eq.agents.baselines.RoundRobin(world.space, eq.rewards.Linear([1.0, 0.0]))
    trace = eq.simulate(world, agent, 5, trace=True, progress=False).trace
    assert set(trace.columns) == {*RESERVED, "outcome_0", "pay"}


@pytest.mark.parametrize("name", [*RESERVED, "outcome_0", "won"])
def test_a_noise_is_not_called_like_another_column(name):
    with pytest.raises(ModelError, match=f"noises: '{name}' is "):
        eq.Mechanics(lambda s, a, **w: (0, [0.5]), 0, ["go"], ["won"], {name: [0, 1]})


def test_a_trace_has_a_column_for_each():
    """An agent may have other labels than the world."""
    game = eq.Mechanics(toss, 0, ["go"], ["won"], {"coin": [0, 1]})
    world = game.model(coin=[0.5, 0.5])
    space = Space([1, 1], 1, labels=Labels(outcomes=["coin"]))
    agent = eq.agents.baselines.RoundRobin(space, eq.rewards.Linear([1.0]))
    with pytest.raises(ParameterError, match="trace: 'coin' is an outcome of the agent's space and a noise"):
        eq.simulate(world, agent, 5, trace=True, progress=False)
    assert agent.t == 1


@pytest.mark.parametrize("name", ["value", "certified", "regret"])
def test_a_frame_of_checkpoints_has_a_column_for_each(name):
    world = Model.from_arrays([[[1.0]]], [[[0.25]]], noise="none", labels=Labels(outcomes=[name]))
    agent = eq.agents.baselines.RoundRobin(world.space, eq.rewards.Linear([2.0]))
    frame = eq.simulate(world, agent, 10, progress=False).frame(best=1.0)
    assert frame.columns == ["t", "value", "certified", "regret", f'outcome 0 ("{name}")']
    assert (frame["value"][-1], frame["regret"][-1], frame[f'outcome 0 ("{name}")'][-1]) == (0.5, 0.5, 0.25)
