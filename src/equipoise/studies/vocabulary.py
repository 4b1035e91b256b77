"""The words of a study file: the public names, and what they make.

A component is written as its name, or as a table of its name and parameters:

    world = "star"
    world = { kind = "star", branches = 3, diameter = 4 }
    oracle = { kind = "my_package.oracles:Mine", rate = 0.5 }

The names are those of the package (`agents.vocabulary`) and the parameters those of the function or class of that name.
A world may be a system whose mechanics are known, with other laws than its usual ones if that is wanted:

    world = { mechanics = "inventory", capacity = 20, laws = { demand = [0.5, 0.3, 0.2, 0.0] } }

Agents are then told the mechanics, unless they say ``told = "table"``. A part written elsewhere is
"package.module:Name"; its module must have been allowed (`equipoise.allow`, or ``--with`` on the command line). What a
problem or a run decides may be left out, and is filled in (`Context`):

    n_outcomes, n_states (of `Entropy`)   the number of outcomes of the world
    outcomes (of `at_least`, `at_most`)   their labels
    horizon                               the steps of the study
    model (of `Known`)                    the problem's world
    budget (of `KnapsackAgent`)           that of the problem's `Knapsack` reward
    seed (of an agent or a confidence)    the run's
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from equipoise._component import Component, Reading, described, kind_of, made, plain
from equipoise._words import nearest
from equipoise.agents.base import Agent
from equipoise.agents.vocabulary import KINDS, systems, worlds
from equipoise.errors import EquipoiseError, StudyError
from equipoise.models.mechanics import Mechanics
from equipoise.models.model import Model
from equipoise.rewards.base import Reward
from equipoise.rewards.knapsack import Knapsack

TOLD: Final = "told"  # what an agent is told of a world whose mechanics are known
MECHANICS: Final = "mechanics"
TABLE: Final = "table"


@dataclass(frozen=True)
class Context:
    """What a problem and a run decide, by the names of the parameters that it fills in."""

    model: Model | None = None
    n_outcomes: int | None = None
    n_states: int | None = None
    outcomes: list[str] | None = None
    horizon: int | None = None
    budget: float | None = None
    seed: int | None = None

    def reading(self) -> Reading:
        """How tables are read where this holds."""
        return Reading(KINDS, StudyError, fill=lambda name: getattr(self, name, None))


def table(component: Any, where: str) -> dict[str, Any]:
    """A component as a table, whether it was given as a name, as a table or as an object.

    Parameters
    ----------
    component : str, mapping or Component
        What was given.
    where : str
        The place, for messages.

    Examples
    --------
    >>> from equipoise import rewards
    >>> table("FrankWolfe", "oracle")
    {'kind': 'FrankWolfe'}
    >>> table(rewards.BottomSum(3, 1), "reward")
    {'kind': 'BottomSum', 'n_outcomes': 3, 'kappa': 1}
    """
    if isinstance(component, str):
        return {"kind": component}
    if isinstance(component, Component):
        try:
            return dict(_tables(described(component, _refuse, where), where))
        except StudyError:
            raise
        except EquipoiseError as error:
            raise StudyError(f"{where}: {error}") from error
    if isinstance(component, Mapping):
        return dict(_tables(component, where))
    raise StudyError(f"{where}: got {component!r}; a name, or a table with its kind and parameters, is needed")


def make_world(component: Any, where: str, folder: Path | None = None) -> Model:
    """Make the world that a name, a table, or a table with a ``file`` describes.

    ``visits = true`` asks for the same dynamics with the indicator of the state as outcomes (`Model.visits`).

    Parameters
    ----------
    component : str, mapping or Model
        What was given.
    where : str
        The place, for messages.
    folder : Path, optional
        Where relative paths start.
    """
    if isinstance(component, Model):
        return component
    description = table(component, where)
    visits = description.pop("visits", False)
    if not isinstance(visits, bool):
        raise StudyError(f"{where}.visits: got {visits!r}; true or false is needed")
    if "file" in description:
        model = _from_file(description, where, folder)
    elif MECHANICS in description:
        model = _from_mechanics(description, where)
    else:
        _hint_other_kinds(description, where)
        model = made(description, Model, where, Context().reading())
    return model.visits() if visits else model


def _hint_other_kinds(description: Mapping[str, Any], where: str) -> None:
    """Refuse the name of a file, or of a system that is no table, with how it is written."""
    kind = description.get("kind")
    if isinstance(kind, str) and kind.endswith(".npz"):
        raise StudyError(f'{where}.kind: {kind!r} is the name of a file; write {{ file = "{kind}" }}')
    if isinstance(kind, str) and kind in systems() and kind not in worlds():
        raise StudyError(
            f'{where}.kind: {kind!r} is a system whose mechanics are known; write {{ {MECHANICS} = "{kind}" }}'
        )


def _from_mechanics(description: Mapping[str, Any], where: str) -> Model:
    """A world of a system whose mechanics are known."""
    given, kind = dict(description), description[MECHANICS]
    if "kind" in given:
        raise StudyError(f"{where}: it has a kind and {MECHANICS}; one of them is needed")
    if not isinstance(kind, str) or (":" not in kind and kind not in systems()):
        hint = nearest(kind, list(systems())) if isinstance(kind, str) else ""
        raise StudyError(
            f"{where}.{MECHANICS}: got {kind!r}{hint}; one of {', '.join(sorted(systems()))} is needed, or"
            ' "package.module:Name" for one of your own'
        )
    named = {name: value for name, value in given.items() if name not in (MECHANICS, "laws")} | {"kind": kind}
    system: Mechanics = made(named, Mechanics, where, Context().reading())
    laws = description.get("laws", {})
    if not isinstance(laws, Mapping) or not all(isinstance(name, str) for name in laws):
        raise StudyError(f"{where}.laws: got {laws!r}; a table of noises is needed")
    try:
        return system.model(**laws)
    except EquipoiseError as error:
        raise StudyError(f"{where}.laws: {error}") from error


def make_reward(component: Any, model: Model, where: str) -> Reward:
    """Make the reward of a problem in that world.

    Parameters
    ----------
    component : str or mapping
        What was given.
    model : Model
        The world.
    where : str
        The place, for messages.
    """
    labels = model.space.outcome_names()
    context = Context(n_outcomes=model.n_outcomes, n_states=model.n_outcomes, outcomes=labels)
    reward: Reward = made(component, Reward, where, context.reading())
    if reward.n_outcomes != model.n_outcomes:
        raise StudyError(f"{where}: it takes {reward.n_outcomes} outcomes; the world has {model.n_outcomes}")
    return reward


def make_agent(
    description: Mapping[str, Any], model: Model, reward: Reward, steps: int, seed: int, where: str
) -> Agent:
    """Make an agent for a world, a reward, a number of steps and a seed.

    Parameters
    ----------
    description : mapping
        Kind and parameters.
    model, reward, steps, seed
        Of the run.
    where : str
        The place, for messages.
    """
    budget = reward.budget if isinstance(reward, Knapsack) else None
    context = Context(model=model, horizon=steps, budget=budget, seed=seed, n_outcomes=model.n_outcomes)
    if description.get("kind") == "KnapsackAgent" and budget is None:
        raise StudyError(f"{where}: a KnapsackAgent is for a Knapsack reward; the problem's is {reward!r}")
    told = description.get(TOLD, MECHANICS)
    if told not in (MECHANICS, TABLE):
        raise StudyError(f"{where}.{TOLD}: got {told!r}; {MECHANICS!r} or {TABLE!r} is needed")
    given = {"space": model.told if told == MECHANICS else model.space, "reward": reward}
    own = {name: value for name, value in description.items() if name != TOLD}
    agent: Agent = made(own, Agent, where, context.reading(), given)
    if agent.horizon is not None and agent.horizon < steps:
        raise StudyError(f"{where}: it is made for {agent.horizon} steps; the runs have {steps}")
    return agent


def words(component: Mapping[str, Any]) -> str:
    """A table as a call.

    >>> words({"kind": "Doubling", "mirror_map": {"kind": "Box"}, "inherit": True})
    'Doubling(mirror_map=Box(), inherit=True)'
    """
    if "file" in component:
        return f"Model.load({component['file']!r})"
    if MECHANICS in component:
        component = {"kind": component[MECHANICS]} | {k: v for k, v in component.items() if k != MECHANICS}
    inside = (
        f"{name}={words(value) if isinstance(value, Mapping) else _short(value)}"
        for name, value in component.items()
        if name != "kind"
    )
    return f"{component.get('kind', '')}({', '.join(inside)})"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _tables(values: Mapping[str, Any], where: str) -> Iterator[tuple[str, Any]]:
    """The parts of a table, components among them as tables; what is None is left out."""
    for name, value in values.items():
        if value is not None:
            yield str(name), _data(value, f"{where}.{name}")


def _data(value: Any, where: str) -> Any:
    """A value as TOML holds it: numbers, texts, lists of them and tables; a class or a function is its kind."""
    value = plain(value)
    if isinstance(value, Component | Mapping):
        return table(value, where)
    if isinstance(value, list):
        return [_data(part, where) for part in value]
    if isinstance(value, bool | int | float | str):
        return value
    if inspect.isclass(value):
        return kind_of(value)
    if inspect.isfunction(value):
        return value.__name__
    return _refuse(value, where)


def _refuse(value: Any, where: str) -> Any:
    if isinstance(value, Model):
        raise StudyError(f'{where}: a world within a component; write "Known" for the problem\'s own world')
    raise StudyError(f"{where}: got {value!r}; a number, a text, a list of them, or a component is needed")


def _from_file(description: Mapping[str, Any], where: str, folder: Path | None) -> Model:
    extra = sorted(set(description) - {"file"})
    if extra or not isinstance(description["file"], str):
        raise StudyError(
            f"{where}: a world from a file has the path of the file and nothing else, got {dict(description)!r}"
        )
    try:
        return Model.load((folder or Path()) / description["file"])
    except EquipoiseError as error:
        raise StudyError(f"{where}.file: {error}") from error
