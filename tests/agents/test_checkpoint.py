"""Saving and loading at any moment is never having stopped; files that are not ours are refused."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
import zipfile
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise import oracles as o
from tests.test_simulation import TARGET, K, makers, state_of


def agents():
    known = eq.models.garnet(5, 2, 3, K, seed=8)
    return makers() | {
        "known": lambda space: eq.TocUCRL2(
            space, eq.rewards.TargetSquared(TARGET), confidence=eq.confidence.Known(known), tolerance=1e-6
        ),
        "warm": lambda space: eq.TocUCRL2(
            space, eq.rewards.Quadratic(TARGET), planner=eq.planning.Planner(warm_start=True), delta=0.1
        ),
    }


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(sorted(agents())),
    stops=st.lists(st.integers(0, 199), min_size=1, max_size=3, unique=True),
    half=st.booleans(),
)
def test_stopping_anywhere_changes_nothing(tmp_path_factory, name, stops, half):
    path = tmp_path_factory.mktemp("agent") / "agent.npz"
    model = eq.models.garnet(5, 2, 3, K, seed=8)
    whole, agent = agents()[name](model.space), agents()[name](model.space)
    world, other = model.world(4), model.world(4)
    for t in range(200):
        whole.observe(*world.step(whole.act(world.state)))
        if t in stops and not half:
            agent.save(path)
            agent = eq.TocUCRL2.load(path)
        action = agent.act(other.state)
        if t in stops and half:  # between acting and observing
            agent.save(path)
            agent = eq.TocUCRL2.load(path)
        agent.observe(*other.step(action))
    assert state_of(agent) == state_of(whole)


def test_a_simulation_goes_on_from_a_file(tmp_path):
    model = eq.models.star(3, 4)
    whole, agent = (eq.TocUCRL2(model.space, eq.rewards.Quadratic([1 / 3] * 3)) for _ in range(2))
    full = eq.simulate(model, whole, 20_000, seed=5)
    eq.simulate(model, agent, 7_777, seed=5)
    agent.save(tmp_path / "a")
    agent = eq.TocUCRL2.load(tmp_path / "a")
    rest = eq.simulate(model, agent, 20_000 - 7_777, seed=5)
    assert state_of(agent) == state_of(whole)
    assert rest.episodes.equals(full.episodes)
    assert rest.values[-1] == full.values[-1]


@pytest.mark.parametrize("name", agents())
def test_what_it_was_made_of_comes_back(tmp_path, name):
    model = eq.models.garnet(5, 2, 3, K, seed=8)
    agent = agents()[name](model.space)
    agent.save(tmp_path / "a")
    loaded = eq.TocUCRL2.load(tmp_path / "a")
    assert repr(loaded) == repr(agent)
    assert loaded.space == agent.space
    assert loaded.planner == agent.planner
    assert loaded.threshold == agent.threshold
    if name == "known":
        assert loaded.confidence.model == model


def test_known_outcomes_come_back(tmp_path):
    model = eq.models.riverswim(4).visits()
    agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(4))
    agent.save(tmp_path / "a")
    assert eq.TocUCRL2.load(tmp_path / "a").space == model.space


def custom():
    return eq.rewards.Custom(
        2, lambda w: 1 - (w**2).sum() / 2, lambda w: -w, norm=2, lipschitz=math.sqrt(2), smoothness=1.0
    )


def test_a_custom_reward_must_be_given_again(tmp_path):
    model = eq.models.bandit(2)
    agent = eq.TocUCRL2(model.space, custom())
    eq.simulate(model, agent, 100)
    agent.save(tmp_path / "a")
    with pytest.raises(eq.EquipoiseError, match="pass it as reward="):
        eq.TocUCRL2.load(tmp_path / "a")
    loaded = eq.TocUCRL2.load(tmp_path / "a", reward=custom())
    assert state_of(loaded) == state_of(agent)
    with pytest.raises(eq.EquipoiseError, match="it takes 3 outcomes; the space has 2"):
        eq.TocUCRL2.load(tmp_path / "a", reward=eq.rewards.Quadratic([0.5] * 3))
    eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5])).save(tmp_path / "b")
    with pytest.raises(eq.EquipoiseError, match="its reward is in the file"):
        eq.TocUCRL2.load(tmp_path / "b", reward=eq.rewards.Linear([1.0, 0.0]))


class TestForeignFiles:
    @pytest.fixture
    def saved(self, tmp_path):
        model = eq.models.garnet(5, 2, 3, K, seed=8)
        agent = makers()["FW"](model.space)
        eq.simulate(model, agent, 500)
        agent.save(tmp_path / "agent")
        return tmp_path / "agent"

    def test_no_pickle_inside(self, saved):
        with zipfile.ZipFile(saved) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
                    assert array.dtype != object

    @pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
    def test_truncated(self, saved, part):
        content = saved.read_bytes()
        saved.write_bytes(content[: int(part * len(content))])
        with pytest.raises(eq.EquipoiseError, match="agent"):
            eq.TocUCRL2.load(saved)

    def test_damaged_anywhere_is_noticed_or_harmless(self, saved):
        content = bytearray(saved.read_bytes())
        whole = state_of(eq.TocUCRL2.load(saved))
        noticed = 0
        for position in range(0, len(content), 97):
            damaged = content.copy()
            damaged[position] ^= 0xFF
            saved.write_bytes(damaged)
            try:
                loaded = eq.TocUCRL2.load(saved)
            except eq.EquipoiseError:
                noticed += 1
            else:
                assert state_of(loaded) == whole
        assert noticed > 0

    def test_of_another_kind(self, saved, tmp_path):
        eq.models.star().save(tmp_path / "model")
        with pytest.raises(eq.EquipoiseError, match="holds equipoise-model; equipoise-agent is needed"):
            eq.TocUCRL2.load(tmp_path / "model")
        np.savez(tmp_path / "other.npz", a=np.ones(3))
        with pytest.raises(eq.EquipoiseError, match="no header"):
            eq.TocUCRL2.load(tmp_path / "other.npz")
        (tmp_path / "text").write_text("hello")
        with pytest.raises(eq.EquipoiseError, match="text"):
            eq.TocUCRL2.load(tmp_path / "text")
        with pytest.raises(eq.EquipoiseError, match="no such file"):
            eq.TocUCRL2.load(tmp_path / "nothing")

    def test_arrays_of_another_shape(self, saved):
        from equipoise._files import read_npz, write_npz

        header, arrays = read_npz(saved, "agent", 2)
        for name, wrong in (
            ("counts.visits", np.zeros(3, dtype=np.int64)),
            ("memory.theta", np.zeros(K, dtype=np.float32)),
            ("episodes.ended", np.array([77], dtype=np.int64)),
            ("memory.policy", arrays["memory.policy"] + 2),
            ("counts.pool_state", arrays["counts.pool_state"] - 1),
            ("counts.end", np.array([10**6])),
        ):
            write_npz(saved, arrays | {name: wrong}, header, "agent", 2)
            with pytest.raises(eq.EquipoiseError, match="holds no agent that can go on"):
                eq.TocUCRL2.load(saved)
        write_npz(saved, arrays, header | {"reward": {"kind": "os.system", "arguments": {}}}, "agent", 2)
        with pytest.raises(eq.EquipoiseError, match="does not know how to build"):
            eq.TocUCRL2.load(saved)


@pytest.mark.parametrize("path", [None, 5, "", "/", "a\0b"])
def test_paths_that_name_no_file(path):
    agent = makers()["FW"](eq.models.bandit(K).space)
    for call in (agent.save, eq.TocUCRL2.load, eq.Model.load):
        with pytest.raises(eq.EquipoiseError, match="path: got"):
            call(path)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    model = eq.models.bandit(K)
    agent = makers()["FW"](model.space)
    agent.save(tmp_path / "a")
    before = (tmp_path / "a").read_bytes()
    eq.simulate(model, agent, 10)
    with pytest.raises(eq.EquipoiseError, match="cannot be written"):
        agent.save(tmp_path / "no" / "such" / "folder")
    assert (tmp_path / "a").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


def test_an_agent_goes_on_in_another_process():
    """Addresses of compiled code are not the same there."""
    model = eq.models.garnet(5, 2, 3, K, seed=8)
    agents_there = [make(model.space) for make in agents().values()]
    for agent in agents_there:
        eq.simulate(model, agent, 50, seed=1)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for agent in agents_there:
            theirs = pool.submit(eq.simulate, model, pickle.loads(pickle.dumps(agent)), 100, 1).result()
            mine = eq.simulate(model, agent, 100, seed=1)
            assert np.array_equal(mine.outcomes, theirs.outcomes)


def test_a_copy_is_another_agent():
    model = eq.models.bandit(K)
    agent = makers()["FW"](model.space)
    eq.simulate(model, agent, 10)
    twin = copy.copy(agent)
    eq.simulate(model, twin, 10)
    assert (agent.t, twin.t) == (11, 21)
    eq.simulate(model, agent, 10)
    assert state_of(agent) == state_of(twin)


def test_every_oracle_describes_itself(tmp_path):
    model = eq.models.bandit(K)
    for oracle, reward in (
        (o.TunedMirrorDescent(o.CrossPolytope(), 10), eq.rewards.BottomSum(K, 1)),
        (o.Doubling(o.SlackSimplex(), inherit=True), eq.rewards.Knapsack(K, 0.25)),
        (o.Doubling(o.Box()), eq.rewards.TargetDistance(TARGET, 1)),
    ):
        agent = eq.TocUCRL2(model.space, reward, oracle)
        agent.save(tmp_path / "a")
        assert eq.TocUCRL2.load(tmp_path / "a").oracle == oracle
