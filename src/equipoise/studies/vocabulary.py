"""The words of a study file: the public names, and what they make.

A component is written as its name, or as a table of its name and parameters:

    world = "star"
    world = { kind = "star", branches = 3, diameter = 4 }

The names are those of the package and the parameters those of the function or class of that name. What a problem or
a run decides may be left out, and is filled in (`Context`):

    n_outcomes, n_states (of `Entropy`)   the number of outcomes of the world
    horizon                               the steps of the study
    model (of `Known`)                    the problem's world
    budget (of `KnapsackAgent`)           that of the problem's `Knapsack` reward
    seed (of an agent or a confidence)    the run's
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise import agents, confidence, models, oracles, rewards
from equipoise._spec import Component
from equipoise.errors import EquipoiseError, StudyError
from equipoise.models.model import Model
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward

Maker = Callable[..., Any]
_GIVEN: Final = ("space", "reward")  # of every agent, by the problem


def worlds() -> dict[str, Maker]:
    """The named worlds.

    >>> sorted(worlds())[:3]
    ['bandit', 'bidding', 'garnet']
    """
    found = {name: getattr(models, name) for name in models.__all__}
    return {name: maker for name, maker in found.items() if _returns(maker) == "Model"}


def reward_families() -> dict[str, Maker]:
    """The rewards that a file can describe: all but `Custom`, whose functions are no data."""
    return {name: maker for name, maker in _concrete(rewards, Reward).items() if name != "Custom"}


def oracle_kinds() -> dict[str, Maker]:
    """The oracles."""
    return _concrete(oracles, oracles.Oracle)


def mirror_maps() -> dict[str, Maker]:
    """What the mirror descents take."""
    return _concrete(oracles, oracles.MirrorMap)


def confidences() -> dict[str, Maker]:
    """The confidence regions."""
    return _concrete(confidence, confidence.Confidence)


def schedules() -> dict[str, Maker]:
    """What may stand for a threshold or a tolerance in the place of a number."""
    return _concrete(agents, agents.Schedule)


def agent_kinds() -> dict[str, Maker]:
    """The agents and the baselines."""
    baselines = {name: getattr(agents.baselines, name) for name in agents.baselines.__all__}
    return _concrete(agents, agents.Agent) | {"recommended": agents.recommended} | baselines


# What a parameter of that name is made of, wherever it occurs.
_PARTS: Final[Mapping[str, Callable[[], dict[str, Maker]]]] = {
    "oracle": oracle_kinds,
    "mirror_map": mirror_maps,
    "confidence": confidences,
    "threshold": schedules,
    "tolerance": schedules,
    "centre": worlds,
    "planner": lambda: {"Planner": Planner},
}


@dataclass(frozen=True)
class Context:
    """What a problem and a run decide, by the names of the parameters that it fills in."""

    model: Model | None = None
    n_outcomes: int | None = None
    n_states: int | None = None
    horizon: int | None = None
    budget: float | None = None
    seed: int | None = None

    def get(self, name: str) -> Any:
        """The value for a parameter, or None."""
        return getattr(self, name, None)


def parameters(maker: Maker) -> dict[str, inspect.Parameter]:
    """The parameters that a study file may give.

    >>> list(parameters(agents.TocUCRL2))[:3]
    ['oracle', 'threshold', 'delta']
    """
    return {name: found for name, found in inspect.signature(maker).parameters.items() if name not in _GIVEN}


def table(component: Any, where: str) -> dict[str, Any]:
    """A component as a table, whether it was given as a name, as a table or as an object.

    >>> table("FrankWolfe", "oracle")
    {'kind': 'FrankWolfe'}
    >>> table(rewards.BottomSum(3, 1), "reward")
    {'kind': 'BottomSum', 'n_outcomes': 3, 'kappa': 1}
    """
    if isinstance(component, str):
        return {"kind": component}
    if isinstance(component, rewards.Custom):
        raise StudyError(f"{where}: a Custom reward is made of functions, and cannot be written to a study")
    if isinstance(component, Planner):
        return {"kind": "Planner", **dict(_tables(asdict(component), where))}
    if isinstance(component, Component):
        return {"kind": type(component).__name__, **dict(_tables(component.arguments(), where))}
    if isinstance(component, Mapping):
        return dict(_tables(component, where))
    raise StudyError(f"{where}: got {component!r}; a name, or a table with its kind and parameters, is needed")


def make(component: Any, kinds: Mapping[str, Maker], where: str, context: Context, given: tuple[Any, ...] = ()) -> Any:
    """Make what a name or a table describes; an error says where it stands and what would be accepted.

    Parameters
    ----------
    component : str or mapping
        A name, or a table with its kind and parameters.
    kinds : mapping
        The makers that are accepted here, by name.
    where : str
        The place, for messages.
    context : Context
        What to fill in.
    given : tuple
        Arguments that come first: the space, and the reward if the maker takes one.
    """
    said = table(component, where)
    kind = _kind(said, kinds, where)
    maker = kinds[kind]
    accepted = parameters(maker)
    values: dict[str, Any] = {}
    for name, given_value in said.items():
        if name == "kind":
            continue
        if name not in accepted:
            known = f"{_nearest(name, accepted)}; it takes {', '.join(accepted) or 'no parameters'}"
            raise StudyError(f"{where}.{name}: {kind} has no parameter {name!r}{known}")
        part, value = _PARTS.get(name), given_value
        if part is not None and value is not None and not isinstance(value, int | float):
            value = make(value, part(), f"{where}.{name}", context)
        values[name] = value
    for name, parameter in accepted.items():
        filling = context.get(name)
        if name not in values and filling is not None:
            values[name] = filling
        if name not in values and parameter.default is inspect.Parameter.empty:
            raise StudyError(f"{where}: {kind} needs the parameter {name!r}")
    try:
        return maker(*given, **values)
    except EquipoiseError as error:
        raise StudyError(f"{where}: {kind}: {error}") from error
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        raise StudyError(f"{where}: {kind} cannot be made of {_short(values)} ({reason})") from error


def make_world(component: Any, where: str, folder: Path | None = None) -> Model:
    """Make the world that a name, a table, or a table with a ``file`` describes; relative paths start at `folder`.

    ``visits = true`` asks for the same dynamics with the indicator of the state as outcomes (`Model.visits`).
    """
    if isinstance(component, Model):
        return component
    said = table(component, where)
    visits = said.pop("visits", False)
    if not isinstance(visits, bool):
        raise StudyError(f"{where}.visits: got {visits!r}; true or false is needed")
    model: Model = _from_file(said, where, folder) if "file" in said else make(said, worlds(), where, Context())
    return model.visits() if visits else model


def make_reward(component: Any, model: Model, where: str) -> Reward:
    """Make the reward of a problem in that world."""
    context = Context(n_outcomes=model.n_outcomes, n_states=model.n_outcomes)
    reward: Reward = make(component, reward_families(), where, context)
    if reward.n_outcomes != model.n_outcomes:
        raise StudyError(f"{where}: it takes {reward.n_outcomes} outcomes; the world has {model.n_outcomes}")
    return reward


def words(component: Mapping[str, Any]) -> str:
    """A table as a call.

    >>> words({"kind": "Doubling", "mirror_map": {"kind": "Box"}, "inherit": True})
    'Doubling(mirror_map=Box(), inherit=True)'
    """
    if "file" in component:
        return f"Model.load({component['file']!r})"
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
        if isinstance(value, Model):
            raise StudyError(f'{where}.{name}: a world within a component; write "Known" for the problem\'s own world')
        if isinstance(value, Component | Planner | Mapping) and not isinstance(value, type):
            yield name, table(value, f"{where}.{name}")
        elif value is not None:
            yield name, _data(value, f"{where}.{name}")


def _data(value: Any, where: str) -> Any:
    """A value as TOML holds it: numbers, texts and lists of them; a class or a function is its name."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_data(part, where) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _data(part, where) for name, part in value.items()}
    if isinstance(value, bool | int | float | str):
        return value
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__name__
    raise StudyError(f"{where}: got {value!r}; a number, a text, a list of them, or a component is needed")


