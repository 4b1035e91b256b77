"""`Agent`: it acts, observes, and can be stopped, saved and continued.

A subclass writes two methods in plain Python, and is an agent like any other, in `simulate`, in studies and in reports:

    class Mine(eq.Agent):
        def choose(self, state):                                # -> the action of time t
            ...
        def learn(self, state, action, outcomes, next_state):   # what followed; nothing by default
            ...

The base keeps the time `t`, the `state`, the action that is `pending` and the `average` of the outcomes. It rejects
what cannot have happened, before anything changes, and use by two threads at once. A constructor of your own calls
``super().__init__(space, reward)`` first and keeps its parameters as attributes; then a study can name them. Two more
methods make an agent savable: `memory`, which returns its state as arrays and plain data, and `restore`, the reverse.

`advance` takes a whole stretch of steps in a sampled world. It calls `choose` and `learn` in turn; an agent with a
compiled loop overrides it.
"""

from __future__ import annotations

import abc
import copy
import math
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._checks import check_int
from equipoise._spec import Component, chosen_arguments
from equipoise.agents.constraints import ConstraintStatus, constraint_statuses, no_bounds
from equipoise.agents.episodes import Episodes, empty_episodes
from equipoise.agents.loop import AgentLock, Loop
from equipoise.agents.phase import check_kind, check_reward
from equipoise.agents.state import new_clock, set_clock
from equipoise.errors import ContractError, EquipoiseError, ProtocolError, RewardError
from equipoise.models.laws.validate import find_branch_cases, find_case
from equipoise.models.model import Model, Space
from equipoise.models.world import draw_branch, get_sampling
from equipoise.rewards.base import Reward

if TYPE_CHECKING:
    import polars

    from equipoise.agents.certificate import Certificate
    from equipoise.models.log import Source

_POLL_SECONDS: Final = 0.1  # seconds after which an agent in plain Python comes back, so that Ctrl-C is heard
_MOST_NAMES: Final = 8  # outcomes at most in a message
_LOCK: Final = "_lock"
_BASE_ATTRIBUTES: Final = ("space", "reward", "_clock", "_total", _LOCK)


