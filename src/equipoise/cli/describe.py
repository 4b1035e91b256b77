"""`equipoise describe`: what a world is like, and what a reward asks of it."""

from __future__ import annotations

import json
import math
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from equipoise.cli import problem as words
from equipoise.cli.allowing import With
from equipoise.models.model import Model
from equipoise.oracles.choice import fitting_oracle
from equipoise.rewards.base import Reward
from equipoise.studies.vocabulary import make_reward, make_world


def describe(
    study: words.Source = None,
    problem: words.Which = None,
    world: words.World = None,
    reward: words.Reward = None,
    as_json: words.Json = False,
    modules: With = [],  # noqa: ARG001, B006 - allowed by its callback
) -> None:
    """Describe a problem, or a world alone: what the guarantees depend on.

    States, pairs, outcomes; whether it is communicating; the diameter D (the longest travel between two states, by the
    best policy for it); Gamma, the most successors of a pair. Of a reward: its norm, its Lipschitz constant L, its
    smoothness, and the oracle that fits it.

        equipoise describe --world '{kind = "riverswim", n = 20}'

        equipoise describe studies/kpis.toml --problem queue --json
    """
    goal: Any = None
    if study is None and world is not None and reward is None:
        said, place = words.notation(world, "--world"), "--"
    else:
        given, place = words.given(study, problem, world, reward)
        said, goal = given.world, given.reward
    model = make_world(said, f"{place}world", None if study is None else study.parent)
    data = _world(model) | ({} if goal is None else _reward(make_reward(goal, model, f"{place}reward")))
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    table = Table(box=None, show_header=False, padding=(0, 3, 0, 0))
    for name, value in data.items():
        table.add_row(name, f"{value:.6g}" if isinstance(value, float) else str(value))
    Console(highlight=False).print(table)


def _world(model: Model) -> dict[str, Any]:
    actions = model.n_actions
    return {
        "states": model.n_states,
        "pairs": model.n_pairs,
        "actions": f"{min(actions)} to {max(actions)}" if min(actions) < max(actions) else int(min(actions)),
        "outcomes": model.n_outcomes,
        "start": model.start,
        "noise": model.noise,
        "communicating": model.is_communicating(),
        "diameter": float(model.diameter()) if model.is_communicating() else "infinite",
        "gamma": int(model.max_successors),
    }


def _reward(reward: Reward) -> dict[str, Any]:
    return {
        "reward": repr(reward),
        "norm": "inf" if math.isinf(reward.norm) else reward.norm,
        "lipschitz": reward.lipschitz,
        "smoothness": reward.smoothness,
        "oracle": repr(fitting_oracle(reward)),
    }
