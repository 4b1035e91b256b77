"""The contract of agents: all of ours keep it, and whoever breaks a clause is found by that clause."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import ContractError
from equipoise.testing import AGENT_CLAUSES, check_agent
from tests.agents.kinds import CASES

MODEL = eq.models.garnet(5, 3, 3, 3, seed=8)
REWARD = eq.rewards.Quadratic([0.4, 0.3, 0.3])


@pytest.fixture(autouse=True)
def _allowed():
    eq.allow(__name__)


class Plain(eq.Agent):
    """Takes the action that its last outcome says; keeps to everything."""

    def __init__(self, space, reward, shift=1):
        super().__init__(space, reward)
        self.shift = shift
        self.last = np.zeros(space.n_outcomes)

    def choose(self, state):
        return (int(self.last[0]) + self.shift) % self.space.n_actions[state]

    def learn(self, state, action, outcomes, next_state):
        self.last = self.last + outcomes

    def memory(self):
        return {"last": self.last}

    def restore(self, memory):
        self.last = memory["last"]


class WithoutMemory(Plain):
    memory = eq.Agent.memory


class LosesArguments(Plain):
    def __init__(self, space, reward, shift=1):
        super().__init__(space, reward, shift)
        self.shift = shift + 1


class Repr(Plain):
    def __repr__(self):
        return "an agent"


class LearnsInAct(Plain):
    """What is refused changes it."""

    def act(self, state):
        self.last = self.last + 1.0
        return super().act(state)


class Miscounts(Plain):
    @property
    def average(self):
        return super().average * 0.999


class Restless(Plain):
    """Random, and not seeded."""

    def choose(self, state):
        return int(np.random.default_rng().integers(self.space.n_actions[state]))


class AnotherLoop(Plain):
    """A stretch of its own that forgets to learn."""

    def advance(self, model, rng, steps):
        before = self.last
        super().advance(model, rng, 1)
        self.last = before


class Forgets(Plain):
    def memory(self):
        return {"last": np.zeros_like(self.last)}


class SharesItsMemory(Plain):
    everybody = np.zeros(3)

    def __init__(self, space, reward, shift=1):
        super().__init__(space, reward, shift)
        self.last = np.zeros(3)
        self.notes = type(self).everybody = np.zeros(3)

    def learn(self, state, action, outcomes, next_state):
        self.notes += outcomes
        self.last = self.notes.copy()

    def __deepcopy__(self, memo):
        twin = type(self)(self.space, self.reward, self.shift)
        twin.__dict__.update({name: part for name, part in self.__dict__.items() if name != "_lock"})
        twin._clock, twin._total = self._clock.copy(), self._total.copy()
        return twin

    def restore(self, memory):
        self.last, self.notes = memory["last"], memory["last"].copy()


@pytest.mark.parametrize("clause", AGENT_CLAUSES.values(), ids=AGENT_CLAUSES)
@pytest.mark.parametrize("name", CASES)
def test_ours_keep_it(name, clause):
    clause(CASES[name].make(), CASES[name].model)


@pytest.mark.parametrize("kind", [Plain, WithoutMemory])
def test_plain_ones_keep_it(kind):
    check_agent(kind(MODEL.space, REWARD, 2), MODEL)


@pytest.mark.parametrize(
    ("kind", "clause"),
    [
        (LosesArguments, "says_what_it_is"),
        (Repr, "says_what_it_is"),
        (LearnsInAct, "keeps_the_protocol"),
        (Miscounts, "keeps_count"),
        (Restless, "repeats_itself"),
        (AnotherLoop, "repeats_itself"),
        (Forgets, "goes_on_after_a_file"),
        (SharesItsMemory, "is_independent_of_its_copies"),
    ],
)
def test_each_clause_finds_what_it_is_for(kind, clause):
    with pytest.raises(ContractError):
        AGENT_CLAUSES[clause](kind(MODEL.space, REWARD), MODEL)


def test_the_wrong_world_is_named():
    with pytest.raises(ContractError, match="not for this model"):
        check_agent(Plain(MODEL.space, REWARD), eq.models.star())