class Agent(Component, abc.ABC):
    """The base class of all agents: what chooses the actions of a system and learns from what follows.

    Parameters
    ----------
    space : Space
        What it knows of the world.
    reward : Reward
        What evaluates its outcomes.

    See Also
    --------
    equipoise.testing.check_agent : The contract of an agent of your own.

    Examples
    --------
    An agent that repeats an action while it pays:

    >>> import equipoise as eq
    >>> class Stubborn(eq.Agent):
    ...     def __init__(self, space, reward, first=0):
    ...         super().__init__(space, reward)
    ...         self.first = first
    ...         self.action = first
    ...     def choose(self, state):
    ...         return self.action % self.space.n_actions[state]
    ...     def learn(self, state, action, outcomes, next_state):
    ...         if outcomes[0] == 0:
    ...             self.action += 1
    >>> model = eq.models.bandit(3)
    >>> agent = Stubborn(model.space, eq.rewards.Linear([1.0, 0.0, 0.0]), first=1)
    >>> run = eq.simulate(model, agent, 100)
    >>> agent.t, agent.average.tolist(), agent
    (101, [0.98, 0.01, 0.01], Stubborn(1 states, 3 pairs, Linear(weights=[1.0, 0.0, 0.0]), first=1; t=101))
    """

    injected: ClassVar[tuple[str, ...]] = ("space", "reward")
    space: Space
    reward: Reward

    def __init__(self, space: Space, reward: Reward) -> None:
        check_kind(space, Space, "space", "model.space")
        check_kind(reward, Reward, "reward", "eq.rewards.Quadratic(target)")
        check_reward(reward)
        if reward.n_outcomes != space.n_outcomes:
            raise RewardError(f"reward: it takes {reward.n_outcomes} outcomes; the space has {space.n_outcomes}")
        self.space = space
        self.reward = reward
        self._clock = new_clock(space.start)
        self._total = np.zeros(space.n_outcomes)
        self._lock = AgentLock()
        self._case = 0
        self._constraint_bounds = no_bounds(reward)  # of certificates

    if not TYPE_CHECKING:  # a type checker would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Only for missing attributes, such as those that this constructor would have set."""
            kind = type(self).__name__
            if name in _BASE_ATTRIBUTES and _LOCK not in self.__dict__:
                raise ContractError(f"{kind}: its constructor must call super().__init__(space, reward)")
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    # -- what a subclass writes -------------------------------------------------------------------------

    @abc.abstractmethod
    def choose(self, state: int) -> int:
        """The action of time t.

        Parameters
        ----------
        state : int
            The present state.
        """

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:
        """Process what followed an action; the base keeps the time, the state and the average.

        Parameters
        ----------
        state, action : int
            The state, and the action that was taken in it.
        outcomes : numpy.ndarray
            The K outcomes, read-only; copy them to keep them.
        next_state : int
            The state that it led to.
        """

    def memory(self) -> Mapping[str, Any]:
        """The agent's state as arrays and plain data; an agent without any returns {}."""
        name = type(self).__name__
        raise ContractError(
            f"{name}: it cannot be saved; write {name}.memory(), which returns arrays and plain data by name, and "
            f"{name}.restore(memory), which takes them back"
        )

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Take back what `memory` returned; called on a new agent with the same arguments.

        Parameters
        ----------
        memory : mapping
            As `memory` returned it, arrays as arrays.
        """
        if memory:
            raise ContractError(f"{type(self).__name__}: it has a memory, and no restore(memory) to take it back")

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Take up to `steps` steps in a sampled world; it may return earlier, to be called again.

        Parameters
        ----------
        model : Model
            The world.
        rng : numpy.random.Generator
            Its stream of random numbers, at the present step.
        steps : int
            How many, at least one.
        """
        outcomes, world, cases = np.empty(model.n_outcomes), get_sampling(model), find_branch_cases(model, self.space)
        enough = time.perf_counter() + _POLL_SECONDS
        for _ in range(steps):
            action = self._choose_checked()
            branch = draw_branch(world, rng, int(self.space.first_pair[self.state]) + action, outcomes)
            self._case = 0 if cases is None else int(cases[branch])
            self._learn_and_account(action, outcomes, int(model.branch_next[branch]))
            if time.perf_counter() > enough:
                return

    # -- what a user may look at ------------------------------------------------------------------------

    @property
    def t(self) -> int:
        """The time of the next step, from 1."""
        return int(self._clock["time"][0])

    @property
    def state(self) -> int:
        """The state in which the next step will be taken."""
        return int(self._clock["state"][0])

    @property
    def pending(self) -> bool:
        """Whether an action has been taken and not yet observed."""
        return bool(self._clock["pending"][0] >= 0)

    @property
    def average(self) -> NDArray[np.float64]:
        """The average outcome vector so far; zero before the first step."""
        return self._total / max(1, self.t - 1)

    @property
    def constraints(self) -> tuple[ConstraintStatus, ...]:
        """What the average has reached of each constraint; empty if the reward is not `Constrained`.

        Whether it is proven that no policy meets a constraint is known from `certificate`, if it was ever called.
        """
        return constraint_statuses(self.reward, self.average if self.t > 1 else None, self._constraint_bounds)

    @property
    def episode_record(self) -> Episodes:
        """The record of episodes, column by column; empty for an agent without any."""
        return empty_episodes(0)

    @property
    def episodes(self) -> polars.DataFrame:
        """All episodes so far, one row each: start, length, trigger, gain, span, sweeps."""
        return self.episode_record.frame(self.t)

    @property
    def horizon(self) -> int | None:
        """The number of steps that it is made for; None if there is no limit."""
        return None

    @property
    def caveat(self) -> str:
        """Why the agent has no guarantee, shown with its results; empty if it has one."""
        return ""

    def __repr__(self) -> str:
        made_of = [repr(self.reward), *(f"{name}={value!r}" for name, value in chosen_arguments(self).items())]
        size = f"{self.space.n_states} states, {self.space.n_pairs} pairs"
        return f"{type(self).__name__}({size}, {', '.join(made_of)}; t={self.t})"

    __eq__ = object.__eq__  # two agents that were made alike may have seen different things
    __hash__ = object.__hash__

    # -- proving ----------------------------------------------------------------------------------------

    @property
    def proves(self) -> bool:
        """Whether its plans prove bounds on the optimum, so that `best_possible` decreases."""
        return False

    @property
    def best_possible(self) -> float:
        """The least upper bound on the optimum that its plans have proven so far; infinity if none."""
        return math.inf

    def certificate(self, effort: int = 0) -> Certificate:  # noqa: ARG002
        """An upper bound on the optimum, and so on the regret, from the agent's data alone.

        Parameters
        ----------
        effort : int
            How many more plans to make. Each moves theta to where the bound is lower.

        Raises
        ------
        ProtocolError
            If the agent has no regions that are proven to contain the true model.
        """
        raise ProtocolError(
            f"certificate: {type(self).__name__} keeps no confidence regions, so it has nothing to prove a bound by; "
            "eq.certify(space, reward, log) certifies a log of any policy"
        )

    # -- what happened elsewhere ------------------------------------------------------------------------

    def absorb(self, log: Source, again: bool = False) -> int:  # noqa: ARG002
        """Learn from a log: transitions that were observed under any policy; returns the number of rows.

        Parameters
        ----------
        log : frame or path
            A polars or pandas frame, or the path of a Parquet or CSV file, with the columns state, action, one for
            each outcome, and next_state; labels or numbers.
        again : bool
            Use it even if a log of the same rows was absorbed before.

        Raises
        ------
        LogError
            If rows cannot have happened; then none is used.
        ProtocolError
            If the agent keeps no counts.
        """
        raise ProtocolError(f"absorb: {type(self).__name__} keeps no counts of transitions; TocUCRL2 does")

    def resume(self, state: int) -> None:
        """Set the state after a gap, such as an outage or an intervention by hand.

        What happened in between is not counted. A pending action is dropped.

        Parameters
        ----------
        state : int
            The present state.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.riverswim(3)
        >>> agent = eq.recommended(model.space, eq.rewards.Linear([1.0]))
        >>> action = agent.act(0)  # and the system goes down
        >>> agent.resume(2)
        >>> agent.t, agent.state, agent.pending
        (1, 2, False)
        """
        with self._lock.use():
            place = check_int(state, "state", 0, self.space.n_states - 1, error=ProtocolError)
            set_clock(self._clock, self.t, place)

    # -- acting -----------------------------------------------------------------------------------------

    def act(self, state: int) -> int:
        """Choose the action of time t.

        Parameters
        ----------
        state : int
            The present state: the start, or the next state of the last `observe`.
        """
        with self._lock.use():
            self._check_act(state)
            return self._take_action()

    def observe(self, outcomes: ArrayLike, next_state: int, noise: Mapping[str, Any] | None = None) -> None:
        """Process what followed the last action.

        Parameters
        ----------
        outcomes : array of float
            The K outcomes, each in [0, 1].
        next_state : int
            The state that it led to.
        noise : mapping, optional
            For an agent with known mechanics: what was drawn, by name. It can be omitted where the state and the
            outcomes determine it, and for noises that were declared hidden.

        Raises
        ------
        ProtocolError
            If no action is pending, or if this cannot have happened.
        """
        with self._lock.use():
            vector, after = self._check_observation(outcomes, next_state)
            self._take_in(vector, after, self._find_case(vector, after, noise))

    @property
    def loop(self) -> Loop:
        """For loops of your own, such as those of `simulate`: the lock, and steps without checks."""
        return Loop(self)

    # -- keeping ----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, atomically; `load` gives back an agent that continues bit-identically.

        While another thread uses the agent, `save` waits until that thread is between two steps, or between two
        stretches of `simulate`.

        Parameters
        ----------
        path : path
            The file. A link is followed; a file that is replaced keeps its permissions.

        Raises
        ------
        FileError
            If it cannot be written, or could not be read again: an agent without `memory`, or a part that is defined
            inside a function.
        """
        from equipoise.agents.checkpoint import save_agent

        save_agent(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, reward: Reward | None = None) -> Self:
        """Read an agent of this class written by `save`.

        A class of your own can load its own files. Other user-supplied parts, and your agents through `Agent.load`, are
        made only if their modules are allowed, see `equipoise.allow`.

        Parameters
        ----------
        path : path
            The file.
        reward : Reward, optional
            Only for an agent with a `Custom` reward, whose functions are not saved. It must have the values that the
            saved one had.

        Raises
        ------
        FileError
            If the file is missing, damaged, or contains something else.

        Examples
        --------
        >>> import tempfile
        >>> import equipoise as eq
        >>> model = eq.models.bandit(2)
        >>> agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Quadratic([0.5, 0.5]))
        >>> run = eq.simulate(model, agent, 100)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     agent.save(f"{folder}/agent.npz")
        ...     eq.Agent.load(f"{folder}/agent.npz").t
        101
        """
        from equipoise.agents.checkpoint import load_agent

        return load_agent(cls, path, reward)

    def __getstate__(self) -> dict[str, object]:
        memo: dict[int, Any] = {id(self): self}
        with self._lock.settle():  # the state is used later, so it is copied
            return {name: _copy_or_same(part, memo) for name, part in self._parts().items()}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = AgentLock()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def _parts(self) -> dict[str, object]:
        """The attributes that a copy needs."""
        return {name: part for name, part in self.__dict__.items() if name != _LOCK}

    # -- inside -----------------------------------------------------------------------------------------

    def _remember_constraints(self, certificate: Certificate) -> None:
        """Keep what a certificate has proven of the constraints, for `constraints`."""
        bounds = [one.best_possible for one in certificate.constraints]
        self._constraint_bounds = np.minimum(self._constraint_bounds, bounds)

    def _take_action(self) -> int:
        """Choose an action, which is then pending."""
        action = self._choose_checked()
        self._clock["pending"] = self.space.first_pair[self.state] + action
        return action

    def _take_in(self, outcomes: NDArray[np.float64], next_state: int, case: int = 0) -> None:
        """Learn from what followed the pending action."""
        self._case = case
        self._learn_and_account(
            int(self._clock["pending"][0] - self.space.first_pair[self.state]), outcomes, next_state
        )

    def _choose_checked(self) -> int:
        """The answer of `choose`, checked."""
        state, most = self.state, self.space.n_actions[self.state] - 1
        try:
            answer = self.choose(state)
        except EquipoiseError:
            raise
        except Exception as error:
            raise self._method_error("choose", error) from error
        try:
            return check_int(answer, "action", 0, most, error=ContractError)
        except ContractError:
            raise ContractError(
                f"{type(self).__name__}.choose returned {answer!r} at time {self.t} in {self.space.name_state(state)}; "
                f"an action from 0 to {most} is needed"
            ) from None

    def _learn_and_account(self, action: int, outcomes: NDArray[np.float64], after: int) -> None:
        """Pass a step to `learn`, and account for it."""
        shown = outcomes.view()
        shown.flags.writeable = False
        try:
            self.learn(self.state, action, shown, after)
        except EquipoiseError:
            raise
        except Exception as error:
            raise self._method_error("learn", error) from error
        self._account(outcomes, after)

    def _account(self, outcomes: NDArray[np.float64], after: int) -> None:
        """Move the clock, and sum the outcomes; overridden where kernels do so."""
        self._total += outcomes
        set_clock(self._clock, self.t + 1, after)

    def _method_error(self, method: str, error: Exception) -> ContractError:
        """The error of a method that raised: it names the agent, the method and the step."""
        return ContractError(
            f"{type(self).__name__}.{method} raised {type(error).__name__} at time {self.t} in "
            f"{self.space.name_state(self.state)}: {error}"
        )

    def _check_act(self, state: int) -> None:
        if self.horizon is not None and self.t > self.horizon:
            raise ProtocolError(f"act: the horizon of {self.horizon} steps that the agent is made for is over")
        if self.pending:
            raise ProtocolError(f"act: the action of time {self.t} has not been observed yet; call observe first")
        check_int(state, "state", 0, self.space.n_states - 1, error=ProtocolError)
        if state != self.state:
            came = "the start" if self.t == 1 else "the next state of the last observe"
            raise ProtocolError(
                f"act: got {self.space.name_state(state)}; {came} was {self.space.name_state(self.state)}. If the "
                "system was moved in between, say so by resume(state)"
            )

    def _check_observation(self, outcomes: ArrayLike, next_state: int) -> tuple[NDArray[np.float64], int]:
        if not self.pending:
            raise ProtocolError(f"observe: no action is waiting at time {self.t}; call act first")
        try:
            vector = np.atleast_1d(np.asarray(outcomes, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            names = self.space.outcome_names()
            order = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
            raise ProtocolError(
                f"outcomes: got {outcomes!r}; a vector of numbers is needed, in the order {order}"
            ) from None
        if vector.shape != (self.space.n_outcomes,):
            raise ProtocolError(f"outcomes: got shape {vector.shape}; {self.space.n_outcomes} numbers are needed")
        wrong = np.flatnonzero(~((vector >= 0) & (vector <= 1)))
        if wrong.size:
            k = int(wrong[0])
            raise ProtocolError(f"outcomes, {self.space.name_outcome(k)}: got {vector[k]}; it must lie in [0, 1]")
        return vector, check_int(next_state, "next_state", 0, self.space.n_states - 1, error=ProtocolError)

    def _find_case(self, outcomes: NDArray[np.float64], next_state: int, noise: Mapping[str, Any] | None) -> int:
        if self.space.laws is not None:
            return find_case(self.space, int(self._clock["pending"][0]), outcomes, next_state, noise)
        if noise is not None:
            raise ProtocolError("noise: the agent was not told any mechanics that it would belong to")
        return 0


def _copy_or_same(part: object, memo: dict[int, Any]) -> object:
    """A copy, or the object itself if it cannot be copied: a user's `__getstate__` may leave it out."""
    try:
        return copy.deepcopy(part, memo)
    except Exception:
        return part
