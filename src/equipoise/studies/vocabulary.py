"""The words of a study file: the public names, and what they make.

A component is written as its name, or as a table of its name and parameters:

    world = "star"
    world = { kind = "star", branches = 3, diameter = 4 }
    world = { mechanics = "inventory", capacity = 20, laws = { demand = [0.5, 0.3, 0.2, 0.0] } }
    oracle = { kind = "my_package.oracles:Mine", rate = 0.5 }

The names are those of `agents.vocabulary`, the parameters those of the function or class of that name. Agents are told
the mechanics of a system, unless they say ``told = "table"``. The module of a user-written part must have been allowed
(`equipoise.allow`, or ``--with``). What a problem or a run decides may be left out, and is filled in:

    n_outcomes, n_states (of `Entropy`)   the number of outcomes of the model
    outcomes (of `at_least`, `at_most`)   their labels
    horizon                               the steps of the study
    model (of `Known`)                    the problem's model
    budget (of agents with budgets)       that of the problem's `Knapsack` reward
    seed (of an agent or a confidence)    the run's

The policy of a `StationaryAgent` is a list with a probability for each pair, or what an offline program computes;
without a reward of its own it is for the problem's:

    policy = { kind = "best_stationary", epsilon = 0.03 }              # mixing into the optimum, at that rate
    policy = { kind = "solve", reward = { kind = "Linear", weights = [1, 0] } }   # the best for another reward
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from equipoise._checks import check_float, suggest
from equipoise._spec import Component, SpecReader, call_text, from_spec, to_spec
from equipoise.agents.base import Agent
from equipoise.agents.vocabulary import KINDS, systems, worlds
from equipoise.errors import EquipoiseError, StudyError
from equipoise.models.mechanics import Mechanics
from equipoise.models.model import Model, Space
from equipoise.offline import best_stationary, solve
from equipoise.rewards.base import Reward
from equipoise.rewards.penalties import Knapsack

TOLD: Final = "told"  # what an agent is told of a world whose mechanics are known
MECHANICS: Final = "mechanics"
TABLE: Final = "table"
_WITH_BUDGETS: Final = ("KnapsackAgent", "KnapsackTocUCRL2")


def _reader(filled: Mapping[str, Any]) -> SpecReader:
    """How tables are read where a problem and a run decide these parameters."""
    return SpecReader(KINDS, StudyError, fill=filled.get)


def part_spec(component: Any, where: str) -> dict[str, Any]:
    """The spec of a component, whether it was given as a name, as a table or as an object."""
    if not isinstance(component, str | Component | Mapping):
        raise StudyError(f"{where}: got {component!r}; a name, or a table with its kind and parameters, is needed")
    try:
        return to_spec(component, _refuse, where)
    except StudyError:
        raise
    except EquipoiseError as error:
        raise StudyError(f"{where}: {error}") from error


def make_world(component: Any, where: str, folder: Path | None = None) -> Model:
    """Make the world that a name, a table, or a table with a ``file`` describes."""
    if isinstance(component, Model):
        return component
    description = part_spec(component, where)
    visits = description.pop("visits", False)
    if not isinstance(visits, bool):
        raise StudyError(f"{where}.visits: got {visits!r}; true or false is needed")
    if "file" in description:
        model = _from_file(description, where, folder)
    elif MECHANICS in description:
        model = _from_mechanics(description, where)
    else:
        kind = description.get("kind")
        if isinstance(kind, str) and kind.endswith(".npz"):
            raise StudyError(f'{where}.kind: {kind!r} is the name of a file; write {{ file = "{kind}" }}')
        if isinstance(kind, str) and kind in systems() and kind not in worlds():
            hint = f'write {{ {MECHANICS} = "{kind}" }}'
            raise StudyError(f"{where}.kind: {kind!r} is a system whose mechanics are known; {hint}")
        model = from_spec(description, Model, where, _reader({}))
    return model.visits() if visits else model


def _from_mechanics(description: Mapping[str, Any], where: str) -> Model:
    """A world of a system whose mechanics are known."""
    given, kind = dict(description), description[MECHANICS]
    if "kind" in given:
        raise StudyError(f"{where}: it has a kind and {MECHANICS}; one of them is needed")
    if not isinstance(kind, str) or (":" not in kind and kind not in systems()):
        hint = suggest(kind, list(systems())) if isinstance(kind, str) else ""
        raise StudyError(
            f"{where}.{MECHANICS}: got {kind!r}{hint}; one of {', '.join(sorted(systems()))} is needed, or"
            ' "package.module:Name" for one of your own'
        )
    named = {name: value for name, value in given.items() if name not in (MECHANICS, "laws")} | {"kind": kind}
    system: Mechanics = from_spec(named, Mechanics, where, _reader({}))
    laws = description.get("laws", {})
    if not isinstance(laws, Mapping) or not all(isinstance(name, str) for name in laws):
        raise StudyError(f"{where}.laws: got {laws!r}; a table of noises is needed")
    try:
        return system.model(**laws)
    except EquipoiseError as error:
        raise StudyError(f"{where}.laws: {error}") from error


def make_reward(component: Any, world: Model | Space, where: str) -> Reward:
    """Make the reward of a problem in that world."""
    labels = (world.space if isinstance(world, Model) else world).outcome_names()
    filled = {"n_outcomes": world.n_outcomes, "n_states": world.n_outcomes, "outcomes": labels}
    reward: Reward = from_spec(component, Reward, where, _reader(filled))
    if reward.n_outcomes != world.n_outcomes:
        raise StudyError(f"{where}: it takes {reward.n_outcomes} outcomes; the world has {world.n_outcomes}")
    return reward


def make_agent(
    description: Mapping[str, Any], model: Model, reward: Reward, steps: int, seed: int, where: str
) -> Agent:
    """Make an agent for a world, a reward, a number of steps and a seed."""
    budget = reward.budget if isinstance(reward, Knapsack) else None
    filled = {"model": model, "horizon": steps, "budget": budget, "seed": seed, "n_outcomes": model.n_outcomes}
    kind = description.get("kind")
    if kind in _WITH_BUDGETS and budget is None:
        raise StudyError(f"{where}: a {kind} is for a Knapsack reward; the problem's is {reward!r}")
    told = description.get(TOLD, MECHANICS)
    if told not in (MECHANICS, TABLE):
        raise StudyError(f"{where}.{TOLD}: got {told!r}; {MECHANICS!r} or {TABLE!r} is needed")
    injected = {"space": model.mechanics_space if told == MECHANICS else model.space, "reward": reward}
    own = {name: value for name, value in description.items() if name != TOLD}
    agent: Agent = from_spec(own, Agent, where, _reader(filled), injected)
    if agent.horizon is not None and agent.horizon < steps:
        raise StudyError(f"{where}: it is made for {agent.horizon} steps; the runs have {steps}")
    return agent


def write_call(component: Mapping[str, Any]) -> str:
    """A table as a call."""
    if "file" in component:
        return f"Model.load({component['file']!r})"
    if MECHANICS in component:
        component = {"kind": component[MECHANICS]} | {k: v for k, v in component.items() if k != MECHANICS}
    inside = {name: value for name, value in component.items() if name != "kind"}
    return call_text(str(component.get("kind", "")), inside, longest=60)


def _refuse(value: Any, where: str) -> Any:
    if isinstance(value, Model):
        raise StudyError(f'{where}: a world within a component; write "Known" for the problem\'s own world')
    raise StudyError(f"{where}: got {value!r}; a number, a text, a list of them, or a component is needed")


def _from_file(description: Mapping[str, Any], where: str, folder: Path | None) -> Model:
    extra = sorted(set(description) - {"file"})
    if extra or not isinstance(description["file"], str):
        found = f"got {dict(description)!r}"
        raise StudyError(f"{where}: a world from a file has the path of the file and nothing else, {found}")
    try:
        return Model.load((folder or Path()) / description["file"])
    except EquipoiseError as error:
        raise StudyError(f"{where}.file: {error}") from error


_KINDS: Final = {"best_stationary": ("epsilon", "reward"), "solve": ("reward",)}
_EPSILON: Final = 0.03


def find_policy(description: Mapping[str, Any], model: Model, reward: Reward, where: str) -> list[float]:
    """Find the policy that a table asks for: a probability for each pair."""
    kind = description.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise StudyError(f"{where}.kind: got {kind!r}; one of {', '.join(_KINDS)} is needed")
    extra = sorted(set(description) - {"kind", *_KINDS[kind]})
    if extra:
        raise StudyError(f"{where}.{extra[0]}: {kind} has no such parameter; it takes {', '.join(_KINDS[kind])}")
    if "reward" in description:
        reward = make_reward(description["reward"], model, f"{where}.reward")
    try:
        best = solve(model, reward)
        if best.status != "optimal":
            raise StudyError(f"its program was not solved: {best!r}; give the policy as a list of numbers")
        if kind == "solve":
            policy = best.policy()
        else:
            epsilon = check_float(description.get("epsilon", _EPSILON), "epsilon", error=StudyError)
            policy = best_stationary(model, reward, benchmark=best).policy(epsilon)
    except EquipoiseError as error:
        raise StudyError(f"{where}: {error}") from error
    return [float(probability) for probability in policy]
