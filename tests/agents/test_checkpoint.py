"""Every kind of agent in a file: saved at any moment it goes on bit for bit, and no other file is taken for one."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import multiprocessing
import pickle
import threading
import zipfile
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise import oracles as o
from equipoise._files import read_npz, write_npz
from equipoise.agents.base import Agent
from equipoise.agents.baselines import (
    FrankWolfeUCB,
    RoundRobin,
    StationaryAgent,
    frank_wolfe_ucb,
    round_robin,
    stationary,
)
from equipoise.errors import FileError
from tests.agents.kinds import CASES, KINDS, TARGET, Case, take
from tests.agents.mechanics_cases import CASES as MECHANICS
from tests.simulation.test_simulation import K, makers

load_any = Agent.load  # which reads an agent of any kind
KIND, VERSION = "agent", 4  # of the files of today
CUSTOM = eq.rewards.Custom(
    3, lambda w: 1 - (w**2).sum() / 2, lambda w: -w, norm=2, lipschitz=math.sqrt(3), smoothness=1.0
)


def toc_cases():
    """TOC-UCRL2 with every oracle and schedule, with a model that is known, and with a planner that starts warm."""
    world = eq.models.garnet(5, 2, 3, K, seed=8)
    known, warm = eq.confidence.Known(world), eq.planning.Planner(warm_start=True)
    made = makers() | {
        "known": lambda space: eq.TocUCRL2(space, eq.rewards.TargetSquared(TARGET), confidence=known, tolerance=1e-6),
        "warm": lambda space: eq.TocUCRL2(space, eq.rewards.Quadratic(TARGET), planner=warm, delta=0.1),
    }
    return {f"toc, {name}": Case(world, lambda make=make: make(world.space)) for name, make in made.items()}


ALL = CASES | toc_cases()


def read(path):
    return read_npz(path, KIND, VERSION)


def write(path, arrays, header):
    write_npz(path, arrays, header, KIND, VERSION)


def bytes_of(agent, path):
    """Everything that decides what comes next."""
    agent.save(path)
    return path.read_bytes()


@settings(max_examples=70, deadline=None)
@given(
    name=st.sampled_from(sorted(ALL)),
    stops=st.lists(st.integers(0, 249), min_size=1, max_size=3, unique=True),
    half=st.booleans(),
)
def test_stopping_anywhere_changes_nothing(tmp_path_factory, name, stops, half):
    path = tmp_path_factory.mktemp("agent") / "agent.npz"
    model, make = ALL[name]
    whole, agent = make(), make()
    straight = take(whole, model.world(4), 250)
    world = model.world(4)
    for t in range(250):
        if t in stops and not half:
            agent.save(path)
            agent = type(agent).load(path)
        action = agent.act(world.state)
        if t in stops and half:  # between acting and observing
            agent.save(path)
            agent = load_any(path)
            assert agent.pending
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        assert (action, outcomes.tobytes(), state) == straight[t]
    assert agent.average.tobytes() == whole.average.tobytes()
    assert (agent.t, agent.state, agent.pending) == (251, whole.state, False)
    assert bytes_of(agent, path) == bytes_of(whole, path)


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(sorted(ALL)), cut=st.integers(1, 299), by_hand=st.booleans())
def test_a_simulation_goes_on_from_a_file(tmp_path_factory, name, cut, by_hand):
    path = tmp_path_factory.mktemp("agent") / "agent.npz"
    model, make = ALL[name]
    full = eq.simulate(model, make(), 300, seed=5)
    agent = make()
    if by_hand:
        take(agent, model.world(5), cut)
    else:
        eq.simulate(model, agent, cut, seed=5)
    agent.save(path)
    agent = load_any(path)
    rest = eq.simulate(model, agent, 300 - cut, seed=5)
    assert rest.outcomes[-1].tobytes() == full.outcomes[-1].tobytes()
    assert rest.episodes.equals(full.episodes)


def test_a_long_simulation_goes_on_from_a_file(tmp_path):
    model = eq.models.star(3, 4)
    whole, agent = (eq.TocUCRL2(model.space, eq.rewards.Quadratic([1 / 3] * 3)) for _ in range(2))
    full = eq.simulate(model, whole, 20_000, seed=5)
    eq.simulate(model, agent, 7_777, seed=5)
    agent.save(tmp_path / "a")
    agent = eq.TocUCRL2.load(tmp_path / "a")
    rest = eq.simulate(model, agent, 20_000 - 7_777, seed=5)
    assert bytes_of(agent, tmp_path / "a") == bytes_of(whole, tmp_path / "b")
    assert rest.episodes.equals(full.episodes)
    assert rest.values[-1] == full.values[-1]


@pytest.mark.parametrize("name", ALL)
def test_what_it_was_made_of_comes_back(tmp_path, name):
    model, make = ALL[name]
    agent = make()
    agent.save(tmp_path / "a")
    for loaded in (type(agent).load(tmp_path / "a"), load_any(tmp_path / "a"), Agent.load(tmp_path / "a")):
        assert type(loaded) is type(agent)
        assert loaded.space == agent.space
        assert repr(loaded.reward) == repr(agent.reward)
        assert repr(loaded.arguments()) == repr(agent.arguments())
        if isinstance(agent, eq.TocUCRL2):
            assert repr(loaded) == repr(agent)
            assert (loaded.planner, loaded.threshold) == (agent.planner, agent.threshold)
        if isinstance(getattr(agent, "confidence", None), eq.confidence.Known):
            assert loaded.confidence.model == model
        loaded.save(tmp_path / "b")
        assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_known_outcomes_come_back(tmp_path):
    model = eq.models.riverswim(4).visits()
    agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(4))
    agent.save(tmp_path / "a")
    assert eq.TocUCRL2.load(tmp_path / "a").space == model.space


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


def test_all_kinds_go_on_in_another_process(tmp_path):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for name in sorted(KINDS):
            model, make = CASES[name]
            agent = make()
            eq.simulate(model, agent, 100, seed=1)
            agent.save(tmp_path / "a")
            theirs = pool.submit(going_on, tmp_path / "a", model).result()
            assert np.array_equal(eq.simulate(model, agent, 100, seed=1).outcomes, theirs)


def going_on(path, model):
    return eq.simulate(model, load_any(path), 100, seed=1).outcomes


def test_a_pickled_agent_goes_on_in_another_process():
    """Addresses of compiled code are not the same there."""
    here = [(model, make()) for model, make in toc_cases().values()]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for model, agent in here:
            eq.simulate(model, agent, 50, seed=1)
            theirs = pool.submit(eq.simulate, model, pickle.loads(pickle.dumps(agent)), 100, 1).result()
            mine = eq.simulate(model, agent, 100, seed=1)
            assert np.array_equal(mine.outcomes, theirs.outcomes)


def test_a_copy_is_another_agent(tmp_path):
    model = eq.models.bandit(K)
    agent = makers()["FW"](model.space)
    eq.simulate(model, agent, 10)
    twin = copy.copy(agent)
    eq.simulate(model, twin, 10)
    assert (agent.t, twin.t) == (11, 21)
    eq.simulate(model, agent, 10)
    assert bytes_of(agent, tmp_path / "a") == bytes_of(twin, tmp_path / "b")


@pytest.mark.parametrize("make", [RoundRobin, StationaryAgent, FrankWolfeUCB, eq.TocUCRL2])
def test_a_custom_reward_must_be_given_again(tmp_path, make):
    model = CASES["arms"].model
    agent = make(model.space, CUSTOM)
    eq.simulate(model, agent, 100)
    agent.save(tmp_path / "a")
    for load in (make.load, load_any):
        with pytest.raises(FileError, match=r"a: .*pass it as reward="):
            load(tmp_path / "a")
        for other in (eq.rewards.Quadratic([0.5] * 2), eq.rewards.Quadratic([0.5] * 3)):
            with pytest.raises(FileError, match=r"a: .*its values are not those of the file"):
                load(tmp_path / "a", reward=other)
    loaded = load_any(tmp_path / "a", reward=CUSTOM)
    assert bytes_of(loaded, tmp_path / "c") == (tmp_path / "a").read_bytes()
    on = [eq.simulate(model, one, 100).outcomes for one in (loaded, agent)]
    assert np.array_equal(*on)
    make(model.space, eq.rewards.Quadratic(TARGET)).save(tmp_path / "b")
    with pytest.raises(FileError, match=r"b: .*its reward is in the file"):
        make.load(tmp_path / "b", reward=CUSTOM)


def test_a_knapsack_agent_takes_no_reward(tmp_path):
    CASES["knapsack"].make().save(tmp_path / "a")
    with pytest.raises(FileError, match="its reward is in the file"):
        load_any(tmp_path / "a", reward=CUSTOM)


def arrays_of(memory):
    """All arrays of a memory, from whatever depth."""
    if isinstance(memory, np.ndarray):
        return [memory]
    return [array for part in memory.values() for array in arrays_of(part)] if isinstance(memory, dict) else []


def test_kernels_take_what_is_loaded_for_what_is_new(tmp_path):
    """One specialisation each: an array of another type would cost seconds of compilation."""
    for name in ("randomised", "round robin", "arms"):
        model, make = CASES[name]
        agent = make()
        take(agent, model.world(0), 2)
        eq.simulate(model, agent, 10)
        agent.save(tmp_path / "a")
        loaded = load_any(tmp_path / "a")
        for part in arrays_of(loaded.memory()):
            assert part.flags.c_contiguous
            assert part.flags.writeable
        take(loaded, eq.models.World(model, 0, loaded.t, loaded.state), 2)
        eq.simulate(model, loaded, 10)
    for kernel in (
        stationary._draw, stationary._follow, round_robin._turn, round_robin._go_round, frank_wolfe_ucb._choice,
        frank_wolfe_ucb._play,
    ):  # fmt: skip
        assert len(kernel.signatures) == 1


def test_an_agent_that_could_not_be_found_again_is_not_saved(tmp_path):
    class Own(RoundRobin):  # type: ignore[misc]
        pass

    with pytest.raises(
        FileError, match=r"a: not written; .*Own: what is defined inside a function or a class cannot be found again"
    ):
        Own(CASES["toc"].model.space, eq.rewards.Quadratic(TARGET)).save(tmp_path / "a")
    assert not any(tmp_path.iterdir())


# -- files that hold no agent ---------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    """Writes the agent of a case after some steps, between acting and observing if asked to."""

    def write(name, pending=False):
        model, make = CASES[name]
        agent = make()
        eq.simulate(model, agent, 77, seed=2)
        if pending:
            agent.act(agent.state)
        agent.save(tmp_path / "agent")
        return tmp_path / "agent"

    return write


@pytest.mark.parametrize(("name", "other"), list(itertools.permutations(sorted(KINDS), 2)))
def test_of_another_kind(saved, name, other):
    path = saved(name)
    here, kind = (type(CASES[case].make()) for case in (name, other))
    with pytest.raises(FileError, match=f"agent: it holds a {here.__name__}; a {kind.__name__} was asked for"):
        kind.load(path)


def test_no_agent_at_all(tmp_path):
    eq.models.star().save(tmp_path / "model")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    np.save(tmp_path / "one.npy", np.ones(3))
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    for name, message in (
        ("model", "holds equipoise-model; equipoise-agent is needed"),
        ("other.npz", "no header"),
        ("one.npy", "not a file of Equipoise"),
        ("text", "not a file of Equipoise"),
        ("empty", "not a file of Equipoise"),
        ("folder", "cannot be read"),
        ("nothing", "no such file"),
    ):
        for load in (load_any, eq.TocUCRL2.load, RoundRobin.load, StationaryAgent.load, FrankWolfeUCB.load):
            with pytest.raises(FileError, match=name) as error:
                load(tmp_path / name)
            assert load not in (load_any, eq.TocUCRL2.load) or message in str(error.value)


@pytest.mark.parametrize("path", [None, 5, "", "/", "a\0b"])
def test_paths_that_name_no_file(path):
    for call in (
        CASES["toc"].make().save, CASES["arms"].make().save, eq.TocUCRL2.load, RoundRobin.load, load_any, eq.Model.load,
    ):  # fmt: skip
        with pytest.raises(FileError, match="path: got"):
            call(path)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_failed_save_leaves_the_old_file(tmp_path, name):
    model, make = CASES[name]
    agent = make()
    before = bytes_of(agent, tmp_path / "a")
    eq.simulate(model, agent, 10)
    with pytest.raises(FileError, match="cannot be written"):
        agent.save(tmp_path / "no" / "such" / "folder")
    assert (tmp_path / "a").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_of_a_later_version(saved, name):
    path = saved(name)
    write_npz(path, *reversed(read(path)), KIND, VERSION + 1)
    for load in (load_any, type(CASES[name].make()).load):
        with pytest.raises(FileError, match="agent: of version 5, written by a later Equipoise"):
            load(path)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_no_pickle_inside(saved, name):
    with zipfile.ZipFile(saved(name)) as archive:
        for member in archive.namelist():
            with archive.open(member) as file:
                assert np.lib.format.read_array(file, allow_pickle=False).dtype != object


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("part", [0.0, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_truncated(saved, name, part):
    path = saved(name)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    for load in (load_any, type(CASES[name].make()).load):
        with pytest.raises(FileError, match="agent: "):
            load(path)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_damaged_anywhere_is_noticed_or_harmless(saved, tmp_path, name):
    path = saved(name)
    content = bytearray(path.read_bytes())
    messages = []
    for position in range(0, len(content), 41):
        damaged = content.copy()
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            loaded = load_any(path)
        except FileError as error:
            messages.append(str(error))
        else:
            loaded.save(tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == content
    assert messages
    assert all(str(path) in message for message in messages)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_arrays_that_are_missing_or_of_another_type_or_shape(saved, name):
    path = saved(name)
    header, arrays = read(path)
    for key, array in arrays.items():
        narrow = {"i": np.int32, "u": np.uint32, "f": np.float32, "b": np.uint8}[array.dtype.kind]
        without = {other: part for other, part in arrays.items() if other != key}
        damaged = [without, *(without | {key: wrong} for wrong in (array.astype(narrow), array[None]))]
        if array.size:  # all others are shorter without their last entry
            damaged.append(without | {key: array[:-1]})
        if array.dtype.itemsize > 1:
            damaged.append(without | {key: array.astype(array.dtype.newbyteorder())})
        for wrong in damaged:
            write(path, wrong, header)
            with pytest.raises(FileError, match="agent: holds no agent that can go on"):
                load_any(path)
        if array.ndim > 1:  # laid out otherwise, but the same
            write(path, without | {key: np.asfortranarray(array)}, header)
            assert all(part.flags.c_contiguous for part in arrays_of(load_any(path).memory()))


@pytest.mark.parametrize("name", sorted(KINDS))
def test_headers_that_are_incomplete_or_senseless(saved, name):
    path = saved(name)
    header, arrays = read(path)
    for key in header:
        without = {other: value for other, value in header.items() if other != key}
        for wrong in (without, *(without | {key: value} for value in ("?", [[]], {}, {"kind": "os.system"}))):
            if wrong == header:
                continue
            write(path, arrays, wrong)
            with pytest.raises(FileError, match="agent: holds no agent that can go on"):
                load_any(path)
    for part in ("reward", "agent"):
        write(path, arrays, header | {part: {"kind": "os:system"}})
        with pytest.raises(FileError, match="os:system"):
            load_any(path)


def at(index, value):
    """A change of one entry."""

    def change(array):
        array[index] = value

    return change


SPACE = [
    ("space.first_pair", at(0, 1)),
    ("space.first_pair", at(0, -1)),
    ("space.first_pair", at(1, 0)),
    ("space.first_pair", at(1, -(2**63))),
    ("space.first_pair", at(-1, 2**62)),
    ("space.known_outcomes", at((0, 0), 0.5)),  # told of a pair that is not known
    ("space.known_outcomes", at((0, 0), np.nan)),
]
CLOCK = [
    ("clock", at(0, 0)),
    ("clock", at(0, -(2**63))),
    ("clock", at(0, 2**63 - 1)),
    ("clock", at(1, -1)),
    ("clock", at(1, 5)),
    ("clock", at(2, -2)),
    ("clock", at(2, 15)),
    ("total", at(0, -0.5)),
    ("total", at(0, 77.5)),
    ("total", at(2, np.nan)),
    ("total", at(1, np.inf)),
]
OUT_OF_RANGE = {
    "randomised": [("clock", at(0, 79))],
    "rule": [],  # it has nothing but its clock
    "round robin": [
        ("memory.turn", at(2, -1)),
        ("memory.turn", at(2, 3)),
        ("memory.turn", at(0, 2**62)),
    ],
    "arms": [
        ("memory.visits", at(1, -1)),
        ("memory.visits", at(slice(None), [2**62, 2**62, 2**63 - 1])),
        ("memory.visits", at(slice(None), 0)),
        ("memory.sums", at((0, 0), -1.0)),
        ("memory.sums", at((2, 1), 78.0)),
        ("memory.sums", at((1, 2), np.nan)),
    ],
    "toc": [
        ("memory.counts.block_first", at(0, 2**63 - 1)),  # where it ends does not fit into 64 bits
        ("memory.counts.visits", at(slice(0, 4), 2**62)),
        ("memory.counts.sums", at((0, 0), -1.0)),
        ("memory.memory.policy", at(0, 3)),
        ("memory.memory.policy", at(slice(None), 3)),
        ("memory.memory.clock", at(6, 0)),
        ("memory.memory.clock", at(0, 2)),
        ("memory.memory.total", at(0, 0.25)),
        ("memory.episodes.ended", at(0, 77)),
        ("memory.counts.pool_state", at(slice(None), -1)),
        ("memory.counts.pool", at(0, 10**6)),
        ("memory.proof.bound", at(0, np.nan)),
        ("memory.proof.bound", at(0, -np.inf)),
        ("memory.proof.theta", at(1, np.inf)),
        ("memory.proof.time", at(0, 10**9)),
        ("memory.proof.time", at(0, -1)),
    ],
    "knapsack toc": [
        ("clock", at(0, 70)),
        ("clock", at(0, 302)),
        ("clock", at(1, 5)),
        ("clock", at(2, 15)),
        ("total", at(1, 76.0)),  # more than its budget
        ("memory.inner.clock", at(0, 2)),
        ("memory.inner.clock", at(0, 10**6)),
        ("memory.inner.total", at(0, -1.0)),
        ("memory.inner.total", at(1, np.nan)),
        ("memory.inner.total", at(1, 76.0)),
    ],
}


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("pending", [False, True])
def test_numbers_out_of_range(saved, name, pending):
    path = saved(name, pending)
    header, arrays = read(path)
    for key, change in SPACE + CLOCK + OUT_OF_RANGE[name]:
        wrong = arrays[key].copy()
        change(wrong)
        if np.array_equal(wrong, arrays[key]):
            continue
        write(path, arrays | {key: wrong}, header)
        with pytest.raises(FileError, match="agent: holds no agent that can go on"):
            load_any(path)
    for start in (-1, 5, 0.5, True, None):
        write(path, arrays, header | {"start": start})
        with pytest.raises(FileError, match="agent: holds no agent that can go on"):
            load_any(path)


def test_a_pair_that_the_agent_cannot_have_taken(saved):
    for name in ("round robin", "deterministic", "rule"):
        path = saved(name, pending=True)
        header, arrays = read(path)
        first = CASES[name].model.first_pair
        taken = arrays["clock"][2]
        for pair in range(first[arrays["clock"][1]], first[arrays["clock"][1] + 1]):
            clock = arrays["clock"].copy()
            clock[2] = pair
            write(path, arrays | {"clock": clock}, header)
            if pair == taken:
                assert load_any(path).pending
            else:
                with pytest.raises(FileError, match=r"do not fit together|its policy never takes|its rule does not"):
                    load_any(path)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 8},
        {"seed": -1},
        {"seed": 7.5},
        {"policy": [1.0] * 15},
        {"policy": [0.2] * 4},
        {"policy": "uniform"},
        {"stream": None},
        {"stream": {"bit_generator": "MT19937"}},
        {"state": {"state": 1, "inc": 1}},
        {"state": {"state": -1, "inc": 2**128}},
        {"state": 5},
        {"has_uint32": 1},
        {"uinteger": 3},
        {"bit_generator": "SFC64"},
    ],
)
def test_a_stream_that_is_not_its_own(saved, change):
    path = saved("randomised")
    header, arrays = read(path)
    stream, agent = header["memory"]["stream"], header["agent"]
    own = {name: value for name, value in change.items() if name in agent}
    memory = {"stream": stream | {name: value for name, value in change.items() if name in stream}}
    whole = {name: value for name, value in change.items() if name == "stream"}
    write(path, arrays, header | {"agent": agent | own, "memory": memory | whole})
    with pytest.raises(FileError, match="agent: holds no agent that can go on"):
        load_any(path)


@pytest.mark.parametrize("null", [3, -1, 0.5, "?"])
def test_null_actions_that_are_none(saved, null):
    path = saved("knapsack toc")
    header, arrays = read(path)
    for wrong in ([null, *header["agent"]["null_actions"][1:]], [0] * 4, null):
        write(path, arrays, header | {"agent": header["agent"] | {"null_actions": wrong}})
        with pytest.raises(FileError, match="agent: holds no agent that can go on"):
            load_any(path)


# -- files that are made to do harm --------------------------------------------------------------------------------


def edited(agent, path, change):
    """Save an agent, and change the arrays of its file in place."""
    agent.save(path)
    header, arrays = read(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    change(arrays)
    write(path, arrays, header)
    return path


def learner(n=40, seen=20):
    """Of whose first pair `seen` successors of `n` were seen."""
    space = eq.Space(n_actions=[1] * n, n_outcomes=1)
    agent = eq.TocUCRL2(space, eq.rewards.Linear([1.0]))
    rows = {"state": [0] * seen, "action": [0] * seen, "outcome_0": [0.5] * seen, "next_state": list(range(seen))}
    agent.absorb(pl.DataFrame(rows))
    agent.act(0)
    return agent


def pool_without_room(a):
    """The block is full, the pool too, and it says that nothing has moved since there was room."""
    used = int(a["memory.counts.pool"][0])
    a["memory.counts.block_capacity"][0] = a["memory.counts.block_used"][0]
    for name in ("pool_state", "pool_count"):
        a[f"memory.counts.{name}"] = a[f"memory.counts.{name}"][:used].copy()
    a["memory.counts.pool"][2], a["memory.counts.pool"][3] = a["memory.counts.block_capacity"].max(), 0


def pool_of_two_lengths(a):
    a["memory.counts.pool_count"] = a["memory.counts.pool_count"][:-1].copy()


def successor_twice(a):
    first = a["memory.counts.block_first"][0]
    a["memory.counts.pool_state"][first + 1] = a["memory.counts.pool_state"][first]


def shared_block(a):
    """Two blocks in one place: what one pair sees would be written over what the other has seen."""
    for name in ("block_first", "block_used", "block_capacity"):
        a[f"memory.counts.{name}"][1] = a[f"memory.counts.{name}"][0]
    a["memory.counts.pool"][1] *= 2


def counts_moved(a):
    """All visits to the first successor: they add up, but the others were never seen."""
    first, used = int(a["memory.counts.block_first"][0]), int(a["memory.counts.block_used"][0])
    a["memory.counts.pool_count"][first : first + used] = 0
    a["memory.counts.pool_count"][first] = used


def counts_tripled(a):
    a["memory.counts.pool_count"] *= 3


def sum_that_wraps(a):
    a["memory.counts.visits"][1] = a["memory.counts.fresh"][1] = 2**63 - 1


@pytest.mark.parametrize(
    ("change", "array"),
    [
        (pool_without_room, "memory.counts.pool"),
        (pool_of_two_lengths, "memory.counts.pool_count"),
        (successor_twice, "memory.counts.pool_state"),
        (shared_block, "memory.counts.block_first"),
        (counts_moved, "memory.counts.pool_count"),
        (counts_tripled, "memory.counts.pool_count"),
        (sum_that_wraps, "memory.counts.visits"),
        (lambda a: a["memory.counts.block_capacity"].__setitem__(0, 2**63 - 1), "memory.counts.block_capacity"),
        (lambda a: a["memory.counts.pool"].__setitem__(1, 0), "memory.counts.pool"),
        (lambda a: a["memory.counts.pool"].__setitem__(2, 0), "memory.counts.pool"),
        (lambda a: a["memory.counts.squares"].__imul__(3.0), "memory.counts.squares"),
        (lambda a: a["memory.memory.average"].__iadd__(0.5), "memory.memory.average"),
        (lambda a: a["memory.memory.theta"].__imul__(np.nan), "memory.memory.theta"),
        (lambda a: a["memory.memory.bias"].__isub__(1.0), "memory.memory.bias"),
        (lambda a: a["memory.memory.drift_state"].__setitem__(0, np.nan), "memory.memory.drift_state"),
        (lambda a: a["memory.memory.clock"].__setitem__(5, 7), "memory.memory.clock"),
        (lambda a: a["memory.memory.clock"].__setitem__(7, 0), "memory.memory.clock"),
        (lambda a: a["memory.log.rows"].__setitem__(0, 2**63 - 1), "memory.log.rows"),
        (lambda a: a["memory.episodes.start"].__setitem__(0, 0), "memory.episodes.start"),
        (lambda a: a["memory.episodes.sweeps"].__setitem__(0, -1), "memory.episodes.sweeps"),
        (lambda a: a["memory.episodes.gain"].__setitem__(0, np.inf), "memory.episodes.gain"),
        (lambda a: a["memory.episodes.span"].__setitem__(0, -1.0), "memory.episodes.span"),
        (lambda a: a.pop("memory.proof.theta"), "memory.proof.theta"),
        (lambda a: a.pop("space.known_mask"), "space.known_mask"),
    ],
)
def test_an_array_that_kernels_could_not_follow_is_named(tmp_path, change, array):
    path = edited(learner(), tmp_path / "a", change)
    with pytest.raises(FileError, match=f"a: holds no agent that can go on .*'{array}'"):
        load_any(path)


def wrapped(array, place):
    """Pointers that never fall if one looks at differences alone: these wrap around 2^63."""
    array[place], array[place + 1], array[place + 2 : -1] = 2**63 - 1, -(2**63) + 1, -5
    assert np.all(np.diff(array) >= 0)


@pytest.mark.parametrize("name", ["first_value", "node_first", "seen_first", "tested_first", "first_case"])
def test_pointers_that_wrap_around_are_named(tmp_path, name):
    space = MECHANICS["laws by state and action"].mechanics().space
    agent = eq.TocUCRL2(space, eq.rewards.TargetSquared([0.9] * space.n_outcomes))
    path = edited(agent, tmp_path / "a", lambda a: wrapped(a[f"laws.{name}"], 1))
    with pytest.raises(FileError, match=f"'laws.{name}'"):
        load_any(path)


def test_a_law_that_is_full_of_one_value_is_named(tmp_path):
    """The next other value would be written past the end of its block."""
    dice = eq.Mechanics(lambda s, a, w: (0, [w / 39]), 0, ["only"], ["x"], {"w": range(40)})
    agent = eq.recommended(dice.space, eq.rewards.Linear([1.0]))
    agent.act(0)
    agent.observe([0.0], 0, noise={"w": 0})

    def fill(a):
        room = int(a["memory.counts.block_capacity"][0])
        a["memory.counts.block_used"][0], a["memory.counts.pool"][1] = room, room
        a["memory.counts.pool_state"][:] = 0

    with pytest.raises(FileError, match=r"'memory\.counts\.pool_state' lists a successor twice"):
        load_any(edited(agent, tmp_path / "a", fill))


@pytest.mark.parametrize("bound", [-5.0, 0.0, 0.2])
def test_a_bound_that_no_plan_has_proven_is_not_certified(tmp_path, bound):
    model = eq.models.riverswim(4)
    agent = eq.recommended(model.space, eq.rewards.Linear([1.0]))
    eq.simulate(model, agent, 20_000)
    optimum = eq.solve(model, agent.reward).value
    kept = agent.best_possible
    agent.save(tmp_path / "a")
    assert load_any(tmp_path / "a").best_possible == kept  # it goes on as it was
    forged = load_any(edited(agent, tmp_path / "b", lambda a: a["memory.proof.bound"].__setitem__(0, bound)))
    assert forged.best_possible >= optimum
    assert forged.certificate().best_possible >= optimum


def test_a_bound_between_two_plans_is_proven_again(tmp_path):
    """No plan of the record gives the bound of a certificate: it is not taken from a file."""
    model = eq.models.riverswim(4)
    agent = eq.recommended(model.space, eq.rewards.Linear([1.0]))
    eq.simulate(model, agent, 20_000)
    proven = agent.certificate(effort=2).best_possible
    agent.save(tmp_path / "a")
    again = load_any(tmp_path / "a")
    assert again.best_possible > proven
    assert again.certificate(effort=2).best_possible == pytest.approx(proven, abs=1e-3)


# -- threads ---------------------------------------------------------------------------------------------------------


def test_saves_and_copies_wait_for_the_steps_of_another_thread(tmp_path):
    model = eq.models.garnet(200, 3, 12, n_outcomes=3, seed=1)
    agent = eq.recommended(model.space, eq.rewards.Quadratic(TARGET))
    agent.act(agent.state)  # what is to be compiled is compiled
    agent.resume(agent.state)
    running = threading.Thread(target=lambda: eq.simulate(model, agent, 200_000, progress=False))
    running.start()
    taken = []
    while running.is_alive():
        agent.save(tmp_path / "a")
        for twin in (load_any(tmp_path / "a"), copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
            counts = twin.loop.arrays.counts
            assert int((counts.visits + counts.fresh).sum()) == twin.t - 1
            taken.append(twin.t)
    running.join()
    assert len(set(taken)) > 3
    assert agent.t == 200_001
    whole = eq.recommended(model.space, eq.rewards.Quadratic(TARGET))
    eq.simulate(model, whole, 200_000, progress=False)
    assert bytes_of(agent, tmp_path / "a") == bytes_of(whole, tmp_path / "b")


def test_a_save_waits_its_turn(tmp_path):
    agent = CASES["toc"].make()
    saving = threading.Thread(target=lambda: agent.save(tmp_path / "a"))
    with agent.loop.exclusive():
        saving.start()
        saving.join(0.2)
        assert saving.is_alive()
        assert not (tmp_path / "a").exists()
        agent.save(tmp_path / "b")  # the thread that holds the agent need not wait
        agent.loop.pause()
        saving.join(10.0)
        assert (tmp_path / "a").exists()
        with pytest.raises(eq.errors.ProtocolError, match="in use by another thread"):
            agent.act(0)
    agent.act(agent.state)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(KINDS)), pending=st.booleans())
def test_what_is_not_refused_does_no_harm(tmp_path_factory, data, name, pending):
    """Any whole number in any place: an error, or an agent that goes on without reading where it must not."""
    path = tmp_path_factory.mktemp("agent") / "agent"
    model, make = CASES[name]
    agent = make()
    eq.simulate(model, agent, 60, seed=2)
    if pending:
        agent.act(agent.state)
    agent.save(path)
    header, arrays = read(path)
    key = data.draw(st.sampled_from(sorted(key for key, array in arrays.items() if array.dtype.kind == "i")))
    wrong = arrays[key].copy()
    edges = st.sampled_from([-(2**63), -1, 0, 1, 2, 15, 16, 2**31, 2**62, 2**63 - 1])
    wrong[data.draw(st.integers(0, wrong.size - 1))] = data.draw(edges | st.integers(-5, 100))
    write(path, arrays | {key: wrong}, header)
    try:
        loaded = load_any(path)
    except FileError:
        return
    if loaded.pending:
        loaded.observe([0.0] * 3, 0)
    with contextlib.suppress(eq.EquipoiseError):  # it may be one for another world by now
        eq.simulate(model, loaded, 100, checkpoints=[loaded.t + 99])
    for _ in range(20):
        assert 0 <= loaded.act(loaded.state) < loaded.space.n_actions[loaded.state]
        loaded.observe([0.0] * 3, loaded.space.n_states - 1)
