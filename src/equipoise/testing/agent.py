"""The contract of agents: results that can be repeated, in a second process, after a save, or stepped by hand.

The agent given is left alone; new ones are made of its arguments.
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from equipoise._spec import parameters
from equipoise.agents.base import Agent
from equipoise.errors import ContractError, EquipoiseError, FileError, ProtocolError
from equipoise.models.model import Model
from equipoise.rewards.custom import Custom
from equipoise.simulation import simulate
from equipoise.testing._shared import name_clauses

_STEPS: Final = 300
_SEED: Final = 11


class _Step(NamedTuple):
    """What was done, where, and what came of it, to the last bit."""

    state: int
    action: int
    outcomes: bytes
    next_state: int


def check_agent(agent: Agent, model: Model) -> None:
    """Check that an agent keeps its contract; a `ContractError` names the clause and what went wrong.

    Parameters
    ----------
    agent : Agent
        The one to check, at any time; it is not changed.
    model : Model
        A communicating model for it.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.star()
    >>> check_agent(eq.agents.baselines.RoundRobin(model.space, eq.rewards.BottomSum(3, 1)), model)
    """
    for clause in AGENT_CLAUSES.values():
        clause(agent, model)


def says_what_it_is(agent: Agent, model: Model) -> None:
    """It is an agent for this world, it can be made again from its arguments, and it says so in words."""
    if not isinstance(agent, Agent):
        raise ContractError(f"got {type(agent).__name__}; an Agent is needed")
    if agent.space != model.space:
        raise ContractError(f"space: the agent is not for this model: {agent.space.difference(model.space)}")
    twin = _made_again(agent)
    if repr(twin.arguments()) != repr(agent.arguments()):
        raise ContractError(f"arguments: made from them again it has {twin.arguments()!r}, not {agent.arguments()!r}")
    if not isinstance(agent.caveat, str):
        raise ContractError("caveat: a text is needed, empty if there is nothing to say")
    if agent.horizon is not None and agent.horizon < 1:
        raise ContractError(f"horizon: got {agent.horizon}; a number of steps, or None, is needed")
    if type(agent).__name__ not in repr(agent):
        raise ContractError(f"repr: {agent!r} does not name {type(agent).__name__}")


def keeps_the_protocol(agent: Agent, model: Model) -> None:
    """`act` and `observe` alternate; what cannot have happened is refused, and leaves the agent as it was."""
    one, other = _made_again(agent), _made_again(agent)
    world = model.world(_SEED)
    for step in _by_hand(other, model, _steps(agent)):
        _refused(one, "observe before act", lambda: one.observe(np.zeros(model.n_outcomes), 0))
        _refused(one, "act in a state that does not exist", lambda: one.act(model.n_states))
        action = one.act(world.state)
        _refused(one, "act twice", lambda: one.act(world.state))
        outcomes, after = world.step(action)
        _refused(one, "outcomes outside [0, 1]", lambda: one.observe(np.full(model.n_outcomes, 1.5), 0))
        one.observe(outcomes, after)
        if action != step.action:
            raise ContractError(f"time {one.t - 1}: a call that was refused changed what the agent does next")


def keeps_count(agent: Agent, model: Model) -> None:
    """Time, state and average are those of what it was shown."""
    one = _made_again(agent)
    total = np.zeros(model.n_outcomes)
    for number, step in enumerate(_by_hand(one, model, _steps(agent)), start=1):
        total += np.frombuffer(step.outcomes)
        if one.t != number + 1 or one.state != step.next_state or one.pending:
            raise ContractError(f"time {number}: t, state and pending are {one.t}, {one.state} and {one.pending}")
        if not np.allclose(one.average, total / number, rtol=0.0, atol=1e-12):
            raise ContractError(
                f"time {number}: the average is {one.average.tolist()}, not {(total / number).tolist()}"
            )
    starts = one.episode_record.start
    if starts.size and (starts[0] != 1 or np.any(np.diff(starts) < 1) or starts[-1] >= one.t):
        raise ContractError(f"episodes: they start at {starts.tolist()}, and {one.t - 1} steps were taken")


def repeats_itself(agent: Agent, model: Model) -> None:
    """One seed gives one trajectory: made again, in one call or in several, by `simulate` or by hand."""
    steps = _steps(agent)
    hand = list(_by_hand(_made_again(agent), model, steps))
    again = list(_by_hand(_made_again(agent), model, steps))
    if hand != again:
        raise ContractError(f"{_first_difference(hand, again)}: made again, it does something else")
    whole, parts = _made_again(agent), _made_again(agent)
    marks = [steps // 3, steps]
    run = simulate(model, whole, steps, _SEED, checkpoints=marks, progress=False)
    first = simulate(model, parts, marks[0], _SEED, checkpoints=marks[:1], progress=False)
    rest = simulate(model, parts, steps - marks[0], _SEED, checkpoints=marks[1:], progress=False)
    if run.outcomes.tobytes() != first.outcomes.tobytes() + rest.outcomes.tobytes():
        raise ContractError("simulate: one call and two calls give different averages")
    for mark, average in zip(marks, run.outcomes, strict=True):
        shown = np.array([np.frombuffer(step.outcomes) for step in hand[:mark]])
        if not np.allclose(average, shown.mean(axis=0), rtol=0.0, atol=1e-12):
            raise ContractError(f"simulate: after {mark} steps its average is not that of stepping by hand")
    if whole.state != hand[-1].next_state:
        raise ContractError("simulate: it ends in another state than stepping by hand")


def goes_on_after_a_file(agent: Agent, model: Model) -> None:
    """Saved at any moment and loaded, it goes on bit for bit; an agent that cannot be saved says so."""
    steps = _steps(agent)
    expected = list(_by_hand(_made_again(agent), model, steps))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.npz"
        for stop in (0, 1, steps // 2):
            for pending in (False, True):
                one = _made_again(agent)
                taken = list(_by_hand(one, model, stop))
                world = model.world(_SEED, t=stop + 1, state=one.state)
                before = one.state
                action = one.act(one.state) if pending else None
                try:
                    one.save(path)
                except FileError as error:
                    if type(agent).memory is Agent.memory:
                        return
                    raise ContractError(f"save: {error}") from error
                loaded = type(agent).load(path, reward=agent.reward if isinstance(agent.reward, Custom) else None)
                if action is not None:
                    outcomes, after = world.step(action)
                    loaded.observe(outcomes, after)
                    taken.append(_Step(before, action, outcomes.tobytes(), after))
                taken += _by_hand(loaded, model, steps - len(taken))
                if taken != expected:
                    raise ContractError(
                        f"{_first_difference(taken, expected)}: saved after {stop} steps, it went astray"
                    )


def is_independent_of_its_copies(agent: Agent, model: Model) -> None:
    """A copy goes on as the original would, and neither changes the other."""
    steps = _steps(agent)
    expected = list(_by_hand(_made_again(agent), model, steps))
    one = _made_again(agent)
    list(_by_hand(one, model, steps // 2))
    for twin in (copy.copy(one), copy.deepcopy(one)):
        if list(_by_hand(twin, model, steps - steps // 2)) != expected[steps // 2 :]:
            raise ContractError("a copy does something else than the original would")
    if list(_by_hand(one, model, steps - steps // 2)) != expected[steps // 2 :]:
        raise ContractError("what a copy did has changed the original")


AGENT_CLAUSES: Final[dict[str, Callable[[Agent, Model], None]]] = name_clauses(
    says_what_it_is, keeps_the_protocol, keeps_count, repeats_itself, goes_on_after_a_file, is_independent_of_its_copies
)


def _made_again(agent: Agent) -> Agent:
    given = {name: getattr(agent, name) for name in ("space", "reward")}
    try:
        accepted = parameters(type(agent), injected=True)
        twin = type(agent)(**{name: given[name] for name in given if name in accepted}, **agent.arguments())
    except (TypeError, EquipoiseError) as error:
        raise ContractError(f"{type(agent).__name__}: it cannot be made again from its arguments ({error})") from error
    return twin


def _steps(agent: Agent) -> int:
    return _STEPS if agent.horizon is None else min(_STEPS, agent.horizon)


def _by_hand(agent: Agent, model: Model, steps: int) -> Iterator[_Step]:
    world = model.world(_SEED, t=agent.t, state=agent.state)
    for _ in range(steps):
        state = world.state
        action = agent.act(state)
        outcomes, after = world.step(action)
        agent.observe(outcomes, after)
        yield _Step(state, action, outcomes.tobytes(), after)


def _refused(agent: Agent, what: str, call: Callable[[], object]) -> None:
    before = (agent.t, agent.state, agent.pending, agent.average.tobytes())
    with contextlib.suppress(ProtocolError):
        call()
        raise ContractError(f"time {agent.t}: {what} was not refused")
    if before != (agent.t, agent.state, agent.pending, agent.average.tobytes()):
        raise ContractError(f"time {agent.t}: {what} was refused, and changed the agent")


def _first_difference(one: list[_Step], other: list[_Step]) -> str:
    place = next((i for i, (a, b) in enumerate(zip(one, other, strict=False), start=1) if a != b), len(one))
    return f"time {place}"
