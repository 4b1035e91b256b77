"""Model: the three constructors, derived arrays, immutability, files and bad input."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from equipoise import mechanics, models
from equipoise.errors import FileError, ModelError
from equipoise.models import Model
from equipoise.models.laws.laws import Laws

P2 = [[[0.25, 0.75], [1.0, 0.0]], [[0.5, 0.5]]]
V2 = [[[0.1, 0.2], [0.3, 0.4]], [[1.0, 0.0]]]


def arrays(model):
    return {f.name: v for f in dataclasses.fields(model) if isinstance(v := getattr(model, f.name), np.ndarray)}


def everyone():
    return {
        "arrays": Model.from_arrays(P2, V2, start=1, known=[(0, 1)]),
        "branches": Model.from_branches([[[(0.5, 0, [0.0]), (0.25, 0, [1.0]), (0.25, 1, [0.5])]], [[(1, 0, [0])]]]),
        "star": models.star(3, 4),
        "garnet": models.garnet(20, 3, 4, 2),
        "visits": models.riverswim(5).visits(),
    }


@pytest.fixture(params=list(everyone()))
def model(request):
    return everyone()[request.param]


def test_from_arrays_keeps_what_was_given():
    model = Model.from_arrays(P2, V2, start=1, known=[(0, 1)])
    assert model.transitions().toarray().tolist() == [row for state in P2 for row in state]
    assert model.means.tolist() == [row for state in V2 for row in state]
    assert (model.n_states, model.n_actions, model.n_pairs, model.n_outcomes) == (2, (2, 1), 3, 2)
    assert (model.start, model.max_successors, model.noise) == (1, 2, "bernoulli")
    assert model.branch_probability.size == 5  # the zero is dropped
    assert model.space.known_mask.tolist() == [False, True, False]
    assert model.space.known_outcomes.tolist() == [[0, 0], [0.3, 0.4], [0, 0]]


def test_the_three_constructors_agree():
    nested = Model.from_arrays(np.full((3, 2, 3), 1 / 3), np.full((3, 2, 1), 0.5))
    sparse = Model.from_sparse([0, 2, 4, 6], csr_array(np.full((6, 3), 1 / 3)), np.full((6, 1), 0.5))
    cases = [(1 / 3, s, [0.5]) for s in range(3)]
    branches = Model.from_branches([[cases, cases]] * 3, noise="bernoulli")
    assert nested == sparse
    for name in ("branch_cumulative", "branch_next", "transition_state", "transition_probability"):
        assert np.array_equal(getattr(nested, name), getattr(branches, name)), name
    assert np.allclose(branches.means, 0.5, rtol=1e-15)


def test_branches_merge_and_average():
    model = everyone()["branches"]
    assert model.transitions().toarray().tolist() == [[0.75, 0.25], [1.0, 0.0]]
    assert model.means.ravel().tolist() == [0.25 * 1.0 + 0.25 * 0.5, 0.0]
    assert model.branch_cumulative.tolist() == [0.5, 0.75, 1.0, 1.0]
    assert model.transition_first.tolist() == [0, 2, 3]


def test_the_callers_arrays_are_copied():
    p, v = np.array(P2[0][:1] + P2[1]).reshape(2, 1, 2), np.full((2, 1, 1), 0.5)
    model = Model.from_arrays(p, v)
    p[:] = 0
    v[:] = 0
    assert model.means.min() == 0.5
    assert model.transition_probability.min() > 0


@pytest.mark.parametrize("rebuild", [lambda m: m, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_arrays_are_typed_contiguous_and_read_only(model, rebuild):
    model = rebuild(model)
    for name, array in arrays(model).items():
        assert not array.flags.writeable, name
        assert array.flags.c_contiguous, name
        assert array.dtype in (np.int64, np.float64, np.bool_), name
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.start = 0


def test_the_last_cumulative_is_one(model):
    assert (model.branch_cumulative[model.branch_first[1:] - 1] == 1.0).all()
    tenths = Model.from_arrays([[[0.1] * 10]] * 10, [[[0]]] * 10)
    assert np.cumsum([0.1] * 10)[-1] != 1.0
    assert tenths.branch_cumulative[9] == 1.0


def test_save_and_load_are_exact(model, tmp_path):
    path = tmp_path / "model without suffix"
    model.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    again = Model.load(path)
    assert again == model
    for name, array in arrays(model).items():
        assert np.array_equal(getattr(again, name), array), name
        assert not getattr(again, name).flags.writeable, name
    assert again.space == model.space


def test_equality_sees_every_part():
    base = Model.from_arrays(P2, V2)
    others = [
        Model.from_arrays(P2, V2, start=1),
        Model.from_arrays(P2, V2, noise="none"),
        Model.from_arrays(P2, V2, known=[(0, 0)]),
        Model.from_arrays(P2, [[[0.1, 0.2], [0.3, 0.4]], [[1.0, 1e-16]]]),
        Model.from_arrays([[[0.25, 0.75], [0.0, 1.0]], [[0.5, 0.5]]], V2),
    ]
    assert base == Model.from_arrays(P2, V2)
    assert all(base != other for other in others)
    assert base != 3


def test_a_file_with_a_wrong_model_is_refused(tmp_path):
    from equipoise._files import read_npz, write_npz

    models.ring(3).save(tmp_path / "m")
    header, stored = read_npz(tmp_path / "m", "model", 1)
    for name, value in [
        ("branch_next", np.array([1, 2, 7])),
        ("branch_probability", np.array([1.0, 1.0, 0.5])),
        ("branch_row", np.array([0, 1, 9])),
        ("branch_first", np.array([0, 1, 1, 3])),
        ("first_pair", np.array([0, 1, 2, 9])),
        ("rows", np.zeros((3, 1), np.float32)),
        ("known_mask", np.zeros(5, np.bool_)),
    ]:
        write_npz(tmp_path / "bad", stored | {name: value}, header, "model", 1)
        with pytest.raises(FileError, match="bad"):
            Model.load(tmp_path / "bad")
    del stored["rows"]
    write_npz(tmp_path / "bad", stored, header, "model", 1)
    with pytest.raises(FileError, match="'rows' is missing"):
        Model.load(tmp_path / "bad")


def test_visits_counts_the_state_left():
    river = models.riverswim(5)
    visits = river.visits()
    assert visits.n_outcomes == 5
    assert visits.noise == "none"
    assert np.array_equal(visits.transitions().toarray(), river.transitions().toarray())
    assert np.array_equal(visits.means, np.eye(5)[river.state_of])
    assert visits.space.known_mask.all()
    assert np.array_equal(visits.space.known_outcomes, visits.means)
    world = visits.world(3)
    for t in range(100):
        here = world.state
        outcomes, _ = world.step(t % 3 % 2)
        assert outcomes.tolist() == np.eye(5)[here].tolist()


def changed(where, value, table=P2):
    """A copy of a nested list with one entry replaced."""
    table = copy.deepcopy(table)
    inner = table
    for index in where[:-1]:
        inner = inner[index]
    inner[where[-1]] = value
    return table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"transitions": [], "outcomes": []}, "no states"),
        ({"transitions": 5}, "transitions: got 5; a sequence"),
        ({"transitions": "ab"}, "transitions: got 'ab'; a sequence"),
        ({"outcomes": V2[:1]}, "outcomes: got 1 entries; 2 are needed, one for each state"),
        ({"transitions": changed([1], []), "outcomes": changed([1], [], V2)}, "state 1: it has no actions"),
        ({"outcomes": changed([1], [], V2)}, "outcomes, state 1: got 0 entries; 1 are"),
        ({"transitions": changed([0, 1], [1.0])}, "transitions, state 0, action 1: got 1 entries; 2"),
        (
            {"transitions": np.full((3, 2, 2), 0.5)},
            "action 0: got 2 entries; 3 are needed.*: transitions.state..",
        ),
        (
            {"transitions": np.full((2, 2), 0.5)},
            "state 0, action 0: got 0.5; a vector .*: transitions.state",
        ),
        ({"outcomes": [[0.5, 0.5], [0.5]]}, "outcomes, state 0, action 0: got 0.5; .* also where there is only one"),
        ({"transitions": changed([0, 1], [0, 0])}, "state 0, action 1: it leads nowhere"),
        ({"transitions": changed([0, 1], "no")}, "transitions, state 0, action 1: .* a vector of numbers"),
        ({"transitions": changed([0, 1], [[1, 0]])}, r"state 0, action 1: got an array of shape \(1, 2\)"),
        ({"transitions": changed([1, 0], [0.5, 0.4])}, "state 1, action 0: the probabilities sum to 0.9"),
        ({"transitions": changed([1, 0], [0.5, 0.5 + 2e-9])}, "state 1, action 0: the probabilities sum to 1.0"),
        ({"transitions": changed([1, 0], [1.5, -0.5])}, "state 1, action 0, next state 1: the probability is -0.5"),
        ({"transitions": changed([1, 0, 0], np.nan)}, "state 1, action 0, next state 0: the probability is nan"),
        ({"transitions": changed([1, 0, 0], np.inf)}, "state 1, action 0, next state 0: the probability is inf"),
        ({"outcomes": changed([0, 1], [0.3], V2)}, "outcomes, state 0, action 1: got 1 entries; 2"),
        ({"outcomes": changed([0, 1, 1], 1.5, V2)}, "state 0, action 1, .* outcome 1: the mean is 1.5"),
        ({"outcomes": changed([0, 1, 0], -1e-9, V2)}, "state 0, action 1, .* outcome 0: the mean is -1e-09"),
        ({"outcomes": changed([0, 1, 0], np.nan, V2)}, "outcome 0: the mean is nan"),
        ({"outcomes": [[[], []], [[]]]}, "outcomes: got no entries"),
        ({"start": 2}, "start: got 2"),
        ({"start": 0.5}, "start: got 0.5; a whole number"),
        ({"noise": "gauss"}, "noise: got 'gauss'"),
        ({"noise": None}, "noise: got None"),
        ({"known": 3}, "known: got 3"),
        ({"known": [(0, 0), (0, 2)]}, r"known\[1\], state 0, action: got 2"),
        ({"known": [(5, 0)]}, r"known\[0\], state: got 5"),
        ({"known": [7]}, r"known\[0\]: got 7"),
    ],
)
def test_from_arrays_names_what_is_wrong(arguments, message):
    with pytest.raises(ModelError, match=message):
        Model.from_arrays(**({"transitions": P2, "outcomes": V2} | arguments))


B1 = [[[(0.5, 0, [0.0]), (0.5, 1, [1.0])]], [[(1.0, 0, [0.0])]]]


@pytest.mark.parametrize(
    ("branches", "message"),
    [
        ([], "no states"),
        (changed([1], [], B1), "state 1: it has no actions"),
        (changed([1, 0], [], B1), "state 1, action 0: it leads nowhere"),
        (changed([0, 0, 1], (0.5, 1), B1), "state 0, action 0, branch 1: got 2 entries"),
        (changed([0, 0, 1], (0.5, 2, [1]), B1), "state 0, action 0, branch 1, next state: got 2"),
        (changed([0, 0, 1], (0.5, -1, [1]), B1), "branch 1, next state: got -1"),
        (changed([0, 0, 1], (0.5, 0.5, [1]), B1), "branch 1, next state: got 0.5; a whole number"),
        (changed([0, 0, 1], (0.4, 1, [1]), B1), "state 0, action 0: the probabilities sum to 0.9"),
        (changed([0, 0, 1], (-0.5, 1, [1]), B1), "state 0, action 0, next state 1: the probability is -0.5"),
        (changed([0, 0, 1], ("x", 1, [1]), B1), "branch 1, probability"),
        (changed([0, 0, 1], (0.5, 1, [1, 1]), B1), "branch 1, outcomes: got 2 entries; 1"),
        (changed([0, 0, 1], (0.5, 1, [2]), B1), "state 0, action 0, next state 1, outcome 0: the mean is 2"),
        (changed([0, 0, 1], 4, B1), "state 0, action 0, branch 1: got 4"),
    ],
)
def test_from_branches_names_what_is_wrong(branches, message):
    with pytest.raises(ModelError, match=message):
        Model.from_branches(branches)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"first_pair": [0, 2, 2]}, "state 1: it has no actions"),
        ({"first_pair": [0]}, "first_pair"),
        ({"first_pair": [0.0, 1.0, 2.0]}, "first_pair: .* integers"),
        ({"first_pair": [0, 1, 3]}, r"transitions: got the shape \(2, 2\); \(3, 2\)"),
        ({"transitions": np.eye(2)}, "transitions: got ndarray; a sparse array"),
        ({"transitions": csr_array([[1.0, 0.0], [0.5, 0.4]])}, "state 1, action 0: the probabilities sum to 0.9"),
        ({"means": [[0.5]]}, r"means: got the shape \(1, 1\)"),
        ({"means": "x"}, "means: not an array"),
        ({"means": [[0.5], [7]]}, "state 1, action 0, .* outcome 0: the mean is 7"),
    ],
)
def test_from_sparse_names_what_is_wrong(arguments, message):
    right = {"first_pair": [0, 1, 2], "transitions": csr_array([[0.5, 0.5], [1.0, 0.0]]), "means": [[0.5], [1.0]]}
    Model.from_sparse(**right)
    with pytest.raises(ModelError, match=message):
        Model.from_sparse(**(right | arguments))


# -- what nothing would check ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [{"branch_next": np.full(7, 10**12)}, {"start": 10**9}, {"branch_probability": np.zeros(7)}, {"noise": "none"}, {}],
    ids=lambda part: next(iter(part), "nothing"),
)
def test_fields_cannot_be_given_or_replaced(part):
    """Kernels follow the arrays of a model without looking."""
    model = models.riverswim(4)
    with pytest.raises(ModelError, match="make a model by from_arrays, from_branches"):
        dataclasses.replace(model, **part)
    fields = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
    with pytest.raises(ModelError, match="make a model by from_arrays, from_branches"):
        Model(**fields | part)


def test_laws_and_cases_of_another_model_are_refused():
    shop, other = (mechanics.inventory(capacity=room) for room in (3, 4))
    model = shop.model()
    laws, cases = shop.space.laws, np.array(model.branch_case)
    assert model.with_laws(laws, cases) == model
    for wrong in (other.space.laws, laws):
        with pytest.raises(ModelError, match="with_laws: the laws are those of another model"):
            model.with_laws(wrong, cases + (wrong is laws))
    numbers = laws.arrays._replace(leaf_next=np.full(laws.arrays.leaf_next.size, -1))
    parts = (laws.first_case, laws.case_next, laws.case_row)
    with pytest.raises(ModelError, match=r"Laws: the array 'laws\.leaf_next' has entries outside of 0 to 3"):
        Laws(laws.names, laws.values, laws.noises, laws.supports, (), True, numbers, parts)


def test_a_mechanics_is_immutable():
    shop = mechanics.inventory()
    with pytest.raises(AttributeError, match="a Mechanics is immutable: space cannot be set"):
        shop.space = models.ring(3).space
    assert pickle.loads(pickle.dumps(mechanics.queue())).space == mechanics.queue().space


@pytest.mark.parametrize("name", ["transitions", "means"])
@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_a_malformed_sparse_array_is_refused(name, part):
    """SciPy's own code would follow its indices, and end the process."""
    arrays = {name: csr_array(np.array([[0.5, 0.5], [1.0, 0.0]])) for name in ("transitions", "means")}
    assert Model.from_sparse([0, 1, 2], **arrays).n_pairs == 2
    getattr(arrays[name], part)[1] = 10**9
    with pytest.raises(ModelError, match=f"{name}: its indptr and indices are not those of an array of shape"):
        Model.from_sparse([0, 1, 2], **arrays)
