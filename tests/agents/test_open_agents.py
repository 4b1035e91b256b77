"""Parts written elsewhere that do not keep to what they should: errors that name the part, the step and the answer."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
import types

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence import Confidence, Elementwise
from equipoise.confidence.elementwise import interval_entry
from equipoise.errors import ContractError, EquipoiseError, FileError, OracleError, ParameterError, RewardError
from equipoise.oracles import Oracle
from equipoise.oracles.base import OracleKernel
from equipoise.oracles.frame import opened, oracle_entry
from equipoise.rewards.base import Reward, RewardKernels

MODEL = eq.models.garnet(4, 2, 3, 3, seed=2)
REWARD = eq.rewards.Quadratic([0.4, 0.3, 0.5])


def raising(*_arguments):
    raise KeyError("lost")


def subclass(base: type, **members: object) -> type:
    """A class with some members replaced, as if it stood in this module."""
    return type("Mine", (base,), {"__module__": __name__, **members})


# --- agents ---


class Obedient(eq.Agent):
    """Always the same action."""

    answer: object = 0

    def choose(self, state):
        return self.answer if self.t >= 3 else 0

    def memory(self):
        return {}


def simulated(agent: eq.Agent) -> eq.Run:
    return eq.simulate(MODEL, agent, 20, progress=False)


def stepped(agent: eq.Agent) -> None:
    world = MODEL.world(0)
    for _ in range(20):
        agent.observe(*world.step(agent.act(world.state)))


@pytest.mark.parametrize("way", [simulated, stepped])
@pytest.mark.parametrize("answer", [2, -1, 1.0, None, True, np.bool_(True), "0", [0], np.array([1]), np.nan], ids=repr)
def test_a_wrong_action_is_named_with_its_step(answer, way):
    agent = subclass(Obedient, answer=answer)(MODEL.space, REWARD)
    with pytest.raises(ContractError) as raised:
        way(agent)
    assert f"Mine.choose returned {answer!r} at time 3 in state" in str(raised.value)
    assert "an action from 0 to 1 is needed" in str(raised.value)
    assert (agent.t, agent.pending) == (3, False)  # nothing has happened


@pytest.mark.parametrize("answer", [np.int64(1), np.uint8(1), np.array(1)], ids=repr)
def test_whole_numbers_of_numpy_are_actions(answer):
    assert simulated(subclass(Obedient, answer=answer)(MODEL.space, REWARD)).steps == 20


@pytest.mark.parametrize("method", ["choose", "learn"])
def test_what_a_method_raises_is_named_with_its_step(method):
    agent = subclass(Obedient, **{method: raising})(MODEL.space, REWARD)
    with pytest.raises(ContractError, match=rf"Mine\.{method} raised KeyError at time 1 in state 0: 'lost'") as raised:
        simulated(agent)
    assert isinstance(raised.value.__cause__, KeyError)
    with pytest.raises(ContractError, match=f"{method} raised KeyError"):  # and it is not locked afterwards
        simulated(agent)


def test_outcomes_cannot_be_written():
    def learn(self, state, action, outcomes, next_state):
        outcomes[0] = 1.0

    with pytest.raises(ContractError, match=r"learn raised ValueError at time 1 .*read-only"):
        simulated(subclass(Obedient, learn=learn)(MODEL.space, REWARD))


def test_a_method_that_is_missing():
    with pytest.raises(ContractError, match="Mine: it lacks choose"):
        subclass(eq.Agent)(MODEL.space, REWARD)


def forgets(self, space, reward):
    self.mine = 1


@pytest.mark.parametrize(
    "use",
    [
        simulated,
        stepped,
        repr,
        lambda agent: agent.t,
        lambda agent: agent.average,
        lambda agent: agent.observe([0, 0, 0], 0),
        lambda agent: agent.save("never.npz"),
    ],
)
def test_a_constructor_that_forgets_the_base(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent = subclass(Obedient, __init__=forgets)(MODEL.space, REWARD)
    with pytest.raises(EquipoiseError, match=r"Mine: its constructor must call super\(\).__init__\(space, reward\)"):
        use(agent)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = agent.other


def takes_stars(self, space, reward, *rest):
    eq.Agent.__init__(self, space, reward)


def takes_keywords(self, space, reward, **rest):
    eq.Agent.__init__(self, space, reward)


def loses(self, space, reward, pace=1):
    eq.Agent.__init__(self, space, reward)


@pytest.mark.parametrize(
    ("constructor", "message"),
    [
        (takes_stars, r"Mine: it takes \*rest; a part names every parameter"),
        (takes_keywords, r"Mine: it takes \*rest; a part names every parameter"),
        (loses, "Mine: its parameter 'pace' is not kept; set self.pace"),
    ],
)
def test_arguments_that_cannot_be_told(constructor, message, tmp_path):
    agent = subclass(Obedient, __init__=constructor)(MODEL.space, REWARD)
    with pytest.raises(FileError, match=message):
        agent.save(tmp_path / "agent.npz")
    assert not list(tmp_path.iterdir())


def test_a_class_inside_a_function_is_not_saved(tmp_path):
    class Inner(Obedient):
        pass

    with pytest.raises(FileError, match="Inner: what is defined inside a function or a class cannot be found again"):
        Inner(MODEL.space, REWARD).save(tmp_path / "agent.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (None, "Mine.memory returned None at time 5; a mapping is needed"),
        ([1], r"Mine.memory returned \[1\] at time 5"),
        ({"deep": {"er": {1, 2}}}, "Mine.memory: memory.deep.er is a set"),
        ({"a": [0, object()]}, "memory.a.1 is a object"),
        ({"a": np.array([None])}, "memory.a is an array of Python objects"),
        ({"a": b"bytes"}, "memory.a is a bytes"),
        ({"a": raising}, "memory.a is a function"),
    ],
)
def test_a_memory_of_objects_is_refused(memory, message, tmp_path):
    agent = subclass(Obedient, memory=lambda self: memory)(MODEL.space, REWARD)
    eq.simulate(MODEL, agent, 4, progress=False)
    with pytest.raises(FileError, match=message):
        agent.save(tmp_path / "agent.npz")
    assert not list(tmp_path.iterdir())


def test_a_memory_that_raises(tmp_path):
    with pytest.raises(FileError, match=r"Mine\.memory raised KeyError at time 1: 'lost'"):
        subclass(Obedient, memory=raising)(MODEL.space, REWARD).save(tmp_path / "agent.npz")


class Refuses(Obedient):
    def memory(self):
        return {"a": 1}

    def restore(self, memory):
        raise KeyError("lost")


class Forgets(Obedient):
    def memory(self):
        return {"a": 1}


@pytest.mark.parametrize(
    ("kind", "message"), [(Refuses, "KeyError: 'lost'"), (Forgets, r"has a memory, and no restore\(memory\)")]
)
def test_a_memory_that_is_not_taken_back(kind, message, tmp_path):
    eq.allow(__name__)
    kind(MODEL.space, REWARD).save(tmp_path / "agent.npz")
    with pytest.raises(FileError, match=message):
        kind.load(tmp_path / "agent.npz")


# --- oracles ---


@oracle_entry
def _still(frame):
    step = opened(frame)
    step.theta[0] += 0.0


@oracle_entry
def _lost(frame):
    step = opened(frame)
    if step.t == 7:
        step.theta[1] = np.nan


@oracle_entry
def _unknown(frame):
    step = opened(frame)
    step.velocity[0] = 1.0


class Still(Oracle):
    def check(self, reward):
        pass

    def initial_theta(self, reward):
        return np.zeros(reward.n_outcomes)

    def kernel(self, reward):
        return OracleKernel(_still, np.zeros(1))


def kernel_with(**changes):
    return lambda self, reward: Still.kernel(self, reward)._replace(**changes)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"check": raising}, "Mine.check raised KeyError: 'lost'"),
        ({"initial_theta": raising}, "Mine.initial_theta raised KeyError: 'lost'"),
        ({"kernel": raising}, "Mine.kernel raised KeyError: 'lost'"),
        ({"phase": raising}, "Mine.phase raised KeyError: 'lost'"),
        (
            {"initial_theta": lambda self, reward: np.zeros(2)},
            r"the first theta of Mine\(\) is \[0.0, 0.0\]; 3 numbers",
        ),
        ({"initial_theta": lambda self, reward: "abc"}, "Mine.initial_theta raised ValueError"),
        (
            {"initial_theta": lambda self, reward: np.full(3, np.inf)},
            r"at time 1, .* theta is \[inf, inf, inf\] by Mine",
        ),
        ({"kernel": lambda self, reward: None}, r"the kernel of Mine\(\) is None; an OracleKernel"),
        ({"kernel": kernel_with(entry=REWARD.kernels.gradient)}, "declared by @oracle_entry is needed"),
        ({"kernel": kernel_with(params=["a"])}, r"the params of Mine\(\) must be numbers"),
        ({"kernel": kernel_with(memory=-1)}, r"the memory of Mine\(\): got -1"),
        ({"kernel": kernel_with(scratch=1.5)}, r"the scratch of Mine\(\): got 1.5"),
        (
            {"kernel": kernel_with(entry=_lost)},
            r"at time 8, .*, theta is \[0.0, nan, 0.0\] by Mine\(\); finite",
        ),
        ({"phase": lambda self, index: None}, r"phase 1 of Mine\(\) is None; a Phase"),
        ({"theory": None}, r"the theory of Mine\(\) is None; an OracleTheory"),
    ],
)
def test_a_wrong_oracle_is_named(members, message):
    oracle = subclass(Still, **members)()
    with pytest.raises(OracleError, match=message):
        eq.simulate(MODEL, eq.TocUCRL2(MODEL.space, REWARD, oracle, threshold=0.0), 20, progress=False)


def test_a_step_that_cannot_be_compiled_is_named_with_its_line():
    message = "_unknown.* cannot be compiled: line .*test_open_agents.py, `step.velocity.*Unknown attribute 'velocity'"
    with pytest.raises(ContractError, match=message):
        eq.TocUCRL2(MODEL.space, REWARD, subclass(Still, kernel=kernel_with(entry=_unknown))())


def test_an_oracle_without_its_methods():
    with pytest.raises(ContractError, match="Mine: it lacks initial_theta, kernel"):
        subclass(Oracle, check=raising)()


# --- rewards ---


class Own(Reward):
    norm, smoothness, lipschitz, n_outcomes = 2.0, 1.0, 2.0, 3

    def __init__(self):
        self.params = np.array([0.4, 0.3, 0.5])

    @property
    def kernels(self):
        return REWARD.kernels

    def concave_expression(self, w):
        return REWARD.concave_expression(w)


_OTHER_KIND = RewardKernels(_still, _still, _still)


@pytest.mark.parametrize("make", [eq.TocUCRL2, Obedient, eq.agents.baselines.FrankWolfeUCB])
@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"n_outcomes": None}, "Mine: n_outcomes: got None"),
        ({"norm": 3.0}, "Mine: norm: got 3.0; 1.0, 2.0 or math.inf"),
        ({"lipschitz": "x"}, "Mine: lipschitz: got 'x'"),
        ({"lipschitz": np.nan}, "Mine: lipschitz: got nan"),
        ({"smoothness": -1.0}, "Mine: smoothness: got -1.0"),
        ({"kernels": None}, "Mine: kernels: got None"),
        ({"kernels": property(raising)}, "Mine.kernels raised KeyError: 'lost'"),
        ({"kernels": _OTHER_KIND}, "Mine: kernels.value: got Entry.*declare it with @entry"),
        ({"__init__": lambda self: None}, "Mine: it has no params"),
        ({"__init__": lambda self: setattr(self, "params", [0.4, 0.3, 0.5])}, "Mine: params: got .*float64 vector"),
    ],
)
def test_a_wrong_reward_is_named(members, message, make):
    with pytest.raises(RewardError, match=message):
        make(MODEL.space, subclass(Own, **members)())


def test_a_reward_that_is_not_finite_is_named_with_its_step():
    def lost(self):
        self.params = np.array([np.nan, 0.0, 0.0])

    with pytest.raises(RewardError, match=r"at time 1, .* the gradient or the conjugate of Mine\(\) is not finite"):
        simulated(eq.TocUCRL2(MODEL.space, subclass(Own, __init__=lost)()))


# --- confidences ---


@interval_entry
def _nowhere(tau, delta, count, binary, n, total, squares, floats, bounds):
    bounds[0], bounds[1] = 0.0, 1.0
    if n >= floats[0]:
        bounds[1] = np.nan


class Nowhere(Elementwise):
    guarantee = "none"
    interval = _nowhere

    @property
    def floats(self):
        return np.array([2.0])


@pytest.mark.parametrize(
    ("base", "members", "message"),
    [
        (Confidence, {}, "Mine: it lacks kernel"),
        (Confidence, {"kernel": None}, r"the kernel of Mine\(\) is None; an entry declared by @confidence_entry"),
        (Confidence, {"kernel": _still}, "an entry declared by @confidence_entry is needed"),
        (Confidence, {"kernel": property(raising)}, "Mine.kernel raised KeyError: 'lost'"),
        (Nowhere, {"check": raising}, "Mine.check raised KeyError: 'lost'"),
        (Nowhere, {"first_stream": lambda self: None}, "Mine.first_stream raised TypeError"),
        (Nowhere, {"listed": None}, "Mine.listed: got None"),
        (Nowhere, {"relaxation": 0.0}, "Mine.relaxation: got 0.0"),
        (Nowhere, {"relaxation": "x"}, "Mine.relaxation: got 'x'"),
        (Nowhere, {}, r"at time \d+ Mine\(\) gave bounds that are not finite numbers"),
        (Nowhere, {"interval": None}, "interval: got None; declare it with @interval_entry"),
        (Nowhere, {"interval": _still}, "interval: got Entry.*declare it with @interval_entry"),
        (Nowhere, {"floats": "x"}, r"Mine\(\): its floats must be numbers"),
    ],
)
def test_a_wrong_confidence_is_named(base, members, message):
    with pytest.raises((ContractError, ParameterError), match=message):
        simulated(eq.TocUCRL2(MODEL.space, REWARD, confidence=subclass(base, **members)()))


def test_one_within_another_is_checked_as_well():
    with pytest.raises(ContractError, match="an entry declared by @confidence_entry is needed"):
        eq.TocUCRL2(MODEL.space, REWARD, confidence=eq.confidence.Scaled(subclass(Confidence, kernel=_still)(), 0.5))


class WithAHandle(eq.Agent):
    """Keeps something that cannot be copied, and leaves it out of its state."""

    def __init__(self, space, reward):
        super().__init__(space, reward)
        self.handle = threading.Lock()
        self.itself = self
        self.seen = [np.zeros(2)]

    def choose(self, state):
        return 0

    def __getstate__(self):
        return {name: part for name, part in super().__getstate__().items() if name != "handle"}


def test_an_agent_may_leave_parts_out_of_its_state():
    agent = WithAHandle(MODEL.space, REWARD)
    for twin in (copy.deepcopy(agent), copy.copy(agent), pickle.loads(pickle.dumps(agent))):
        assert twin.itself is twin
        assert not hasattr(twin, "handle")
        assert twin.seen[0] is not agent.seen[0]


def test_a_class_loads_its_own_files_without_leave(tmp_path, monkeypatch):
    """The caller has imported it. Through `Agent.load` the file alone would choose what to make."""
    module = types.ModuleType("somebodys_agents")
    monkeypatch.setitem(sys.modules, "somebodys_agents", module)

    class Mine(eq.Agent):
        def choose(self, state):
            return 0

        def memory(self):
            return {}

    class Other(Mine):
        pass

    for kind in (Mine, Other):
        kind.__module__, kind.__qualname__ = "somebodys_agents", kind.__name__
        setattr(module, kind.__name__, kind)
    model = eq.models.star()
    Mine(model.space, eq.rewards.Quadratic([1 / 3] * 3)).save(tmp_path / "a")
    assert type(Mine.load(tmp_path / "a")) is Mine
    for kind in (eq.Agent, Other, eq.TocUCRL2):
        with pytest.raises(eq.errors.FileError, match="imported only if you allow it"):
            kind.load(tmp_path / "a")