def _kind(said: Mapping[str, Any], kinds: Mapping[str, Maker], where: str) -> str:
    if "kind" not in said and len(kinds) == 1:
        return next(iter(kinds))
    if "kind" not in said:
        raise StudyError(f"{where}: its kind is missing; one of {', '.join(sorted(kinds))} is needed")
    kind = said["kind"]
    if not isinstance(kind, str) or kind not in kinds:
        raise StudyError(
            f"{where}.kind: got {kind!r}{_nearest(kind, kinds)}; one of {', '.join(sorted(kinds))} is needed"
        )
    return str(kind)


def _nearest(word: Any, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _from_file(said: Mapping[str, Any], where: str, folder: Path | None) -> Model:
    extra = sorted(set(said) - {"file"})
    if extra or not isinstance(said["file"], str):
        raise StudyError(f"{where}: a world from a file has the path of the file and nothing else, got {dict(said)!r}")
    try:
        return Model.load((folder or Path()) / said["file"])
    except EquipoiseError as error:
        raise StudyError(f"{where}.file: {error}") from error


def _concrete(room: Any, base: type) -> dict[str, Maker]:
    found = {name: getattr(room, name) for name in room.__all__}
    return {
        name: kind
        for name, kind in found.items()
        if inspect.isclass(kind) and issubclass(kind, base) and not inspect.isabstract(kind)
    }


def _returns(maker: Any) -> Any:
    return inspect.signature(maker).return_annotation if inspect.isfunction(maker) else None
