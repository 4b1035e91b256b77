"""Outcomes that are nearly all zero are kept sparse, and nothing that is made of them changes by a bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import equipoise as eq
from equipoise.errors import FileError, ModelError, ParameterError
from equipoise.models import outcome_rows


@pytest.fixture
def always(monkeypatch):
    """From now on all rows with few entries are sparse, however small."""
    monkeypatch.setattr(outcome_rows, "_LARGE", 0)
    monkeypatch.setattr(outcome_rows, "_FEW", 2)


def worlds() -> list[eq.Model]:
    return [eq.models.garnet(7, 3, 3, seed=2), eq.models.star(2, 4), eq.models.grid(3, 3)]


def told(model: eq.Model) -> bool:
    return not isinstance(model.mean_rows, np.ndarray)


def test_large_worlds_are_sparse_and_small_ones_are_not():
    assert not told(eq.models.grid(20, 20).visits())
    large = eq.models.grid(30, 30).visits()
    assert told(large)
    assert large.mean_rows.nnz == large.n_pairs
    assert np.array_equal(large.means, np.eye(900)[large.state_of])
    assert large.space.known_rows is large.mean_rows


def test_rows_of_the_same_numbers_are_the_same():
    numbers = np.array([[0.0, 0.5], [0.25, 0.0], [0.0, 0.0]])
    sparse = csr_array(numbers)
    assert outcome_rows.are_equal(numbers, sparse)
    assert outcome_rows.are_equal(sparse, sparse.copy())
    other = numbers.copy()
    other[1, 1] = 1e-300
    assert outcome_rows.differing_rows(csr_array(other), sparse).tolist() == [1]
    assert outcome_rows.differing_rows(other, sparse).tolist() == [1]
    assert not outcome_rows.are_equal(numbers[:2], sparse)
    assert [outcome_rows.dense_row(sparse, i).tolist() for i in range(3)] == numbers.tolist()
    assert outcome_rows.to_array(outcome_rows.mask_rows(sparse, np.array([True, False, True]))).tolist() == [
        [0.0, 0.5],
        [0.0, 0.0],
        [0.0, 0.0],
    ]


@pytest.mark.parametrize("index", range(3))
def test_an_agent_walks_the_same_way_with_sparse_rows(index, monkeypatch):
    dense = worlds()[index].visits()
    monkeypatch.setattr(outcome_rows, "_LARGE", 0)
    monkeypatch.setattr(outcome_rows, "_FEW", 1)
    sparse = worlds()[index].visits()
    assert not told(dense)
    assert told(sparse)
    assert sparse == dense
    assert sparse.space == dense.space
    reward = eq.rewards.Entropy(dense.n_states)
    for make in (eq.TocUCRL2, eq.recommended, lambda *parts: eq.recommended(*parts, guarantee=False)):
        runs = []
        for model in (dense, sparse):
            agent = make(model.space, reward)
            run = eq.simulate(model, agent, 3000, seed=4)
            runs.append((agent, run))
        (one, first), (two, second) = runs
        assert np.array_equal(first.outcomes, second.outcomes)
        assert first.episodes.equals(second.episodes)
        assert np.array_equal(one.theta, two.theta)
        assert two.loop.arrays.counts.sums.shape[1] == two.loop.arrays.region.v_lo.shape[1] == 0
        if not one.caveat:
            assert one.certificate(effort=2).best_possible == pytest.approx(
                two.certificate(effort=2).best_possible, abs=1e-9
            )


def test_step_by_step_and_through_a_file(always, tmp_path):
    model = eq.models.garnet(6, 2, 3, seed=5).visits()
    reward = eq.rewards.Entropy(6)
    agent, again = (eq.recommended(model.space, reward) for _ in range(2))
    eq.simulate(model, agent, 400, seed=3)
    world = model.world(seed=3)
    for t in range(400):
        if t == 200:
            again.save(tmp_path / "agent.npz")
            again = eq.TocUCRL2.load(tmp_path / "agent.npz")
            assert told(model)
            assert again.space == model.space
        again.observe(*world.step(again.act(world.state)))
    assert np.array_equal(again.theta, agent.theta)
    assert np.array_equal(again.visits, agent.visits)


def test_a_model_goes_through_a_file_and_a_pickle(always, tmp_path):
    import pickle

    model = eq.models.garnet(6, 2, 3, seed=5).visits()
    model.save(tmp_path / "model.npz")
    loaded = eq.Model.load(tmp_path / "model.npz")
    assert told(loaded)
    assert loaded == model
    assert pickle.loads(pickle.dumps(model)) == model
    with np.load(tmp_path / "model.npz") as kept:
        assert "rows" not in kept
        damaged = dict(kept)
    damaged["rows.index"] = damaged["rows.index"] + 1
    np.savez(tmp_path / "damaged.npz", **damaged)
    with pytest.raises(FileError, match=r"'rows\.index'"):
        eq.Model.load(tmp_path / "damaged.npz")


def test_outcomes_may_be_given_sparse_and_are_drawn_as_dense_ones_are(monkeypatch):
    rng = np.random.default_rng(0)
    means = np.where(rng.random((8, 6)) < 0.2, rng.random((8, 6)), 0.0)
    first = np.arange(0, 9, 2)
    transitions = csr_array(rng.dirichlet(np.ones(4), 8))
    dense = eq.Model.from_sparse(first, transitions, means)
    monkeypatch.setattr(outcome_rows, "_LARGE", 0)
    monkeypatch.setattr(outcome_rows, "_FEW", 2)
    sparse = eq.Model.from_sparse(first, transitions, csr_array(means))
    assert told(sparse)
    assert sparse == dense
    one, two = dense.world(seed=1), sparse.world(seed=1)
    for action in rng.integers(0, 2, 500).tolist():
        (x, s), (y, z) = one.step(action), two.step(action)
        assert s == z
        assert np.array_equal(x, y)
    agents = [eq.recommended(model.space, eq.rewards.Quadratic([0.5] * 6)) for model in (dense, sparse)]  # all unknown
    for model, agent in zip((dense, sparse), agents, strict=True):
        eq.simulate(model, agent, 2000, seed=1)
    assert np.array_equal(agents[0].theta, agents[1].theta)


def test_branches_that_differ_in_their_outcomes_have_their_mean(always):
    both = [(0.25, 0, [1.0, 0, 0, 0, 0]), (0.75, 1, [0, 0.5, 0, 0, 0])]
    model = eq.Model.from_branches([[both], [[(1.0, 0, [0, 0, 0, 0, 1.0])]]])
    assert told(model)
    assert model.means.tolist() == [[0.25, 0.375, 0, 0, 0], [0, 0, 0, 0, 1.0]]


def test_what_is_wrong_in_sparse_outcomes_is_named():
    transitions = csr_array(np.eye(2))
    with pytest.raises(ModelError, match=r"state 1, action 0, next state 1, outcome 2: the mean is 1\.5"):
        eq.Model.from_sparse([0, 1, 2], transitions, csr_array([[0, 0, 0.5], [0, 0, 1.5]]))


def test_an_array_that_no_memory_holds_is_refused(monkeypatch):
    model = eq.models.grid(30, 30).visits()
    monkeypatch.setattr(outcome_rows, "_MOST", 1000)
    with pytest.raises(ModelError, match=r"3600 rows of 900 outcomes .* use the sparse form, model\.mean_rows"):
        _ = model.means


def test_what_knows_a_model_must_be_told_its_outcomes(always):
    model = eq.models.garnet(6, 2, 3, seed=5).visits()
    plain = eq.Space(n_actions=model.n_actions, n_outcomes=6)
    with pytest.raises(ParameterError, match=r"make the agent with model\.space"):
        eq.TocUCRL2(plain, eq.rewards.Entropy(6), confidence=eq.confidence.Known(model))
    known = eq.TocUCRL2(model.space, eq.rewards.Entropy(6), confidence=eq.confidence.Known(model), tolerance=1e-6)
    assert eq.simulate(model, known, 2000, seed=1).values[-1] > 0.9


def test_what_looks_at_every_outcome_of_every_pair_says_so(always):
    model = eq.models.garnet(6, 2, 3, seed=5).visits()
    agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(6))
    with pytest.raises(ParameterError, match="take a smaller world"):
        eq.theory.coverage(model, agent, 100, 1)


def test_logs_of_told_outcomes(always):
    model = eq.models.garnet(6, 2, 3, seed=5).visits()
    reward = eq.rewards.Entropy(6)
    rule = eq.agents.baselines.StationaryAgent(model.space, reward)
    log = eq.simulate(model, rule, 3000, seed=1, trace=True).trace
    # A theta with equal entries proves 1; the search stops within a ten-thousandth of the best that can be proven.
    assert eq.certify(model.space, reward, log).best_possible <= 1.0 + 1e-4
    table = eq.confidence.intervals(model.space, log)
    assert table.filter(table["visits"] > 0).height > 0
    agent = eq.recommended(model.space, reward)
    assert agent.absorb(log) == 3000
