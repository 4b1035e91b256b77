"""The names of this package's parts, for files and studies: each a public class or function, by its own name.

Studies and saved agents are decoded with these names (`SpecReader`). What a parameter may be is told by its
annotation, so a name is looked up among the parts that fit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from equipoise import confidence, mechanics, models, oracles, rewards
from equipoise._spec import Maker
from equipoise.agents import baselines
from equipoise.agents.base import Agent
from equipoise.agents.knapsack import KnapsackAgent, KnapsackTocUCRL2
from equipoise.agents.mixture import MixtureUCRL2
from equipoise.agents.optimum import Optimum
from equipoise.agents.recommended import recommended
from equipoise.agents.schedules import Power, Schedule, Span
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.mechanics import Mechanics
from equipoise.models.model import Model
from equipoise.planning.options import Planner, PlanningOracle
from equipoise.rewards.base import Reward


def worlds() -> dict[str, Maker]:
    """The named worlds."""
    public = {name: getattr(models, name) for name in models.__all__}
    return {name: maker for name, maker in public.items() if _returns(maker) == "Model"}


def systems() -> dict[str, Maker]:
    """The named systems whose mechanics are known."""
    return {name: getattr(mechanics, name) for name in mechanics.__all__}


def reward_families() -> dict[str, Maker]:
    """The rewards that a file can describe: all but `Custom`, whose functions are no data."""
    return {name: maker for name, maker in _concrete(rewards, Reward).items() if name != "Custom"}


def constraints() -> dict[str, Maker]:
    """What a `Constrained` reward has to meet."""
    return {"Constraint": rewards.Constraint, "at_least": rewards.at_least, "at_most": rewards.at_most}


def target_sets() -> dict[str, Maker]:
    """The sets that a `TargetDistance` is from."""
    return _concrete(rewards, rewards.TargetSet)


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
    return {"Power": Power, "Span": Span}


def planners() -> dict[str, Maker]:
    """The planners."""
    return {"Planner": Planner}


def agent_kinds() -> dict[str, Maker]:
    """The agents and the baselines."""
    public: dict[str, Maker] = {name: getattr(baselines, name) for name in baselines.__all__}
    own: dict[str, Maker] = {
        "TocUCRL2": TocUCRL2, "MixtureUCRL2": MixtureUCRL2, "KnapsackAgent": KnapsackAgent,
        "KnapsackTocUCRL2": KnapsackTocUCRL2, "Optimum": Optimum, "recommended": recommended,
    }  # fmt: skip
    return own | public


KINDS: Final[Mapping[type, Callable[[], Mapping[str, Maker]]]] = {
    Reward: reward_families,
    rewards.Constraint: constraints,
    rewards.TargetSet: target_sets,
    oracles.Oracle: oracle_kinds,
    oracles.MirrorMap: mirror_maps,
    confidence.Confidence: confidences,
    Schedule: schedules,
    PlanningOracle: planners,
    Agent: agent_kinds,
    Model: worlds,
    Mechanics: systems,
}  # by what they make


def _concrete(room: Any, base: type) -> dict[str, Maker]:
    public = {name: getattr(room, name) for name in room.__all__}
    return {
        name: kind
        for name, kind in public.items()
        if inspect.isclass(kind) and issubclass(kind, base) and not inspect.isabstract(kind)
    }


def _returns(maker: Any) -> Any:
    return inspect.signature(maker).return_annotation if inspect.isfunction(maker) else None
